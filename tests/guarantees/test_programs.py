"""The correct workers of Java and franz-go under chaos, with both group protocols: a check finds nothing of them.

test_workers.py has aiokafka's. `make check-workers SEEDS=1000` runs all three with as many seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from kafkastub import KafkaStub, Verdict
from tests.chaos import programs
from tests.chaos.orders import lost_by
from tests.chaos.programs import Program
from tests.guarantees.seeds import every_seed
from tests.oracle.jars import OracleError
from tests.toolchains import Unavailable


@pytest.fixture(scope="module", params=[programs.java, programs.go], ids=["java", "franz-go"])
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    try:
        command = request.param()
    except (OracleError, Unavailable) as missing:
        pytest.skip(str(missing))
    with Program(command) as running:
        yield running


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_nothing_is_found_of_a_correct_worker(program: Program, protocol: str):
    def verdict_of(seed: int) -> Verdict:
        verdicts: list[Verdict] = []

        @contextmanager
        def checked(topics: Mapping[str, int], config: Mapping[str, object], **chaos: Any) -> Iterator[KafkaStub]:
            with KafkaStub(topics=topics, config=config, check=True, **chaos) as stub:
                yield stub
                verdicts.append(stub.check.at_least_once("orders", "confirmed", by="value"))

        lost_by(program, f"{protocol}-correct", seed, front=checked)
        return verdicts[0]

    every_seed(verdict_of)
