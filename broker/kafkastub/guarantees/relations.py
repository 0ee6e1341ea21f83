"""Two topics side by side: an application reads one, and writes what follows from each record into the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kafkastub.guarantees.events import Partition
from kafkastub.guarantees.findings import Finding
from kafkastub.guarantees.ranges import Range, Ranges
from kafkastub.guarantees.state import Step
from kafkastub.printable import printable

_MOST_NAMED: Final = 5


class Item(NamedTuple):
    """A record, by what the test says makes it the same as another one."""

    partition: Partition
    offset: int
    by: Hashable


class Position(NamedTuple):
    """How far a group is with a partition, as the checker knows it."""

    committed: int
    story: tuple[Step, ...]
    transactional: bool
    """Whether its offsets are committed in transactions."""
    outside: int | None
    """The journal's entry of a commit outside of any."""


def compared(
    name: str,
    group: str | None,
    inputs: Iterable[Item],
    outputs: Sequence[Item],
    positions: Mapping[Partition, Position],
    broker_ms: int,
    writes_transactions: bool,
) -> list[Finding]:
    """The findings of `at_least_once` or `exactly_once`.

    Args:
        inputs: what the input topic has.
        outputs: what the output topic has.
        positions: of the group, by partition of the input: what is below them is to be in the output.
        broker_ms: now.
        writes_transactions: whether the output has records of transactions.
    """
    have = Counter(one.by for one in outputs)
    all_inputs = list(inputs)
    due: dict[Partition, Ranges] = {}
    named: dict[Partition, list[Hashable]] = {}
    wanted: Counter[Hashable] = Counter()
    for item in all_inputs:
        position = positions.get(item.partition)
        wanted[item.by] += 1
        if position is None or item.offset >= position.committed:
            continue
        enough = wanted[item.by] <= have[item.by] if name == "exactly_once" else have[item.by] > 0
        if not enough:
            due.setdefault(item.partition, Ranges()).add(item.offset, item.offset + 1)
            named.setdefault(item.partition, []).append(item.by)
    findings = [
        _missing(name, group, partition, list(ranges), named[partition], positions[partition], broker_ms)
        for partition, ranges in due.items()
    ]
    if name == "exactly_once":
        findings += _too_many(name, group, outputs, wanted, broker_ms)
        findings += _outside(group, positions, broker_ms) if writes_transactions else []
    return findings


def _missing(
    name: str, group: str | None, partition: Partition, offsets: list[Range], keys: list[Hashable], at: Position,
    broker_ms: int,
) -> Finding:  # fmt: skip
    many = sum(end - start for start, end in offsets)
    what = "record was" if many == 1 else "records were"
    cause = f"{many} {what} committed, up to {at.committed}, and nothing of the output follows from {_named(keys)}"
    first = offsets[0][0]
    entries = {step.sequence for step in at.story if step.what.startswith("given") and step.start <= first < step.end}
    committed = next((one for one in at.story if one.what == "committed" and one.start > first), None)
    shown = tuple(sorted(entries | ({committed.sequence} if committed is not None else set())))
    ms = broker_ms if committed is None else committed.broker_ms
    who = () if committed is None else (committed.who,)
    return Finding(name, cause, ms, shown, partition, tuple(offsets), group, who, at.story)


def _too_many(
    name: str, group: str | None, outputs: Sequence[Item], wanted: Counter[Hashable], broker_ms: int
) -> list[Finding]:
    seen: Counter[Hashable] = Counter()
    twice: dict[Partition, tuple[Ranges, list[Hashable]]] = {}
    unseen: dict[Partition, tuple[Ranges, list[Hashable]]] = {}
    for item in outputs:
        seen[item.by] += 1
        if seen[item.by] > wanted[item.by]:
            into = twice if wanted[item.by] else unseen
            ranges, keys = into.setdefault(item.partition, (Ranges(), []))
            ranges.add(item.offset, item.offset + 1)
            keys.append(item.by)
    found = []
    for into, why in ((twice, "more than once in the output"), (unseen, "in the output, and no input has it")):
        for partition, (ranges, keys) in into.items():
            cause = f"{_named(keys)} {'are' if len(keys) > 1 else 'is'} {why}"
            found.append(Finding(name, cause, broker_ms, (), partition, tuple(ranges), group))
    return found


def _outside(group: str | None, positions: Mapping[Partition, Position], broker_ms: int) -> list[Finding]:
    cause = (
        "the output is written in transactions, and the offsets of the input are committed outside of them: after an "
        "abort between the two, records are missing or twice"
    )
    return [
        Finding("offsets_outside_transaction", cause, broker_ms, (at.outside,), partition, (), group, (), at.story)
        for partition, at in positions.items()
        if at.outside is not None and not at.transactional
    ]


def _named(keys: list[Hashable]) -> str:
    shown = ", ".join(printable(_text(one), 60) for one in keys[:_MOST_NAMED])
    return shown if len(keys) <= _MOST_NAMED else f"{shown} and {len(keys) - _MOST_NAMED} more"


def _text(one: Hashable) -> str:
    return one.decode(errors="backslashreplace") if isinstance(one, bytes) else str(one)
