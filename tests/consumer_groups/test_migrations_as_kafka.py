"""Members of both protocols in one group are answered as on Apache Kafka 4.4.0, and it is written down as there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from tests.consumer_groups.migrations import CONFIG, SCENARIOS
from tests.consumer_groups.record_migrations import FOLDER, played, recorded
from tests.oracle.apache_kafka import ApacheKafka


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka(config=CONFIG) as kafka:
        yield kafka


def test_every_scenario_is_recorded():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_stub_does_as_recorded(name: str):
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        assert played(name, int(stub.bootstrap_servers.rpartition(":")[2])) == recorded(name)


@pytest.mark.oracle
@pytest.mark.parametrize("name", SCENARIOS)
def test_apache_kafka_does_as_recorded(name: str, kafka: ApacheKafka):
    assert played(name, kafka.port) == recorded(name)
