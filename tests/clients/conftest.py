"""The client libraries, each against each broker."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.clients.adapters import NAMES, connect
from tests.clients.client import Client
from tests.clients.jvm import Jvm
from tests.oracle.jars import OracleError, class_path, java


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    """One JVM for all tests of a run."""
    try:
        java()
        class_path()
    except OracleError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    with Jvm() as running:
        yield running


@pytest.fixture(params=NAMES)
def client(request: pytest.FixtureRequest, servers: str) -> Iterator[Client]:
    """A library connected to a broker; what it opened is closed with the test."""
    library = connect(request.param, servers, lambda: request.getfixturevalue("jvm"))
    yield library
    library.close()
