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


@pytest.mark.behaviour("CT-1", "CT-2", "CT-3", "CT-4", "CT-5", "CT-6", "CT-7")
@pytest.mark.behaviour("RT-1", "RT-2", "RT-3", "XT-1", "XT-2", "XT-3", "XT-4", "DT-1", "DT-2", "DT-3", "DT-4", "SA-11")
@ENABLED_AND_NOT
def test_the_stub_answers_as_kafka_did(name: str, config: dict[str, object], player: Player):
    with brokers.stub(**config) as addresses:
        assert player(addresses) == recorded(name)


@pytest.mark.oracle
@ENABLED_AND_NOT
def test_kafka_answers_so(name: str, config: dict[str, object], player: Player):
    with brokers.kafka(**config) as addresses:
        assert player(addresses) == recorded(name)
