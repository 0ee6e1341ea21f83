"""Consumer groups that one broker wrote, loaded by another from the same segment files: they are described alike, and
their members go on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.offsets_topic.consumer_history import CONFIG, GROUPS, TOPICS, Consumer, described, play, settle
from tests.offsets_topic.history import READY_SECONDS, Player
from tests.offsets_topic.moving import logs_from, logs_of, put_into_data_dir, put_into_kafka
from tests.offsets_topic.test_consumer_groups import KAFKAS
from tests.oracle.apache_kafka import ApacheKafka

RESTARTED = {**CONFIG, "broker.session.timeout.ms": 9000, "controlled.shutdown.enable": "true"}
"""For a Kafka that comes back: its controller lets no broker in whom it takes for running."""
IDS = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}


def new_data_dir(folder: Path, logs: Mapping[int, bytes], topic_ids: Mapping[bytes, str]) -> None:
    stub = KafkaStub(topics=TOPICS, config=CONFIG, profile="kafka", data_dir=folder)
    with stub, closing(Player(stub.bootstrap_servers)) as on:
        on.await_coordinator(*GROUPS)
    put_into_data_dir(folder, logs, topic_ids)


def played(servers: str, topic_ids: Mapping[bytes, str] | None = None) -> tuple[list[str], dict[bytes, str]]:
    """What is told behind the history, and the topics."""
    with closing(play(servers, topic_ids)) as on:
        return described(on), on.topic_ids


def told_by(servers: str) -> list[str]:
    with closing(Player(servers)) as on:
        on.await_coordinator(*GROUPS)
        return described(on)


def go_on(servers: str, topic_ids: Mapping[bytes, str]) -> list[str]:
    """Members whom the broker knows from its log alone go on where they were; what it tells then."""
    id_of = {name: topic_id for topic_id, name in topic_ids.items()}
    with closing(Player(servers)) as on:
        on.topic_ids.update(topic_ids)
        on.await_coordinator(*GROUPS)
        one, three = Consumer(on, "cg", "one"), Consumer(on, "cg", "three")
        one.epoch, one.owned = 4, {id_of["orders"]: [0], id_of["audit"]: [0]}
        three.epoch, three.owned = 6, {id_of["orders"]: [2]}
        settle(one, three)
        on.commit("cg", {"orders": {0: 6}}, member=("one", one.epoch))
        again = Consumer(on, "static", "yet again", instance_id="i2", subscribed_topic_names=["orders"])
        settle(again)
        return described(on)


def test_what_apache_kafka_wrote_is_told_here_as_kafka_told_it(tmp_path: Path) -> None:
    new_data_dir(tmp_path, logs_from(KAFKAS["partitions"]), IDS)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert told_by(stub.bootstrap_servers) == KAFKAS["described"]
        told = go_on(stub.bootstrap_servers, IDS)
        assert told[0] == "cg (0, 'Stable', 6, 6, 'range')"
        assert "static (0, 'Stable', 3, 3, 'uniform')" in told


def test_what_was_written_here_is_the_same_after_a_start(tmp_path: Path) -> None:
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        before, _ = played(stub.bootstrap_servers)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert told_by(stub.bootstrap_servers) == before


@pytest.mark.oracle
def test_segments_of_apache_kafka_are_loaded_here(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        before, topic_ids = played(kafka.bootstrap_servers)
        kafka.pause()
        assert kafka.folder is not None
        new_data_dir(tmp_path, logs_of(kafka.folder / "logs"), topic_ids)
        with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
            assert told_by(stub.bootstrap_servers) == before
            here = go_on(stub.bootstrap_servers, topic_ids)
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        assert go_on(kafka.bootstrap_servers, topic_ids) == here


@pytest.mark.oracle
def test_segments_that_were_written_here_are_loaded_by_apache_kafka(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        with closing(Player(kafka.bootstrap_servers)) as on:
            on.create(**TOPICS)
            on.await_coordinator(*GROUPS)
            topic_ids = on.topic_ids
        kafka.pause()
        new_data_dir(tmp_path, {}, topic_ids)
        with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
            before, _ = played(stub.bootstrap_servers, topic_ids)
        put_into_kafka(kafka, logs_of(tmp_path))
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        there = go_on(kafka.bootstrap_servers, topic_ids)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert go_on(stub.bootstrap_servers, topic_ids) == there


@pytest.mark.oracle
def test_what_real_consumers_left_in_apache_kafka_is_told_here(tmp_path: Path) -> None:
    from confluent_kafka import Consumer as RealConsumer

    with ApacheKafka(config=RESTARTED) as kafka, ExitStack() as consumers:
        with closing(Player(kafka.bootstrap_servers)) as on:
            on.create(**TOPICS)
            on.await_coordinator("real", "patterns")
            topic_ids = on.topic_ids
        members = []
        for group, topics, instance in (
            ("real", ["orders", "audit"], None),
            ("real", ["orders"], "i1"),
            ("real", ["orders", "other"], None),
            ("patterns", ["^or.*"], None),
            ("patterns", ["^o.*er$", "audit"], "i2"),
        ):
            settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": group, "group.protocol": "consumer"}
            member = RealConsumer({**settings, **({} if instance is None else {"group.instance.id": instance})})
            consumers.callback(member.close)
            member.subscribe(topics)
            members.append(member)
        with closing(Player(kafka.bootstrap_servers)) as on:
            _until_stable(on, members, ("real", 3), ("patterns", 2), topic="other")
            members[2].close()
            _until_stable(on, members[:2], ("real", 2))
            before = described(on, ("real", "patterns"))
        kafka.pause()
        assert kafka.folder is not None
        new_data_dir(tmp_path, logs_of(kafka.folder / "logs"), topic_ids)
        stub = KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path)
        with stub, closing(Player(stub.bootstrap_servers)) as on:
            assert described(on, ("real", "patterns")) == before
        kafka.resume()  # for the consumers, which say farewell


def _until_stable(on: Player, members: Sequence[Any], *groups: tuple[str, int], topic: str = "") -> None:
    """Let the members poll until each group is stable, with so many members that all have something.

    One with a pattern may be there, and the group stable, before Kafka has looked which topics it means: a member of
    the last group has this topic, then.
    """
    deadline = time.monotonic() + READY_SECONDS
    for group, count in groups:
        while True:
            for member in members:
                member.poll(0.05)
            told = described(on, (group,))
            missing = topic if (group, count) == groups[-1] else ""
            stable = "'Stable'" in told[0] and len(told) == count + 1 and f"('{missing}" in "".join(told)
            if stable and not any(" has [] " in line for line in told):
                break
            assert time.monotonic() < deadline, told
