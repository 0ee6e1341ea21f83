"""An end for a run: with `KAFKASTUB_TESTS_UNTIL=1790000000` pytest begins no test after that Unix time.

The order of the tests is random, so another run leaves out others. The end of the run says how many were left out; a
run that began none has shown nothing, and fails. `make oracle` and `make test-pipeline` without the variable run
everything, and so does `make nightly`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import Final

import pytest

UNTIL: Final = "KAFKASTUB_TESTS_UNTIL"
_LEFT: Final = "kafkastub_left_for_later"
_COUNT: Final = pytest.StashKey[int]()


def _is_over() -> bool:
    until = os.environ.get(UNTIL)
    return until is not None and time.time() > float(until)


class Deadline:
    """A plugin of each process of a run."""

    def __init__(self, config: pytest.Config) -> None:
        config.stash[_COUNT] = 0
        self._has_begun = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if not _is_over():
            return None
        item.config.stash[_COUNT] += 1
        return True  # no fixture of it is set up, and nothing is reported

    def pytest_runtest_logreport(self) -> None:
        self._has_begun = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        left = session.config.stash[_COUNT]
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_LEFT] = left
        elif left and not self._has_begun:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        config: pytest.Config = node.config  # type: ignore[attr-defined]
        config.stash[_COUNT] += getattr(node, "workeroutput", {}).get(_LEFT, 0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        yield
        left = terminalreporter.config.stash[_COUNT]
        if left:
            terminalreporter.write_line(
                f"the time of {UNTIL} was over: {left} {'test was' if left == 1 else 'tests were'} not begun",
                yellow=True,
            )


def keep(config: pytest.Config) -> None:
    """Keep the deadline, where there is one."""
    if os.environ.get(UNTIL):
        config.pluginmanager.register(Deadline(config))
