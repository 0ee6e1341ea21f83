"""Fixtures for pytest: a broker for each test, in a few milliseconds. The guide is docs/pytest.md.

pytest loads this through an entry point, so it imports nothing of the broker before a test needs it.
"""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from kafkastub.pytest_plugin.closing import listen
from kafkastub.pytest_plugin.options import (
    MARKER,
    Trouble,
    Wanted,
    add_options,
    check_shared,
    command_config,
    guarantees,
    journal_lines,
    real_cluster,
    registry_url,
    shrinking,
    troubles,
    wanted_by_marker,
    wanted_by_options,
)
from kafkastub.pytest_plugin.runs import CHAOS, DONE, INSTEAD, is_rerun, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkastub import KafkaStub
    from kafkastub.pytest_plugin.between import Leftovers, Seeded

_FIXTURES = pytest.StashKey[WeakKeyDictionary["KafkaStub", str]]()
"""Of a session: which fixture a stub is of."""
_BEGAN: pytest.StashKey[datetime] = pytest.StashKey()
"""Of a test: when its first fixture was set up."""

_NAMES: pytest.StashKey[dict[str, str]] = pytest.StashKey()
"""Of a test: names of its own that fixtures have given it, by what for."""
_CHECKED: pytest.StashKey[list[tuple[KafkaStub, tuple[str, ...]]]] = pytest.StashKey()
"""Of a test: its stubs that are checked behind it, and for which guarantees."""
_LEFT: pytest.StashKey[Leftovers] = pytest.StashKey()
"""Of a session: what tests have left on `kafka_stub_server`."""

_STUB, _SERVER, _FACTORY = "kafka_stub", "kafka_stub_server", "kafka_stub_factory"
_SEEDED = "kafka_stub_seeded"


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kafka_stub(topics, config, retention_minutes, profile, as_version, nodes, chaos, chaos_level, check, "
        "partitions, own, registry, restore): configure the broker of the fixture kafka_stub, and the cleanup of "
        "kafka_stub_server after the test",
    )
    fixtures = config.stash[_FIXTURES] = WeakKeyDictionary()
    journal_lines(config)
    wanted = config.getoption("--kafka-stub-report")
    if wanted is not None:
        from kafkastub.pytest_plugin.report import Reporter

        config.pluginmanager.register(Reporter(config, wanted, fixtures), "kafkastub-report")
    bounds = shrinking(config)
    if bounds is not None:
        from kafkastub.pytest_plugin.shrink import Shrinking

        config.pluginmanager.register(Shrinking(*bounds), "kafkastub-shrink")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_BEGAN] = datetime.now(UTC)
    item.stash[_NAMES] = {}
    item.stash[_CHECKED] = []  # of the run before, if the test runs again
    listen()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that is checked if its application has broken a guarantee, even if its assertions hold."""
    try:
        result = yield
    except Exception:
        from kafkastub.pytest_plugin.checking import tell

        tell(item, item.stash.get(_CHECKED, []))
        raise
    checked = item.stash.get(_CHECKED, [])
    if checked:
        from kafkastub.pytest_plugin.checking import fail

        fail(checked)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the last requests to the brokers to the report of a failed test."""
    report = yield
    if report.failed and call.excinfo is not None:
        note(item, call.excinfo)
    if report.failed and not is_rerun(item) and "kafkastub.stub.started" in sys.modules and _BEGAN in item.stash:
        from kafkastub.pytest_plugin.failure import of_brokers

        fixtures, began = item.config.stash[_FIXTURES], item.stash[_BEGAN]
        report.sections += of_brokers(fixtures, began, journal_lines(item.config))
        left = item.config.stash[_LEFT].describe() if _LEFT in item.config.stash and _uses(item, _SERVER) else ""
        if left:
            report.sections.append((f"left on {_SERVER} by tests before", left))
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test under chaos once for each of its seeds."""
    if CHAOS in metafunc.fixturenames:
        try:
            found = troubles(metafunc.config, metafunc.definition.iter_markers(MARKER))
        except pytest.UsageError:  # is told by the test's fixture, and holds no other test up
            return
        if found is not None:
            metafunc.parametrize(CHAOS, found, indirect=True, ids=[one.id for one in found])


@pytest.fixture
def _kafka_stub_chaos(request: pytest.FixtureRequest) -> Trouble | None:
    """What the test's broker does to it."""
    if not hasattr(request, "param"):
        troubles(request.config, request.node.iter_markers(MARKER))
        return None
    given: Trouble = request.node.stash.get(INSTEAD, request.param)
    return given


