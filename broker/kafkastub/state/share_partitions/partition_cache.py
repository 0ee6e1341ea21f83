"""The share partitions that are in memory, each where its partition is led.

Kafka: SharePartitionManager, SharePartitionCache, SharePartition.maybeInitialize.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache, partial
from typing import Final, Protocol

from kafkastub.deadlines import Deadline
from kafkastub.metadata import Topic
from kafkastub.share_coordinator.records import SharePartitionKey
from kafkastub.share_coordinator.state_batches import UNINITIALIZED_START_OFFSET, ReadState
from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.partition import SharePartition
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.state.partitions import WithLogs, led_log
from kafkastub.state.share_partitions.initial_offset import beginning
from kafkastub.storage import PartitionLog
from kafkawire.errors import ErrorCode, KafkaError

Moment = tuple[int, int]
"""Broker time and timer time, in ms."""
NOT_HOSTED: Final = "This server does not host this topic-partition."
_AWAY: Final = frozenset(
    (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
)
_FENCED: Final = frozenset((ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH))
_TOLD: Final = frozenset(
    (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.KAFKA_STORAGE_ERROR)
)


class Reader(Protocol):
    """Who knows what was kept."""

    def read(self, group_id: str, topic_id: bytes, partition: int, leader_epoch: int, broker_ms: int) -> ReadState:
        """What is known of a share partition. Raises KafkaError."""


class Live:
    """A share partition in its broker.

    Attributes:
        name: of its topic.
        node_id: that leads it.
        partition: what becomes of its records.
        log: that it is about.
        owner: what the share coordinator calls it.
        key: by which fetches wait for it, beside topic and partition themselves.
        locks: when the next lock may end.
        known_offset: the offset to be fetched whose place in the log was looked up last; None: none.
        fenced: it is not the one in charge any more.
    """

    __slots__ = ("fenced", "group_id", "index", "key", "known_offset", "locks", "log", "name", "node_id", "owner",
                 "partition", "topic_id")  # fmt: skip

    def __init__(
        self,
        name: str,
        node_id: int,
        partition: SharePartition,
        log: PartitionLog,
        expired: Callable[[Live, Moment], None],
    ) -> None:
        self.name = name
        self.group_id = partition.group_id
        self.topic_id = partition.topic_id
        self.index = partition.partition
        self.node_id = node_id
        self.owner = SharePartitionKey(self.group_id, self.topic_id, self.index)
        self.partition = partition
        self.log = log
        self.key = (_waited_for(self.group_id, self.topic_id), self.index)
        self.known_offset: int | None = None
        self.fenced = False
        self.locks: Deadline[Moment] = Deadline(
            ("acquisition lock", self.group_id, f"{name}-{self.index}"), lambda now: expired(self, now)
        )


class SharePartitionCache:
    """All of a broker.

    Args:
        settings: of a group.
        reset: `share.auto.offset.reset` of a group.
        expired: locks of a share partition may have ended.
        load: is given what was not known to be written to a dead-letter topic when a share partition was loaded.
    """

    def __init__(
        self,
        state: WithLogs,
        reader: Reader,
        settings: Callable[[str], ShareSettings],
        reset: Callable[[str], str],
        expired: Callable[[Live, Moment], None],
        loaded: Callable[[Live, Sequence[DeadLetter], Moment], None],
    ) -> None:
        self._state = state
        self._reader = reader
        self._settings = settings
        self._reset = reset
        self._expired = expired
        self._loaded = loaded
        self._all: dict[tuple[str, bytes, int], Live] = {}
        self._by_group: dict[str, dict[Live, None]] = {}
        self._by_topic: dict[bytes, dict[Live, None]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def __iter__(self) -> Iterator[Live]:
        """Each, in no order."""
        return iter(self._all.values())

    def get(self, node_id: int, group_id: str, topic_id: bytes, index: int) -> Live | None:
        """One that is in memory, on that node."""
        live = self._all.get((group_id, topic_id, index))
        return live if live is not None and live.node_id == node_id else None

    def of_group(self, group_id: str) -> list[Live]:
        """Those of a group that are in memory."""
        return list(self._by_group.get(group_id, ()))

    def make(self, node_id: int, group_id: str, topic: Topic, index: int, now: Moment) -> Live:
        """Bring it into memory, with what was kept of it.

        Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER; what the share coordinator says against
        it, in the words of a leader (`called`); OFFSET_NOT_AVAILABLE.
        """
        broker_ms = now[0]
        log = led_log(self._state, node_id, topic, index)
        epoch = topic.partitions[index].leader_epoch
        partition = SharePartition(group_id, topic.topic_id, index, partial(self._settings, group_id), epoch)
        try:
            read = self._reader.read(group_id, topic.topic_id, index, epoch, broker_ms)
        except KafkaError as error:
            raise called(error) from error
        start = read.start_offset
        if start == UNINITIALIZED_START_OFFSET:
            start = beginning(self._reset(group_id), log, broker_ms)
        letters = partition.load(read, start)
        live = Live(topic.name, node_id, partition, log, self._expired)
        self._all[group_id, topic.topic_id, index] = live
        self._by_group.setdefault(group_id, {})[live] = None
        self._by_topic.setdefault(topic.topic_id, {})[live] = None
        if letters:
            self._loaded(live, letters, now)
        return live

    def drop(self, live: Live) -> None:
        """Forget one that is not in charge any more, and what is in flight in it."""
        key = (live.group_id, live.topic_id, live.index)
        if self._all.get(key) is not live:
            return
        del self._all[key]
        _leave(self._by_group, live.group_id, live)
        _leave(self._by_topic, live.topic_id, live)
        live.fenced = True
        live.partition.fence()
        live.locks.end()

    def of_topic(self, topic_id: bytes) -> list[Live]:
        """Those of a topic that are in memory."""
        return list(self._by_topic.get(topic_id, ()))

    def moved(self, topic_id: bytes, indexes: Collection[int]) -> list[Live]:
        """Those of these partitions that another node leads now, or that have another epoch."""
        topic = self._state.cluster.topic_by_id(topic_id)
        found = []
        for live in self.of_topic(topic_id):
            if topic is None or live.index not in indexes:
                continue
            now = topic.partitions[live.index]
            if now.leader != live.node_id or now.leader_epoch != live.partition.leader_epoch:
                found.append(live)
        return found


def called(error: KafkaError) -> KafkaError:
    """What a partition's leader calls an error of the share coordinator. Kafka: SharePartition.fetchPersisterError.

    Only what a disk refuses keeps its name, which no broker without a disk could give.
    """
    if error.code in _AWAY:
        return KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message)
    if error.code in _FENCED:
        return KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, error.message)
    return error if error.code in _TOLD else KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, error.message)


@lru_cache(100)
def _waited_for(group_id: str, topic_id: bytes) -> bytes:
    """The same object for all partitions of a topic: a group id may have 32 KB."""
    return group_id.encode("utf-8", "surrogatepass") + b"\0" + topic_id


def _leave(groups: dict[str, dict[Live, None]] | dict[bytes, dict[Live, None]], key: str | bytes, live: Live) -> None:
    members = groups[key]  # type: ignore[index]
    del members[live]
    if not members:
        del groups[key]  # type: ignore[arg-type]
