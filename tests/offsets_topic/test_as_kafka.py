"""The same history leaves the same records in the same batches in Apache Kafka's `__consumer_offsets` and in ours.

golden/ was recorded from Apache Kafka (`python -m tests.offsets_topic.record`); `make oracle` compares it with one.
"""

from __future__ import annotations

import json

import pytest

from kafkastub import KafkaStub
from tests.clients.jvm import Jvm
from tests.offsets_topic.formatters import printed
from tests.offsets_topic.history import CONFIG, normalised, play, shown
from tests.offsets_topic.record import CODECS, GOLDEN
from tests.oracle.apache_kafka import ApacheKafka


def held(servers: str) -> list[object]:
    player = play(servers)
    try:
        return shown(normalised(player))
    finally:
        player.close()


def lines(servers: str, jvm: Jvm) -> list[str]:
    player = play(servers)
    try:
        return printed(jvm, player)
    finally:
        player.close()


@pytest.mark.parametrize("name", CODECS)
def test_the_topic_holds_what_apache_kafkas_holds(name: str) -> None:
    with KafkaStub(config={**CONFIG, "offsets.topic.compression.codec": CODECS[name]}, profile="kafka") as stub:
        assert held(stub.bootstrap_servers) == json.loads((GOLDEN / f"batches-{name}.json").read_text())


def test_kafkas_formatters_print_what_they_print_of_apache_kafkas(jvm: Jvm) -> None:
    with KafkaStub(config=CONFIG, profile="kafka") as stub:
        assert lines(stub.bootstrap_servers, jvm) == (GOLDEN / "formatters.txt").read_text().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("name", CODECS)
def test_the_recorded_topic_is_apache_kafkas(name: str) -> None:
    with ApacheKafka(config={**CONFIG, "offsets.topic.compression.codec": CODECS[name]}) as kafka:
        assert held(kafka.bootstrap_servers) == json.loads((GOLDEN / f"batches-{name}.json").read_text())


@pytest.mark.oracle
def test_the_recorded_lines_are_of_apache_kafkas_topic(jvm: Jvm) -> None:
    with ApacheKafka(config=CONFIG) as kafka:
        assert lines(kafka.bootstrap_servers, jvm) == (GOLDEN / "formatters.txt").read_text().splitlines()
