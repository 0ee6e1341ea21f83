"""Much that is said of a share group's records, given back or let go by the time is done in parts: others are served
between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkawire.schema import Message
from tests.handlers.desk import batch
from tests.handlers.share_desk import ACCEPT, ShareDesk

PARTITIONS, RECORDS = 30, 100
MOST = 1_300
"""Writes between which others have to wait: of thirty partitions cut into fifty ranges and more, some."""


class Counting:
    """How much was written of share partitions, turn by turn."""

    def __init__(self, desk: ShareDesk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = desk
        self.turns = [0]
        persister = desk.state.share_partitions.persister
        write: Callable[..., None] = persister.write

        def counted(*args: Any) -> None:
            self.turns[-1] += len(args[-2])
            write(*args)

        monkeypatch.setattr(persister, "write", counted)

    def finish(self) -> None:
        """Let everything have its turn that is due."""
        desk = self.desk
        while (at := desk.state.next_event()) is not None and at <= desk.timer_ms:
            self.turns.append(0)
            desk.wait_until(desk.timer_ms)

    @property
    def whole(self) -> int:
        return sum(self.turns)


@pytest.fixture
def desk() -> ShareDesk:
    """Member "m" has a hundred records of each of thirty partitions; its session is at epoch 1."""
    desk = ShareDesk(partitions=PARTITIONS)
    for index in range(PARTITIONS):
        desk.fill(batch(*[b"v"] * RECORDS), partition=index)
    outcome = desk.fetching(partitions=range(PARTITIONS), max_records=100_000)
    answer = finished(desk, outcome)
    found = [one for topic in answer.responses for part in topic.partitions for one in part.acquired_records]
    assert len(found) == PARTITIONS
    return desk


def finished(desk: ShareDesk, outcome: Any) -> Any:
    for _ in range(200):
        if isinstance(outcome, Message):
            return outcome
        desk.wait_until(desk.timer_ms)
        if outcome.reply is not None:
            return outcome.reply
    raise AssertionError("no answer")


def every_second(desk: ShareDesk) -> Deferred:
    said = [(offset, offset, [ACCEPT]) for offset in range(1, RECORDS, 2)]
    outcome = desk.acknowledging(1, dict.fromkeys(range(PARTITIONS), said))
    assert isinstance(outcome, Deferred)
    return outcome


@pytest.mark.behaviour("AK-13")
def test_acknowledgements_are_written_in_parts(desk: ShareDesk, monkeypatch: pytest.MonkeyPatch):
    counting = Counting(desk, monkeypatch)
    outcome = every_second(desk)
    counting.finish()
    answer: Any = outcome.reply
    assert {part.error_code for topic in answer.responses for part in topic.partitions} == {0}
    assert counting.whole == PARTITIONS * RECORDS // 2
    assert max(counting.turns) < MOST


@pytest.mark.behaviour("SF-28")
@pytest.mark.parametrize("way", ["connection", "ShareAcknowledge", "ShareFetch"])
def test_what_a_session_had_is_given_back_in_parts(desk: ShareDesk, way: str, monkeypatch: pytest.MonkeyPatch):
    finished(desk, every_second(desk))
    counting = Counting(desk, monkeypatch)
    if way == "connection":
        desk.fetch(0, connection="d", member="other", partitions=(), max_wait_ms=0)  # the group is not empty
        desk.connections.pop("c").forget()
        counting.finish()
    else:
        ask = desk.acknowledging if way == "ShareAcknowledge" else desk.fetching
        outcome = ask(-1, {}) if way == "ShareAcknowledge" else ask(-1, partitions=())
        assert isinstance(outcome, Deferred)
        assert outcome.reply is None  # before all is given back, nobody is told
        counting.finish()
        assert outcome.reply is not None
    assert counting.whole == PARTITIONS * RECORDS // 2
    assert max(counting.turns) < MOST


@pytest.mark.behaviour("SF-28")
def test_a_member_that_comes_back_meanwhile_loses_nothing_that_it_gets(desk: ShareDesk):
    finished(desk, every_second(desk))
    desk.fetch(0, connection="d", member="other", partitions=(), max_wait_ms=0)
    desk.connections.pop("c").forget()
    desk.wait_until(desk.timer_ms)  # a part of it is done
    outcome = desk.fetching(0, connection="e", partitions=range(PARTITIONS), max_records=100_000)
    finished(desk, outcome)
    for _ in range(200):
        desk.wait_until(desk.timer_ms)
    for index in range(PARTITIONS):
        assert {state for _, _, state, _ in desk.states(partition=index)} == {"ACQUIRED", "ACKNOWLEDGED"}


def test_locks_that_end_together_are_gone_through_in_parts(monkeypatch: pytest.MonkeyPatch):
    desk = ShareDesk(partitions=350)
    for index in range(350):
        desk.fill(batch(b"v"), partition=index)
    finished(desk, desk.fetching(partitions=range(350), max_records=100_000))
    counting = Counting(desk, monkeypatch)
    desk.wait_until(desk.timer_ms + 30_000)
    assert counting.turns == [100]
    counting.finish()
    assert counting.whole == 350
    assert max(counting.turns) == 100
