"""When offsets expire: with the broker's time in hand to the millisecond, else (`--slow`) by waiting for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafkastub_conformance.broker import Broker, Member, subscription
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect_that
from kafkastub_conformance.model import Clock, Skipped
from kafkastub_conformance.registry import case

KIP = "KIP-211, Proposed Changes"
DAY_MS = 86_400_000
CHECKED_SECONDS = 30
"""No case waits for a broker that looks for expired offsets less often than that."""

WAITED_MINUTES = 2


@contextmanager
def standing(on: Broker) -> Iterator[Clock]:
    """The broker's clock, which stands still."""
    clock = on.cluster.clock
    assert clock is not None  # or the case is not planned
    stood = clock.frozen
    clock.freeze()
    try:
        yield clock
    finally:
        if not stood:
            clock.unfreeze()


def retention_ms(on: Broker) -> int:
    return on.cluster.number("offsets.retention.minutes", 10080) * 60_000


def left(on: Broker, group: str, *rows: tuple[Topic, int]) -> list[int]:
    """The committed offsets, -1 for what is gone."""
    return [on.committed(group, topic, partition) for topic, partition in rows]


def committing(on: Broker, *topics: Topic, subscribes: bytes | None = None) -> Member:
    """The only member of a stable group, which has committed offset 5 of each topic's partition 0."""
    names = [topic.name for topic in topics[:1]]
    data = subscription(*names) if subscribes is None else subscribes
    member = on.member(None, protocols={"range": data})
    on.commit(member.group, [(topic, 0, 5) for topic in topics], member=member)
    return member


@case("OffsetCommit", "A simple group's offsets expire each by itself.", source=KIP, also=["OffsetFetch"], clock=True)
def expiry_simple(on: Broker) -> None:
    group, topic, age = on.group(), on.some_topic(), retention_ms(on)
    rows = (topic, 0), (topic, 1)
    with standing(on) as clock:
        on.commit(group, [(topic, 0, 5)])
        clock.advance(milliseconds=1000)
        on.commit(group, [(topic, 1, 6)])
        clock.advance(milliseconds=age - 1001)
        expect_that("the offsets a millisecond before the first is due", left(on, group, *rows), [5, 6])
        clock.advance(milliseconds=1)
        expect_that("the offsets when the first is due", left(on, group, *rows), [-1, 6])
        clock.advance(milliseconds=1000)
        expect_that("the offsets when the second is due", left(on, group, *rows), [-1, -1])
        expect_that("the group's state without offsets", on.state(group), "Dead")


@case(
    "OffsetCommit",
    "A second commit expires by its own time.",
    source=KIP,
    also=["OffsetFetch"],
    clock=True,
)
def expiry_of_the_last_commit(on: Broker) -> None:
    group, topic, age = on.group(), on.some_topic(), retention_ms(on)
    with standing(on) as clock:
        on.commit(group, [(topic, 0, 5)])
        clock.advance(milliseconds=1000)
        on.commit(group, [(topic, 0, 6)])
        clock.advance(milliseconds=age - 1)
        expect_that("the offset", on.committed(group, topic), 6)
        clock.advance(milliseconds=1)
        expect_that("the offset when it is due", on.committed(group, topic), -1)


@case(
    "OffsetCommit",
    "An empty group loses all its offsets, counted from the moment when its last member left, and is gone.",
    source=KIP,
    also=["OffsetFetch", "JoinGroup", "LeaveGroup"],
    clock=True,
)
def expiry_empty(on: Broker) -> None:
    topic, age = on.some_topic(), retention_ms(on)
    with standing(on) as clock:
        member = committing(on, topic)
        clock.advance(milliseconds=DAY_MS)
        on.leave(member)
        clock.advance(milliseconds=age - 1)
        expect_that("the offset a millisecond before it is due", on.committed(member.group, topic), 5)
        expect_that("the group's state", on.state(member.group), "Empty")
        clock.advance(milliseconds=1)
        expect_that("the offset when it is due", on.committed(member.group, topic), -1)
        expect_that("the group's state afterwards", on.state(member.group), "Dead")


@case(
    "OffsetCommit",
    "A stable group keeps the offsets of what it subscribes to, and loses others at their age.",
    source="KIP-211 (Stable), Kafka: ClassicGroup.offsetExpirationCondition",
    also=["OffsetFetch", "JoinGroup"],
    clock=True,
)
def expiry_stable(on: Broker) -> None:
    topic, other, age = on.some_topic(), on.topic(), retention_ms(on)
    rows = (topic, 0), (other, 0)
    with standing(on) as clock:
        member = committing(on, topic, other)
        clock.advance(milliseconds=age - 1)
        expect_that("the offsets before", left(on, member.group, *rows), [5, 5])
        clock.advance(milliseconds=1)
        expect_that("the offsets", left(on, member.group, *rows), [5, -1])
        clock.advance(milliseconds=age + DAY_MS)
        expect_that("the offset of the subscribed topic, much later", left(on, member.group, *rows), [5, -1])


