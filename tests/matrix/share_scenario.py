"""The scenario of share groups (KIP-932): records that are accepted, released, rejected, kept, and let go.

A record that a program tells of has a fourth thing: how often it had been delivered by then, this time included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.matrix.scenario import PARTITIONS, STEPS, Seen, Step, Told, shown

LOCK_MS: Final = 2000
"""For how long a member has a record before it goes to others."""
DELIVERIES: Final = 3
"""How often a record is delivered before the group gives it up."""
ALTERED: Final = 5
"""Where partition 0 starts anew."""
LATE: Final = "INVALID_RECORD_STATE"
"""What an acknowledgement of a record comes to that is no longer the member's."""
GROUP_CONFIG: Final = {
    "share.auto.offset.reset": "earliest",
    "share.record.lock.duration.ms": LOCK_MS,
    "share.delivery.count.limit": DELIVERIES,
}
"""Of the group, set before the program starts."""
BROKER_CONFIG: Final = {
    "group.share.min.heartbeat.interval.ms": 200,
    "group.share.heartbeat.interval.ms": 200,
    "group.share.min.record.lock.duration.ms": 1000,
}
"""Of the broker: it tells how often a member speaks, and how short a lock may be."""


def _accept(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries(told["records"], dict.fromkeys(seen.ends, 0), seen)


def _each_once(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries(told["records"], before.ends, seen)


def _again(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries(told["records"], {**before.ends, 0: ALTERED}, seen)


def _join(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if seen.state != "Stable" or len(seen.members) != 2:
        yield f"the group is {seen.state or 'unknown'} with {len(seen.members)} members instead of Stable with 2"
    if sorted(partition for part in seen.members for partition in part) != list(range(PARTITIONS)):
        yield f"the broker shows the members with {list(seen.members)}: each partition should be one member's"


def _both(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries([row for part in told["records"] for row in part], before.ends, seen)


def _release(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries(told["records"], before.ends, seen, dict.fromkeys(range(1, 100, 2), (1, 2)))


def _poison(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from _deliveries(told["records"], before.ends, seen, dict.fromkeys(range(5, 100, 10), (1, 2, 3)))


def _expire(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    kept = {(partition, offset) for partition, offset, _, _ in told["kept"]}
    if not kept:
        yield "the member had no record while the locks ran out"
    if set(told["late"]) != {LATE}:
        yield f"the late acknowledgements came to {told['late']} instead of {LATE}"
    twice = dict.fromkeys(kept, (1, 2))
    yield from _deliveries([*told["kept"], *told["records"]], before.ends, seen, twice)


def _close(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    closed, other = told["records"]
    if not closed:
        yield "the member that closed had no record"
    kept = {(partition, offset) for partition, offset, _, _ in closed}
    counts: dict[Any, tuple[int, ...]] = dict.fromkeys(kept, (1, 2))
    # what the client had fetched and not given out goes to the other with the count that it has by then
    counts |= {(partition, offset): (count,) for partition, offset, _, count in other if count == 2} | counts
    yield from _deliveries([*closed, *other], before.ends, seen, counts)


def _leave(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if seen.state != "Empty" or seen.members:
        yield f"the group is {seen.state or 'unknown'} with {len(seen.members)} members instead of Empty"
    if seen.starts != before.starts:
        yield f"the group started at {shown(before.starts)} and now starts at {shown(seen.starts)}"


def _alter_offsets(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    wanted = {**before.starts, 0: ALTERED}
    if seen.starts != wanted:
        yield f"the group starts at {shown(seen.starts)} instead of {shown(wanted)}"


def _delete_offsets(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if seen.starts:
        yield f"the group still starts at {shown(seen.starts)}"


def _deliveries(
    rows: Sequence[Sequence[Any]],
    starts: Mapping[int, int],
    seen: Seen,
    counts: Mapping[Any, tuple[int, ...]] | None = None,
) -> Iterator[str]:
    """Complaints about rows of partition, offset, value and count that should be all from `starts` on.

    `counts` has the counts of deliveries by offset, or by partition and offset; other records come once. At the end
    all records are done with.
    """
    counts = counts or {}
    found: dict[tuple[int, int], list[int]] = {}
    for partition, offset, value, count in rows:
        found.setdefault((partition, offset), []).append(count)
        if value != f"{partition}-{offset}":
            yield f"the record at {partition}-{offset} has the value {value!r}"
    for partition, end in seen.ends.items():
        for offset in range(starts[partition], end):
            place = (partition, offset)
            wanted = counts.get(place, counts.get(offset, (1,)))
            got = tuple(found.pop(place, ()))
            if got != wanted:
                yield f"the record at {partition}-{offset} came with the counts {list(got)} instead of {list(wanted)}"
    if found:
        yield f"records came that are not of this step: {sorted(found)[:3]}"
    if seen.lags != dict.fromkeys(seen.ends, 0):
        yield f"the broker shows the lags {dict(seen.lags)} instead of 0"


SHARE_STEPS: Final = (
    STEPS[0],
    Step("accept", "a member reads and accepts all records, each in its first delivery: none is left", _accept),
    Step("join", "a second member joins: the partitions are divided", _join),
    Step("both", "ten more records in each partition: one of the two members reads each once", _both),
    Step("release", "every second of ten more records is released and delivered a second time", _release),
    Step(
        "poison",
        f"a record is always released: after {DELIVERIES} deliveries it is archived",
        _poison,
    ),
    Step("reject", "a record is rejected: it is not delivered again", _each_once),
    Step("renew", "records are kept for longer than their locks, which are renewed, and then accepted", _each_once),
    Step(
        "expire",
        f"records are kept too long: accepting them is refused ({LATE}), they are delivered again",
        _expire,
    ),
    Step("close", "a member closes while it has acquired records: another member gets them", _close),
    Step("leave", "all members close: the group is empty at once", _leave),
    Step("alter_offsets", f"the administrator sets the start offset of partition 0 to {ALTERED}", _alter_offsets),
    Step("again", "a new member reads from that offset", _again),
    Step("delete_offsets", "the administrator deletes the topic's offsets: the group has none", _delete_offsets),
    STEPS[-1],
)
