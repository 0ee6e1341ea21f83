"""The broker's whole state, as the handlers see it, and what in it waits for time to pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkastub.config import BrokerConfig
from kafkastub.config.profile import Profile
from kafkastub.coordinator import GroupCoordinator, Turn, partition_for
from kafkastub.metadata import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE, Cluster, Features, Node, Topic
from kafkastub.state.cleaning import Cleaning
from kafkastub.state.deferred import Deferred
from kafkastub.state.fetch_purgatory import FetchPurgatory
from kafkastub.state.group_runtime import GroupRuntime
from kafkastub.state.internal_topics.offsets_topic import OffsetsTopic
from kafkastub.state.log_dirs import LogDirs
from kafkastub.state.pace import Pace, no_pause
from kafkastub.state.rate_limiter import RateLimiter
from kafkastub.state.runtime import Runtime
from kafkastub.state.telemetry import Telemetry
from kafkastub.state.topics_image import TopicsImage
from kafkastub.state.turns import AT_ONCE, Turns
from kafkastub.storage import LogManager
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order

if TYPE_CHECKING:
    from kafkastub.security import Authorizer
    from kafkastub.security.credentials import ScramUsers
    from kafkastub.security.delegation_tokens import DelegationTokens
    from kafkastub.security.quotas import Changes, Entity, MapOrder, Quotas, Refusal
    from kafkastub.state.internal_topics.internal_topic import InternalTopic
    from kafkastub.state.quota_usage import MutedChannels, Throttle
    from kafkastub.state.share_partitions.manager import SharePartitionManager
    from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
    from kafkastub.storage.disk import Disk

_GROUPS_AT_ONCE: Final = 200
"""Groups that a sweep looks at before others have their turn."""
_MOST_UNSEEN: Final = 100
"""Groups without a record that cannot be read yet; with more of them, all are shown."""


class Keeper(Protocol):
    """Who keeps the state in a data directory; see `persistence`."""

    @property
    def disk(self) -> Disk: ...

    def producer_ids_changed(self) -> None:
        """An id was handed out."""

    def look_at_clock(self) -> None:
        """Somebody may have moved the clock."""

    def fall_back(self) -> None:
        """Nothing can be written any more: be what the files say."""


class BrokerState:
    """Owned by one thread. Nothing in it looks at a clock: the two times come in from outside."""

    def __init__(
        self,
        config: BrokerConfig,
        nodes: Iterable[Node],
        log: Any,
        wall_ms: Callable[[], int] | None = None,
        seed: int | None = None,
        disk: Disk | None = None,
    ) -> None:
        """`wall_ms` is what bounds on record timestamps are measured from (broker time where None).

        With a `disk`, records are written there too; the rest is the business of `persistence`, once it is set.
        """
        self.config = config
        self.profile: Profile = config.profile
        self.random = random.Random(seed)
        self.cluster = Cluster(self.random, nodes, cluster_id=None if disk is None else disk.directory.cluster_id)
        self.log_dirs = LogDirs(config)
        self.log = log
        self.authorizer: Authorizer | None = None
        """Where `authorizer.class.name` asks for one."""
        if config["authorizer.class.name"]:
            from kafkastub.security.access import make_authorizer

            self.authorizer = make_authorizer(config)
        self.coordinator = GroupCoordinator(config, self.profile, self.random)
        self.coordinator.image = TopicsImage(self.cluster)
        self.coordinator.own_configs = self._own_config
        self.serving: GroupCoordinator | None = None
        """The coordinator, where nothing stands between it and a request: its topic is there, and it is loaded."""
        self.refusal: ErrorCode | None = None
        """While a node is asked that is not the coordinator: what the coordinator's absence is called."""
        self.logs: LogManager
        self.offsets_topic: OffsetsTopic
        self.persistence: Keeper | None = None
        self.disk = disk
        """Where records are written, if they are written anywhere."""
        if disk is None:
            self.logs, self.offsets_topic = (
                LogManager(wall_ms),
                OffsetsTopic(config, self.coordinator, log, self._offsets_partitions),
            )
        else:
            self._be_durable(wall_ms, disk)
        self.groups = GroupRuntime(self.offsets_topic, self.coordinator, self.settle)
        self.runtimes: dict[str, Runtime[Any]] = {CONSUMER_OFFSETS: self.groups}
        """Of the coordinators that are there, by the names of their topics."""
        self._scram_users: ScramUsers | None = None
        self._delegation_tokens: DelegationTokens | None = None
        self._quotas: Quotas | None = None
        self._features: Features | None = None
        self._transactions: TransactionRuntime | None = None
        self._share_partitions: SharePartitionManager | None = None
        self.metadata_offset = 1
        """That of the newest record, if all that outlives the process, beside records, were in Kafka's metadata log."""
        self.metadata_epoch = 1
        """How often the quorum has elected: at each start."""
        self.make_topic: Callable[[str, Mapping[str, str]], Topic] = _no_topic
        """Makes a topic that somebody needs, with so many partitions as the broker is configured for, by its name and
        overrides; the broker's own hook. Raises KafkaError.
        """
        self.quotas_changed: Callable[[], None] = _nothing
        """Called after each change of a quota."""
        self.broker_changed: Callable[[], None] = _nothing
        """Called after each change of the broker's dynamic configuration, by whoever changes it."""
        self.throttle: Throttle | None = None
        """What is used of the quotas of users and client ids, while there are any."""
        self.muted: MutedChannels | None = None
        """Connections that are not listened to for a while, from the first such quota on."""
        self.dirty = True
        """Set where the next deadline may have come nearer; whoever keeps a timer for it looks again and clears it."""
        self.turns = Turns(self.mark_dirty)
        """Work that would hold others up if it were done in one go."""
        self.fetch_purgatory = FetchPurgatory(self.mark_dirty, config["max.incremental.fetch.session.cache.slots"])
        self.cleaning = Cleaning(self.logs, self.turns)
        self.logs.say = lambda why: log.warning(why)
        self.coordinator.deadlines.mark_dirty = self.logs.mark_dirty = self.mark_dirty
        self.telemetry = Telemetry()
        self.group_watchers: list[Callable[[], None]] = []
        """Called whenever something may have changed in a group."""
        self.topic_watchers: list[Callable[[], None]] = []
        """Called whenever topics were created, grown, deleted, or have other leaders."""
        self.empty_group_warnings = RateLimiter()
        """Of commits for the empty group id, by client."""
        self.not_served_warnings = RateLimiter()
        """Of requests for what is not served yet, by API and address."""
        self.streams_creation_errors: Any = None
        """Why internal topics of streams groups could not be created: `CreationErrors`, once the first was to be."""
        self._sweep_every: int = config["offsets.retention.check.interval.ms"]
        self._sweep_at: int | None = None
        self._clean_every: int = config["log.retention.check.interval.ms"]
        self._clean_at: int | None = None
        self._look_at_tokens_every: int = config["delegation.token.expiry.check.interval.ms"]
        self._look_at_tokens_at: int | None = None
        self._expire_ids_every: int = config["transaction.remove.expired.transaction.cleanup.interval.ms"]
        self._expire_ids_at: int | None = None
        self.pace: Pace = no_pause
        """To be called between two things of many: while a large request is served, others have their turn there."""
        self.slept_ns = 0
        """Nanoseconds that the large request which is served has let others run so far; 0 while there is none."""
        self.timer_ms: Callable[[], int] | None = None
        """Timer time, for what happens while nobody has brought it along; the server's."""
        self.rounds_from: int | None = None
        """Timer time (ms) from which on regular rounds are made; None where none are."""

    def _be_durable(self, wall_ms: Callable[[], int] | None, disk: Disk) -> None:
        from kafkastub.state.internal_topics.durable_offsets import DurableOffsetsTopic
        from kafkastub.storage.disk import DiskLogs

        self.logs = logs = DiskLogs(wall_ms, disk)
        self.offsets_topic = DurableOffsetsTopic(
            self.config, self.coordinator, self.log, self._offsets_partitions, logs, self.fall_back
        )

    def _own_config(self, group_type: str, group_id: str, kind: type[Any]) -> Any:
        """What the group is configured for itself; asked for groups with epochs alone."""
        from kafkastub.state.group_overrides import GroupOverrides

        self.coordinator.own_configs = GroupOverrides(self.config, self.cluster).of
        return self.coordinator.own_configs(group_type, group_id, kind)

    def fall_back(self) -> None:
        """What was refused by the disk is not so: be what the files say."""
        if self.persistence is not None:
            self.persistence.fall_back()

    @property
    def scram_users(self) -> ScramUsers:
        """SCRAM credentials; loaded with the first who asks."""
        if self._scram_users is None:
            from kafkastub.security.credentials import ScramUsers

            self._scram_users = ScramUsers(self.config)
        return self._scram_users

    @property
    def has_scram_users(self) -> bool:
        """Whether anybody has asked for them: else they are those of the configuration."""
        return self._scram_users is not None

    @property
    def delegation_tokens(self) -> DelegationTokens:
        """Delegation tokens (KIP-48); loaded with the first who asks."""
        if self._delegation_tokens is None:
            from kafkastub.security.delegation_tokens import DelegationTokens

            self._delegation_tokens = DelegationTokens(self.config)
        return self._delegation_tokens

    @property
    def has_delegation_tokens(self) -> bool:
        """Whether there are any."""
        return bool(self._delegation_tokens)

    @property
    def quotas(self) -> Quotas:
        """The quotas of users, client ids and addresses; loaded with the first who asks."""
        if self._quotas is None:
            from kafkastub.security.quotas import Quotas

            self._quotas = Quotas(finite=self.config.follows(4, 4))
        return self._quotas

    @property
    def features(self) -> Features:
        """The cluster's features; their table is loaded with the first who asks."""
        if self._features is None:
            from kafkastub.config.newer import feature_levels

            config = self.config
            levels, static = feature_levels(config["kafkastub.as.version"]), bool(config["controller.quorum.voters"])
            self._features = Features(levels, config["node.id"], static_quorum=static)
        return self._features

    @property
    def has_features(self) -> bool:
        """Whether anybody has asked for them: else they are as at the start."""
        return self._features is not None

    @property
    def transactions(self) -> TransactionRuntime:
        """Transactions and their coordinator; loaded with the first who asks."""
        if self._transactions is None:
            from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime

            self._transactions = self.runtimes[TRANSACTION_STATE] = TransactionRuntime(self)
        return self._transactions

    @property
    def has_transactions(self) -> bool:
        """Whether anybody has asked for their coordinator, or its topic is there."""
        return self._transactions is not None

    @property
    def share_partitions(self) -> SharePartitionManager:
        """Share partitions, their sessions and the share coordinator (KIP-932); loaded with the first who asks."""
        if self._share_partitions is None:
            from kafkastub.state.share_partitions.manager import SharePartitionManager

            self._share_partitions = SharePartitionManager(self)
        return self._share_partitions

    @property
    def has_share_partitions(self) -> bool:
        """Whether anybody has asked for share partitions, or the share coordinator's topic is there."""
        return self._share_partitions is not None

    def internal_topic(self, name: str) -> InternalTopic[Any] | None:
        """That of a coordinator, which is made if need be; None where no coordinator writes to such a topic."""
        runtime = self.runtimes.get(name)
        if runtime is None and name == TRANSACTION_STATE:
            runtime = self.transactions
        elif runtime is None and name == SHARE_GROUP_STATE:
            runtime = self.share_partitions.coordinator
        return None if runtime is None else runtime.topic

    @property
    def loading(self) -> bool:
        """Whether any coordinator is being loaded."""
        return any(runtime.loading is not None for runtime in self.runtimes.values())

    def forget_scram_users(self) -> None:
        """Those of the configuration are left."""
        self._scram_users = None

    @property
    def has_quotas(self) -> bool:
        """Whether there are any."""
        return bool(self._quotas)

    def alter_quotas(
        self,
        wanted: Iterable[tuple[Entity, Changes]],
        *,
        validate_only: bool = False,
        order: MapOrder = string_map_order,
    ) -> list[tuple[Entity, Refusal | None]]:
        """As `Quotas.alter`; what has changed is kept, and counts from now on. Raises KafkaError."""
        self.check_writable()
        before = self.quotas.version
        results = self.quotas.alter(wanted, validate_only=validate_only, order=order)
        if self.quotas.version != before:
            self.changed()
            self.quotas_changed()
        return results

    # -- what the coordinator decided ----------------------------------------------------------------------------

    def settle(self, turn: Turn, *, batch_per_group: bool = False) -> Turn:
        """Everything that the group coordinator decided goes on from here.

        Its records are written to `__consumer_offsets`, parked requests get their answers, and who waits for records
        there is woken. `batch_per_group`: the turn is several things that happened to several groups, not one request.
        """
        offsets_topic = self.offsets_topic
        if turn.records:
            offsets_topic.write(turn, batch_per_group)
            if self.coordinator.unseen or self.coordinator.unpublished:
                self._let_be_seen(turn)
        for token, response in turn.completions:
            deferred: Deferred = token
            deferred.complete(response)
        if offsets_topic.watched or self.group_watchers:
            self.tell_watchers()
        return turn

    def tell_watchers(self) -> None:
        """Something was written, or may have changed in a group."""
        if self.offsets_topic.watched:
            self.wake(CONSUMER_OFFSETS)
        for watcher in tuple(self.group_watchers):
            watcher()

    def topics_changed(self, names: Iterable[str]) -> None:
        """These topics were created, grown, deleted, or have other leaders."""
        self.coordinator.metadata_changed(names)
        for watcher in tuple(self.topic_watchers):
            watcher()

    def _let_be_seen(self, turn: Turn) -> None:
        """What came without a record can be read once there is another record behind it in its partition."""
        count, unseen, unpublished = self._offsets_partitions(), self.coordinator.unseen, self.coordinator.unpublished
        seen, published = list(unseen), list(unpublished)
        # else nobody is slowed down by looking through them at each write
        if len(seen) + len(published) <= _MOST_UNSEEN:
            written = {partition_for(record.group_id, count) for record in turn.records}
            seen = [group_id for group_id in seen if partition_for(group_id, count) in written]
            published = [group_id for group_id in published if partition_for(group_id, count) in written]
        unseen.difference_update(seen)
        for group_id in published:
            unpublished.pop(group_id)()

    def wake(self, name: str) -> None:
        """Look after the fetches that wait for records of an internal topic."""
        topic, written = self.cluster.topic(name), self.runtimes[name].topic
        if topic is None:
            return
        awaited = self.fetch_purgatory.awaited(topic.topic_id)
        written.watched = bool(awaited)
        for partition in written.grow(awaited) if awaited else ():
            self.fetch_purgatory.appended(topic.topic_id, partition)

    def _offsets_partitions(self) -> int:
        """How many partitions `__consumer_offsets` has; it is there as long as there are groups."""
        return len(self.cluster.topics[CONSUMER_OFFSETS].partitions)

    # -- time ----------------------------------------------------------------------------------------------------

    def mark_dirty(self) -> None:
        """The next deadline may have come nearer."""
        self.dirty = True

    def changed(self) -> None:
        """Something changed that outlives the process, beside records."""
        self.metadata_offset += 1
        if self.persistence is not None:
            self.persistence.disk.state_changed()

    @property
    def is_writable(self) -> bool:
        """Whether changes can be kept: there is no data directory, or it takes them."""
        return self.persistence is None or self.persistence.disk.failed is None

    def check_writable(self) -> None:
        """Raises KAFKA_STORAGE_ERROR where nothing can be kept."""
        if self.persistence is not None and self.persistence.disk.failed is not None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, self.persistence.disk.failed)

    def producer_ids_changed(self) -> None:
        """A producer id was handed out."""
        if self.persistence is not None:
            self.persistence.producer_ids_changed()

    def read_only(self) -> None:
        """Nothing can be written any more: what would be written by itself in time must not happen."""
        for runtime in self.runtimes.values():
            runtime.read_only()
        self.rounds_from = None
        self._sweep_at = self._clean_at = self._look_at_tokens_at = self._expire_ids_at = None

    def start_sweeping(self, timer_ms: int) -> None:
        """Sweep for expired offsets from now on (`offsets.retention.check.interval.ms`, in timer time)."""
        self.rounds_from = timer_ms
        self._sweep_at = timer_ms + self._sweep_every
        self._clean_at = timer_ms + self._clean_every
        self._look_at_tokens_at = timer_ms + self._look_at_tokens_every
        self._expire_ids_at = timer_ms + self._expire_ids_every
        self.dirty = True

    def until_rounds(self, timer_ms: int) -> tuple[int | None, int | None]:
        """Milliseconds until expired offsets, and expired records, are looked for the next time; None: never."""
        rounds = self._sweep_at, self._clean_at
        sweep, clean = (None if at is None else max(0, at - timer_ms) for at in rounds)
        return sweep, clean

    def next_event(self) -> int | None:
        """Timer time (ms) at which something falls due that somebody waits for, None where nobody waits."""
        if self.turns:
            return AT_ONCE
        first, fetches = self.coordinator.next_deadline(), self.fetch_purgatory.next_deadline()
        if first is None or (fetches is not None and fetches < first):
            first = fetches
        if self._transactions is not None:
            transactions = self._transactions.next_deadline()
            if first is None or (transactions is not None and transactions < first):
                first = transactions
        if self._share_partitions is not None:
            of_shares = self._share_partitions.next_deadline()
            if first is None or (of_shares is not None and of_shares < first):
                first = of_shares
        if self.muted is not None:
            muted = self.muted.next_deadline()
            if first is None or (muted is not None and muted < first):
                first = muted
        return first

    def next_deadline(self) -> int | None:
        """The same with the regular rounds, which look for what is due by broker time."""
        nearest, sweep, cleaning, tokens = self.next_event(), self._sweep_at, self._clean_at, self._look_at_tokens_at
        if sweep is not None and (nearest is None or sweep < nearest):
            nearest = sweep
        if cleaning is not None and (nearest is None or cleaning < nearest) and self.logs.perishable:
            nearest = cleaning
        if tokens is not None and (nearest is None or tokens < nearest) and self._delegation_tokens:
            nearest = tokens
        ids = self._expire_ids_at
        if ids is not None and (nearest is None or ids < nearest) and self._transactions is not None:
            nearest = ids
        if self._share_partitions is not None:
            of_shares = self._share_partitions.next_round()
            if nearest is None or (of_shares is not None and of_shares < nearest):
                nearest = of_shares
        return nearest

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Do what is due at `timer_ms`."""
        self.turns.expire()
        self.settle(self.coordinator.expire(broker_ms, timer_ms), batch_per_group=True)
        if self._transactions is not None:
            self._transactions.expire(broker_ms, timer_ms)
        if self._share_partitions is not None:
            self._share_partitions.expire(broker_ms, timer_ms)
        self.fetch_purgatory.expire(timer_ms)
        if self.muted is not None:
            self.muted.expire(timer_ms)
        if self._sweep_at is not None and timer_ms >= self._sweep_at:
            more = self.expire_some_offsets(broker_ms)
            self._sweep_at = timer_ms if more else timer_ms + self._sweep_every
        if self._clean_at is not None and timer_ms >= self._clean_at:
            self._clean_at = timer_ms + self._clean_every
            self.cleaning.begin(broker_ms)
        if self._look_at_tokens_at is not None and timer_ms >= self._look_at_tokens_at:
            self._look_at_tokens_at = timer_ms + self._look_at_tokens_every
            self.expire_delegation_tokens(broker_ms)
        if self._expire_ids_at is not None and timer_ms >= self._expire_ids_at:
            more = self._transactions is not None and self.is_writable and self._transactions.expire_ids(broker_ms)
            self._expire_ids_at = timer_ms if more else timer_ms + self._expire_ids_every

    def meters(self) -> dict[str, int]:
        """The group coordinator's meters by their names in KIP-496 and KIP-848."""
        meters = self.coordinator.meters
        return {
            "offset-commits": meters.offset_commits,
            "offset-expirations": meters.offset_expirations,
            "offset-deletions": meters.offset_deletions,
            "group-completed-rebalances": self.coordinator.completed_rebalances,
            "consumer-group-rebalances": self.coordinator.consumer_rebalances,
            "share-group-rebalances": self.coordinator.share_rebalances,
            "streams-group-rebalances": self.coordinator.streams_rebalances,
        }

    def expire_offsets(self, broker_ms: int) -> None:
        """Sweep now: what is due at `broker_ms` is gone afterwards."""
        self.settle(self.coordinator.expire_offsets(broker_ms))

    def expire_some_offsets(self, broker_ms: int) -> bool:
        """Sweep over as many groups as others can wait for; whether there may be more."""
        self.settle(self.coordinator.expire_offsets(broker_ms, _GROUPS_AT_ONCE))
        due = self.coordinator.next_expiry()
        return due is not None and due <= broker_ms

    def next_expiry(self) -> int | None:
        """Before this broker time no offset and no transactional id expires, unless something changes."""
        first = self.coordinator.next_expiry()
        if self._transactions is not None and self.is_writable:
            ids = self._transactions.coordinator.next_id_expiry()
            if first is None or (ids is not None and ids < first):
                first = ids
        return first

    def expire_transactional_ids(self, broker_ms: int) -> None:
        """Forget those that nobody has used for long at `broker_ms`."""
        while self._transactions is not None and self.is_writable and self._transactions.expire_ids(broker_ms):
            pass

    def expire_delegation_tokens(self, broker_ms: int) -> None:
        """Take out those whose time is over at `broker_ms`."""
        if self._delegation_tokens and self.is_writable:
            for token in self._delegation_tokens.sweep(broker_ms):
                self.log.info("delegation token expired", token_id=token.token_id, owner=str(token.owner))
                self.changed()


def _no_topic(name: str, configs: Mapping[str, str]) -> Topic:
    """There is nobody who makes topics yet."""
    raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE)


def _nothing() -> None:
    """Nobody needs to know."""
