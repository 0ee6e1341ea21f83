"""Dead letters as Apache Kafka 4.4.0 writes them."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from tests.oracle.apache_kafka import ApacheKafka
from tests.share_partitions.dead_letters_played import CONFIG, played


@pytest.mark.oracle
def test_dead_letters_are_those_of_kafka() -> None:
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        ours = played(stub.bootstrap_servers)
    with ApacheKafka(config=CONFIG) as kafka:
        theirs = played(kafka.bootstrap_servers)
    assert {name for name in ours if ours[name] != theirs[name]} == set()
    assert ours == theirs
