"""The workers of tests/chaos without their assertion: the check finds those with a bug, and nothing of the correct one.

On a stub, through a proxy in front of one, and (`make oracle-proxy`) through a proxy in front of Apache Kafka.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import pytest

from kafkastub import KafkaProxy, KafkaStub, Verdict
from tests.chaos import workers
from tests.chaos.orders import lost_by
from tests.chaos.workers import working
from tests.fronts import clean
from tests.guarantees.seeds import every_seed
from tests.oracle.apache_kafka import ApacheKafka

WITH_RELATION = ("commits_first", "leaves_out")
"""That a record was worked on shows in the other topic alone."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def left_to_nobody_else() -> Iterator[None]:
    """What aiokafka leaves is collected here, not in whichever test comes next."""
    yield
    gc.collect()


@contextmanager
def a_stub(topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any) -> Iterator[KafkaStub]:
    with KafkaStub(topics=topics, config=config, check=True, **chaos) as stub:
        yield stub


@contextmanager
def before_a_stub(topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any) -> Iterator[KafkaStub]:
    with (
        KafkaStub(topics=topics, config=config) as stub,
        KafkaProxy(stub.bootstrap_servers, check=True, **chaos) as proxy,
    ):
        yield cast(KafkaStub, proxy)


@contextmanager
def before_kafka(
    kafka: ApacheKafka, topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any
) -> Iterator[KafkaStub]:
    clean(kafka.bootstrap_servers)
    with KafkaProxy(kafka.bootstrap_servers, check=True, **chaos) as proxy:
        for name, partitions in topics.items():
            proxy.create_topic(name, partitions)
        yield cast(KafkaStub, proxy)


@pytest.fixture(params=["stub", "proxy", pytest.param("kafka", marks=pytest.mark.oracle_proxy)])
def front(request: pytest.FixtureRequest) -> Any:
    if request.param == "kafka":
        return partial(before_kafka, request.getfixturevalue("apache_kafka"))
    return a_stub if request.param == "stub" else before_a_stub


def verdict_of(front: Any, worker: str, seed: int) -> Verdict:
    """What the check says when the worker has committed all orders."""
    verdicts = []

    @contextmanager
    def checked(**wanted: Any) -> Iterator[KafkaStub]:
        with front(**wanted) as stub:
            yield stub
            if worker in WITH_RELATION:
                verdicts.append(stub.check.at_least_once("orders", "confirmed", by="value"))
            else:
                verdicts.append(stub.check())

    lost_by(working, worker, seed, grace=1, front=checked)
    return verdicts[0]


def test_nothing_is_found_of_a_correct_worker(front: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    every_seed(lambda seed: verdict_of(front, "correct", seed))


@pytest.mark.parametrize(
    ("bug", "guarantee"),
    [("commits_first", "at_least_once"), ("forgets_to_rewind", "left_behind"), ("leaves_out", "at_least_once")],
)
def test_a_bug_is_found_without_an_assertion(front: Any, bug: str, guarantee: str) -> None:
    for seed in range(50):
        verdict = verdict_of(front, bug, seed)
        if not verdict.ok:
            assert {one.guarantee for one in verdict.findings} == {guarantee}, str(verdict)
            return
    raise AssertionError("no seed has found it")
