"""A finding: the violation of a guarantee, and its forms for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafkastub.guarantees.events import At, Partition
from kafkastub.guarantees.ranges import Range, told
from kafkastub.guarantees.state import GroupPartition, Step
from kafkawire.errors import ErrorCode


@dataclass(frozen=True)
class Finding:
    """One violation of a guarantee, with the requests that show it."""

    guarantee: str
    """The name of the guarantee: `skipped`, `left_behind` … (docs/guarantees.md)."""
    cause: str
    """The cause, in one sentence."""
    broker_ms: int
    """The broker time of the violation, in Unix milliseconds."""
    entries: tuple[int, ...]
    """The sequence numbers of the journal entries that show it, ascending."""
    partition: Partition | None = None
    offsets: tuple[Range, ...] = ()
    """Ranges of offsets, without their end."""
    group: str | None = None
    members: tuple[str, ...] = ()
    story: tuple[Step, ...] = ()
    """What happened to the partition before and after."""

    @property
    def place(self) -> str:
        """The place in words: `orders-0 offsets 5-9`."""
        if self.partition is None:
            return ""
        where = f"{self.partition[0]}-{self.partition[1]}"
        if not self.offsets:
            return where
        one = len(self.offsets) == 1 and self.offsets[0][1] == self.offsets[0][0] + 1
        return f"{where} offset{'' if one else 's'} {told(self.offsets)}"

    def to_json(self) -> dict[str, Any]:
        """Return the finding in the form of the control port and of `kafkastub check --json`."""
        return {
            "guarantee": self.guarantee,
            "cause": self.cause,
            "broker_ms": self.broker_ms,
            "entries": list(self.entries),
            "topic": None if self.partition is None else self.partition[0],
            "partition": None if self.partition is None else self.partition[1],
            "offsets": [{"first": start, "last": end - 1} for start, end in self.offsets],
            "group": self.group,
            "members": list(self.members),
            "timeline": [
                {
                    "entry": step.sequence, "broker_ms": step.broker_ms, "what": step.what, "who": step.who,
                    "first": step.start if step.start >= 0 else None, "last": step.end - 1 if step.end > 0 else None,
                }
                for step in self.story
            ],
        }  # fmt: skip


def found(
    guarantee: str,
    cause: str,
    at: At,
    *others: At | None,
    partition: Partition | None = None,
    offsets: tuple[Range, ...] | list[Range] = (),
    group: str | None = None,
    members: tuple[str, ...] = (),
    of: GroupPartition | None = None,
) -> Finding:
    """Return a finding that showed at `at`. `others` are moments that led to it."""
    entries = sorted({one.sequence for one in (at, *others) if one is not None})
    story = () if of is None else tuple(of.story)
    named = tuple(dict.fromkeys(one for one in members if one))
    return Finding(guarantee, cause, at.broker_ms, tuple(entries), partition, tuple(offsets), group, named, story)


def error_name(code: int) -> str:
    """Return the name of an error code: NOT_COORDINATOR for 16."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
