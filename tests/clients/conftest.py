"""The client libraries, each against each broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.clients.adapters import DATA_NAMES, NAMES, connect, connect_data
from tests.clients.client import Client
from tests.clients.data import Broker, DataClient

DataClients = Callable[[str], DataClient]


@pytest.fixture(params=NAMES)
def client(request: pytest.FixtureRequest, servers: str) -> Iterator[Client]:
    """A library connected to a broker; what it opened is closed with the test."""
    library = connect(request.param, servers, lambda: request.getfixturevalue("jvm"))
    yield library
    library.close()


@pytest.fixture
def data_clients(request: pytest.FixtureRequest, servers: str) -> Iterator[DataClients]:
    """Any library (or kcat) by its name, for records as bytes."""
    opened: dict[str, DataClient] = {}

    def connected(name: str) -> DataClient:
        if name == "kcat":
            _need_kcat()
        if name not in opened:
            opened[name] = connect_data(name, servers, lambda: request.getfixturevalue("jvm"))
        return opened[name]

    yield connected
    for one in opened.values():
        one.close()


@pytest.fixture(params=DATA_NAMES)
def writer(request: pytest.FixtureRequest, data_clients: DataClients) -> DataClient:
    return data_clients(request.param)


@pytest.fixture(params=DATA_NAMES)
def reading(request: pytest.FixtureRequest, data_clients: DataClients) -> DataClient:
    """As `writer`, for the scenarios in which somebody else writes."""
    return data_clients(request.param)


@pytest.fixture(params=NAMES)
def library(request: pytest.FixtureRequest, data_clients: DataClients) -> DataClient:
    """As `writer`, without kcat."""
    return data_clients(request.param)


@pytest.fixture
def broker(servers: str) -> Iterator[Broker]:
    """Frames to the broker, beside the clients."""
    looking = Broker(servers)
    yield looking
    looking.close()


def _need_kcat() -> None:
    from tests.clients.adapters.data_kcat import kcat

    if kcat() is None:
        pytest.skip("this machine has no kcat")
