"""Starting the two brokers with the settings that a scenario names."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING, Any

from kafkastub_conformance.differential.broker import Broker, Door, prepared
from kafkastub_conformance.link import Link, remembered
from kafkastub_conformance.release import checked_release, versions
from tests.differential.access import take_away
from tests.differential.brokers import CONFIGS, GUARDED, LEVELS, LOG_DIRS, ORDERLY, PASSWORDS
from tests.differential.guarded import allow_all
from tests.differential.restoring import Restored
from tests.oracle.apache_kafka import ApacheKafka
from tests.security.brokers import SaslKafka

if TYPE_CHECKING:
    from kafkastub import KafkaStub
    from kafkastub.metadata import Topic

NEWEST_LEVEL = 2
"""Of transaction.version: what a fresh broker has."""

SECONDS = 30.0

SAME_IDS = ("consumer", "share", "guarded-share", "guarded-consumer")
"""Settings under which the ids of topics decide who is assigned what: both brokers need to have the same ones."""

ByConfig = Callable[[str], Broker]
"""From a key of brokers.CONFIGS to a running broker with those settings."""


@contextmanager
def apache_kafka(config: str, release: str = "") -> Iterator[Broker]:
    """Apache Kafka with the settings `config` of brokers.CONFIGS, and the shared topics."""
    with _settings(config) as settings:
        kafka = (SaslKafka if config == "admin" else ApacheKafka)({**settings, **ORDERLY}, release=release)
        with kafka:
            broker = _of(release, prepared(kafka.bootstrap_servers))
            yield _fitted(broker, config, kafka.sasl_port if isinstance(kafka, SaslKafka) else 0)


@contextmanager
def stub(config: str, release: str = "", like: ByConfig | None = None) -> Iterator[Broker]:
    """The stub in profile `kafka`, with the same, as that release; its topics have the ids of those `like` has."""
    from kafkastub import KafkaStub  # here: the oracle is of use without it

    listeners = {"listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"} if config == "admin" else {}
    with (
        _settings(config) as settings,
        KafkaStub(profile="kafka", config={**settings, **listeners}, as_version=release or None) as running,
    ):
        if like is not None and config in SAME_IDS:
            _give_ids(running, like(config).topic_ids)
        sasl = running.bootstrap_servers_of("SASL_PLAINTEXT") if listeners else "0"
        broker = _of(release, prepared(running.bootstrap_servers_of("PLAINTEXT")))
        yield _fitted(broker, config, int(sasl.rpartition(":")[2]))


def _give_ids(running: KafkaStub, ids: Mapping[str, bytes]) -> None:
    """Let topics of these names get these ids."""
    cluster = running._running().state.cluster
    create = cluster.create_topic

    def create_topic(name: str, *args: Any, **more: Any) -> Topic:
        return create(name, *args, **{**more, "topic_id": more.get("topic_id") or ids.get(name)})

    cluster.create_topic = create_topic  # type: ignore[method-assign]


@contextmanager
def _settings(config: str) -> Iterator[dict[str, object]]:
    """Those of that name; with folders of the broker's own, where it has several."""
    if config != "admin":
        yield CONFIGS[config]
        return
    with TemporaryDirectory(prefix="differential-") as folder:
        yield {**CONFIGS[config], "log.dirs": ",".join(f"{folder}/{name}" for name in LOG_DIRS)}


def _of(release: str, broker: Broker) -> Broker:
    """The same, asked for no more than the release has."""
    return replace(broker, usable=versions(checked_release(release))) if release else broker


def _fitted(broker: Broker, config: str, sasl_port: int) -> Broker:
    """With what makes it as it was before each play, ways in for who signs in, and the features' levels."""
    if config == "admin":
        doors = {user: Door(sasl_port, password) for user, password in PASSWORDS.items()}
        return replace(broker, emptied=Restored(), doors=doors)
    if LEVELS.get(config, NEWEST_LEVEL) != NEWEST_LEVEL:
        _downgrade(broker, "transaction.version", LEVELS[config])
    if config in GUARDED:
        return replace(broker, emptied=allow_all)
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
