"""What goes on over several requests, for the ACL matrix: sessions, members, transactions, and requests that wait.

Each is begun while everything is allowed, and asked again while an entry is there or is not. What is told is brought
down to what does not differ from run to run: codes, and whether records came.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_fetch_request import AcknowledgementBatch as AlongBatch
from kafkawire.messages.share_fetch_request import FetchPartition as SharePartition
from kafkawire.messages.share_fetch_request import FetchTopic as ShareTopic
from kafkawire.messages.share_fetch_request import ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.security.matrix import OTHER, SEEN
from tests.security.matrix_shares import HERD
from tests.waiting import until

_STAMP: Final = 1_700_000_000_000
_TRANSACTIONAL: Final = 0x10
_JOINS_FROM: Final = 12
_RAISES_FROM: Final = 5
_ACCEPT: Final = 1
_numbers = itertools.count(1)

Ask = Callable[[ApiKey, int, Message], Any]
Told = list[Any]


class On(Protocol):
    """The broker, as the subject sees it and as the admin does.

    Attributes:
        ids: of the two topics that exist.
    """

    ids: Mapping[str, bytes]

    def subject(self, key: ApiKey, version: int, request: Message) -> Any: ...
    def admin(self, key: ApiKey, version: int, request: Message) -> Any: ...
    def send(self, key: ApiKey, version: int, request: Message) -> Callable[[], Any]:
        """As the subject, what may wait; gives how to wait for the answer."""
        ...


class Going:
    """One of them."""

    def __init__(self, on: On) -> None:
        self.on = on
        self.number = next(_numbers)
        """Of its own, for names."""

    def begin(self) -> None:
        """Everything is allowed."""

    def again(self) -> Told:
        """Ask once more; what was told."""
        raise NotImplementedError

    def end(self) -> None:
        """Everything is allowed again."""

    def fill(self) -> None:
        """A record more in each of the two topics, by the admin."""
        one = build_batch([NewRecord(b"k", b"v", _STAMP)])
        data = [TopicProduceData(name, bytes(16), [PartitionProduceData(0, one)]) for name in (SEEN, OTHER)]
        answer = self.on.admin(ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 1000, data))
        assert not any(one.error_code for topic in answer.responses for one in topic.partition_responses)


def _by_topic(on: On, topics: Any, tell: Callable[[Any], Told]) -> dict[str, Told]:
    """Of each topic with one partition what is told, by name."""
    names = {topic_id: name for name, topic_id in on.ids.items()}
    found = {}
    for topic in topics:
        name = getattr(topic, "topic", "") or getattr(topic, "name", "") or names[bytes(topic.topic_id)]
        (one,) = topic.partitions
        found[name] = tell(one)
    return dict(sorted(found.items()))


# -- fetch sessions ------------------------------------------------------------------------------------------------


class FetchSession(Going):
    """Its requests name nothing: it remembers both topics."""

    VERSION = 13

    def begin(self) -> None:
        self.fill()
        self.epoch = 0
        self.session = 0
        topics = [
            FetchTopic(name, self.on.ids[name], [FetchPartition(0, partition_max_bytes=1 << 20)])
            for name in (SEEN, OTHER)
        ]
        self.session = self._fetch(topics=topics).session_id
        assert self.session

    def again(self) -> Told:
        answer = self._fetch()
        tell = _by_topic(self.on, answer.responses, lambda one: [one.error_code, bool(one.records)])
        return [answer.error_code, answer.session_id == self.session, tell]

    def end(self) -> None:
        self.epoch = -1
        self._fetch()

    def _fetch(self, **more: Any) -> Any:
        request = FetchRequest(
            min_bytes=1, max_bytes=1 << 20, session_id=self.session, session_epoch=self.epoch, **more
        )
        self.epoch += self.epoch >= 0
        return self.on.subject(ApiKey.FETCH, self.VERSION, request)


class FetchSessionByName(FetchSession):
    """The same, by the topics' names."""

    VERSION = 12


