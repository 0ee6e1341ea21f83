"""The group coordinator: every group of the cluster, as one pure state machine.

No clock, no I/O, no loop: each call is given the moment, broker time (stamps, retention) and timer time (sessions,
rebalances), and gives back a `Turn`: the records to append to `__consumer_offsets`, the parked requests that have
their answer now, the reply. Errors are raised as `KafkaError`. What must happen later is a named deadline
(`next_deadline`, `expire`). Kafka: GroupCoordinatorShard.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from importlib import import_module
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import commits, deletion, loading
from kafkastub.coordinator.classic import ClassicGroups
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.records import Record, TransactionMarker
from kafkastub.coordinator.settings import GroupSettings
from kafkastub.coordinator.turn import Turn
from kafkastub.steps import Steps, at_once
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.txn_offset_commit_request import TxnOffsetCommitRequest

if TYPE_CHECKING:
    from kafkastub.coordinator.consumer.groups import ConsumerGroups
    from kafkastub.coordinator.share.groups import ShareGroups
    from kafkastub.coordinator.streams.groups import StreamsGroups

_MOST_FIRED: Final = 50
"""Deadlines in a turn: to lose one of ten thousand members takes a fifth of a millisecond."""


class _Types(dict[str, Any]):
    """The types with epochs, each made when it is first asked for: most brokers never need them."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Any:
        made = self[name] = self._make(name)
        return made


