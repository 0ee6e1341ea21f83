"""The two brokers that scenarios are played on, each setting of them started when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.running import ByConfig, apache_kafka, started_once, stub


@pytest.fixture(scope="module")
def kafkas() -> Iterator[ByConfig]:
    with started_once(apache_kafka) as brokers:
        yield brokers


@pytest.fixture(scope="module")
def stubs() -> Iterator[ByConfig]:
    with started_once(stub) as brokers:
        yield brokers
