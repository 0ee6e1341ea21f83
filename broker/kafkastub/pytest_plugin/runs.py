"""What the runs of one test leave for each other, where `--kafka-stub-shrink` runs it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from kafkastub.pytest_plugin.options import Trouble

CHAOS: Final = "_kafka_stub_chaos"
"""The fixture whose parameter says what chaos a test runs with."""

DONE: pytest.StashKey[tuple[list[Any], int]] = pytest.StashKey()
"""Of a test: what the chaos of its broker has done in the last run, and how much more that is forgotten."""
INSTEAD: pytest.StashKey[Trouble] = pytest.StashKey()
"""Of a test: what chaos this run has, in the place of its own."""
ORIGIN: pytest.StashKey[tuple[str, str, int]] = pytest.StashKey()
"""Of a test: where the last run failed first: the error's name, a file, a line."""


def is_rerun(item: pytest.Item) -> bool:
    """Whether this run is of interest to nobody but those who shrink."""
    return INSTEAD in item.stash


def note(item: pytest.Item, error: pytest.ExceptionInfo[BaseException]) -> None:
    """It has failed."""
    if ORIGIN not in item.stash:
        last = error.traceback[-1] if error.traceback else None
        item.stash[ORIGIN] = (error.typename, str(last.path) if last else "", last.lineno if last else 0)