class FetchThatWaits(Going):
    """A long poll that began while everything was allowed."""

    def again(self) -> Told:
        return []

    def waiting(self) -> Callable[[], Told]:
        """It waits now; gives how to let it go."""
        self.session = 0
        end = self.on.admin(ApiKey.PRODUCE, 9, self._one()).responses[0].partition_responses[0].base_offset + 1
        wanted = FetchPartition(0, fetch_offset=end, partition_max_bytes=1 << 20)
        request = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(SEEN, self.on.ids[SEEN], [wanted])])
        answer = self.on.send(ApiKey.FETCH, 13, request)

        def told() -> Told:
            self.on.admin(ApiKey.PRODUCE, 9, self._one())
            got = answer()
            tell = _by_topic(self.on, got.responses, lambda one: [one.error_code, bool(one.records)])
            return [got.error_code, tell]

        return told

    def _one(self) -> ProduceRequest:
        one = build_batch([NewRecord(b"k", b"v", _STAMP)])
        return ProduceRequest(None, -1, 1000, [TopicProduceData(SEEN, bytes(16), [PartitionProduceData(0, one)])])


# -- share sessions ------------------------------------------------------------------------------------------------


class ShareSession(Going):
    """Its requests name nothing but what they acknowledge; both topics are remembered."""

    VERSION = 2
    TOPICS: tuple[str, ...] = (SEEN, OTHER)

    def begin(self) -> None:
        self.member = f"goer-{self.number}"
        self.epoch = 0
        self.held: dict[str, list[tuple[int, int]]] = {name: [] for name in self.TOPICS}
        answer = self._fetch({name: [] for name in self.held}, self.opener())
        assert not answer.error_code

    def opener(self) -> Ask:
        """Who begins the session."""
        return self.on.subject

    def again(self) -> Told:
        """Fetch; then acknowledge what is held, by itself in one topic and with another fetch in both."""
        self.fill()
        return [self._fetched(), self._acknowledged(), self._fetched_along()]

    def end(self) -> None:
        self.epoch = -1
        self._fetch({}, self.on.subject)

    def _fetched(self) -> Told:
        return self._told(self._fetch({}, self.on.subject))

    def _fetched_along(self) -> Told:
        self.fill()
        along = {name: held[:1] for name, held in self.held.items() if held}
        answer = self._fetch(along, self.on.subject)
        told = self._told(answer)
        for topic in answer.responses:
            name = next(one for one, topic_id in self.on.ids.items() if topic_id == bytes(topic.topic_id))
            if name in along and not topic.partitions[0].acknowledge_error_code:
                del self.held[name][0]
        return told

    def _acknowledged(self) -> Told:
        said = {name: held[:1] for name, held in self.held.items() if held}
        topics = [
            AcknowledgeTopic(
                self.on.ids[name],
                [AcknowledgePartition(0, [AcknowledgementBatch(*one, [_ACCEPT]) for one in batches])],
            )
            for name, batches in said.items()
        ]
        request = ShareAcknowledgeRequest(HERD, self.member, self.epoch, topics=topics)
        answer = self.on.subject(ApiKey.SHARE_ACKNOWLEDGE, self.VERSION, request)
        self.epoch += not answer.error_code
        told = _by_topic(self.on, answer.responses, lambda one: [one.error_code])
        for name, (code,) in told.items():
            if not code:
                del self.held[name][0]
        return [answer.error_code, told]

    def _fetch(self, named: Mapping[str, list[tuple[int, int]]], ask: Ask) -> Any:
        topics = [
            ShareTopic(self.on.ids[name], [SharePartition(0, [AlongBatch(*one, [_ACCEPT]) for one in along])])
            for name, along in named.items()
        ]
        request = ShareFetchRequest(HERD, self.member, self.epoch, 500, 1, 1 << 20, 500, 500, topics=topics)
        answer = ask(ApiKey.SHARE_FETCH, self.VERSION, request)
        self.epoch += not answer.error_code and self.epoch >= 0
        names = {topic_id: name for name, topic_id in self.on.ids.items()}
        for topic in answer.responses:
            for one in topic.partitions[0].acquired_records:
                self.held[names[bytes(topic.topic_id)]].append((one.first_offset, one.last_offset))
        return answer

    def _told(self, answer: Any) -> Told:
        """Which of two partitions gives its records is Kafka's: whether any came, and the codes of both."""
        told = _by_topic(self.on, answer.responses, lambda one: [one.error_code, one.acknowledge_error_code])
        return [answer.error_code, {name: codes for name, codes in told.items() if any(codes)}]


class OlderShareSession(ShareSession):
    """The same in version 1."""

    VERSION = 1


