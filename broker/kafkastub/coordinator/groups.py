"""All groups and what they share: hard state, deadlines, the expiry index, meters. What the verbs work on.

`commits`, `deletion` and `loading` are functions of it; `coordinator.GroupCoordinator` is it with all verbs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import Profile
from kafkastub.coordinator.deleted_topics import OffsetsOfDeletedTopics
from kafkastub.coordinator.expiry import ExpiryIndex, ExpiryPolicy
from kafkastub.coordinator.group import Group, GroupType
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.settings import GroupSettings
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadlines

if TYPE_CHECKING:
    from kafkastub.coordinator.cluster import ClusterImage


class Meters:
    """How often, counted per offset and not per request (KIP-496)."""

    __slots__ = ("offset_commits", "offset_deletions", "offset_expirations")

    def __init__(self) -> None:
        self.offset_commits = 0
        self.offset_expirations = 0
        self.offset_deletions = 0


class Expired:
    """The last offsets that sweeps took, and when: for those who wonder where an offset has gone. Soft."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at: OrderedDict[tuple[str, str, int], int] = OrderedDict()

    def note(self, group_id: str, topic: str, partition: int, broker_ms: int) -> None:
        if len(group_id) > _LONGEST:
            return
        key = group_id, topic, partition
        self._at[key] = broker_ms
        self._at.move_to_end(key)
        if len(self._at) > _MOST_EXPIRED:
            self._at.popitem(last=False)

    def at(self, group_id: str, topic: str, partition: int) -> int | None:
        """Broker milliseconds; None where no offset has expired, or that is forgotten."""
        return self._at.get((group_id, topic, partition))


_MOST_EXPIRED: Final = 10_000
_LONGEST: Final = 500
"""Characters of a group id that is kept for this: it may have 32 KB, and ten thousand of them a third of a gigabyte."""


class Groups:
    """All groups.

    Attributes:
        groups: the groups by id; to be read only.
        unseen: those of them that nobody can read yet, as there is no record of them: see `readable`.
        unpublished: groups that have changed without a record, by id: what lets readers see it; as `unseen`.
        types: what makes groups, by the type's name.
        image: the topics, for the types with epochs; None for no topics.
        own_configs: what a group with epochs is configured for itself, by its type, its id, and the class that this has
            (see `modern.settings`); None where it is not.
        spare_ms: how long a sweep leaves a group without offsets that has lost its last member; see `spare`.
        spared: such groups.
        dropped: offsets of deleted topics, whose tombstones are still to be written.
        expired: offsets that sweeps took.
        simple: the one of them that makes groups which only store offsets.
    """

    __slots__ = (
        "deadlines",
        "dropped",
        "expired",
        "expiry",
        "groups",
        "hard",
        "image",
        "index",
        "meters",
        "own_configs",
        "profile",
        "settings",
        "simple",
        "spare_ms",
        "spared",
        "types",
        "unpublished",
        "unseen",
    )

    def __init__(self, settings: GroupSettings, profile: Profile) -> None:
        self.settings = settings
        self.profile = profile
        self.groups: dict[str, Group] = {}
        self.unseen: set[str] = set()
        self.unpublished: dict[str, Callable[[], None]] = {}
        self.spare_ms = 0
        self.spared: list[Group] = []
        self.hard = HardState()
        self.deadlines: Deadlines[Turn] = Deadlines()
        self.index = ExpiryIndex()
        self.expiry = ExpiryPolicy(settings.retention_ms, profile.explicit_retention_ignores_state)
        self.meters = Meters()
        self.dropped = OffsetsOfDeletedTopics()
        self.expired = Expired()
        self.types: Mapping[str, GroupType] = {}
        self.simple: GroupType
        self.image: ClusterImage | None = None
        self.own_configs: Callable[[str, str, type[Any]], Any] = lambda group_type, group_id, kind: None

    @property
    def offsets(self) -> OffsetStore:
        """The committed offsets; to be read only."""
        return self.hard.offsets

    def log(self, turn: Turn, record: Record) -> None:
        """Append a record to the turn, and make it true."""
        self.hard.apply(record)
        turn.records.append(record)

    def create(self, group_id: str, broker_ms: int) -> Group:
        """A new group that only stores offsets."""
        group = self.groups[group_id] = self.simple.new(group_id, broker_ms)
        return group

    def remove(self, group: Group, turn: Turn) -> None:
        """Remove a group, with its tombstones; its offsets are the caller's."""
        if self.dropped:
            for tombstone in self.dropped.all_of(self.offsets, group.group_id):
                self.log(turn, tombstone)
        for record in group.tombstones():
            self.log(turn, record)
        group.end(turn.broker_ms)
        self.index.forget(group)
        del self.groups[group.group_id]
        self.unseen.discard(group.group_id)
        self.unpublished.pop(group.group_id, None)

    def let_go(self) -> None:
        """Nobody asks for any of them any more."""
        self.groups.clear()
        self.hard, self.index = HardState(), ExpiryIndex()

    def spare(self, ms: int, broker_ms: int) -> None:
        """From now on sweeps leave a group of the consumer protocol alone for so long that has no offsets and loses its
        last member.

        Kafka sweeps every `offsets.retention.check.interval.ms`: a member that was thrown out comes back to its group
        before that, and gives up for good where its group is gone; one of the classic protocol joins anew. With 0 those
        that were left count again: the next sweep takes them if nobody has come.
        """
        self.spare_ms = ms
        if not ms:
            for group in self.spared:
                self.index.touch(group, broker_ms)
            self.spared.clear()

    def is_spared(self, group: Group, turn: Turn) -> bool:
        """Whether sweeps leave a group alone that has just lost its last member."""
        if not self.spare_ms or self.offsets.topics(group.group_id):
            return False
        self.spared.append(group)
        self.index.touch(group, turn.broker_ms + self.spare_ms)
        return True

    def emptied(self, group: Group, turn: Turn) -> None:
        """A group has lost its last member: let the sweep look at it when the first of its offsets can be due."""
        topics = self.offsets.topics(group.group_id).values()
        waits = bool(topics) and not any(columns.explicit_expiry for columns in topics)
        self.index.touch(group, turn.broker_ms + (max(self.expiry.retention_ms, 0) if waits else 0))
