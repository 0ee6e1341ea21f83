"""Fixtures for pytest: a broker per test, in a few milliseconds. The guide is docs/pytest.md.

Loaded by pytest through an entry point, so nothing of the broker is imported before a test asks for it.
"""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from kafkastub.pytest_plugin.options import (
    MARKER,
    Wanted,
    add_options,
    check_shared,
    journal_lines,
    real_cluster,
    wanted_by_marker,
    wanted_by_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkastub import KafkaStub

_FIXTURES = pytest.StashKey[WeakKeyDictionary["KafkaStub", str]]()
"""Of a session: which fixture a stub is of."""
_BEGAN: pytest.StashKey[datetime] = pytest.StashKey()
"""Of a test: when its first fixture was set up."""

_STUB, _SERVER, _FACTORY = "kafka_stub", "kafka_stub_server", "kafka_stub_factory"


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kafka_stub(topics, config, retention_minutes, profile, as_version, nodes, partitions): "
        "what the broker of the fixture kafka_stub is like",
    )
    config.stash[_FIXTURES] = WeakKeyDictionary()
    journal_lines(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_BEGAN] = datetime.now(UTC)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what the brokers were asked last."""
    report = yield
    if report.failed and "kafkastub.stub.stub" in sys.modules and _BEGAN in item.stash:
        from kafkastub.pytest_plugin.failure import of_brokers

        fixtures, began = item.config.stash[_FIXTURES], item.stash[_BEGAN]
        report.sections += of_brokers(fixtures, began, journal_lines(item.config))
    return report


@pytest.fixture
def kafka_stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """A broker of the test's own, as its marker `kafka_stub(…)` and the options say.

    With KAFKA_STUB_BOOTSTRAP it stands for that cluster: `bootstrap_servers` and `create_topic` work, and a test that
    asks for anything else is skipped.
    """
    wanted = wanted_by_marker(request.node)
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        yield _real(bootstrap, wanted)
        return
    with wanted.stub() as stub:
        _is_of(request, stub, _STUB)
        yield stub


@pytest.fixture(scope="session")
def kafka_stub_server(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """One broker for all tests of a session, and of a worker of pytest-xdist.

    Topics of a test's marker are created there unless they exist; whatever else the marker says is refused.
    """
    wanted = wanted_by_options(request.config)
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        yield _real(bootstrap, wanted)
        return
    with wanted.stub() as stub:
        _is_of(request, stub, _SERVER)
        yield stub


@pytest.fixture(autouse=True)
def _kafka_stub_server_as_marked(request: pytest.FixtureRequest) -> None:
    if _SERVER in request.fixturenames and _STUB not in request.fixturenames:
        marked = Wanted().narrowed(request.node.iter_markers(MARKER))
        bootstrap = real_cluster(request.config)
        if bootstrap is None:
            check_shared(marked)
        else:
            _skip_particular(bootstrap, marked)
        if marked.topics:
            from kafkastub.pytest_plugin.cluster import add_topics

            add_topics(request.getfixturevalue(_SERVER), marked.topics)


@pytest.fixture
def kafka_stub_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., KafkaStub]]:
    """Makes as many brokers as the test calls it, with the arguments of `KafkaStub`; they end with the test.

    What the marker `kafka_stub(…)` says holds for each, as far as the arguments do not say otherwise.
    """
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        pytest.skip(_needs(_FACTORY, bootstrap))
    wanted = wanted_by_marker(request.node)
    with ExitStack() as running:

        def make(**arguments: Any) -> KafkaStub:
            stub = running.enter_context(wanted.stub(**arguments))
            _is_of(request, stub, _FACTORY)
            return stub

        yield make


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest) -> str:
    """The name of a new topic on the test's broker; `@pytest.mark.kafka_stub(partitions=3)` gives it more partitions.

    The broker is `kafka_stub_server` where the test uses that, else `kafka_stub`.
    """
    stub = _broker_of(request, "kafka_topic", "create_topic(…)")
    name = _name(request)
    stub.create_topic(name, wanted_by_marker(request.node).partitions)
    return name


@pytest.fixture
def kafka_group(request: pytest.FixtureRequest) -> str:
    """The id of a group that nobody else has."""
    return _name(request)


@pytest.fixture
def kafka_clock(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The clock of the test's broker: now, freeze, set, advance. That of a shared broker goes on behind the test."""
    clock = _broker_of(request, "kafka_clock", "clock").clock
    stood = clock.frozen
    yield clock
    if not stood:
        with suppress(RuntimeError):  # the test has closed it
            clock.unfreeze()


@pytest.fixture
def kafka_faults(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The faults of the test's broker: `kafka_faults.add(api="Fetch", error="…")`. They end with the test."""
    faults = _broker_of(request, "kafka_faults", "faults").faults
    older = {fault.id for fault in faults.list()}
    yield faults
    with suppress(RuntimeError):
        for fault in faults.list():
            if fault.id not in older:
                fault.remove()


@pytest.fixture
def kafka_journal(request: pytest.FixtureRequest) -> Any:
    """The journal of the test's broker: every request with its answer; of a shared one, those of this test."""
    journal = _broker_of(request, "kafka_journal", "journal").journal
    return journal.from_moment(request.node.stash[_BEGAN]) if _SERVER in request.fixturenames else journal


def _broker_of(request: pytest.FixtureRequest, fixture: str, attribute: str) -> KafkaStub:
    """The broker that the test uses: `kafka_stub_server` or, where it names none, `kafka_stub`.

    Raises pytest.UsageError where it uses another one, or both.
    """
    used = [name for name in (_STUB, _SERVER) if name in request.fixturenames]
    if len(used) > 1:
        raise pytest.UsageError(
            f"{fixture} may be of kafka_stub or of kafka_stub_server, and the test uses both: "
            f"leave one out, or take kafka_stub.{attribute} or kafka_stub_server.{attribute} instead of {fixture}"
        )
    if not used and _FACTORY in request.fixturenames:
        raise pytest.UsageError(
            f"{fixture} is of kafka_stub or of kafka_stub_server, and the test uses kafka_stub_factory: "
            f"take {attribute} of a broker that it makes instead of {fixture}"
        )
    stub: KafkaStub = request.getfixturevalue(used[0] if used else _STUB)
    return stub


def _is_of(request: pytest.FixtureRequest, stub: KafkaStub, fixture: str) -> None:
    request.config.stash[_FIXTURES][stub] = fixture


def _real(bootstrap: str, wanted: Wanted) -> Any:
    from kafkastub.pytest_plugin.cluster import RealCluster

    _skip_particular(bootstrap, wanted)
    return RealCluster(bootstrap, wanted.topics)


def _skip_particular(bootstrap: str, wanted: Wanted) -> None:
    if wanted.particular:
        pytest.skip(_needs(f"{wanted.particular[0]}= of the marker", bootstrap))


def _needs(what: str, bootstrap: str) -> str:
    return f"{what} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {bootstrap}"


def _name(request: pytest.FixtureRequest) -> str:
    """A legal name for topics and groups, of its own for this run of this test, in which the test can be read."""
    readable = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:100].strip("-.")
    return f"{readable or 'test'}-{uuid.uuid4().hex[:8]}"
