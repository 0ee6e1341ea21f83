"""The scenario that every client of the matrix plays, step by step, and how what it tells is judged.

A step is judged by what the program told of it (a JSON object) and by what the broker shows afterwards (`Seen`), looked
at by a client of our own. The functions are pure: they give complaints, nothing where the step is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

PARTITIONS: Final = 4
Told = Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """What the broker shows of the topic and the group; partitions by their number.

    Attributes:
        ends: each partition's log end offset.
        committed: the group's committed offsets.
        state: of the group, by Kafka's name; "" where the broker does not know it.
        members: the partitions of each member, in any order.
        instances: the epoch of each member that has a group instance id, and its partitions.
        listed: whether ListGroups names the group.
        epoch: of a group of the consumer protocol.
        type: of the group, as ListGroups tells it.
        starts: where the share partitions of a share group start.
        lags: how many of their records are not done with.
    """

    ends: Mapping[int, int] = field(default_factory=dict)
    committed: Mapping[int, int] = field(default_factory=dict)
    state: str = ""
    members: tuple[tuple[int, ...], ...] = ()
    instances: Mapping[str, tuple[int | None, tuple[int, ...]]] = field(default_factory=dict)
    listed: bool = False
    epoch: int | None = None
    type: str = ""
    starts: Mapping[int, int] = field(default_factory=dict)
    lags: Mapping[int, int | None] = field(default_factory=dict)


Judge = Callable[[Told, Seen, Seen], Iterator[str]]
"""(what was told, what is seen now, what was seen before the step) -> complaints."""


@dataclass(frozen=True)
class Step:
    """One step: its name in what programs print, what it is in the document, and its judge.

    Attributes:
        group: what the name of its group has behind that of the scenario's.
    """

    name: str
    shows: str
    judge: Judge
    group: str = ""


def _produce(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    """Offsets are told where the client tells them."""
    wanted = dict.fromkeys(range(PARTITIONS), 10)
    if seen.ends != wanted:
        yield f"the log ends at {shown(seen.ends)} instead of {shown(wanted)}"
    for partition, offsets in told.get("offsets", {}).items():
        if offsets != list(range(10)):
            yield f"the records of partition {partition} were acknowledged at {offsets} instead of 0 to 9"


def _consume(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from wrong_records(told["records"], dict.fromkeys(range(PARTITIONS), 0), seen.ends)
    if told.get("group", True) and seen.committed != seen.ends:
        yield f"committed is {shown(seen.committed)} instead of everything, {shown(seen.ends)}"


def _rebalance(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    members = told["members"]
    if len(members) != 2 or not all(members):
        yield f"the members have {members}: each of two should have partitions"
    if sorted(partition for part in members for partition in part) != list(range(PARTITIONS)):
        yield f"the members have {members}: each partition should have one owner"
    if seen.state != "Stable":
        yield f"the broker shows the group as {seen.state or 'unknown'} instead of Stable"
    if sorted(seen.members) != sorted(tuple(sorted(part)) for part in members):
        yield f"the broker shows the members with {list(seen.members)}, they themselves say {members}"


def _share(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    parts = told["records"]
    yield from wrong_records([record for part in parts for record in part], before.ends, seen.ends)
    readers = [{partition for partition, _, _ in part} for part in parts]
    if set.intersection(*readers):
        yield f"both members read partition {shown(sorted(set.intersection(*readers)))}"
    if sorted(seen.members) != sorted(tuple(sorted(reader)) for reader in readers):
        yield f"the broker shows the members with {list(seen.members)}, but they read {readers}"


def _commit(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    wanted = {int(partition): offset for partition, offset in told["committed"].items()}
    if seen.committed != wanted:
        yield f"committed is {shown(seen.committed)} instead of {shown(wanted)}"
    if len(wanted) != PARTITIONS or any(offset <= before.committed[partition] for partition, offset in wanted.items()):
        yield f"the client says to have committed {shown(wanted)}: that is not more than before in each partition"


def _leave(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if seen.state != "Empty" or seen.members:
        yield f"the group is {seen.state or 'unknown'} with {len(seen.members)} members instead of Empty"
    if seen.committed != before.committed:
        yield f"committed was {shown(before.committed)} and is now {shown(seen.committed)}"


def _resume(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if any(before.committed[partition] >= end for partition, end in seen.ends.items()):
        yield f"nothing is left to resume: committed {shown(before.committed)}, ends {shown(seen.ends)}"
    yield from wrong_records(told["records"], before.committed, seen.ends)


def _delete_offsets(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    wanted = {partition: offset for partition, offset in before.committed.items() if partition != 0}
    if seen.committed != wanted:
        yield f"committed is {shown(seen.committed)} instead of {shown(wanted)}"


def _delete_group(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    if seen.listed:
        yield "the group is still listed"
    if seen.state not in ("", "Dead"):
        yield f"the group is still described, as {seen.state}"
    if seen.committed:
        yield f"committed is still {shown(seen.committed)}"


STEPS: Final = (
    Step("produce", "ten records to each of four partitions, with acks=all", _produce),
    Step("consume", "the first member reads all, in order, and commits", _consume),
    Step("rebalance", "a second member joins: both have partitions, and each partition has one owner", _rebalance),
    Step("share", "the owner of each partition reads ten more records once, in order", _share),
    Step("commit", "each member commits an offset that it chooses", _commit),
    Step("leave", "both members close: the group is empty at once", _leave),
    Step("resume", "a new member starts exactly at the committed offsets", _resume),
    Step("delete_offsets", "the committed offset of one partition is deleted, the others stay", _delete_offsets),
    Step("delete_group", "the group is deleted: it is not listed, not described, and has no offsets", _delete_group),
)


def _expression(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    yield from wrong_records(told["records"], before.committed, seen.ends)
    if seen.ends == before.ends:
        yield "nothing new was written"
    if seen.members != (tuple(range(PARTITIONS)),):
        yield f"the broker shows the members with {list(seen.members)} instead of one with all partitions"
    if seen.committed != seen.ends:
        yield f"committed is {shown(seen.committed)} instead of everything, {shown(seen.ends)}"


def _static(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    named, other = (tuple(part) for part in told["members"])
    if seen.instances != {NAMED: (AWAY, named)}:
        yield f"the broker shows {dict(seen.instances)} instead of {NAMED!r} in epoch {AWAY} with {list(named)}"
    if sorted(seen.members) != sorted((named, other)):
        yield f"the broker shows the members with {list(seen.members)}, they themselves say {told['members']}"


def _return(told: Told, seen: Seen, before: Seen) -> Iterator[str]:
    named, other = (tuple(part) for part in told["members"])
    if seen.instances != {NAMED: (seen.epoch, named)}:
        yield f"the broker shows {dict(seen.instances)} instead of {NAMED!r} in epoch {seen.epoch} with {list(named)}"
    if sorted(seen.members) != sorted((named, other)):
        yield f"the broker shows the members with {list(seen.members)}, they themselves say {told['members']}"
    if seen.epoch != before.epoch:
        yield f"the group's epoch was {before.epoch} and is now {seen.epoch}"


CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
"""The protocols of a group."""
NAMED: Final = "named"
"""The group instance id of the static member."""
AWAY: Final = -2
"""The member epoch of a static member that left for a while."""
CONSUMER_STEPS: Final = (
    *STEPS[:-2],
    Step("expression", "a member subscribes to a regular expression, reads new records, and commits", _expression),
    *STEPS[-2:],
    Step("static", "a member with an instance id closes: its partitions wait for it", _static, "-static"),
    Step(
        "return",
        "the member returns: it has its partitions again, at the same group epoch",
        _return,
        "-static",
    ),
)


def of_wrong_type(protocol: str, seen: Seen) -> Iterator[str]:
    """A client that fell back to the other protocol has not shown what it is asked to show."""
    if seen.listed and seen.type.lower() != protocol:
        yield f"the group is one of the {seen.type.lower()} protocol"


def wrong_records(records: Iterable[Any], starts: Mapping[int, int], ends: Mapping[int, int]) -> Iterator[str]:
    """Complaints about [partition, offset, value] rows that should be starts to ends of each partition, in order.

    The value of a record is PARTITION-OFFSET.
    """
    by_partition: dict[int, list[int]] = {}
    for partition, offset, value in records:
        by_partition.setdefault(partition, []).append(offset)
        if value != f"{partition}-{offset}":
            yield f"the record at {partition}-{offset} has the value {value!r}"
    for partition, end in ends.items():
        wanted, got = list(range(starts.get(partition, 0), end)), by_partition.pop(partition, [])
        if got != wanted:
            yield f"of partition {partition} came {shown(got)} instead of {shown(wanted)}"
    if by_partition:
        yield f"partitions {sorted(by_partition)} do not exist"


def shown(value: Mapping[int, int] | list[int]) -> str:
    """Short: {0: 10, 1: 10} as "0:10 1:10", runs of numbers as FIRST-LAST."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}:{value[key]}" for key in sorted(value)) or "nothing"
    if len(value) > 2 and value == list(range(value[0], value[-1] + 1)):
        return f"{value[0]}-{value[-1]}"
    return ", ".join(map(str, value)) or "nothing"
