"""What the suite does about brokers that answer wrongly, not at all, or are no more, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client, NotListening
from kafkastub.client.topics import names
from kafkastub_conformance import running
from kafkastub_conformance.expression import condition
from kafkastub_conformance.model import Result, Status
from kafkastub_conformance.release import LATEST, checked_release, measured_by, versions
from kafkastub_conformance.running import conform
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from kafkawire.messages.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from tests.conformance.document import SECURED
from tests.conftest import CONFIG


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(profile="kafka", config=CONFIG, topics={"orders": 1}) as stub:
        yield stub


def test_a_wrong_answer_is_told_with_its_field_and_frames(stub: KafkaStub):
    with stub.faults.add(api="Heartbeat", error="ILLEGAL_GENERATION"):
        outcome = conform(stub.bootstrap_servers, chosen="Heartbeat/unknown-group and v4")
    (result,) = outcome.results
    assert result.status is Status.FAILED
    assert [str(one) for one in result.differences] == [
        "error_code: expected 25 UNKNOWN_MEMBER_ID, got 22 ILLEGAL_GENERATION"
    ]
    frame = result.frames[-1]
    assert (frame.api, frame.version) == ("Heartbeat", 4)
    assert frame.request[:4] == b"\0\x0c\0\4"
    assert frame.answer is not None
    assert frame.answer[:4] == frame.request[4:8]


def test_a_broker_that_does_not_answer_fails_that_case_alone(stub: KafkaStub):
    with stub.faults.add(api="FindCoordinator", versions=2, silent=True):
        outcome = conform(stub.bootstrap_servers, chosen="FindCoordinator/coordinator[", timeout=2)
    assert {result.run.version: result.status for result in outcome.results} == {
        0: Status.PASSED,
        1: Status.PASSED,
        2: Status.FAILED,
        3: Status.PASSED,
    }
    assert "did not answer FindCoordinator v2 in time" in outcome.bad[0].reason


def test_a_broker_that_is_gone_makes_errors_of_the_rest_and_no_hang(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "REVIVAL_SECONDS", 0.5)
    with KafkaStub(profile="kafka", config=CONFIG) as stub:

        def progress(result: Result, done: int, _: int) -> None:
            if done == 5:
                stub.close()

        outcome = conform(stub.bootstrap_servers, chosen="Heartbeat", progress=progress)
    statuses = [result.status for result in outcome.results]
    assert statuses[:5] == [Status.PASSED] * 5
    assert set(statuses[5:]) == {Status.ERROR}
    assert outcome.results[-1].reason == "the broker is gone"


def test_a_broker_that_tells_nothing_of_its_configuration_is_run_all_the_same(stub: KafkaStub):
    with stub.faults.add(api="DescribeConfigs", silent=True):
        outcome = conform(stub.bootstrap_servers, chosen="metadata-at-its-limit and v8", timeout=2)
    assert outcome.count(Status.PASSED) == 1
    assert outcome.notes == []


def test_one_node_of_several_is_asked_everything():
    with KafkaStub(profile="kafka", config=CONFIG, nodes=3) as stub:
        chosen = (
            "OffsetCommit/unusual or CreateTopics/created or CreatePartitions/grown or Fetch/records or Heartbeat/m"
        )
        outcome = conform(stub.bootstrap_servers.split(",")[-1], chosen=chosen)
    assert outcome.results
    assert outcome.bad == []
    assert outcome.left == []


def test_nobody_there_is_said_at_once():
    with KafkaStub() as stub:
        address = stub.bootstrap_servers
    with pytest.raises(NotListening):
        conform(address)


def test_what_the_suite_made_is_removed_and_nothing_else(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client:
        before = set(names(client))
        outcome = conform(stub.bootstrap_servers, chosen="OffsetCommit or CreateTopics or JoinGroup/second")
        assert not outcome.bad
        assert outcome.left == []
        internal = {"__consumer_offsets", "__transaction_state"}
        assert set(names(client)) - internal == before - internal
        assert list(client.ask(ListGroupsRequest()).groups) == []


def test_users_quotas_entries_and_configurations_are_removed_as_well():
    with KafkaStub(profile="kafka", config={**CONFIG, **SECURED}) as stub:
        outcome = conform(stub.bootstrap_servers, chosen="Scram or Quotas or Acls/ or ListConfigResources or matched")
        assert not outcome.bad
        assert outcome.left == []
        with Client(stub.bootstrap_servers) as client:
            assert list(client.ask(DescribeUserScramCredentialsRequest(users=None)).results) == []
            assert list(client.ask(DescribeClientQuotasRequest(components=[])).entries or ()) == []
            everything = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
            assert list(client.ask(everything).resources) == []
            configured = ListConfigResourcesRequest(resource_types=[16, 32])
            assert list(client.ask(configured).config_resources) == []


def test_the_release_that_a_broker_is_measured_by():
    assert checked_release("3.9.2") == "3.9"
    with pytest.raises(ValueError, match="one of"):
        checked_release("5.0")
    for release in ("2.1", "3.9", "4.0", LATEST):
        assert measured_by(dict(versions(release))) == release
    some = {api: between for api, between in versions("3.9").items() if api in ("Produce", "Fetch", "Metadata")}
    assert measured_by(some) == "3.9"
    assert measured_by({**versions("3.9"), "Fetch": (0, 999)}) == LATEST


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("", {"A/x[v1]", "A/y[v2]", "B/x[v1]"}),
        ("a/", {"A/x[v1]", "A/y[v2]"}),
        ("x and not b", {"A/x[v1]"}),
        ("y or b", {"A/y[v2]", "B/x[v1]"}),
        ("not (y or b)", {"A/x[v1]"}),
    ],
)
def test_a_condition_chooses(text: str, chosen: set[str]):
    fits = condition(text)
    assert {name for name in ("A/x[v1]", "A/y[v2]", "B/x[v1]") if fits(name)} == chosen


@pytest.mark.parametrize("text", ["and", "a or", "(a", "a b", "not", "a )"])
def test_what_is_no_condition_is_refused(text: str):
    with pytest.raises(ValueError, match="-k"):
        condition(text)
