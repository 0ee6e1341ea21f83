"""What everything that happens to a group with epochs needs of its surroundings, and how it is written down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from kafkastub.coordinator.cluster import ClusterImage, NoTopics
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.group import NOTHING_READ, ModernGroup
from kafkastub.coordinator.modern.records import TargetEpoch
from kafkastub.coordinator.modern.settings import ModernSettings
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.turn import Results, Turn
from kafkawire.errors import ErrorCode, KafkaError

Modern = TypeVar("Modern", bound=ModernGroup[Any, Any, Any])
Settings = TypeVar("Settings", bound=ModernSettings)
_MANY: Final = 300
"""Members and partitions from which a new target may take more than a millisecond."""
_MOST_MERGED: Final = 1_000
"""Groups with a configuration of their own that is kept as they go by it."""


class ModernContext(Generic[Modern, Settings]):
    """The surroundings of all groups of one type.

    Args:
        kind: the class of its groups.

    Attributes:
        groups: all groups, of every type.
        settings: the broker's part of the configuration; may be changed while it runs.
        topics: who subscribes to what, or needs what.
        rebalances: how often a heartbeat has raised a group's epoch (KIP-848, 932, 1071: consumer-group-rebalances,
            share-group-rebalances, streams-group-rebalances).
    """

    __slots__ = ("_kind", "_merged", "_no_topics", "groups", "rebalances", "settings", "topics")

    replaces_classic: ClassVar[bool] = True
    """Whether a classic group without members makes room for one of the type."""

    def __init__(self, groups: Groups, settings: Settings, kind: type[Modern]) -> None:
        self.groups = groups
        self.settings = settings
        self.topics = SubscribedTopics(lambda: self.image)
        self.rebalances = 0
        self._kind = kind
        self._no_topics = NoTopics()
        self._merged: dict[str, tuple[NamedTuple, Settings]] = {}

    @property
    def image(self) -> ClusterImage:
        """The topics as they are now."""
        image = self.groups.image
        return self._no_topics if image is None else image

    # -- configuration -------------------------------------------------------------------------------------------

    def of(self, group_id: str) -> Settings:
        """What the group goes by: its own configuration, else the broker's. The same object while it is the same."""
        own = self.groups.own_configs(self._kind.group_type, group_id, self.settings.own_config)
        if own is None:
            return self.settings
        known = self._merged.get(group_id)
        if known is None or known[0] is not own:
            if len(self._merged) >= _MOST_MERGED:
                self._merged.clear()
            known = self._merged[group_id] = own, _merged(self.settings, own)
        return known[1]

    def reconfigured(self, now: Settings) -> None:
        """What can be changed while the broker runs has changed. Kafka: GroupCoordinatorConfig's dynamic values."""
        self.settings.assignment_interval_ms = now.assignment_interval_ms
        self._merged.clear()

    # -- groups --------------------------------------------------------------------------------------------------

    def new(self, group_id: str) -> Modern:
        """A group that nobody knows of yet."""
        return self._kind(group_id, self.topics)

    def find(self, group_id: str) -> Modern | None:
        """The group, where there is one of this type."""
        group: Any = self.groups.groups.get(group_id)
        return group if type(group) is self._kind else None

    def existing(self, group_id: str) -> Modern:
        """The group. Raises GROUP_ID_NOT_FOUND."""
        group: Any = self.groups.groups.get(group_id)
        if type(group) is self._kind:
            return group
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        raise self.of_another_type(group_id)

    def get_or_create(self, group_id: str, create: bool, records: list[Record]) -> Modern:
        """The group, or with `create` a new one where there is none. Raises GROUP_ID_NOT_FOUND.

        The tombstones of a classic group that makes room are appended to `records`.
        Kafka: getOrMaybeCreateConsumerGroup, getOrMaybeCreateShareGroup, getOrCreateStreamsGroup.
        """
        group: Any = self.groups.groups.get(group_id)
        if type(group) is self._kind:
            return group
        if group is None and not create:
            what = f"{self._kind.group_type.capitalize()} group {group_id} not found."
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what)
        if group is not None:
            if not (create and self.replaces_classic and group.group_type == "classic" and group.is_empty):
                raise self.of_another_type(group_id)
            records += group.tombstones()
        return self.new(group_id)

    def of_another_type(self, group_id: str) -> KafkaError:
        """What is said of a group that is not of this type."""
        what = f"Group {group_id} is not a {self._kind.group_type} group."
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what)

    def write(self, group: Modern, records: Sequence[Record], turn: Turn) -> None:
        """Make records of a group true: they are appended to the turn, in order, and change the group.

        A group that is new here takes the place of another type's of the same id, which is over.
        """
        if not records:
            return
        groups, log = self.groups, self.groups.log
        there = groups.groups.get(group.group_id)
        if there is not group:
            if there is not None:
                groups.types[there.group_type].give_way(there, turn)
                self._end(there, turn)
            groups.groups[group.group_id] = group
            if not group.lasting:
                groups.index.touch(group, turn.broker_ms)
        for record in records:
            log(turn, record)
            group.apply(record)
            if isinstance(record, TargetEpoch):
                self._has_target(group, record, turn)
            elif type(record) is Tombstone and record.of is group.types.epoch:
                self._end(group, turn)
        group.read_ahead = NOTHING_READ
        if group.frees_offsets() and (group.members or not groups.is_spared(group, turn)):
            groups.index.touch(group, turn.broker_ms)

    def remove(self, group: Modern, members: Collection[str], more: Iterable[Record], turn: Turn) -> None:
        """Take members out.

        Args:
            more: what else is over with them, and the group's next epoch.
        """
        group_id, types = group.group_id, group.types
        records = [record for member_id in members for record in types.removal(group_id, member_id)]
        records += more
        if len(members) == len(group.members) and self.settings.empty_is_assigned:
            records.append(types.target_epoch(group_id, group.epoch + 1, 0))
        self.write(group, records, turn)

    def may_compute(self, group: Modern, turn: Turn) -> bool:
        """Whether it is time for a new target."""
        return group.may_compute(self.of(group.group_id).assignment_interval_ms, turn.timer_ms)

    def results(self, group: Modern, size: int, turn: Turn) -> Results | None:
        """Where to get a target from that may take long to compute; None for one that is to be computed at once.

        Args:
            size: members and partitions, or tasks.
        """
        return turn.results if size >= _MANY and self.find(group.group_id) is group else None

    def next_epoch(self, group: Modern, raised: bool, names: Collection[str], records: list[Record]) -> int:
        """The group's epoch, raised where it has to be or the topics are others; a record of that is appended.

        Args:
            names: the topics that it is going to subscribe to.
        """
        metadata_hash = self.topics.metadata_hash(names)
        if not raised and metadata_hash == group.metadata_hash:
            return group.epoch
        self.rebalances += 1
        records.append(group.types.epoch(group.group_id, group.epoch + 1, metadata_hash))
        return group.epoch + 1

    def _has_target(self, group: Modern, record: TargetEpoch, turn: Turn) -> None:
        """The group has a new target: when it was computed keeps from the next one, but where nobody computed it."""
        group.assigned_at = turn.timer_ms if record.assignment_timestamp else None

    def _end(self, group: Group, turn: Turn) -> None:
        group.end(turn.broker_ms)
        self.groups.index.forget(group)
        if self.groups.groups.get(group.group_id) is group:
            del self.groups.groups[group.group_id]
        self.groups.unseen.discard(group.group_id)


def _merged(settings: Settings, own: Any) -> Settings:
    """The broker's settings, with what a group says itself."""
    said: dict[str, Any] = own._asdict()
    return replace(settings, **{n: value for n, value in said.items() if value is not None and hasattr(settings, n)})
