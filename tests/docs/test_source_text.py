"""tests/source_text.py: the tests' own reader of source."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from tests.source_text import parsed


def test_what_is_thrown_away_meanwhile_does_not_spoil_a_tree(caplog: pytest.LogCaptureFixture) -> None:
    """A future whose exception nobody asked for ends in the log, with a traceback, which is parsed too."""
    collected = gc.get_threshold()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        for _ in range(20):
            gc.disable()
            _throw_away(loop)
            gc.enable()
            gc.set_threshold(gc.get_count()[0] + 200)
            try:
                assert parsed(Path(__file__)).body
            finally:
                gc.set_threshold(*collected)
    gc.collect()
    assert "exception was never retrieved" in caplog.text


def _throw_away(loop: asyncio.AbstractEventLoop) -> None:
    """A future in a circle with its exception: only the collector finds it."""
    future = loop.create_future()
    try:
        print(len("marked by carets, for which the line is parsed") + "")  # type: ignore[operator]
    except TypeError as error:
        future.set_exception(error)
    circle: list[object] = [future]
    circle.append(circle)
