"""The correct workers of Java and franz-go under chaos, with both group protocols: a check finds nothing of them.

test_workers.py has aiokafka's. `make check-workers SEEDS=1000` runs all three with as many seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from kafkastub import KafkaStub, Verdict
from tests.chaos import programs
from tests.chaos.orders import lost_by
from tests.chaos.programs import Program
from tests.oracle.jars import OracleError
from tests.toolchains import Unavailable

SEEDS = int(os.environ.get("CHECK_SEEDS", "3"))


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
    for seed in range(SEEDS):
        verdicts: list[Verdict] = []

        @contextmanager
        def checked(
            topics: Mapping[str, int],
            config: Mapping[str, object],
            verdicts: list[Verdict] = verdicts,
            **chaos: Any,
        ) -> Iterator[KafkaStub]:
            with KafkaStub(topics=topics, config=config, check=True, **chaos) as stub:
                yield stub
                verdicts.append(stub.check.at_least_once("orders", "confirmed", by="value"))

        lost_by(program, f"{protocol}-correct", seed, front=checked)
        (verdict,) = verdicts
        assert verdict.ok, f"seed {seed}: {verdict}"
        assert verdict.looked_at["records given"] >= 120
