"""Fixtures for pytest: a broker per test, in a few milliseconds. The guide is docs/pytest.md.

Loaded by pytest through an entry point, so nothing of the broker is imported before a test asks for it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub.pytest_plugin.options import MARKER, Wanted, add_options, real_cluster, wanted_by_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkastub import KafkaStub
    from kafkastub.pytest_plugin.failure import Watched

_WATCHED: pytest.StashKey[list[Watched]] = pytest.StashKey()
"""The stubs that a test uses."""

_SERVER = "kafka_stub_server"


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kafka_stub(topics, config, retention_minutes, profile, as_version, nodes, partitions): "
        "what the broker of the fixture kafka_stub is like",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the broker was asked last."""
    report = yield
    watched = item.stash.get(_WATCHED, [])
    if report.failed and watched:
        from kafkastub.pytest_plugin.failure import last_requests

        report.sections += last_requests(watched, int(item.config.getini("kafka_stub_journal_lines")))
    return report


@pytest.fixture
def kafka_stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """A broker of the test's own, as its marker `kafka_stub(…)` and the options say.

    With KAFKA_STUB_BOOTSTRAP it stands for that cluster: `bootstrap_servers` and `create_topic` work, and a test that
    asks for anything else is skipped.
    """
    wanted = wanted_by_options(request.config).narrowed(request.node.iter_markers(MARKER))
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        yield _real(bootstrap, wanted)
        return
    with wanted.stub() as stub:
        _watch(request, stub, "kafka_stub")
        yield stub


@pytest.fixture(scope="session")
def kafka_stub_server(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """One broker for all tests of a session, and of a worker of pytest-xdist. Markers don't reach it."""
    wanted = wanted_by_options(request.config)
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        yield _real(bootstrap, wanted)
        return
    with wanted.stub() as stub:
        yield stub


@pytest.fixture(autouse=True)
def _kafka_stub_server_watched(request: pytest.FixtureRequest) -> None:
    if _SERVER in request.fixturenames and real_cluster(request.config) is None:
        _watch(request, request.getfixturevalue(_SERVER), _SERVER)


@pytest.fixture
def kafka_stub_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., KafkaStub]]:
    """Makes as many brokers as the test calls it, with the arguments of `KafkaStub`; they end with the test."""
    if real_cluster(request.config) is not None:
        pytest.skip(_needs("kafka_stub_factory", real_cluster(request.config)))
    with ExitStack() as running:

        def make(**arguments: Any) -> KafkaStub:
            stub = running.enter_context(wanted_by_options(request.config).stub(**arguments))
            _watch(request, stub, "kafka_stub_factory")
            return stub

        yield make


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest) -> str:
    """The name of a new topic on the test's broker; `@pytest.mark.kafka_stub(partitions=3)` gives it more partitions.

    The broker is `kafka_stub_server` where the test uses that, else `kafka_stub`.
    """
    shared = _SERVER in request.fixturenames and "kafka_stub" not in request.fixturenames
    stub: KafkaStub = request.getfixturevalue(_SERVER if shared else "kafka_stub")
    wanted = wanted_by_options(request.config).narrowed(request.node.iter_markers(MARKER))
    name = _name(request)
    stub.create_topic(name, wanted.partitions)
    return name


@pytest.fixture
def kafka_group(request: pytest.FixtureRequest) -> str:
    """The id of a group that nobody else has."""
    return _name(request)


@pytest.fixture
def kafka_clock(kafka_stub: KafkaStub) -> Any:
    """The clock of `kafka_stub`: now, freeze, set, advance."""
    return kafka_stub.clock


@pytest.fixture
def kafka_faults(kafka_stub: KafkaStub) -> Any:
    """The faults of `kafka_stub`: `kafka_faults.add(api="Fetch", error="…")`."""
    return kafka_stub.faults


@pytest.fixture
def kafka_journal(kafka_stub: KafkaStub) -> Any:
    """The journal of `kafka_stub`: every request with its answer."""
    return kafka_stub.journal


def _watch(request: pytest.FixtureRequest, stub: KafkaStub, fixture: str) -> None:
    from kafkastub.pytest_plugin.failure import Watched

    request.node.stash.setdefault(_WATCHED, []).append(Watched.from_now_on(stub, fixture))


def _real(bootstrap: str, wanted: Wanted) -> Any:
    from kafkastub.pytest_plugin.cluster import RealCluster

    if wanted.particular:
        pytest.skip(_needs(f"{wanted.particular[0]}= of the marker", bootstrap))
    return RealCluster(bootstrap, wanted.topics)


def _needs(what: str, bootstrap: str | None) -> str:
    return f"{what} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {bootstrap}"


def _name(request: pytest.FixtureRequest) -> str:
    """A legal name for topics and groups, of its own for this run of this test, in which the test can be read."""
    readable = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:100].strip("-.")
    return f"{readable or 'test'}-{uuid.uuid4().hex[:8]}"