@pytest.fixture
def kafka_stub(request: pytest.FixtureRequest, _kafka_stub_chaos: Trouble | None) -> Iterator[KafkaStub]:
    """A broker for this test, configured by its marker `kafka_stub(…)` and the options.

    With KAFKA_STUB_BOOTSTRAP it is a proxy in front of that cluster. Faults, holds, chaos and the journal work there. A
    test that needs what only a stub can do is skipped.
    """
    wanted = wanted_by_marker(request.node)
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        _skip_particular(bootstrap, replace(wanted, check=None), chaos=True)
        with _real(request, bootstrap, wanted, _kafka_stub_chaos, own=True) as proxy:
            _is_of(request, proxy, _STUB)
            _is_checked(request, proxy, wanted)
            yield proxy
            _note_acts(request, proxy)
        return
    chaos = {} if _kafka_stub_chaos is None else _kafka_stub_chaos.arguments
    with wanted.stub(**chaos) as stub:
        _is_of(request, stub, _STUB)
        _is_checked(request, stub, wanted)
        yield stub
        _note_acts(request, stub)


@pytest.fixture(scope="session")
def kafka_stub_server(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """One broker for all tests of a session, or of a worker of pytest-xdist.

    The topics of a test's marker are created there unless they exist. Everything else in the marker is refused.
    """
    wanted = replace(wanted_by_options(request.config), check=None)
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        _skip_particular(bootstrap, wanted)
        with _real(request, bootstrap, wanted) as proxy:
            _is_of(request, proxy, _SERVER)
            yield proxy
        return
    with wanted.stub() as stub:
        _is_of(request, stub, _SERVER)
        yield stub


@pytest.fixture(scope="session")
def kafka_stub_seed() -> Any:
    """The initial state for `kafka_stub_seeded`, to be defined by you with session scope.

    It is a function that receives the stub and fills it, a `Snapshot`, or the path of its file.
    """
    raise pytest.UsageError(
        "kafka_stub_seeded needs a seed: define a fixture kafka_stub_seed with scope='session' that returns a function "
        "that receives the stub and fills it, a Snapshot, or the path of a snapshot file"
    )


@pytest.fixture(scope="session")
def _kafka_stub_seeded_once(request: pytest.FixtureRequest, kafka_stub_seed: Any) -> Iterator[Seeded]:
    from kafkastub.pytest_plugin.between import Seeded

    with wanted_by_options(request.config).stub() as stub:
        _is_of(request, stub, _SEEDED)
        yield Seeded(stub, kafka_stub_seed)


@pytest.fixture
def kafka_stub_seeded(request: pytest.FixtureRequest) -> KafkaStub:
    """One broker for all tests of a session, filled once by `kafka_stub_seed`. Each test begins with this state.

    The state is restored before each test, in milliseconds. Faults of earlier tests are removed.
    """
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        pytest.skip(_needs(_SEEDED, bootstrap))
    seeded: Seeded = request.getfixturevalue("_kafka_stub_seeded_once")
    return seeded.begin(request.getfixturevalue("kafka_stub_seed"))


@pytest.fixture(autouse=True)
def _kafka_stub_server_as_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    if _SERVER not in request.fixturenames or _STUB in request.fixturenames:
        yield
        return
    marked = Wanted().narrowed(request.node.iter_markers(MARKER))
    bootstrap = real_cluster(request.config)
    if bootstrap is None:
        check_shared(marked)
    else:
        _skip_particular(bootstrap, marked)
    shared = request.getfixturevalue(_SERVER)
    if marked.registry and bootstrap is None:
        shared.with_registry()
    with _behind(request, shared, marked) if bootstrap is None else _behind_a_proxy(request, shared):
        if marked.topics:
            from kafkastub.pytest_plugin.cluster import add_topics

            before = _own(request, "prefix", _prefix) if marked.own else ""
            add_topics(shared, {before + name: partitions for name, partitions in marked.topics.items()})
        yield


@contextmanager
def _behind(request: pytest.FixtureRequest, stub: KafkaStub, marked: Wanted) -> Iterator[None]:
    """What is done behind a test: the broker is put back, or what the test has left is noted down."""
    from kafkastub.pytest_plugin.between import Leftovers, remove, things

    if marked.restore:
        with stub.rolled_back():
            yield
        return
    there = things(stub)
    yield
    names = request.node.stash[_NAMES]
    _remove_own(request, partial(remove, stub))
    left = request.config.stash.setdefault(_LEFT, Leftovers())
    left.note(request.node.nodeid, there, stub, {name: what for what, name in names.items()})


@contextmanager
def _behind_a_proxy(request: pytest.FixtureRequest, proxy: Any) -> Iterator[None]:
    """What begins with the test's prefix is deleted behind it."""
    from kafkastub.pytest_plugin.cluster import delete_prefixed

    yield
    _remove_own(request, partial(delete_prefixed, proxy))


def _remove_own(request: pytest.FixtureRequest, remove: Callable[[str], None]) -> None:
    """Remove what has the test's prefix, where it has one."""
    names = request.node.stash[_NAMES]
    with suppress(RuntimeError):  # the test has closed the broker
        if "prefix" in names:
            remove(names["prefix"])


@pytest.fixture
def kafka_stub_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., KafkaStub]]:
    """A function that starts a broker at each call, with the arguments of `KafkaStub`. The brokers stop with the test.

    The marker `kafka_stub(…)` applies to each of them. Arguments override it.
    """
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        pytest.skip(_needs(_FACTORY, bootstrap))
    wanted = wanted_by_marker(request.node)
    with ExitStack() as running:

        def make(**arguments: Any) -> KafkaStub:
            stub = running.enter_context(wanted.stub(**arguments))
            _is_of(request, stub, _FACTORY)
            if arguments.get("journal") is not False:
                _is_checked(request, stub, wanted)
            return stub

        yield make


