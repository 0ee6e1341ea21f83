"""A group with epochs as its records make it, one after the other; `tables.current.live_groups` has its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkawire.offsets_topic import RecordType

HEADS: Final = {
    int(type_): type_.kind.value
    for type_ in (
        RecordType.CONSUMER_GROUP_METADATA,
        RecordType.SHARE_GROUP_METADATA,
        RecordType.STREAMS_GROUP_METADATA,
    )
}
"""The record that a group of each type has while it exists."""
MEMBERS: Final = {
    int(type_): type_.kind.value
    for type_ in (
        RecordType.CONSUMER_GROUP_MEMBER_METADATA,
        RecordType.SHARE_GROUP_MEMBER_METADATA,
        RecordType.STREAMS_GROUP_MEMBER_METADATA,
    )
}
"""The record that each member has of a group of each type."""
_TOPOLOGY: Final = int(RecordType.STREAMS_GROUP_TOPOLOGY)
SUBSCRIBERS: Final = (*MEMBERS, int(RecordType.CONSUMER_GROUP_REGULAR_EXPRESSION), _TOPOLOGY)
"""Members, the regular expressions that they subscribe to, and the topology that all members of a group run."""


class Part(NamedTuple):
    """One record of such a group.

    Attributes:
        name: the member, or the regular expression; None for a head and a topology.
        topics: what it subscribes to.
    """

    record_type: int
    name: str | None
    tombstone: bool
    topics: tuple[str, ...] = ()


@dataclass
class Roster:
    """Who is in the group, and what they subscribe to.

    Attributes:
        group_type: None while there is no such group.
        members: member id to topics.
        subscribed: every topic that a member or a regular expression names; a topology, while there are members.
    """

    group_type: str | None = None
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    subscribed: frozenset[str] = frozenset()
    _patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _named: Counter[str] = field(default_factory=Counter)
    _known: frozenset[str] = frozenset()
    _has_topology: bool = False

    def take(self, part: Part) -> None:
        """Apply a record. Its cost follows the topics that it names."""
        if part.record_type in HEADS:
            type_ = HEADS[part.record_type]
            if not part.tombstone:
                self.group_type = type_
            elif self.group_type == type_:
                self.group_type = None
            return
        topology = part.record_type == _TOPOLOGY
        name = "" if topology else part.name
        assert name is not None
        if part.record_type in MEMBERS and not part.tombstone and self.group_type is None:
            self.group_type = MEMBERS[part.record_type]  # compaction may leave its own record behind its members'
        kept = self.members if part.record_type in MEMBERS else self._patterns
        before = kept.pop(name, ())
        if not part.tombstone:
            kept[name] = part.topics
        if part.tombstone or set(before) != set(part.topics):
            self._named.subtract(set(before))
            if not part.tombstone:
                self._named.update(set(part.topics))
            self._named = +self._named
            self._known = frozenset(self._named)
        self._has_topology = not part.tombstone if topology else self._has_topology
        self.subscribed = frozenset() if self._has_topology and not self.members else self._known
