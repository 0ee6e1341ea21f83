"""Random histories of a whole stub: readers of committed records find whole transactions, and all that was told.

A failure tells the steps that led to it. The same seed chooses the same again, but what becomes of it also depends on
where the broker places replicas, and on what a kill cuts short.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from kafkastub.state.transaction_coordinator.pending_markers import PendingMarkers
from kafkastub.transaction_coordinator import coordinator, transitions, validation
from tests.transactions.histories.history import History
from tests.transactions.histories.world import ProcessWorld, Unanswered, World

SHAPES = [(1, 1, False), (3, 1, False), (3, 3, False), (1, 1, True), (3, 1, True), (3, 3, True)]
"""Nodes, replicas of each partition, and whether there is a data directory."""
HOUR = 3600.0


def play(seed: int, directory: Path, steps: int, nodes: int, replicas: int, kept: bool) -> History:
    """One history; it has come to its end."""
    world = World(nodes, replicas, directory / "data-0" if kept else None)
    try:
        history = History(world, Random(seed))
        history.run(steps)
    finally:
        world.close()
    return history


@pytest.mark.parametrize(("nodes", "replicas", "kept"), SHAPES)
def test_readers_find_whole_transactions(tmp_path: Path, nodes: int, replicas: int, kept: bool):
    assert _told(tmp_path, range(2), 150, (nodes, replicas, kept)) >= {("produce", 0), ("end", 0)}


def _told(tmp_path: Path, seeds: Iterable[int], steps: int, shape: tuple[int, int, bool]) -> set[tuple[str, int]]:
    """What was answered in any of these histories. In one alone the nodes that matter may be away nearly always."""
    told = set[tuple[str, int]]()
    for seed in seeds:
        (folder := tmp_path / str(seed)).mkdir()
        told |= {one for one, times in play(seed, folder, steps, *shape).told.items() if times}
    return told


@pytest.mark.parametrize("shape", [SHAPES[1], SHAPES[-1]])
def test_with_epochs_that_run_out_and_markers_that_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int, bool]
):
    """Producers are given new ids all the time, and a transaction has its markers one by one."""
    for module in (coordinator, validation, transitions):
        monkeypatch.setattr(module, "LAST_EPOCH", 6)
    monkeypatch.setattr(PendingMarkers.step, "__defaults__", (1,))
    assert ("end", 0) in _told(tmp_path, (7, 8), 250, shape)


def play_with_kills(seed: int, directory: Path, steps: int, kills: int) -> None:
    """A broker in a process of its own, that is killed at any moment, and started again."""
    world, random = ProcessWorld(directory / "data-0"), Random(seed)
    try:
        history = History(world, random)
        for _ in range(kills):
            with killing(world, random.uniform(0.0, 1.0)):
                try:
                    while True:
                        history.take(steps)
                except Unanswered:
                    pass
            world.restart_killed()
            history.look()
        history.settle()
    finally:
        world.close()


@contextmanager
def killing(world: ProcessWorld, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, world.process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.soak
def test_histories_for_as_long_as_one_likes(tmp_path: Path):
    """KAFKASTUB_SOAK_SECONDS, an hour by default. Each round has new seeds, which a failure tells."""
    end = time.monotonic() + float(os.environ.get("KAFKASTUB_SOAK_SECONDS", HOUR))
    seed = int(time.time())
    while time.monotonic() < end:
        for shape in SHAPES:
            seed += 1
            (folder := tmp_path / str(seed)).mkdir()
            try:
                play(seed, folder, 400, *shape)
            except AssertionError as error:
                error.add_note(f"seed {seed}, shape {shape}")
                raise
        seed += 1
        (folder := tmp_path / str(seed)).mkdir()
        play_with_kills(seed, folder, 50, 5)
