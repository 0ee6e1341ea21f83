"""What a guarantee that was not kept leaves behind: a finding, and what it becomes for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafkastub.guarantees.events import At, Partition
from kafkastub.guarantees.ranges import Range, told
from kafkastub.guarantees.state import GroupPartition, Step
from kafkawire.errors import ErrorCode


@dataclass(frozen=True)
class Finding:
    """One thing that an application did to its records, with what shows it."""

    guarantee: str
    """Its name: `skipped`, `left_behind` … (docs/guarantees.md)."""
    cause: str
    """One sentence."""
    broker_ms: int
    """When it showed, by the broker's clock, in Unix milliseconds."""
    entries: tuple[int, ...]
    """Numbers of the journal's entries that show it, in their order."""
    partition: Partition | None = None
    offsets: tuple[Range, ...] = ()
    """From an offset up to another one, which is not in it."""
    group: str | None = None
    members: tuple[str, ...] = ()
    story: tuple[Step, ...] = ()
    """What happened to the partition around it."""

    @property
    def place(self) -> str:
        """`orders-0 offsets 5-9`, for people."""
        if self.partition is None:
            return ""
        where = f"{self.partition[0]}-{self.partition[1]}"
        if not self.offsets:
            return where
        one = len(self.offsets) == 1 and self.offsets[0][1] == self.offsets[0][0] + 1
        return f"{where} offset{'' if one else 's'} {told(self.offsets)}"

    def to_json(self) -> dict[str, Any]:
        """As the control port and `kafkastub check --json` tell it."""
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
    """A finding that showed at `at`; `others` are moments that led to it."""
    entries = sorted({one.sequence for one in (at, *others) if one is not None})
    story = () if of is None else tuple(of.story)
    named = tuple(dict.fromkeys(one for one in members if one))
    return Finding(guarantee, cause, at.broker_ms, tuple(entries), partition, tuple(offsets), group, named, story)


def error_name(code: int) -> str:
    """NOT_COORDINATOR for 16."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
