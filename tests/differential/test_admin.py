"""Scenarios of a cluster's administration, between stubs: who signs in, what is restored, and that defects are seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafkastub import KafkaStub
from kafkastub_conformance.differential.admin import FEATURES, admin_script
from kafkastub_conformance.differential.broker import Broker, Door, Lost, prepared
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario
from tests.differential.brokers import CONFIGS, PASSWORDS
from tests.differential.restoring import Restored
from tests.differential.running import stub
from tests.differential.visits import PATIENCE

SEEDS = range(1, 9)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with stub("admin") as running:
        yield running


@pytest.fixture(scope="module")
def scenarios(broker: Broker) -> list[Scenario]:
    return [admin_script(seed).play(broker)[0] for seed in SEEDS]


@contextmanager
def another(**more: object) -> Iterator[tuple[KafkaStub, Broker]]:
    """To be meddled with."""
    config = {
        **CONFIGS["admin"],
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "log.dirs": "/kept/nowhere/one,/kept/nowhere/three,/kept/nowhere/two",
        **more,
    }
    with KafkaStub(profile="kafka", config=config) as running:
        port = int(running.bootstrap_servers_of("SASL_PLAINTEXT").rpartition(":")[2])
        broker = prepared(running.bootstrap_servers_of("PLAINTEXT"))
        broker.doors = {user: Door(port, password) for user, password in PASSWORDS.items()}
        broker.emptied = Restored()
        yield running, broker


def test_the_same_is_answered_by_another_stub_and_again_by_the_same(broker: Broker, scenarios: list[Scenario]) -> None:
    with stub("admin") as fresh:
        for one in (fresh, broker):
            assert [replay(scenario, one, PATIENCE) for scenario in scenarios] == [None] * len(scenarios)


def test_every_api_is_asked_and_most_of_what_is_asked_makes_sense(scenarios: list[Scenario]) -> None:
    asked, refused = Counter[str](), Counter[str]()
    for scenario in scenarios:
        for step in scenario.steps:
            asked[step.api] += 1
            refused[step.api] += any("error_code" in str(answer) for _, answer in step.answers)
    assert asked.keys() >= {
        "AddRaftVoter", "AlterReplicaLogDirs", "CreateDelegationToken", "DescribeDelegationToken", "DescribeQuorum",
        "ExpireDelegationToken", "RemoveRaftVoter", "RenewDelegationToken", "UnregisterBroker", "UnregisterController",
        "UpdateFeatures",
    }  # fmt: skip
    for api in ("AlterReplicaLogDirs", "CreateDelegationToken", "RenewDelegationToken", "UpdateFeatures"):
        assert 0 < refused[api] < asked[api], api


@pytest.mark.parametrize(
    "api",
    [
        "AlterReplicaLogDirs", "CreateDelegationToken", "DescribeDelegationToken", "DescribeQuorum",
        "ExpireDelegationToken", "RenewDelegationToken", "UnregisterBroker", "UpdateFeatures",
    ],
)  # fmt: skip
def test_an_error_in_the_place_of_the_answer_is_found(api: str, scenarios: list[Scenario]) -> None:
    with another() as (running, broker), running.faults.add(api=api, error="CORRUPT_MESSAGE"):
        found = [replay(scenario, broker, 0.1) for scenario in scenarios]
    assert api in {difference.step.api for difference in found if difference is not None}


def test_a_token_that_lives_longer_than_it_should_is_found(scenarios: list[Scenario]) -> None:
    with another(**{"delegation.token.expiry.time.ms": 25 * 3_600_000}) as (_, broker):
        found = [replay(scenario, broker, 0.1) for scenario in scenarios]
    paths = {one.path.rpartition(".")[2] for difference in found if difference is not None for one in difference.fields}
    assert paths & {"expiry_timestamp_ms", "expiry_timestamp"}


def test_features_are_as_they_were_before_every_play(broker: Broker, scenarios: list[Scenario]) -> None:
    changed = [scenario for scenario in scenarios if any(_changes(step.api, step.body) for step in scenario.steps)]
    assert changed
    for scenario in (*changed, *changed):
        assert replay(scenario, broker, PATIENCE) is None


def _changes(api: str, body: dict[str, object]) -> bool:
    return api == "UpdateFeatures" and not body.get("validate_only") and any(name in str(body) for name in FEATURES)


def test_who_is_not_let_in_is_said() -> None:
    with another() as (_, broker):
        broker.doors = {"alice": broker.doors["alice"]._replace(password="wrong")}
        with pytest.raises(Lost, match="does not let alice in: error 58"):
            admin_script(1).play(broker)
