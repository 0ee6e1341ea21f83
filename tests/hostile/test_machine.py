"""What the machine does beside is told from what the measured process does."""

from __future__ import annotations

import os
import signal
import time

from tests.hostile.machine import MOST_SLOWER, Noise, machine, watching
from tests.waiting import until

TRIES = 5


def busy(seconds: float) -> float:
    """A turn of this many seconds of processor time; when it began."""
    began, over = time.perf_counter(), time.thread_time() + seconds
    while time.thread_time() < over:
        pass
    return began


def test_a_long_turn_of_one_process_is_no_noise() -> None:
    """On a machine with two processors the other one does the known work meanwhile as it always does."""
    left: list[float] = []
    with watching() as watched:
        while len(left) < TRIES and (not left or left[-1] < 200):
            began = busy(0.3)
            left.append(watched.noise(began).without(300))
    assert max(left) >= 300 / MOST_SLOWER / 2


def test_a_machine_that_stands_still_is_noise() -> None:
    with watching() as watched:
        since = time.perf_counter()
        until(lambda: watched.samples(since) > 2, "samples")
        began = time.perf_counter()
        os.kill(watched.pid, signal.SIGSTOP)
        until(lambda: time.perf_counter() - began > 0.15, "a pause")
        os.kill(watched.pid, signal.SIGCONT)
        assert watched.noise(began).longest_ms >= 100


def test_what_is_left_of_a_time() -> None:
    assert Noise(longest_ms=50.0, slower=2.0).without(250.0) == 100.0
    assert Noise(longest_ms=50.0, slower=2.0).without(20.0) == 0.0


def test_it_does_nothing_while_nobody_watches() -> None:
    watched = machine()
    since = time.perf_counter()
    with watching():
        until(lambda: watched.samples(since) > 0, "a sample")
    quiet = time.perf_counter() + 0.05
    until(lambda: time.perf_counter() > quiet + 0.1, "a moment")
    assert watched.samples(quiet) == 0
