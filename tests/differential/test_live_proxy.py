"""Random scenarios of every kind on Apache Kafka, directly and through a proxy in front of it, live: `make oracle`.

Every second one through a proxy that keeps a journal, and has a rule that asks for each request and meets none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest

from kafkastub import KafkaProxy
from kafkastub_conformance.differential.admin import admin_script
from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.consumers import consumer_script
from kafkastub_conformance.differential.data import data_script
from kafkastub_conformance.differential.groups import groups_script
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.share_groups import share_script
from kafkastub_conformance.differential.streams_groups import streams_script
from kafkastub_conformance.differential.transactions import transactions_script
from tests.differential.access import access_script
from tests.differential.fuzz import broken_bytes, odd_values
from tests.differential.handmade import SCRIPTS
from tests.differential.running import ByConfig, started_once

pytestmark = pytest.mark.oracle_proxy

PATIENCE = 30.0
TIMES = 3
"""As often a scenario is played before it is held to differ: of some hundred one differs from itself on Kafka."""
SEEDS: dict[Callable[[int], Script], range] = {
    groups_script: range(1001, 1021),
    odd_values: range(1001, 1011),
    broken_bytes: range(1001, 1011),
    data_script: range(2001, 2021),
    transactions_script: range(3000, 3014),
    access_script: range(3001, 3007),
    consumer_script: range(4000, 4014),
    admin_script: range(4001, 4011),
    share_script: range(6000, 6014),
    streams_script: range(7000, 7008),
}
RANDOM = {script.name: (script, seed) for kind, seeds in SEEDS.items() for seed in seeds for script in [kind(seed)]}


@contextmanager
def in_front(watched: bool, kafkas: ByConfig, config: str) -> Iterator[Broker]:
    """The broker with these settings, as it is seen through a proxy."""
    broker = kafkas(config)
    with KafkaProxy(f"{broker.host}:{broker.port}", journal=watched) as proxy:
        if watched:
            proxy.faults.add(client_id="nobody", delay_ms=1)
        doors = {}
        if broker.doors:
            port = next(iter(broker.doors.values())).port
            login = {"security.protocol": "SASL_PLAINTEXT"}
            with KafkaProxy(f"{broker.host}:{port}", command_config=login, journal=watched) as second:
                doors = {user: door._replace(port=second.port) for user, door in broker.doors.items()}
                yield replace(broker, host=proxy.host, port=proxy.port, doors=doors)
            return
        yield replace(broker, host=proxy.host, port=proxy.port)


@pytest.fixture(scope="module")
def proxies(kafkas: ByConfig) -> Iterator[tuple[ByConfig, ByConfig]]:
    """Those that nobody watches, and those that are watched."""
    with (
        started_once(partial(in_front, False, kafkas)) as plain,
        started_once(partial(in_front, True, kafkas)) as watched,
    ):
        yield plain, watched


def difference_of(script: Script, kafka: Broker, other: Broker) -> object:
    """None once it was the same."""
    difference: object = None
    for _ in range(TIMES):
        scenario, _ = script.play(kafka)
        difference = replay(scenario, other, PATIENCE)
        if difference is None:
            return None
    return difference


@pytest.mark.parametrize("name", RANDOM)
def test_a_random_scenario(name: str, kafkas: ByConfig, proxies: tuple[ByConfig, ByConfig]) -> None:
    script, seed = RANDOM[name]
    difference = difference_of(script, kafkas(script.config), proxies[seed % 2](script.config))
    assert difference is None, f"\n{difference}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_handmade_scenario(name: str, kafkas: ByConfig, proxies: tuple[ByConfig, ByConfig]) -> None:
    script = SCRIPTS[name]
    difference = difference_of(script, kafkas(script.config), proxies[len(name) % 2](script.config))
    assert difference is None, f"\n{difference}"