class GroupCoordinator(Groups):
    """All groups, and what can be done to them.

    Args:
        config: the broker's configuration, by Kafka's names.
        random: makes member ids.

    Attributes:
        classic: the requests of the classic protocol.
        modern: by name the types with epochs that anybody has asked for; whoever asks for another one has it made.
    """

    __slots__ = ("_config", "_random", "classic", "modern")

    def __init__(self, config: BrokerConfig, profile: Profile, random: Random) -> None:
        super().__init__(GroupSettings.of(config), profile)
        self.simple = self.classic = ClassicGroups(self, random)
        self.types = {self.classic.name: self.classic}
        self.modern = _Types(self._make)
        self._config = config
        self._random = random

    # -- the types with epochs -----------------------------------------------------------------------------------

    def _make(self, name: str) -> Any:
        """Make a type: the package that has its name does it."""
        made = import_module(f"kafkastub.coordinator.{name}").make(self, self._config, self._random)
        self.types = {**self.types, name: made}
        return made

    @property
    def consumer(self) -> ConsumerGroups:
        """The requests of the consumer protocol."""
        made: ConsumerGroups = self.modern["consumer"]
        return made

    @property
    def has_consumer(self) -> bool:
        """Whether anybody has asked for `consumer` yet."""
        return "consumer" in self.modern

    @property
    def share(self) -> ShareGroups:
        """The requests of share groups."""
        made: ShareGroups = self.modern["share"]
        return made

    @property
    def has_share(self) -> bool:
        """Whether anybody has asked for `share` yet."""
        return "share" in self.modern

    @property
    def streams(self) -> StreamsGroups:
        """The requests of streams groups."""
        made: StreamsGroups = self.modern["streams"]
        return made

    @property
    def has_streams(self) -> bool:
        """Whether anybody has asked for `streams` yet."""
        return "streams" in self.modern

    def metadata_changed(self, names: Iterable[str]) -> None:
        """Topics were created, grown or deleted, or their replicas moved: for the groups that go by them."""
        names = list(names)
        for one in self.modern.values():
            one.metadata_changed(names)

    def reconfigured(self) -> None:
        """The broker's configuration was changed while it runs: of these groups, how often they are assigned anew."""
        for one in self.modern.values():
            one.reconfigured(self._config)

    @property
    def consumer_rebalances(self) -> int:
        """How often subscriptions or topics have raised a consumer group's epoch (consumer-group-rebalances)."""
        return self.consumer.rebalances if self.has_consumer else 0

    @property
    def share_rebalances(self) -> int:
        """How often subscriptions, topics or new state have raised a share group's epoch (share-group-rebalances)."""
        return self.share.rebalances if self.has_share else 0

    @property
    def streams_rebalances(self) -> int:
        """How often a heartbeat has raised a streams group's epoch (streams-group-rebalances)."""
        return self.streams.rebalances if self.has_streams else 0

    @property
    def completed_rebalances(self) -> int:
        """How many rebalances have ended with an assignment (KIP-496: group-completed-rebalances)."""
        return self.classic.completed_rebalances

    def count_on(self, before: GroupCoordinator) -> None:
        """It takes another one's place: its meters go on."""
        self.meters = before.meters
        self.classic.rebalancer.completed_rebalances = before.completed_rebalances
        for name in sorted(before.modern):
            self.modern[name].context.rebalances = before.modern[name].rebalances

    # -- offsets -------------------------------------------------------------------------------------------------

    def commit_offsets(
        self,
        request: OffsetCommitRequest,
        topics: Sequence[commits.TopicCommit],
        version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """OffsetCommit of those topics and partitions of a request that exist; the reply is what was refused, or None.

        Raises what speaks against the whole commit. See `commits`.
        """
        return commits.commit_offsets(self, request, topics, version, Turn(broker_ms, timer_ms))

    def commit_transactional_offsets(
        self,
        request: TxnOffsetCommitRequest,
        topics: Sequence[commits.TopicCommit],
        version: int,
        check_producer: Callable[[], None],
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """TxnOffsetCommit of those topics and partitions of a request that exist; the reply as for `commit_offsets`.

        Its records are `PendingOffsets`. `check_producer` is called once nothing else speaks against the commit and
        there is something to write: it raises what the partition's log has against the producer. Raises that, and
        what speaks against the whole commit. Kafka: OffsetMetadataManager.commitTransactionalOffset.
        """
        turn = Turn(broker_ms, timer_ms)
        return commits.commit_transactional_offsets(self, request, topics, version, check_producer, turn)

    def complete_transaction(self, marker: TransactionMarker) -> None:
        """A transaction has ended: the offsets that are pending in the marker's groups are committed, or gone.

        For `OffsetsTopic.append_marker`, which has written the marker, and for loading.
        """
        self.hard.complete(marker)
        for group_id in marker.group_ids:
            group = self.groups.get(group_id)
            if group is not None:
                self.index.touch(group, marker.timestamp)

    def delete_offsets(self, group_id: str, topics: Iterable[tuple[str, Sequence[int]]], broker_ms: int) -> Turn:
        """OffsetDelete of partitions that exist; the reply is an error code a topic, in order. Raises errors."""
        return deletion.delete_offsets(self, group_id, topics, Turn(broker_ms, 0))

    def delete_group(self, group_id: str, broker_ms: int) -> Turn:
        """DeleteGroups, one group. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        return deletion.delete_group(self, group_id, Turn(broker_ms, 0))

    def on_topics_deleted(self, topics: Iterable[str], broker_ms: int, most: int | None = None) -> Turn:
        """Topics are gone: every group's offsets of them go too, whatever the group's state.

        `most`: about so many tombstones are in the turn, and the others in those of `write_tombstones`.
        """
        topics, turn = list(topics), Turn(broker_ms, 0)
        deletion.topics_deleted(self, topics)
        deletion.write_tombstones(self, turn, sys.maxsize if most is None else most)
        for one in self.modern.values():
            one.topics_deleted(topics, turn)
        return turn

    def write_tombstones(self, broker_ms: int, most: int) -> Turn:
        """More of what a topic's deletion has left to be written: see `deleted_topics`."""
        return deletion.write_tombstones(self, Turn(broker_ms, 0), most)

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """The next moment, in timer milliseconds, at which something happens by itself."""
        return self.deadlines.next()

    def expire(self, broker_ms: int, timer_ms: int) -> Turn:
        """Let happen what is due. Of very many deadlines some are left, and stay due: a turn is short."""
        turn = Turn(broker_ms, timer_ms)
        with closing(self.deadlines.due(timer_ms)) as due:
            for deadline in islice(due, _MOST_FIRED):
                deadline.fire(turn)
        return turn

    def expire_offsets(self, broker_ms: int, most: int | None = None) -> Turn:
        """The sweep: expire the offsets that are due, and remove the empty groups that have none (left).

        `most`: so many groups are looked at, and the others by the next sweep.
        """
        return deletion.sweep(self, Turn(broker_ms, 0), most)

    def next_expiry(self) -> int | None:
        """A sweep before this broker time finds nothing, unless something changes."""
        return self.index.next()

    def set_retention(self, retention_ms: int) -> None:
        """Change `offsets.retention.minutes` of a running coordinator; -1 for infinite."""
        self.settings.retention_ms = self.expiry.retention_ms = retention_ms
        for group in self.groups.values():
            self.index.touch(group, 0)

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Make a record of `__consumer_offsets` true, on loading; `loaded` follows the last one."""
        self.hard.apply(record)

    def knows(self, group_id: str) -> bool:
        """Whether the records that are applied leave anything of the group."""
        return self.hard.knows(group_id)

    def saved(self) -> HardState:
        """The hard state as it is now."""
        return self.hard.copy()

    def take_up(self, saved: HardState) -> None:
        """Have that hard state; `loaded` follows."""
        self.hard = saved.copy()

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        """All records are applied: bring the groups to life, with their members' sessions."""
        return at_once(self.loaded_in_parts(broker_ms, timer_ms))

    def loaded_in_parts(self, broker_ms: int, timer_ms: int) -> Steps[Turn]:
        """The same, group by group; nobody may ask for any of them before all is done."""
        self._load_types()
        return loading.loaded(self, Turn(broker_ms, timer_ms))

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Forget everything; who is parked is told to look for another coordinator."""
        return loading.unload(self, Turn(broker_ms, timer_ms))

    def reload(self, group_ids: Iterable[str], broker_ms: int, timer_ms: int) -> Turn:
        """These groups move to another coordinator, which knows of them what their records say."""
        self._load_types()
        return loading.reload(self, list(group_ids), Turn(broker_ms, timer_ms))

    def _load_types(self) -> None:
        """There have to be the types of all groups that the records know."""
        for name in sorted(self.hard.typed):
            if self.hard.typed[name]:
                _ = self.modern[name]

    # -- groups --------------------------------------------------------------------------------------------------

    def readable(self, group_id: str) -> Group | None:
        """The group as those see it who only read.

        A commit of which nothing could be written makes a group, and no record. Kafka's readers see what the log has
        made certain: such a group they see once the next record is in its partition, whoever's that is.
        """
        return None if group_id in self.unseen else self.groups.get(group_id)
