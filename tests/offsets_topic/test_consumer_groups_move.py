"""Consumer groups that one broker wrote, loaded by another from the same segment files: they are described alike, and
their members go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.offsets_topic.consumer_history import CONFIG, GROUPS, TOPICS, Consumer, described, play, settle
from tests.offsets_topic.history import Player
from tests.offsets_topic.moving import logs_from, logs_of, put_into_data_dir, put_into_kafka
from tests.offsets_topic.test_consumer_groups import KAFKAS
from tests.oracle.apache_kafka import ApacheKafka

RESTARTED = {**CONFIG, "broker.session.timeout.ms": 9000, "controlled.shutdown.enable": "true"}
"""For a Kafka that comes back: its controller lets no broker in whom it takes for running."""
IDS = {bytes.fromhex(topic_id): name for topic_id, name in KAFKAS["topic_ids"].items()}


def new_data_dir(folder: Path, logs: Mapping[int, bytes], topic_ids: Mapping[bytes, str]) -> None:
    with KafkaStub(topics=TOPICS, config=CONFIG, profile="kafka", data_dir=folder) as stub:
        on = Player(stub.bootstrap_servers)
        on.await_coordinator(*GROUPS)
        on.close()
    put_into_data_dir(folder, logs, topic_ids)


def go_on(servers: str, topic_ids: Mapping[bytes, str]) -> list[str]:
    """The members of one of the groups, whom the broker knows from its log alone, go on where they were; what it
    then tells."""
    on = Player(servers)
    on.topic_ids.update(topic_ids)
    on.await_coordinator(*GROUPS)
    one, three = Consumer(on, "cg", "one"), Consumer(on, "cg", "three")
    one.epoch, three.epoch = 4, 6
    (orders,) = [topic_id for topic_id, name in topic_ids.items() if name == "orders"]
    (audit,) = [topic_id for topic_id, name in topic_ids.items() if name == "audit"]
    one.owned, three.owned = {orders: [0, 1], audit: [0]}, {orders: [2]}
    settle(one, three)
    told = described(on)
    on.close()
    return told


def told_by(servers: str) -> list[str]:
    on = Player(servers)
    on.await_coordinator(*GROUPS)
    told = described(on)
    on.close()
    return told


def test_what_apache_kafka_wrote_is_told_here_as_kafka_told_it(tmp_path: Path) -> None:
    new_data_dir(tmp_path, logs_from(KAFKAS["partitions"]), IDS)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert told_by(stub.bootstrap_servers) == KAFKAS["described"]
        assert go_on(stub.bootstrap_servers, IDS)[0] == "cg (0, 'Stable', 6, 6, 'range')"


def test_what_was_written_here_is_the_same_after_a_start(tmp_path: Path) -> None:
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        player = play(stub.bootstrap_servers)
        before = described(player)
        player.close()
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert told_by(stub.bootstrap_servers) == before


@pytest.mark.oracle
def test_segments_of_apache_kafka_are_loaded_here(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        player = play(kafka.bootstrap_servers)
        before = described(player)
        player.close()
        kafka.pause()
        assert kafka.folder is not None
        new_data_dir(tmp_path, logs_of(kafka.folder / "logs"), player.topic_ids)
        with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
            assert told_by(stub.bootstrap_servers) == before
            here = go_on(stub.bootstrap_servers, player.topic_ids)
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        assert go_on(kafka.bootstrap_servers, player.topic_ids) == here


@pytest.mark.oracle
def test_segments_that_were_written_here_are_loaded_by_apache_kafka(tmp_path: Path) -> None:
    with ApacheKafka(config=RESTARTED) as kafka:
        on = Player(kafka.bootstrap_servers)
        on.create(**TOPICS)
        on.await_coordinator(*GROUPS)
        topic_ids = on.topic_ids
        on.close()
        kafka.pause()
        new_data_dir(tmp_path, {}, topic_ids)
        with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
            player = play(stub.bootstrap_servers, topic_ids)
            before = described(player)
            player.close()
        put_into_kafka(kafka, logs_of(tmp_path))
        kafka.resume()
        assert told_by(kafka.bootstrap_servers) == before
        there = go_on(kafka.bootstrap_servers, topic_ids)
    with KafkaStub(config=CONFIG, profile="kafka", data_dir=tmp_path) as stub:
        assert go_on(stub.bootstrap_servers, topic_ids) == there
