"""Named deadlines against a plain list of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.deadlines import Deadline, Deadlines

steps = st.one_of(
    st.tuples(st.just("arm"), st.integers(0, 4), st.integers(0, 50)),
    st.tuples(st.just("cancel"), st.integers(0, 4), st.just(0)),
    st.tuples(st.just("pass"), st.just(0), st.integers(0, 20)),
    st.tuples(st.just("look"), st.just(0), st.just(0)),
    st.tuples(st.just("crowd"), st.just(0), st.just(0)),
)


def come_and_gone(deadlines: Deadlines[None], now: int, count: int) -> None:
    """Others are armed for 24 days and cancelled."""
    for _ in range(count):
        other = Deadline[None](("other",), lambda _: None)
        deadlines.arm(other, now + 2**31)
        other.cancel()


@given(st.lists(steps, max_size=60))
def test_everything_fires_once_in_order_and_at_its_last_arming(script: list[tuple[str, int, int]]):
    deadlines: Deadlines[None] = Deadlines()
    every = [Deadline[None]((str(i),), lambda _: None) for i in range(5)]
    armed: dict[int, int] = {}
    now = 0
    for what, which, ms in script:
        if what == "arm":
            deadlines.arm(every[which], now + ms)
            armed[which] = now + ms
        elif what == "cancel":
            every[which].cancel()
            armed.pop(which, None)
        elif what == "crowd":
            come_and_gone(deadlines, now, 1_001)
        elif what == "pass":
            now += ms
            fired = [int(d.name[0]) for d in deadlines.due(now)]
            expected = {i: at for i, at in armed.items() if at <= now}
            assert sorted(fired) == sorted(expected)
            assert [expected[i] for i in fired] == sorted(expected.values())
            armed = {i: at for i, at in armed.items() if at > now}
        assert deadlines.next() == min(armed.values(), default=None)
        assert {int(d.name[0]): d.at for d in deadlines} == armed


def test_something_that_arms_itself_for_at_once_fires_once_a_call():
    deadlines: Deadlines[None] = Deadlines()
    fired = []

    def again(_: None) -> None:
        fired.append(1)
        deadlines.arm(busy, 10)

    busy = Deadline(("busy",), again)
    deadlines.arm(busy, 10)
    for deadline in deadlines.due(10):
        deadline.fire(None)
    assert len(fired) == 1
    assert deadlines.next() == 10
    for deadline in deadlines.due(10):
        deadline.fire(None)
    assert len(fired) == 2


def test_a_heartbeat_adds_nothing_to_the_heap():
    deadlines: Deadlines[None] = Deadlines()
    session = Deadline[None](("session",), lambda _: None)
    for now in range(10_000):
        deadlines.arm(session, now + 45_000)
    assert len(deadlines._heap) == 1
    assert deadlines.next() == 9_999 + 45_000


def test_who_comes_and_goes_for_ever_is_forgotten():
    deadlines: Deadlines[None] = Deadlines()
    staying = [Deadline[None](("staying",), lambda _: None) for _ in range(3_000)]
    for at, one in enumerate(staying):
        deadlines.arm(one, at + 1)
    come_and_gone(deadlines, 0, 50_000)
    assert len(deadlines._heap) <= 2 * len(staying) + 1
    assert list(deadlines.due(3_000)) == staying
    come_and_gone(deadlines, 0, 10_000)
    assert len(deadlines._heap) <= 2 * len(staying) + 1


def test_who_wants_no_more_leaves_the_rest_due():
    deadlines: Deadlines[None] = Deadlines()
    every = [Deadline[None]((str(i),), lambda _: None) for i in range(4)]
    for at, deadline in enumerate(every):
        deadlines.arm(deadline, at)
    due = deadlines.due(10)
    assert next(due) is every[0]
    deadlines.arm(every[0], 0)  # again at once: for the next call
    assert next(due) is every[1]
    due.close()
    assert deadlines.next() == 0
    assert list(deadlines.due(10)) == [every[0], every[2], every[3]]
    assert deadlines.next() is None
