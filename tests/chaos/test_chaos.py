"""Chaos by a seed: what it does is the seed's alone, any correct client survives it, and it can be seen and stopped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st

from kafkastub import FaultError, KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import commit
from kafkastub.faults import Chaos
from kafkastub.faults.chaos import LEVELS, TROUBLE
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_cluster_response import DescribeClusterResponse
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG
from tests.control.conftest import Http
from tests.rawclient import RawClient

ANY: Any = SimpleNamespace(session_id=7, acks=-1, topics=["orders"], transactional_id="shop")


def told(chaos: Chaos, key: ApiKey, count: int) -> list[object]:
    return [chaos.match(SimpleNamespace(key=key, version=8), ANY) for _ in range(count)]


@given(seed=st.integers(0, 2**64), level=st.sampled_from(list(LEVELS)), others=st.lists(st.sampled_from(list(TROUBLE))))
def test_what_an_api_meets_does_not_depend_on_other_requests(seed: int, level: int, others: list[ApiKey]):
    alone, among = Chaos(seed, level), Chaos(seed, level)
    expected = told(alone, ApiKey.OFFSET_COMMIT, 20)
    met = []
    for number in range(20):
        met += told(among, ApiKey.OFFSET_COMMIT, 1)
        if number < len(others) and others[number] is not ApiKey.OFFSET_COMMIT:
            told(among, others[number], 1)
    assert met == expected


@given(seed=st.integers(0, 2**64), level=st.sampled_from(list(LEVELS)), key=st.sampled_from(list(TROUBLE)))
def test_who_met_something_is_spared_the_next_time(seed: int, level: int, key: ApiKey):
    met = [action is not None for action in told(Chaos(seed, level), key, 200)]
    assert not any(one and other for one, other in pairwise(met))


@pytest.mark.parametrize("level", LEVELS)
def test_no_level_does_what_it_must_not(level: int):
    for key in TROUBLE:
        for action in told(Chaos(1, level), key, 3000):
            if action is not None:
                trouble = TROUBLE[key]
                assert action.error is None or action.error in trouble.errors
                assert action.ending in ("answer", "cut") or (level > 1 and trouble.lost)
                assert not (action.ending == "close" and action.work) or trouble.behind
                assert action.before_ms <= LEVELS[level].latest_ms


@given(seed=st.integers(0, 2**64), level=st.sampled_from(list(LEVELS)), epoch=st.sampled_from([-2, -1]))
def test_a_member_that_leaves_meets_nothing(seed: int, level: int, epoch: int):
    leaving, staying = SimpleNamespace(member_epoch=epoch), SimpleNamespace(member_epoch=0)
    for key in (ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT):
        route: Any = SimpleNamespace(key=key, version=1)
        chaos, other = Chaos(seed, level), Chaos(seed, level)
        told = [other.match(route, staying) for _ in range(100)]
        for number in range(100):
            leaves = number % 2
            expected = None if leaves else told[number]
            assert chaos.match(route, leaving if leaves else staying) == expected


def test_no_member_joins_without_knowing():
    route: Any = SimpleNamespace(key=ApiKey.CONSUMER_GROUP_HEARTBEAT, version=1)
    for epoch, expected in ((0, {False}), (5, {False, True})):
        chaos = Chaos(1, 2)
        told = [chaos.match(route, SimpleNamespace(member_epoch=epoch)) for _ in range(1000)]
        assert {one.work for one in told if one is not None and one.ending == "close"} == expected


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"chaos": -1}, "chaos=-1 is refused"),
        ({"chaos": "7"}, "chaos='7' is refused"),
        ({"chaos": 1, "chaos_level": 4}, "chaos_level=4 is refused: it must be 1, 2, 3"),
    ],
)
def test_what_is_no_seed_or_level_is_refused(named: dict[str, Any], why: str):
    with pytest.raises(FaultError, match=why):
        KafkaStub(**named)


def commits(stub: KafkaStub, count: int) -> list[str]:
    """What the journal says of so many commits, each on a connection of its own."""
    for number in range(count):
        with Client(stub.bootstrap_servers) as client:
            try:
                commit(client, "shipping", {("orders", 0): number})
            except Exception as error:  # nobody retries here
                error.add_note("chaos")
    return [str(entry.fault) for entry in stub.journal.requests(api="OffsetCommit")]


def test_the_same_seed_does_the_same_again():
    def acts() -> tuple[list[str], list[str]]:
        with KafkaStub(topics=["orders"], config=CONFIG, chaos=5, chaos_level=3) as stub:
            said = commits(stub, 30)
            return said, [act.what for act in stub.chaos.acts if act.what.startswith("OffsetCommit")]

    first = acts()
    assert first == acts()
    assert "chaos" in first[0]
    assert first[1]


def test_nothing_is_met_once_it_is_stopped():
    with KafkaStub(topics=["orders"], config=CONFIG, chaos=5, chaos_level=3) as stub:
        stub.chaos.stop()
        assert set(commits(stub, 30)) == {"None"}
        assert stub.chaos.acts == []
        stub.chaos.start(5, 3)
        assert "chaos" in commits(stub, 30)


def test_a_rule_of_the_test_comes_first():
    with KafkaStub(topics=["orders"], config=CONFIG, chaos=5, chaos_level=3) as stub:
        with stub.faults.add(api="OffsetCommit", delay_ms=1, name="mine"):
            assert set(commits(stub, 10)) == {"mine"}
        assert "chaos" in commits(stub, 30)


def test_a_rule_of_an_api_that_chaos_leaves_alone_is_met_by_each_request():
    with KafkaStub() as stub, RawClient(stub.bootstrap_servers) as client:
        stub.chaos.start(1)
        stub.faults.add(api="DescribeCluster", error="INVALID_REQUEST", after=2)
        body = encode(DescribeClusterRequest(), 1)
        answers = [decode(DescribeClusterResponse, 1, client.exchange(60, 1, body)) for _ in range(4)]
        assert [answer.error_code for answer in answers] == [0, 0, 42, 42]


def test_an_idempotent_producer_loses_and_doubles_nothing():
    for seed in range(6):
        with KafkaStub(topics=["orders"], config=CONFIG, chaos=seed, chaos_level=2) as stub:
            producer = Producer(
                {"bootstrap.servers": stub.bootstrap_servers, "enable.idempotence": True, "linger.ms": 0,
                 "retry.backoff.ms": 5, "reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 20, "log_level": 0}
            )  # fmt: skip
            for number in range(60):
                producer.produce("orders", str(number))
                producer.poll(0)
                if not number % 6:
                    producer.flush()
            assert producer.flush(60) == 0
            assert [int(one.value) for one in stub.records("orders")] == list(range(60)), stub.chaos.told()


def test_nodes_stop_and_come_back():
    config = {**CONFIG, "default.replication.factor": 3, "offsets.topic.replication.factor": 3}
    with KafkaStub(topics={"orders": 3}, nodes=3, config=config, chaos=1, chaos_level=3) as stub:
        for number in range(150):
            with Client(stub.bootstrap_servers) as client:
                try:
                    commit(client, "shipping", {("orders", 0): number})
                except Exception as error:
                    error.add_note("chaos")
        what = [act.what for act in stub.chaos.acts]
        assert any(one.endswith("stops") for one in what)
        assert any("leads" in one for one in what)
        stub.chaos.stop()
        stub.waits.request(api="ApiVersions")
        with Client(stub.bootstrap_servers) as client:
            commit(client, "shipping", {("orders", 0): 1000})


# -- from outside ----------------------------------------------------------------------------------------------------


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics=["orders"], config=CONFIG, control_port=0) as stub:
        yield stub


def test_over_http(stub: KafkaStub):
    http = Http(stub.control_url)
    with http.client:
        assert http.good("GET", "/v1/chaos") == {
            "running": False, "seed": None, "level": None, "played": None, "left": 0, "acts": [],
        }  # fmt: skip
        assert http.good("PUT", "/v1/chaos", {"seed": 5, "level": 3})["seed"] == 5
        commits(stub, 30)
        acts = http.good("GET", "/v1/chaos")["acts"]
        assert [act["what"] for act in acts] == [act.what for act in stub.chaos.acts]
        assert http.good("GET", "/v1/chaos")["running"]
        stopped = http.good("DELETE", "/v1/chaos")
        assert (stopped["seed"], stopped["running"]) == (5, False)
        assert "level" in http.refusal("PUT", "/v1/chaos", {"seed": 5, "level": 4})
    assert set(commits(stub, 30)[-30:]) == {"None"}


def test_by_command(stub: KafkaStub):
    def ask(*line: str) -> tuple[int, str]:
        done = run("chaos", *line, "--control", stub.control_url)
        return done.status, done.out

    assert ask("show") == (0, "There is no chaos.\n")
    assert ask("start", "5:3") == (0, "seed 5, level 3\n")
    commits(stub, 30)
    assert "OffsetCommit #" in ask("show")[1]
    assert ask("stop")[1].startswith("seed 5, level 3, stopped\n")
    assert ask("show")[1].startswith("seed 5, level 3, stopped\n")
    assert repr(stub.chaos) == "<chaos of seed 5, level 3, stopped>"
    assert ask("start", "6")[1] == "seed 6, level 1\n"
    assert ask("start", "5:4")[0] == 2
