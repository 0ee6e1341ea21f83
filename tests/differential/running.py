"""Starting the two brokers with the settings that a scenario names."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from threading import Event

from kafkastub.conformance.differential.broker import Broker, prepared
from kafkastub.conformance.link import Link, remembered
from kafkastub.conformance.release import known, versions
from tests.differential.access import take_away
from tests.differential.brokers import CONFIGS, LEVELS, ORDERLY
from tests.oracle.apache_kafka import ApacheKafka

NEWEST_LEVEL = 2
"""Of transaction.version: what a fresh broker has."""

SECONDS = 30.0

ByConfig = Callable[[str], Broker]
"""From a key of brokers.CONFIGS to a running broker with those settings."""


@contextmanager
def apache_kafka(config: str, release: str = "") -> Iterator[Broker]:
    """Apache Kafka with the settings `config` of brokers.CONFIGS, and the shared topics."""
    with ApacheKafka({**CONFIGS[config], **ORDERLY}, release=release) as kafka:
        yield _emptied(_of(release, prepared(kafka.bootstrap_servers)), config)


@contextmanager
def stub(config: str, release: str = "") -> Iterator[Broker]:
    """The stub in profile `kafka`, with the same, as that release."""
    from kafkastub import KafkaStub  # here: the oracle is of use without it

    with KafkaStub(profile="kafka", config=CONFIGS[config], as_version=release or None) as running:
        yield _emptied(_of(release, prepared(running.bootstrap_servers)), config)


def _of(release: str, broker: Broker) -> Broker:
    """The same, asked for no more than the release has."""
    return replace(broker, usable=versions(known(release))) if release else broker


def _emptied(broker: Broker, config: str) -> Broker:
    if LEVELS.get(config, NEWEST_LEVEL) != NEWEST_LEVEL:
        _downgrade(broker, "transaction.version", LEVELS[config])
    return replace(broker, emptied=take_away) if config == "access" else broker


def _downgrade(broker: Broker, feature: str, level: int) -> None:
    """Lower a feature's finalised level, and wait until the broker says so."""
    update = {"feature": feature, "max_version_level": level, "upgrade_type": 2}
    with Link(broker.host, broker.port, SECONDS, "features", math.inf, remembered()) as link:
        answer = link.request("UpdateFeatures", 1, {"timeout_ms": 30000, "feature_updates": [update]}).answer()
        assert not answer.error_code, answer
        deadline = time.monotonic() + SECONDS
        while True:
            known = link.request(
                "ApiVersions", 3, {"client_software_name": "a", "client_software_version": "1"}
            ).answer()
            levels = {one.name: one.max_version_level for one in known.finalized_features}
            if levels.get(feature, 0) == level:
                return
            assert time.monotonic() < deadline, levels
            Event().wait(0.02)


@contextmanager
def started_once(start: Callable[[str], AbstractContextManager[Broker]]) -> Iterator[ByConfig]:
    """Brokers started when first asked for, one for each setting, and ended together."""
    with ExitStack() as stack:
        brokers: dict[str, Broker] = {}

        def broker(config: str) -> Broker:
            if config not in brokers:
                brokers[config] = stack.enter_context(start(config))
            return brokers[config]

        yield broker
