"""What unfinished frames hold together: who is read on, who waits, who gets through, and who has to go."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kafkastub.server.unfinished import LOOK_MS, PATIENCE_MS, UnfinishedFrames

LIMIT = 100 << 20
MB = 1 << 20
PIECE = 1 << 18


class Client:
    """A connection: sends until its frame is complete, as long as it is read."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.unfinished = 0
        self.size = size
        self.starved = self.done = False
        self.is_read = True
        self.ended: str | None = None
        self._bench = bench

    def starve(self, starved: bool) -> None:
        assert starved is not self.starved
        self.starved = starved

    def end_starved(self, why: str) -> None:
        self.ended = why
        self._bench.frames.hold(self, 0)

    def send(self, size: int) -> None:
        """What the kernel takes of it, and what we read."""
        if not (self.starved or self.done or self.ended):
            held = self.unfinished + size
            self.done = held >= self.size
            self._bench.frames.hold(self, 0 if self.done else held)


class Bench:
    def __init__(self) -> None:
        self.frames = UnfinishedFrames(LIMIT, self._call_later)
        self.freed = 0
        self.frames.much_is_freed = self._much_is_freed
        self.calls: list[Callable[[], None]] = []
        self.clients: list[Client] = []

    def _call_later(self, ms: int, call: Callable[[], None]) -> None:
        assert ms == LOOK_MS
        self.calls.append(call)

    def _much_is_freed(self) -> None:
        self.freed += 1

    def client(self, size: int, sent: int = 0) -> Client:
        made = Client(self, size)
        self.clients.append(made)
        while made.unfinished < sent and not made.starved:
            made.send(min(PIECE, sent - made.unfinished))
        return made

    def pass_ms(self, ms: int) -> None:
        for _ in range(ms // LOOK_MS):
            calls, self.calls = self.calls, []
            for call in calls:
                call()


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_few_unfinished_frames_are_read_whatever_their_size(bench: Bench):
    one = bench.client(40 * MB, 39 * MB)
    assert not one.starved
    assert bench.frames.total == 39 * MB
    one.send(MB)
    assert one.done
    assert (bench.frames.total, bench.calls) == (0, [])


def test_hogs_wait_before_they_have_taken_all_that_there_is(bench: Bench):
    """One of them may go on: it is not known yet that it is no honest client."""
    hogs = [bench.client(95 * MB, 94 * MB) for _ in range(20)]
    (first,) = (one for one in hogs if not one.starved)
    assert sum(one.unfinished for one in hogs if one is not first) <= LIMIT * 3 // 4 + 20 * 3 * PIECE


@pytest.mark.parametrize("size", [95 * MB, 3 * MB], ids=["large ones", "many of some size"])
def test_a_small_honest_request_is_read_while_hogs_wait(bench: Bench, size: int):
    for _ in range(40):
        bench.client(size, size - MB // 2)
    honest = bench.client(MB // 4)
    for _ in range(4):
        honest.send(MB // 16)
    assert honest.done


def test_a_large_honest_request_gets_through_when_hogs_have_had_their_turns(bench: Bench):
    for _ in range(5):
        bench.client(95 * MB, 94 * MB)
    honest = bench.client(90 * MB, 90 * MB)
    assert honest.starved
    for _ in range(6 * PATIENCE_MS // LOOK_MS):
        bench.pass_ms(LOOK_MS)
        honest.send(10 * MB)
    assert honest.done
    assert honest.ended is None
    assert any(one.ended for one in bench.clients)


def test_a_client_that_is_slow_and_gets_on_is_not_ended(bench: Bench):
    slow = bench.client(95 * MB, 60 * MB)
    assert not slow.starved
    hog = bench.client(95 * MB, 94 * MB)
    assert hog.starved
    while not slow.done:
        slow.send(MB)
        bench.pass_ms(PATIENCE_MS - LOOK_MS)
    assert slow.ended is None
    assert not hog.starved


def test_all_that_are_silent_while_others_wait_are_ended_together(bench: Bench):
    """A hundred and fifty that stay below what one may hold: one after the other would take ten minutes."""
    for _ in range(150):
        bench.client(95 * MB, MB * 7 // 10)
    honest = bench.client(5 * MB, 5 * MB)
    assert honest.starved
    for _ in range(PATIENCE_MS // LOOK_MS + 1):
        bench.pass_ms(LOOK_MS)
        honest.send(5 * MB)
    assert honest.done


def test_what_is_complete_and_waits_leaves_less_room(bench: Bench):
    bench.frames.wait(60 * MB)
    large, small = bench.client(95 * MB, 10 * MB), bench.client(MB, MB // 4)
    assert not large.starved  # somebody may always go on
    assert bench.client(95 * MB, 10 * MB).starved
    assert not small.starved
    bench.frames.wait(-60 * MB)
    held = sum(one.unfinished for one in bench.clients)
    assert (bench.frames.starved, bench.frames.total) == (0, held - large.unfinished)


def test_memory_is_given_back_behind_what_was_complete_and_waited(bench: Bench):
    bench.frames.wait(90 * MB)
    bench.frames.wait(-90 * MB)
    bench.pass_ms(5 * LOOK_MS)
    assert bench.freed == 1
    assert bench.calls == []


def test_nobody_is_ended_for_what_was_before_others_waited(bench: Bench):
    bench.client(95 * MB, 94 * MB)
    slow = [bench.client(MB, MB // 2) for _ in range(100)]
    bench.pass_ms(20 * PATIENCE_MS)
    waits = bench.client(95 * MB, 94 * MB)
    assert waits.starved
    bench.pass_ms(PATIENCE_MS - LOOK_MS)
    for one in slow:
        one.send(MB // 8)
    bench.pass_ms(PATIENCE_MS - LOOK_MS)
    assert not any(one.ended for one in slow)


def test_who_is_not_read_has_longer(bench: Bench):
    """Its own requests are still being answered."""
    busy, idle = bench.client(MB, MB // 2), bench.client(MB, MB // 2)
    busy.is_read = False
    for _ in range(8):
        bench.client(95 * MB, 94 * MB)
    bench.pass_ms(PATIENCE_MS + LOOK_MS)
    assert (busy.ended is None, idle.ended is None) == (True, False)


def test_who_waits_and_has_gone_leaves_its_place_when_its_turn_comes(bench: Bench):
    """The kernel tells of the end of a connection who reads it."""
    first, *waiting = (bench.client(95 * MB, 94 * MB) for _ in range(10))
    assert not first.starved
    first.end_starved("it closes")
    for _ in waiting:
        for one in waiting:
            if not (one.starved or one.ended):
                one.end_starved("it has closed long ago")
    assert all(one.ended for one in waiting)
    assert (bench.frames.total, bench.frames.starved) == (0, 0)


def test_memory_is_given_back_when_a_lot_is_over_and_once(bench: Bench):
    hogs = [bench.client(95 * MB, 94 * MB) for _ in range(3)]
    for one in hogs:
        one.end_starved("it closes")
    assert bench.frames.total == 0
    bench.pass_ms(5 * LOOK_MS)
    assert bench.freed == 1
    assert bench.calls == []


@pytest.mark.parametrize("seed", range(30))
def test_everybody_who_goes_on_sending_gets_through(bench: Bench, seed: int):
    """Nobody waits for ever for others who wait, in whatever order they come and however much they send."""
    rng = random.Random(seed)
    for _ in range(rng.randrange(2, 60)):
        bench.client(rng.choice([MB, 10 * MB, 50 * MB, 99 * MB]))
    steps = 0
    while not all(one.done for one in bench.clients):
        for one in rng.sample(bench.clients, len(bench.clients)):
            one.send(rng.choice([MB // 4, MB]))
        held = sum(one.unfinished for one in bench.clients)
        assert held <= LIMIT + 99 * MB + len(bench.clients) * MB
        assert held >= bench.frames.total >= held - max(one.unfinished for one in bench.clients)
        steps += 1
        assert steps < 20_000
    assert bench.frames.starved == 0
    assert not any(one.ended for one in bench.clients)