@pytest.fixture
def kafka_registry_url(request: pytest.FixtureRequest) -> str:
    """The URL of the schema registry of the test's broker, `http://HOST:PORT`. The fixture starts the registry.

    The broker is `kafka_stub_server` if the test uses it, else `kafka_stub`. In front of a real cluster it is the URL
    of the cluster's registry, KAFKA_STUB_REGISTRY_URL.
    """
    bootstrap = real_cluster(request.config)
    if bootstrap is not None:
        url = registry_url()
        if url is None:
            pytest.skip(_needs("kafka_registry_url without KAFKA_STUB_REGISTRY_URL", bootstrap))
        return url
    return _broker_of(request, "kafka_registry_url", "registry.url").with_registry().url


@pytest.fixture
def kafka_topic(request: pytest.FixtureRequest) -> str:
    """The name of a new topic on the test's broker. `@pytest.mark.kafka_stub(partitions=3)` sets the number of
    partitions.

    The broker is `kafka_stub_server` if the test uses it, else `kafka_stub`.
    """
    stub = _broker_of(request, "kafka_topic", "create_topic(…)")
    name = _own(request, "topic", _name)
    stub.create_topic(name, wanted_by_marker(request.node).partitions)
    return name


@pytest.fixture
def kafka_group(request: pytest.FixtureRequest) -> str:
    """A group id that no other test has."""
    return _own(request, "group", _name)


@pytest.fixture
def kafka_prefix(request: pytest.FixtureRequest) -> str:
    """A prefix for the names of the test's topics and groups. On `kafka_stub_server` they are deleted after the test.

    `@pytest.mark.kafka_stub(topics={"orders": 3}, own=True)` creates the topic `kafka_prefix + "orders"`.
    """
    return _own(request, "prefix", _prefix)


