"""What has changed since somebody looked: looked at for those who want to know, and for nobody else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kafkastub.control.page import versions
from kafkastub.control.page.versions import SUBJECTS, Versions


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The subjects as plain figures, which tests change."""
    figures = dict.fromkeys(SUBJECTS, 0)
    looks = {name: lambda hosted, broker, name=name: figures[name] for name in SUBJECTS}
    monkeypatch.setattr(versions, "SUBJECTS", looks)
    monkeypatch.setattr(versions, "EVERY_SECONDS", 0.001)
    return figures


def hosted() -> Any:
    return SimpleNamespace(broker=SimpleNamespace(state=object()), changes=0)


async def test_who_wants_to_know_is_told_of_what_is_theirs(looked: dict[str, int]):
    known = Versions(hosted())
    known.begin(["clock", "topics"])
    moved = known.moved()
    looked["clock"] += 1
    await asyncio.wait_for(moved.wait(), 10)
    assert known.numbers(["clock", "topics"]) == {"clock": 1, "topics": 0}
    assert known.moved() is not moved
    known.end(["clock", "topics"])


async def test_nothing_is_looked_at_for_nobody(looked: dict[str, int]):
    known = Versions(hosted())
    assert not known.is_looking
    known.begin(["clock"])
    known.begin(["clock", "nodes"])
    known.end(["clock"])
    assert known.is_looking
    known.end(["clock", "nodes"])
    assert not known.is_looking


async def test_a_change_over_http_and_another_broker_count_for_all(looked: dict[str, int]):
    ours = hosted()
    known = Versions(ours)
    known.begin(["quotas", "acls"])
    for change in ("changes", "broker"):
        moved = known.moved()
        if change == "changes":
            ours.changes += 1
        else:
            ours.broker = SimpleNamespace(state=object())
        await asyncio.wait_for(moved.wait(), 10)
    assert known.numbers(["quotas", "acls"]) == {"quotas": 2, "acls": 2}
    known.end(["quotas", "acls"])
