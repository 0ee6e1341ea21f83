"""A program that is run beside the runner: what went wrong with it has to be told, with what it said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.programs.judging import Wrong
from tests.programs.running import Running

Start = Callable[[str], Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def run(code: str) -> Running:
        started.append(Running([sys.executable, "-u", "-c", code], tmp_path / "program.log"))
        return started[-1]

    yield run
    for one in started:
        one.kill()


def test_a_program_goes_on_when_it_is_told(start: Start) -> None:
    program = start("print('holding'); input(); print('done')")
    program.says("holding")
    assert program.lives
    program.go_on()
    program.ends()
    assert program.said() == "holding\ndone\n"


def test_one_that_ends_before_it_says_the_word_is_told_with_what_it_said(start: Start) -> None:
    with pytest.raises(Wrong, match=r"program ended before it said 'done': (.|\n)*no such broker"):
        start("raise SystemExit('no such broker')").says("done")


def test_one_that_fails_or_does_not_end_is_told(start: Start) -> None:
    with pytest.raises(Wrong, match="program ended with status 1: no such broker"):
        start("raise SystemExit('no such broker')").ends()
    with pytest.raises(Wrong, match=r"program did not end within 0\.1 s"):
        start("input()").ends(0.1)


def test_a_killed_one_is_gone(start: Start) -> None:
    program = start("print('holding'); input()")
    program.says("holding")
    program.kill()
    assert not program.lives
