"""Chaos through a proxy: a correct worker loses nothing on Apache Kafka either, and one with a bug is found out."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import pytest

from kafkastub import KafkaProxy, KafkaStub
from tests.chaos import programs, workers
from tests.chaos.orders import Front, lost_by
from tests.chaos.workers import working
from tests.fronts import clean
from tests.oracle.apache_kafka import ApacheKafka
from tests.oracle.jars import OracleError
from tests.toolchains import Unavailable

SEEDS = int(os.environ.get("PROXY_CHAOS_SEEDS", "4"))
"""Of each worker that is correct; `make chaos-proxy` has two hundred."""
BUGS = ["commits_first", "forgets_to_rewind", "leaves_out"]
PATIENCE = 0.5
"""Seconds, of a worker that is correct: Apache Kafka and a busy machine are slower than a stub."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def left_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What it leaves is collected here, not in whichever test comes next."""
    monkeypatch.setattr(workers, "PATIENCE", PATIENCE)
    yield
    gc.collect()


@contextmanager
def before_a_stub(topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any) -> Iterator[KafkaStub]:
    with KafkaStub(topics=topics, config=config) as stub, KafkaProxy(stub.bootstrap_servers, **chaos) as proxy:
        yield cast(KafkaStub, proxy)


@contextmanager
def before_kafka(
    kafka: ApacheKafka, topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any
) -> Iterator[KafkaStub]:
    clean(kafka.bootstrap_servers)
    with KafkaProxy(kafka.bootstrap_servers, **chaos) as proxy:
        for name, partitions in topics.items():
            proxy.create_topic(name, partitions)
        yield cast(KafkaStub, proxy)


@pytest.fixture(params=["stub", pytest.param("kafka", marks=pytest.mark.oracle_proxy)])
def front(request: pytest.FixtureRequest) -> Front:
    if request.param == "stub":
        return before_a_stub
    return partial(before_kafka, request.getfixturevalue("apache_kafka"))


def test_a_correct_worker_survives(front: Front) -> None:
    for seed in range(SEEDS):
        assert not lost_by(working, "correct", seed, front=front), f"seed {seed}"


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found(front: Front, bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.06)
    assert any(lost_by(working, bug, seed, grace=1, front=front) for seed in range(50))


@pytest.fixture(scope="module", params=[programs.java, programs.go], ids=["java", "franz-go"])
def program(request: pytest.FixtureRequest) -> Iterator[programs.Program]:
    try:
        command = request.param()
    except (OracleError, Unavailable) as missing:
        pytest.skip(str(missing))
    with programs.Program(command) as running:
        yield running


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_correct_worker_of_another_language_survives(front: Front, program: programs.Program, protocol: str) -> None:
    for seed in range(SEEDS):
        assert not lost_by(program, f"{protocol}-correct", seed, front=front), f"seed {seed}"


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_another_language_is_found(front: Front, program: programs.Program, bug: str) -> None:
    assert any(lost_by(program, f"classic-{bug}", seed, grace=1, front=front) for seed in range(50))


def test_a_seed_does_the_same_to_requests_as_on_a_stub() -> None:
    from kafkastub.client import Client
    from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest

    def acts(servers: str) -> None:
        with Client(servers) as client:
            for _ in range(200):
                client.ask(FindCoordinatorRequest(key="g", coordinator_keys=["g"]))

    with KafkaStub(chaos=3) as stub, KafkaStub() as behind, KafkaProxy(behind.bootstrap_servers, chaos=3) as proxy:
        acts(stub.bootstrap_servers)
        acts(proxy.bootstrap_servers)
        assert [act.what for act in stub.chaos.acts] == [act.what for act in proxy.chaos.acts] != []
