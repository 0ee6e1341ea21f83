"""Whose letter a broker follows: the suite finds it out, and asks for nothing that changes anything."""

from __future__ import annotations

import re

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub_conformance.model import PROFILES, Status
from kafkastub_conformance.running import conform
from kafkawire.messages.list_groups_request import ListGroupsRequest
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG
from tests.oracle.apache_kafka import ApacheKafka

ABOUT = "OffsetCommit/empty-group-id"


def test_the_defaults_of_serve_and_conform_go_together():
    with KafkaStub(config=CONFIG) as stub:
        status, out, error = run("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "OffsetCommit/empty")
    assert status == 0
    assert "profile kips: 9 passed" in out
    assert re.search(r"follows the KIPs .* the profile kips: 9 runs .*-of-the-draft \(--profile kafka", error)


@pytest.mark.parametrize("profile", PROFILES)
def test_either_letter_is_found_out(profile: str):
    with KafkaStub(profile=profile, config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, chosen=ABOUT)
        assert [entry.api for entry in stub.journal.requests(api="OffsetCommit", group="")]
    assert outcome.profile == profile
    assert {result.status for result in outcome.results} == {Status.PASSED}
    assert {result.run.case.profile for result in outcome.results} == {profile}


@pytest.mark.parametrize("profile", PROFILES)
def test_finding_it_out_leaves_nothing_behind(profile: str):
    with KafkaStub(profile=profile, config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, chosen=ABOUT, select=lambda run: run.case.profile != profile)
        assert (outcome.profile, outcome.results, outcome.left) == (profile, [], [])
        with Client(stub.bootstrap_servers) as client:
            assert list(client.ask(ListGroupsRequest()).groups) == []


@pytest.mark.parametrize("profile", PROFILES)
def test_what_fails_because_of_the_profile_that_was_asked_for_is_said_to(profile: str):
    other = next(one for one in PROFILES if one != profile)
    with KafkaStub(profile=other, config=CONFIG) as stub:
        line = ("conform", "--bootstrap-servers", stub.bootstrap_servers, "--profile", profile, "-k", ABOUT)
        status, out, error = run(*line)
    assert status == 1
    assert f"the broker follows the profile {other}, and --profile {profile} measures it by the other one" in error
    assert "what fails of them is the profile's" in error
    assert out.count(f"profile {profile} alone") == 7


def test_who_does_not_say_is_measured_by_released_kafka():
    with (
        KafkaStub(profile="kips", config=CONFIG) as stub,
        stub.faults.add(api="OffsetCommit", drop="before", times=1),
    ):
        outcome = conform(stub.bootstrap_servers, chosen=f"{ABOUT}[v4]")
    assert (outcome.profile, outcome.count(Status.FAILED)) == ("kafka", 1)


def test_where_nothing_depends_on_it_nothing_is_asked():
    with KafkaStub(config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, chosen="Heartbeat/unknown-group")
        assert not stub.journal.requests(api="OffsetCommit", group="")
    assert outcome.notes == []
    assert not outcome.bad


@pytest.mark.oracle
def test_apache_kafka_follows_its_own_letter_and_gets_no_group(apache_kafka: ApacheKafka):
    outcome = conform(apache_kafka.bootstrap_servers, chosen=ABOUT, select=lambda run: run.case.profile == "kips")
    assert (outcome.profile, outcome.results) == ("kafka", [])
    with Client(apache_kafka.bootstrap_servers) as client:
        assert "" not in {group.group_id for group in client.ask(ListGroupsRequest()).groups}
