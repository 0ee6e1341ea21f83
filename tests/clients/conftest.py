"""The client libraries, each against each broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.adapters import NAMES, connect
from tests.clients.client import Client


@pytest.fixture(params=NAMES)
def client(request: pytest.FixtureRequest, servers: str) -> Iterator[Client]:
    """A library connected to a broker; what it opened is closed with the test."""
    library = connect(request.param, servers, lambda: request.getfixturevalue("jvm"))
    yield library
    library.close()