class ShareSessionOfOneTopic(ShareSession):
    """What most are."""

    TOPICS = (SEEN,)


class ShareSessionOfSomebodyElse(ShareSession):
    """Begun by the admin, on another connection, in the same member's name."""

    TOPICS = (SEEN,)

    def opener(self) -> Ask:
        return self.on.admin


# -- members ---------------------------------------------------------------------------------------------------------


class Member(Going):
    """Of a group of the classic protocol: heartbeats, commits, and what was committed."""

    def begin(self) -> None:
        self.group = f"sitting-{self.number}"
        until(lambda: not self.on.admin(ApiKey.FIND_COORDINATOR, 4, self._found()).coordinators[0].error_code, "it")
        protocols = [JoinGroupRequestProtocol("range", b"")]
        join = JoinGroupRequest(self.group, 600_000, 600_000, "", None, "consumer", protocols)
        self.joined = self.on.subject(ApiKey.JOIN_GROUP, 3, join)
        assert not self.joined.error_code
        shares = [SyncGroupRequestAssignment(self.joined.member_id, b"")]
        sync = SyncGroupRequest(self.group, self.joined.generation_id, self.joined.member_id, assignments=shares)
        assert not self.on.subject(ApiKey.SYNC_GROUP, 3, sync).error_code

    def again(self) -> Told:
        who = self.joined.generation_id, self.joined.member_id
        beat = self.on.subject(ApiKey.HEARTBEAT, 4, HeartbeatRequest(self.group, *who))
        topics = [
            OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(0, 5)]) for name in (SEEN, OTHER)
        ]
        commit = OffsetCommitRequest(self.group, *who, topics=topics)
        committed = [self.on.subject(ApiKey.OFFSET_COMMIT, 9, commit) for _ in range(2)]
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(self.group, topics=None)])
        (group,) = self.on.subject(ApiKey.OFFSET_FETCH, 8, asked).groups
        return [
            beat.error_code,
            *(_by_topic(self.on, one.topics, lambda of: [of.error_code]) for one in committed),
            [group.error_code, sorted(topic.name for topic in group.topics)],
        ]

    def _found(self) -> FindCoordinatorRequest:
        return FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group])