@case(
    "OffsetCommit",
    "A live group whose metadata is no subscription keeps everything.",
    source="Kafka: ClassicGroup.computeSubscribedTopics",
    also=["OffsetFetch", "JoinGroup"],
    clock=True,
)
def expiry_unparseable(on: Broker) -> None:
    topic, age = on.some_topic(), retention_ms(on)
    with standing(on) as clock:
        member = committing(on, topic, subscribes=b"\1\2\3")
        clock.advance(milliseconds=age + DAY_MS)
        expect_that("the offset", on.committed(member.group, topic), 5)


@case(
    "OffsetCommit",
    "A group that rebalances keeps everything.",
    source="Kafka: ClassicGroup.offsetExpirationCondition",
    also=["OffsetFetch", "JoinGroup"],
    clock=True,
)
def expiry_rebalancing(on: Broker) -> None:
    topic, other, age = on.some_topic(), on.topic(), retention_ms(on)
    with standing(on) as clock:
        member, _ = on.rebalancing()
        on.commit(member.group, [(topic, 0, 5), (other, 0, 5)], member=member)
        clock.advance(milliseconds=age + DAY_MS)
        expect_that("the offsets", left(on, member.group, (topic, 0), (other, 0)), [5, 5])


@case(
    "OffsetCommit",
    "An offset that is committed to a group that was empty for long expires at the next sweep.",
    source="Kafka: OffsetMetadataManager.cleanupExpiredOffsets",
    also=["OffsetFetch", "JoinGroup", "LeaveGroup"],
    clock=True,
)
def expiry_late_commit(on: Broker) -> None:
    topic, age = on.some_topic(), retention_ms(on)
    with standing(on) as clock:
        member = committing(on, topic)
        on.leave(member)
        clock.advance(milliseconds=age - 1)
        on.commit(member.group, [(topic, 0, 9)])
        expect_that("the offset", on.committed(member.group, topic), 9)
        clock.advance(milliseconds=1)
        expect_that("the offset a millisecond later", on.committed(member.group, topic), -1)


@case(
    "OffsetCommit",
    "A retention of the commit's own fixes when it expires.",
    source="KIP-211, Compatibility",
    versions=(2, 4),
    also=["OffsetFetch"],
    clock=True,
)
def expiry_own_retention(on: Broker) -> None:
    group, topic = on.group(), on.some_topic()
    rows = (topic, 0), (topic, 1)
    with standing(on) as clock:
        on.commit(group, [(topic, 0, 5)], retention_time_ms=60_000)
        on.commit(group, [(topic, 1, 6)], retention_time_ms=-1)
        clock.advance(milliseconds=59_999)
        expect_that("the offsets before", left(on, group, *rows), [5, 6])
        clock.advance(milliseconds=1)
        expect_that("the offsets", left(on, group, *rows), [-1, 6])


def await_sweep(on: Broker) -> None:
    """Raises Skipped where the broker looks for expired offsets too seldom to be waited for."""
    every = on.cluster.number("offsets.retention.check.interval.ms", 600_000)
    if every > CHECKED_SECONDS * 1000:
        raise Skipped(
            f"offsets.retention.check.interval.ms of this broker is {every}: expected at most {CHECKED_SECONDS * 1000}"
        )


@case(
    "OffsetCommit",
    "A commit with a retention of a second is gone at the next sweep; its neighbour is not.",
    source="KIP-211, Compatibility",
    versions=(2, 4),
    also=["OffsetFetch"],
    slow=True,
)
def expires_soon(on: Broker) -> None:
    await_sweep(on)
    group, topic = on.group(), on.some_topic()
    on.commit(group, [(topic, 0, 5)], retention_time_ms=1000)
    on.commit(group, [(topic, 1, 6)], retention_time_ms=3_600_000)
    expect_that("the offset at once", on.committed(group, topic), 5)
    on.in_time(lambda: on.committed(group, topic) == -1, CHECKED_SECONDS + 5)
    expect_that("the offsets", left(on, group, (topic, 0), (topic, 1)), [-1, 6])


@case(
    "OffsetCommit",
    "When the retention is over an empty group and its offsets are gone; a live one keeps what it subscribes to.",
    source=KIP,
    versions=(8, 8),
    also=["OffsetFetch", "JoinGroup", "LeaveGroup"],
    slow=True,
)
def expires_at_last(on: Broker) -> None:
    await_sweep(on)
    age = retention_ms(on)
    if age > WAITED_MINUTES * 60_000:
        raise Skipped(f"offsets.retention.minutes of this broker is {age // 60_000}: expected at most {WAITED_MINUTES}")
    topic, other = on.some_topic(), on.topic()
    alive = committing(on, topic, other)
    gone = on.member(None, topic.name, client="gone")
    on.commit(gone.group, [(topic, 0, 6)], member=gone, client="gone")
    on.leave(gone)

    def expired() -> bool:
        on.heartbeat(alive)
        return on.state(gone.group) == "Dead" and on.committed(alive.group, other) == -1

    on.in_time(expired, age / 1000 + CHECKED_SECONDS + 5, every=0.5)
    expect_that(
        "the empty group's state and offset", (on.state(gone.group), on.committed(gone.group, topic)), ("Dead", -1)
    )
    expect_that("the live group's offsets", left(on, alive.group, (topic, 0), (other, 0)), [5, -1])
