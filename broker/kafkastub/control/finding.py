"""One thing that was found out about why records do not come."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["stop", "look", "fine"]
Subject = Literal["group", "member", "topic", "partition", "node", "transaction", "fault", "chaos", "journal", "acl"]


class Finding(NamedTuple):
    """One thing."""

    level: Level
    sentence: str
    subject: Subject
    name: str
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


def many(count: int, what: str) -> str:
    """`3 requests`."""
    return f"{count} {what}{'' if count == 1 else 's'}"
