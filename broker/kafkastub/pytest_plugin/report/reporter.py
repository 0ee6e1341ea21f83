"""The hooks of `--kafka-stub-report`: what is gathered when, and where it goes."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import ReferenceType, WeakSet, ref

import pytest

from kafkastub.pytest_plugin.names import name_of
from kafkastub.pytest_plugin.report import folder
from kafkastub.pytest_plugin.report.page import Failure, Listed, Shown, failed_page, index_page
from kafkastub.pytest_plugin.runs import is_rerun
from kafkastub.stub.started import BEFORE_CLOSE

if TYPE_CHECKING:
    from kafkastub import KafkaStub

_MOST: Final = 5
"""Stubs of which a failure tells: those that were started last."""
_SECONDS = 5.0
"""For a stub to say all that it has."""
_OF_THE_JOURNAL: Final = 1.0
_WORKERS: Final = "kafka_stub_report"
"""What a worker of pytest-xdist is told by this name: where the files go."""
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FAILURES = pytest.StashKey[list[Failure]]()


class Reporter:
    """Registered as a plugin where `--kafka-stub-report` is given. In each worker of pytest-xdist there is one: the
    workers write the tests' files, who runs them the list.
    """

    def __init__(self, config: pytest.Config, given: str, fixtures: Mapping[KafkaStub, str]) -> None:
        """`fixtures`: which fixture a stub is of. Raises pytest.UsageError where nothing can be written there."""
        told = getattr(config, "workerinput", {}).get(_WORKERS)
        self.folder = Path(told) if told else config.invocation_params.dir / given
        self._is_worker = hasattr(config, "workerinput")
        self._fixtures = fixtures
        self._began = datetime.now(UTC)
        self._closed: deque[tuple[ReferenceType[KafkaStub], datetime, Shown]] = deque(maxlen=_MOST)
        """Those that the test used and that were closed since it began: when they were started, and as they were."""
        self._silent: WeakSet[KafkaStub] = WeakSet()
        """Those that have not answered: they are not asked again."""
        self._listed: list[Listed] = []
        self._complaints: list[str] = []
        if not self._is_worker:
            folder.prepare(self.folder)
        BEFORE_CLOSE.append(self._note)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_WORKERS] = str(self.folder)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._began = datetime.now(UTC)
        self._closed.clear()
        item.stash[_FAILURES] = []

    def pytest_unconfigure(self) -> None:
        with suppress(ValueError):
            BEFORE_CLOSE.remove(self._note)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and not is_rerun(item) and "kafkastub.stub.stub" in sys.modules and _FAILURES in item.stash:
            stubs = self._stubs_of(item)
            if stubs:
                self._write(item, report, stubs)
        return report

    def _note(self, stub: KafkaStub) -> None:
        """One is about to be closed."""
        shown, started = self._shown(stub), _started(stub)
        if started >= self._began or _was_asked(shown):
            why = "As it was when it was closed." if shown.why == "" else shown.why
            self._closed.append((ref(stub), started, shown._replace(why=why)))

    def _stubs_of(self, item: pytest.Item) -> list[Shown]:
        """Those that a test has used, in the order in which they were started."""
        from kafkastub.stub.started import STARTED

        given = list((getattr(item, "funcargs", None) or {}).values())
        found = {id(shown): (started, shown) for _, started, shown in self._closed}
        noted = {id(stub()) for stub, _, _ in self._closed}
        for stub in list(STARTED):
            if id(stub) in noted and not stub._is_up():
                continue
            shown = self._shown(stub)
            if _started(stub) >= self._began or _was_asked(shown) or any(stub is each for each in given):
                found[id(shown)] = _started(stub), shown
        return [shown for _, shown in sorted(found.values(), key=lambda each: each[0])]

    def _shown(self, stub: KafkaStub) -> Shown:
        """As it is now; one that does not answer holds nobody up for long."""
        from kafkastub.stub.inventory import in_time

        name, began = name_of(stub, self._fixtures), self._began
        if stub not in self._silent:
            try:
                return Shown(name, in_time(lambda: stub._inventory(began), _SECONDS))
            except TimeoutError as error:
                self._silent.add(stub)
                why = f"It does not answer: {error}."
            except Exception as error:  # whatever it is, it must not hide why the test failed
                why = f"It cannot be told of: {type(error).__name__}: {error}."
        else:
            why = "It does not answer."
        with suppress(Exception):
            return Shown(name, in_time(lambda: stub._journal_alone(began), _OF_THE_JOURNAL), why)
        return Shown(name, None, why)

    def _write(self, item: pytest.Item, report: pytest.TestReport, stubs: list[Shown]) -> None:
        error, last = _in_one_line(report), tuple(stubs[-_MOST:])
        failures = item.stash[_FAILURES]
        failures.append(Failure(report.when, error, report.longreprtext, last, len(stubs) - len(last)))
        name = folder.file_name(item.nodeid)
        complaint = ""
        try:
            folder.write(self.folder / name, failed_page(item.nodeid, failures))
        except OSError as failed:
            complaint = f"{name}: {failed}"
        told = (item.nodeid, report.when, error, name, len(stubs))
        setattr(report, _WORKERS, {"listed": told, "complaint": complaint})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of all workers, where tests are run by several."""
        told = getattr(report, _WORKERS, None)
        if told is not None:
            self._listed += [] if told["complaint"] else [Listed(*told["listed"])]
            self._complaints += [told["complaint"]] if told["complaint"] else []

    def pytest_sessionfinish(self) -> None:
        if not self._is_worker:
            try:
                folder.write(self.folder / folder.INDEX, index_page(self._listed))
            except OSError as failed:
                self._complaints.append(f"{folder.INDEX}: {failed}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._complaints:
            terminalreporter.write_line(f"--kafka-stub-report cannot be written: {'; '.join(self._complaints[:5])}")
        if self._listed:
            terminalreporter.write_line(f"failed tests with their Kafka stubs: {self.folder / folder.INDEX}")


def _started(stub: KafkaStub) -> datetime:
    from kafkastub.stub.started import STARTED

    return STARTED.get(stub, _NEVER)


def _was_asked(shown: Shown) -> bool:
    return shown.found is not None and any(table.name == "journal" for table in shown.found.tables)


def _in_one_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message) if crash is not None else report.longreprtext.rstrip().rpartition("\n")[2]
    return text.partition("\n")[0][:500]
