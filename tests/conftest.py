"""Brokers for tests: the stub, and the real Apache Kafka for the same test bodies (`make oracle`)."""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from kafkastub.handlers.registry import registrations
from tests import deadline
from tests.left_out import pytest_terminal_summary  # noqa: F401 (pytest looks for it here)
from tests.oracle.jars import MissingTool
from tests.parts import pytest_addoption, pytest_collection_modifyitems, pytest_ignore_collect  # noqa: F401

if TYPE_CHECKING:
    from tests.clients.jvm import Jvm
    from tests.oracle.apache_kafka import ApacheKafka

registrations()  # pytester forgets what is imported beside it: a handler that is imported again is registered twice

IGNORED_WARNINGS = (
    # kafka-python reads its schemas with functions that Python 3.11 and 3.12 deprecate (3.13 took that back).
    "ignore:(read_text|open_text) is deprecated:DeprecationWarning",
    # Clients that leave a socket to the garbage collector do so in whichever test comes next. Ours are uvloop's.
    "ignore:unclosed <(socket|ssl):ResourceWarning",
    "ignore:Exception ignored in. <(socket|ssl):pytest.PytestUnraisableExceptionWarning",
    "ignore:Unclosed AIOKafkaConnection:ResourceWarning",
    "ignore:Exception ignored in. <function AIOKafkaConnection:pytest.PytestUnraisableExceptionWarning",
)

CONFIG: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
"""Kafka holds the first rebalance of a group back for 3 s by default: most of a test's time, and nothing to see."""

APACHE_CONFIG: dict[str, object] = {
    **CONFIG,
    "log.retention.ms": -1,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
}
"""As the stub has it by itself: records of long ago stay, and a transaction is aborted when its time is over.

By default Kafka looks every ten seconds, which took a minute of each run of the slow cases.
"""


OF_A_USER = ("-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:xdist.looponfail")
"""For a pytest that a test starts: not with what is installed for our own tests. That takes two seconds to import."""

UNAVOIDABLE = "this machine has no "
"""How the reason of a skip begins that is allowed in CI, where everything that the machine can run has to run."""
A_STUB_ALONE = "in front of a cluster: "
"""The same of a test that runs on a stub, and asks for what a proxy cannot have (`tests/fronts.py`)."""

IN_CI = os.environ.get("CI") == "true"


def _not_local(path: str) -> bool:
    return False


# How long an example takes says something of the machine's load, not of the code.
settings.register_profile("kafkastub", deadline=None, print_blob=True)
# In CI each run has the same examples: what fails there fails because of the change that is looked at. New ones are
# looked for by `make test` elsewhere, and by `make soak`. `@settings` of a test leaves that as it is.
settings.register_profile("kafkastub-ci", settings.get_profile("kafkastub"), derandomize=True)
settings.load_profile("kafkastub-ci" if IN_CI else "kafkastub")
if IN_CI:
    # Numbers and texts of our own modules are examples, too, and which are loaded by then depends on the tests before.
    providers.is_local_module_file = _not_local


def pytest_configure(config: pytest.Config) -> None:
    deadline.keep(config)
    for line in IGNORED_WARNINGS:
        config.addinivalue_line("filterwarnings", line)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Modules and tests stay when they are made: the collector looks at them in vain, for a second of each worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector need not look at it again and again, half a second each time."""
    gc.collect()
    gc.freeze()


def _left_out() -> Generator[None]:
    """Outside CI a test that asks for Kafka's classes is skipped where the machine cannot have them."""
    try:
        yield
    except MissingTool as missing:
        if IN_CI:
            raise
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    yield from _left_out()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    yield from _left_out()


def _is_on_a_proxy(item: pytest.Item) -> bool:
    """Whether the same test is there once more, on a stub."""
    params = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return any(isinstance(one, str) and one.startswith("proxy") for one in params)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that is skipped has failed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if UNAVOIDABLE not in reason and not (A_STUB_ALONE in reason and _is_on_a_proxy(item)):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI: {reason}"
    return report


@pytest.fixture(scope="session")
def apache_kafka() -> Iterator[ApacheKafka]:
    """One Apache Kafka for all tests of a run: they keep apart by the names of their topics and groups."""
    from tests.oracle.apache_kafka import ApacheKafka

    with ApacheKafka(config=APACHE_CONFIG) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    """One JVM for all tests of a run: a start takes a second or two. In CI a machine without one is an error."""
    from tests.clients.jvm import Jvm
    from tests.oracle.jars import TOOLS, class_path, java

    java()
    class_path()
    class_path(TOOLS)
    with Jvm() as running:
        yield running


@pytest.fixture(
    params=[
        "stub",
        pytest.param("kafka", marks=pytest.mark.oracle),
        pytest.param("proxy", marks=pytest.mark.oracle_proxy),
    ]
)
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    """HOST:PORT of a broker: a stub of the test's own, the Apache Kafka, or a proxy in front of that."""
    if request.param == "kafka":
        yield request.getfixturevalue("apache_kafka").bootstrap_servers
        return
    if request.param == "proxy":
        from kafkastub import KafkaProxy

        with KafkaProxy(request.getfixturevalue("apache_kafka").bootstrap_servers) as proxy:
            yield proxy.bootstrap_servers
        return
    from kafkastub import KafkaStub

    with KafkaStub(config=CONFIG) as stub:
        yield stub.bootstrap_servers


@pytest.fixture
def unique() -> Callable[[str], str]:
    """Makes a name of its own for this test: unique("orders") gives the same one each time."""
    suffix = uuid.uuid4().hex[:12]
    return lambda name: f"{name}-{suffix}"
