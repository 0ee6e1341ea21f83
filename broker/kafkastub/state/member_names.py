"""A member by any of its names, in views of groups of every type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar


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

    Raises KeyError where there is none, and for a client id that several have.
    """
    for field in ("member_id", "group_instance_id", "client_id"):
        found = [one for one in members.values() if getattr(one, field) == name]
        if len(found) > 1:
            raise KeyError(f"group {group_id!r} has {len(found)} members of client id {name!r}")
        if found:
            return found[0]
    raise KeyError(f"group {group_id!r} has no member {name!r}")