class ConsumerMember(Going):
    """Of a group of the consumer protocol, that says nothing new; then names its topics again."""

    def begin(self) -> None:
        self.group, self.epoch = f"crew-{self.number}", 0
        until(lambda: not self._beat([SEEN, OTHER]).error_code, "a member")

    def again(self) -> Told:
        return [self._beat(None).error_code, self._beat([SEEN, OTHER]).error_code]

    def end(self) -> None:
        self.epoch = -1
        self._beat(None)

    def _beat(self, topics: list[str] | None) -> Any:
        request = ConsumerGroupHeartbeatRequest(
            self.group, "m", self.epoch, None, None, 60_000, topics, topic_partitions=[]
        )
        answer = self.on.subject(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer


class ShareMember(ConsumerMember):
    """The same of a share group."""

    def _beat(self, topics: list[str] | None) -> Any:
        request = ShareGroupHeartbeatRequest(f"herd-{self.number}", "m", self.epoch, None, topics)
        answer = self.on.subject(ApiKey.SHARE_GROUP_HEARTBEAT, 1, request)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer


# -- producers -------------------------------------------------------------------------------------------------------


class IdempotentProducer(Going):
    """Numbers its records in both topics."""

    VERSIONS: tuple[int, ...] = (12, 13)
    NAME: str | None = None

    def begin(self) -> None:
        self.name = None if self.NAME is None else f"{self.NAME}-{self.number}"
        self.sequences = {SEEN: 0, OTHER: 0}
        self.adopt(until(self._started, "a producer id"))

    def adopt(self, answer: Any) -> None:
        """Go on with an id and an epoch."""
        self.who = answer.producer_id, answer.producer_epoch

    def again(self) -> Told:
        return [self._produced(version) for version in self.VERSIONS]

    def _started(self) -> Any:
        answer = self.on.subject(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(self.name, 600_000))
        return None if answer.error_code else answer

    def _produced(self, version: int) -> dict[str, int]:
        data = []
        for name, sequence in self.sequences.items():
            one = build_batch(
                [NewRecord(b"k", b"v", _STAMP)], producer_id=self.who[0], producer_epoch=self.who[1],
                base_sequence=sequence, attributes=0 if self.name is None else _TRANSACTIONAL,
            )  # fmt: skip
            data.append(TopicProduceData(name, self.on.ids[name], [PartitionProduceData(0, one)]))
        names = {topic_id: name for name, topic_id in self.on.ids.items()}
        answer = self.on.subject(ApiKey.PRODUCE, version, ProduceRequest(self.name, -1, 1000, data))
        told = {
            topic.name or names[bytes(topic.topic_id)]: int(topic.partition_responses[0].error_code)
            for topic in answer.responses
        }
        for name, code in told.items():
            self.sequences[name] += not code
        return dict(sorted(told.items()))


class Transactions(IdempotentProducer):
    """A transaction each time: partitions and a group are added, records and offsets written, and it ends."""

    VERSIONS = (11, 9)
    NAME = "going"
    END = 4
    COMMIT = 4

    def again(self) -> Told:
        told: Told = []
        if self.END < _RAISES_FROM:
            told += [self._added(), self._added_group()]
        told += super().again()
        told += [self._committed(), self._ended()]
        return told

    def end(self) -> None:
        self.adopt(until(self._started, "the end of a transaction that may be open"))

    def _added(self) -> dict[str, int]:
        topics = [AddPartitionsToTxnTopic(name, [0]) for name in (SEEN, OTHER)]
        request = AddPartitionsToTxnRequest((), self.name or "", *self.who, topics)
        answer = self._unless_ending(
            ApiKey.ADD_PARTITIONS_TO_TXN,
            3,
            request,
            lambda one: one.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
        )
        found = {
            topic.name: int(topic.results_by_partition[0].partition_error_code)
            for topic in answer.results_by_topic_v3_and_below
        }
        return dict(sorted(found.items()))

    def _added_group(self) -> int:
        request = AddOffsetsToTxnRequest(self.name or "", *self.who, "team")
        return int(self._unless_ending(ApiKey.ADD_OFFSETS_TO_TXN, 3, request, lambda one: one.error_code).error_code)

    def _committed(self) -> dict[str, Told]:
        topics = [
            TxnOffsetCommitRequestTopic(name, self.on.ids[name], [TxnOffsetCommitRequestPartition(0, 1)])
            for name in (SEEN, OTHER)
        ]
        request = TxnOffsetCommitRequest(self.name or "", "team", *self.who, topics=topics)
        answer = self._unless_ending(
            ApiKey.TXN_OFFSET_COMMIT, self.COMMIT, request, lambda one: one.topics[0].partitions[0].error_code
        )
        return _by_topic(self.on, answer.topics, lambda one: [one.error_code])

    def _ended(self) -> int:
        request = EndTxnRequest(self.name or "", *self.who, True)
        answer = self._unless_ending(ApiKey.END_TXN, self.END, request, lambda one: one.error_code)
        if not answer.error_code and self.END >= _RAISES_FROM:
            self.adopt(answer)
            self.sequences = dict.fromkeys(self.sequences, 0)
        return int(answer.error_code)

    def _unless_ending(self, key: ApiKey, version: int, request: Message, code: Callable[[Any], int]) -> Any:
        """Again as long as the transaction before is ending: Kafka answers before it has written the markers."""

        def answered() -> Any:
            answer = self.on.subject(key, version, request)
            return None if code(answer) == ErrorCode.CONCURRENT_TRANSACTIONS else answer

        return until(answered, "the end of the transaction before")


class NewerTransactions(Transactions):
    """The same with transaction version 2: what is written to is added by that."""

    VERSIONS = (12, 13)
    END = 5
    COMMIT = 5


GOING: Final[dict[str, Callable[[On], Going]]] = {
    "fetch session": FetchSession,
    "fetch session by name": FetchSessionByName,
    "share session": ShareSession,
    "share session, version 1": OlderShareSession,
    "share session of one topic": ShareSessionOfOneTopic,
    "share session of somebody else": ShareSessionOfSomebodyElse,
    "member": Member,
    "member of the consumer protocol": ConsumerMember,
    "member of a share group": ShareMember,
    "idempotent producer": IdempotentProducer,
    "transactions of version 1": Transactions,
    "transactions of version 2": NewerTransactions,
}
