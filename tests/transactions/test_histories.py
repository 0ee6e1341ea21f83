"""Random histories of a whole stub: readers of committed records find whole transactions, and all that was told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.transactions.histories.history import History
from tests.transactions.histories.world import World


def play(seed: int, directory: Path, steps: int, nodes: int, replicas: int, kept: bool) -> History:
    """One history; it has come to its end."""
    world = World(nodes, replicas, directory / "data-0" if kept else None)
    try:
        history = History(world, Random(seed))
        history.run(steps)
    finally:
        world.close()
    return history


@pytest.mark.parametrize(
    ("nodes", "replicas", "kept"), [(1, 1, False), (3, 3, False), (3, 1, False), (1, 1, True), (3, 3, True)]
)
@pytest.mark.parametrize("seed", range(int(__import__("os").environ.get("S0","0")), int(__import__("os").environ.get("S1","3"))))
def test_readers_find_whole_transactions(tmp_path: Path, nodes: int, replicas: int, kept: bool, seed: int):
    h = play(seed, tmp_path, 150, nodes, replicas, kept)
    print(sorted(h.told.items()))
