"""Delegation tokens: every answer of the stub is the one that Apache Kafka 4.4.0 gave."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.security import brokers
from tests.security.brokers import Addresses
from tests.security.delegation_steps import CONFIG, DISABLED, RECORDED, Said, play, play_disabled

ENABLED_AND_NOT = pytest.mark.parametrize(
    ("name", "config", "player"), [("enabled", CONFIG, play), ("disabled", DISABLED, play_disabled)]
)
Player = Callable[[Addresses], Said]


def recorded(name: str) -> Said:
    found: Said = json.loads(RECORDED.read_text())[name]
    return found


@pytest.mark.behaviour("KC-1", "KC-2", "KC-3", "KC-4", "KC-5", "KC-6", "KC-7")
@pytest.mark.behaviour("KR-1", "KR-2", "KR-3", "KE-1", "KE-2", "KE-3", "KE-4", "KD-1", "KD-2", "KD-3", "KD-4", "SA-11")
@ENABLED_AND_NOT
def test_the_stub_answers_as_kafka_did(name: str, config: dict[str, object], player: Player):
    with brokers.stub(**config) as addresses:
        assert player(addresses) == recorded(name)


@pytest.mark.oracle
@ENABLED_AND_NOT
def test_kafka_answers_so(name: str, config: dict[str, object], player: Player):
    with brokers.kafka(**config) as addresses:
        assert player(addresses) == recorded(name)
