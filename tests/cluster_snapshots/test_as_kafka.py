"""A snapshot of a live Apache Kafka: the stub that starts from it answers as Kafka, and forgets when Kafka does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client
from tests.cluster_snapshots.answers import all_answers, committed, differences
from tests.cluster_snapshots.history import AUTHORIZER, CONFIG, SHARING, Played, left_to_share
from tests.offsets_topic.history import Player
from tests.oracle.apache_kafka import CONSOLE_CONSUMER, ApacheKafka, run_tool
from tests.waiting import until

RECORDS: dict[str, int | str] = {"paid": "all", "orders": "all", "compacted": 2}


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka(CONFIG) as kafka, ExitStack() as at_end:
        at_end.callback(Played(kafka.bootstrap_servers).close)
        yield kafka


@pytest.fixture(scope="module")
def file(kafka: ApacheKafka, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("of-kafka") / "incident.kafkastub"
    saved = Snapshot.from_cluster(kafka.bootstrap_servers, found, records=RECORDS)
    assert saved.missing == []
    return found


@pytest.mark.oracle
def test_everything_is_answered_as_apache_kafka_does(kafka: ApacheKafka, file: Path) -> None:
    with Client(kafka.bootstrap_servers) as client:
        expected = all_answers(client)
    assert {kind for _, kind, _, _ in expected["groups"]} == {"classic", "consumer", "share", "streams"}
    with (
        KafkaStub(snapshot=file, profile="kafka", config=AUTHORIZER) as stub,
        Client(stub.bootstrap_servers) as client,
    ):
        assert differences(expected, all_answers(client)) == []


@pytest.mark.oracle
def test_records_are_apache_kafkas(kafka: ApacheKafka, file: Path) -> None:
    with KafkaStub(snapshot=file) as stub:
        for topic in ("paid", "orders"):
            assert consumed(stub.bootstrap_servers, topic) == consumed(kafka.bootstrap_servers, topic)
        assert consumed(stub.bootstrap_servers, "compacted") == consumed(kafka.bootstrap_servers, "compacted")[-2:]


def consumed(servers: str, topic: str) -> list[tuple[int, int, bytes | None, bytes | None]]:
    """What a consumer of committed records gets, up to the last stable offset of each partition. It leaves no group."""
    config: dict[str, object] = {"bootstrap.servers": servers, "group.id": "none"}
    consumer = Consumer({**config, "enable.partition.eof": True, "enable.auto.commit": False})
    found, ended = [], set[int]()
    with closing(consumer):
        partitions = len(consumer.list_topics(topic, 30).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])

        def all_ended() -> bool:
            message = consumer.poll(0.1)
            if message is not None and message.error():
                ended.add(message.partition())
            elif message is not None:
                found.append((message.partition(), message.offset(), message.key(), message.value()))
            return len(ended) == partitions

        until(all_ended, "the ends")
    return sorted(found)


@pytest.mark.oracle
def test_kafkas_own_consumer_reads_past_records_that_are_not_there(kafka: ApacheKafka) -> None:
    saved = Snapshot.from_cluster(kafka.bootstrap_servers)
    with KafkaStub(snapshot=saved) as stub:
        stub.produce("orders", "behind them", partition=0)
        done = run_tool(
            CONSOLE_CONSUMER, "--bootstrap-server", stub.bootstrap_servers, "--topic", "orders",
            "--from-beginning", "--max-messages", "1",
        )  # fmt: skip
        assert done.stdout == "behind them\n"


@pytest.mark.oracle
def test_a_share_group_goes_on_where_it_does_on_apache_kafka(kafka: ApacheKafka, file: Path) -> None:
    with KafkaStub(snapshot=file, profile="kafka") as stub:
        here = left_to_share(stub.bootstrap_servers, SHARING)
    assert here[0] == 3  # behind what was accepted and rejected


# -- expiry ----------------------------------------------------------------------------------------------------------

SHORT: dict[str, object] = {
    **CONFIG,
    "offsets.retention.minutes": 1,
    "offsets.retention.check.interval.ms": 1000,
}
_OWN_RETENTION_MS = 30_000
_TWO_SWEEPS_MS = 2000
_LATE_SECONDS = 10
"""How long after an offset has expired that may be noticed on Kafka, on a busy machine."""


def commits(servers: str) -> Player:
    """A group with offsets alone, one with a retention of its own, one whose members have left, one that is live."""
    on = Player(servers)
    on.create(orders=4, audit=1)
    on.await_coordinator("simple", "own", "left", "live")
    on.commit("simple", {"orders": {0: 1, 1: 2}})
    on.commit("own", {"orders": {0: 1}}, version=4, retention=_OWN_RETENTION_MS)
    for group in ("left", "live"):
        on.start_join(group, group, "orders")
        joined = on.joined(group)
        on.sync(group, group, joined, joined)
        on.commit(group, {"orders": {0: 1}, "audit": {0: 1}}, member=(joined.member_id, joined.generation_id))
        if group == "left":
            on.leave(group, group, joined.member_id)
    return on


GROUPS = ("simple", "own", "left")


def gone(client: Client) -> set[str]:
    """Those of the groups that have no offsets any more."""
    return {name for name in GROUPS if not committed(client, name)["groups"][0]["topics"]}


@pytest.mark.oracle_expiry
def test_offsets_expire_when_apache_kafka_lets_them() -> None:
    with ApacheKafka(SHORT) as kafka, closing(commits(kafka.bootstrap_servers)):
        saved = Snapshot.from_cluster(kafka.bootstrap_servers)
        taken = time.monotonic()
        with (
            KafkaStub(snapshot=saved, profile="kafka") as stub,
            Client(stub.bootstrap_servers) as here,
            Client(kafka.bootstrap_servers) as there,
        ):
            stub.clock.freeze()
            start, before = stub.clock.now_ms(), set[str]()
            assert gone(here) == gone(there) == before
            for expected in ({"own"}, set(GROUPS)):
                waited_for(there, expected)
                passed = time.monotonic() - taken
                stub.clock.set(start + int((passed - _LATE_SECONDS) * 1000))
                assert gone(here) == before
                stub.clock.set(start + int(passed * 1000) + _TWO_SWEEPS_MS)
                assert gone(here) == expected
                before = expected


def waited_for(client: Client, expected: set[str]) -> None:
    until(lambda: gone(client) == expected, f"{expected} have gone", 120)
