"""A member by any of its names, in views of groups of every type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Protocol, TypeVar

_MOST_NAMED: Final = 5
_LONGEST: Final = 100


class Named(Protocol):
    """What a member is known by."""

    @property
    def member_id(self) -> str: ...

    @property
    def group_instance_id(self) -> str | None: ...

    @property
    def client_id(self) -> str: ...


M = TypeVar("M", bound=Named)


def member_named(group_id: str, members: Mapping[str, M], name: str) -> M:
    """The member of that member id, group instance id or client id, whichever fits first.

    Raises KeyError where there is none, telling which there are, and for a client id that several have.
    """
    for field in ("member_id", "group_instance_id", "client_id"):
        found = [one for one in members.values() if getattr(one, field) == name]
        if len(found) > 1:
            raise KeyError(f"group {group_id!r} has {len(found)} members of client id {name!r}")
        if found:
            return found[0]
    raise KeyError(f"group {group_id!r} has no member {name!r}, {_those_there_are(members.values())}")


def _those_there_are(members: Collection[Named]) -> str:
    """By client id, where that tells one from the others: it is what a test has given."""
    of_client = Counter(one.client_id for one in members)
    names = [one.client_id if one.client_id and of_client[one.client_id] == 1 else one.member_id for one in members]
    if not names:
        return "and no other"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"only {', '.join(repr(one[:_LONGEST]) for one in names[:_MOST_NAMED])}{more}"
