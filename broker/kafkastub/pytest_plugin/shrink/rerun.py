"""Run a test that fails under chaos again, with lists of acts, until the smallest list is found."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import pytest
from _pytest.runner import call_and_report, runtestprotocol

from kafkastub.faults import Shrinker, Smallest
from kafkastub.pytest_plugin.options import Trouble
from kafkastub.pytest_plugin.runs import CHAOS, DONE, INSTEAD, ORIGIN
from kafkastub.pytest_plugin.shrink.source import marker, test_file

if TYPE_CHECKING:
    from kafkastub.faults.shrinking import Acts

TITLE: Final = "smallest chaos"


class Shrinking:
    """Registered as a plugin where `--kafka-stub-shrink` is given."""

    def __init__(self, most_runs: int, most_seconds: float) -> None:
        self._most_runs = most_runs
        self._most_seconds = most_seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run the test as pytest does. If it fails, find its smallest chaos before the reports are logged."""
        callspec = getattr(item, "callspec", None)
        if callspec is None or CHAOS not in callspec.params:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = _run(item, nextitem)
        failed = next((one for one in reports if one.failed), None)
        acts, forgotten = item.stash.get(DONE, ([], 0))
        if failed is not None and acts:
            failed.sections.append((TITLE, self._smallest(item, nextitem, acts, forgotten)))
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _smallest(self, item: pytest.Item, nextitem: pytest.Item | None, acts: list[Any], forgotten: int) -> str:
        own: Trouble = item.callspec.params[CHAOS]  # type: ignore[attr-defined]
        again = [act.again for act in acts if act.again is not None]
        origin = item.stash.get(ORIGIN, None)
        bounds = f"{self._most_runs} times and {self._most_seconds:g} s at most"
        _say(item, f"{item.nodeid} failed. It runs again to find the smallest chaos with which it fails: {bounds}")
        kept = len(getattr(item, "_report_sections", ()))

        def fails(played: Acts) -> bool:
            item.stash[INSTEAD] = Trouble(acts=played)
            reports = _run(item, item.parent)  # what others of its module share lives on
            del getattr(item, "_report_sections", [])[kept:]  # what it has printed
            return any(one.failed for one in reports) and item.stash.get(ORIGIN, None) == origin

        try:
            found = Shrinker(fails, time.monotonic, self._most_runs, self._most_seconds).shrink(again)
        finally:
            del item.stash[INSTEAD]
            call_and_report(item, "teardown", log=False, nextitem=nextitem)  # of what the next test does not share
        return _told(item, own, found, forgotten)


def _run(item: pytest.Item, nextitem: Any) -> list[pytest.TestReport]:
    keys: tuple[pytest.StashKey[Any], ...] = (DONE, ORIGIN)
    for key in keys:
        if key in item.stash:
            del item.stash[key]
    return runtestprotocol(item, log=False, nextitem=nextitem)


def _say(item: pytest.Item, line: str) -> None:
    """Print a line, because the search takes a while. A worker of pytest-xdist has no terminal."""
    terminal = item.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        terminal.ensure_newline()
        terminal.write_line(line)


def _told(item: pytest.Item, own: Trouble, found: Smallest, forgotten: int) -> str:
    source = "the list" if own.acts is not None else f"seed {own.seed}, level {own.level}"
    lines = [f"{len(found.acts)} of {found.given} acts of {source}: {found.runs} runs, {found.seconds:.1f} s"]
    if forgotten:
        lines.append(f"{forgotten} older acts are not known any more and were not played")
    if found.ended:
        lines.append(found.ended)
    if found.failed == 0:
        return "\n".join([*lines, f"The list was played {found.replayed} more times, and the test passed each time."])
    if found.is_certain:
        lines.append(f"The list was played {found.replayed} more times, and the test failed each time.")
    else:
        lines.append(f"The list was played {found.replayed} more times, and the test failed {found.failed} times.")
    if not found.acts:
        return "\n".join([*lines, "The test fails without chaos, too."])
    lines += ["", *(f"    {act}" for act in found.acts), ""]
    file = test_file(item, found)
    return "\n".join(
        [*lines, f"# {file.name}, next to {item.path.name}", file.text] if file else [*lines, marker(found)]
    )