@pytest.fixture
def kafka_clock(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The clock of the test's broker: now, freeze, set, advance.

    The clock of a shared broker runs on after the test.
    """
    clock = _broker_of(request, "kafka_clock", "clock").clock
    stood = clock.frozen
    yield clock
    if not stood:
        with suppress(RuntimeError):  # the test has closed it
            clock.unfreeze()


@pytest.fixture
def kafka_faults(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The fault rules of the test's broker: `kafka_faults.add(api="Fetch", error="…")`. They end with the test."""
    faults = _broker_of(request, "kafka_faults", "faults").faults
    older = {fault.id for fault in faults.list()}
    yield faults
    with suppress(RuntimeError):
        for fault in faults.list():
            if fault.id not in older:
                fault.remove()


@pytest.fixture
def kafka_journal(request: pytest.FixtureRequest) -> Any:
    """The journal of the test's broker: requests with answers. Of a shared broker, only those of this test."""
    journal = _broker_of(request, "kafka_journal", "journal").journal
    shared = _SERVER in request.fixturenames or _SEEDED in request.fixturenames
    return journal.from_moment(request.node.stash[_BEGAN]) if shared else journal


def _broker_of(request: pytest.FixtureRequest, fixture: str, attribute: str) -> KafkaStub:
    """The broker that the test uses: `kafka_stub_server`, `kafka_stub_seeded` or, where it names none, `kafka_stub`.

    Raises pytest.UsageError where it uses another one, or several.
    """
    used = [name for name in (_STUB, _SERVER, _SEEDED) if name in request.fixturenames]
    if len(used) > 1:
        one, other = used[:2]
        raise pytest.UsageError(
            f"{fixture} can belong to {one} or to {other}, and the test uses both: "
            f"use only one of them, or use {one}.{attribute} or {other}.{attribute} instead of {fixture}"
        )
    if not used and _FACTORY in request.fixturenames:
        raise pytest.UsageError(
            f"{fixture} belongs to kafka_stub or kafka_stub_server, but the test uses kafka_stub_factory: "
            f"use {attribute} of a broker that the factory made instead of {fixture}"
        )
    stub: KafkaStub = request.getfixturevalue(used[0] if used else _STUB)
    return stub


def _is_of(request: pytest.FixtureRequest, stub: KafkaStub, fixture: str) -> None:
    request.config.stash[_FIXTURES][stub] = fixture


def _is_checked(request: pytest.FixtureRequest, stub: KafkaStub, wanted: Wanted) -> None:
    """Whether that is wanted. Raises pytest.UsageError."""
    names = guarantees(wanted.check)
    if names is not None:
        request.node.stash[_CHECKED].append((stub, names))


def _note_acts(request: pytest.FixtureRequest, stub: KafkaStub) -> None:
    """What chaos has done, for those who make it smaller."""
    if "chaos" in vars(stub):
        request.node.stash[DONE] = stub.chaos.acts, stub.chaos.forgotten


def _real(
    request: pytest.FixtureRequest, bootstrap: str, wanted: Wanted, chaos: Trouble | None = None, own: bool = False
) -> Any:
    from kafkastub.pytest_plugin.cluster import ClusterInFront

    return ClusterInFront(
        bootstrap, wanted.topics, command_config(request.config), {} if chaos is None else chaos.arguments, own
    )


def _skip_particular(bootstrap: str, wanted: Wanted, chaos: bool = False) -> None:
    """`chaos`: whether that can be had."""
    particular = [name for name in wanted.particular if not (chaos and name.startswith("chaos"))]
    if particular:
        pytest.skip(_needs(f"{particular[0]}= of the marker", bootstrap))


def _needs(what: str, bootstrap: str) -> str:
    return f"{what} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {bootstrap}"


def _uses(item: pytest.Item, fixture: str) -> bool:
    return fixture in getattr(item, "fixturenames", ())


def _own(request: pytest.FixtureRequest, what: str, make: Callable[[pytest.FixtureRequest], str]) -> str:
    """A name of the test's own, the same for all of its fixtures."""
    names: dict[str, str] = request.node.stash[_NAMES]
    return names.setdefault(what, make(request))


def _prefix(request: pytest.FixtureRequest) -> str:
    return f"{_name(request)}."


def _name(request: pytest.FixtureRequest) -> str:
    """A legal name for topics and groups, of its own for this run of this test, in which the test can be read."""
    readable = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:100].strip("-.")
    return f"{readable or 'test'}-{uuid.uuid4().hex[:8]}"
