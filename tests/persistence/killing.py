"""What a data directory says after its process was killed, at any moment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Protocol

from kafkastub import KafkaStub
from tests.offsets_topic.history import Player

KILLS, STEPS = 4, 40


class Crowd(Protocol):
    """Members of groups, who do something at random."""

    def step(self, on: Player) -> None: ...
    def told(self, on: Player) -> list[str]:
        """What is told of the groups."""
        ...


def the_same_after_every_kill(
    crowd: Crowd, begin: Callable[[Player], None], config: Mapping[str, object], folder: Path
) -> None:
    """A copy of the files at some moment is what a process leaves that is killed then; cleaning goes on meanwhile."""
    data = folder / "data"
    with KafkaStub(config=dict(config), data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        begin(on)
        for killed in range(KILLS):
            for _ in range(STEPS):
                crowd.step(on)
            before = crowd.told(on)
            copy = folder / f"killed-{killed}"
            copied(data, copy)
            with (
                KafkaStub(config=dict(config), data_dir=copy) as again,
                closing(Player(again.bootstrap_servers)) as other,
            ):
                assert crowd.told(other) == before
    with KafkaStub(config=dict(config), data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        assert crowd.told(on) == before
        for _ in range(STEPS):
            crowd.step(on)
        assert crowd.told(on) != before


def copied(data: Path, copy: Path) -> None:
    """The cleaner may take a file away meanwhile: then once more."""
    for _ in range(20):
        try:
            shutil.copytree(data, copy, ignore=shutil.ignore_patterns(".lock"))
        except shutil.Error:
            shutil.rmtree(copy)
        else:
            return
    raise AssertionError("the files are never still")
