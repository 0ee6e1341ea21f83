"""Everything about topics and configurations is answered as Apache Kafka 4.4.0 answers it, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.handlers.topic_player import CONFIG, STEPS, Player, recorded, settled, title
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import SECONDS


def test_the_recording_is_of_these_steps():
    titles = [title(step) for step in STEPS]
    assert len(set(titles)) == len(titles)
    assert list(recorded()) == titles


@pytest.mark.parametrize("profile", ["kafka", "kips"])
def test_the_stub_answers_as_recorded(profile: str):
    with KafkaStub(profile=profile) as stub, Player(stub.bootstrap_servers) as player:
        assert differences(player) == {}


@pytest.mark.oracle
def test_apache_kafka_answers_as_recorded():
    with ApacheKafka(config=CONFIG) as kafka, Player(kafka.bootstrap_servers) as player:
        assert differences(player, patience=SECONDS) == {}


def differences(player: Player, patience: float = 0) -> dict[str, Any]:
    """Step -> (recorded, answered now, or within so many seconds where asking again is no harm)."""
    expected = recorded()
    result = {}
    for step in STEPS:
        answer = settled(player, step, expected[title(step)], patience)
        if answer != expected[title(step)]:
            result[title(step)] = (expected[title(step)], answer)
    return result
