"""Fetch (key 1), versions 4-18.

FE-1   Batches come as they are stored, from the one that holds the offset on.    KIP-98
FE-2   At least one batch: the first partition with records gives its first batch whatever the limits.    KIP-74
FE-3   max_bytes of the request (at most fetch.max.bytes) and of each partition cut the records, if need be within a
       batch; a later partition whose first batch does not fit gives none.    ReplicaManager.readFromLog
FE-4   Without min_bytes of records the answer waits, up to max_wait_ms; an append that brings them, the deletion of
       the topic or a new leader releases it. min_bytes counts no more than max_bytes.    DelayedFetch
FE-5   Any error answers at once, as does a request for no partition.    ReplicaManager.fetchMessages
FE-6   An offset outside of the log: OFFSET_OUT_OF_RANGE; watermarks and start offset are -1 with every error.
FE-7   Unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION; unknown topic id (version 13): UNKNOWN_TOPIC_ID. Such
       partitions come last in the answer, unknown ids first of them. A topic deleted under a session is an unknown
       topic there, not an unknown id.    KafkaApis.handleFetchRequest, KIP-516
FE-8   A leader epoch of the client's that is not the partition's: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH.   KIP-320
FE-9   last_fetched_epoch whose end lies before the offset: the diverging epoch and no records. A session that goes on
       before version 12, which has no word for it: UNSUPPORTED_VERSION.    KIP-595
FE-10  Sessions: a full fetch founds one, an incremental one tells only news; wrong id FETCH_SESSION_ID_NOT_FOUND,
       wrong epoch INVALID_FETCH_SESSION_EPOCH, topic ids mixed with names FETCH_SESSION_TOPIC_ID_ERROR.    KIP-227
FE-11  A session that has no partition left ends, and what the request names is answered without one; epoch -1 ends it
       as well.    KIP-227
FE-12  max.incremental.fetch.session.cache.slots sessions on a node, in one cache where Kafka has eight; a stale one, or
       a settled one that is no larger, makes room.    KIP-227
FE-13  Isolation level 1 reads up to the last stable offset, and tells which transactions in what was read were aborted
       (some behind it too, as Kafka's index is sparse), but where a first batch did not fit: then nothing. Any other
       level is UNKNOWN_SERVER_ERROR.    KIP-98; Kafka: UnifiedLog.read, LocalLog.addAbortedTransactions
FE-14  A replica id: NOT_LEADER_OR_FOLLOWER, or UNKNOWN_LEADER_EPOCH where it names the epoch, as no replica here
       fetches from another.    Partition.followerReplicaOrThrow
FE-15  From version 16 on, NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH come with leader and endpoint.    KIP-951
FE-16  A partition named twice is answered once, as it was named last.
FE-17  Errors of the whole request: from version 13 on at the top only, before with every partition as well.
FE-18  From version 11 on any replica serves a consumer, not only the leader; without a replica, and in older versions,
       NOT_LEADER_OR_FOLLOWER.    KIP-392
FE-19  Without Read on the topic: TOPIC_AUTHORIZATION_FAILED, whether it exists or not, at every request and for what a
       session remembers, too; a follower needs ClusterAction on the cluster instead.    KafkaApis.handleFetchRequest
FE-20  A session belongs to the node that founded it: on another one, and after that node was stopped, its id is not
       found.    KIP-227
FE-21  With Kafka's RackAwareReplicaSelector as replica.selector.class, the leader sends a consumer (version 11+) that
       names a rack, of which it is not itself, to a replica in sync there; without records and at once.    KIP-392;
       Kafka: ReplicaManager.findPreferredReadReplica
FE-22  Under a consumer_byte_rate: who has used more gets throttle_time_ms and no partitions, from which his session
       learns nothing; nobody is given more at once than all windows allow.    ClientQuotaManager, KIP-219
FE-23  With isolation level 1 min_bytes counts what is before the last stable offset: records of an open transaction
       release nobody, its marker does. Who asks for a batch behind it is answered at once, with nothing.   DelayedFetch
FE-24  Where the log starts inside a batch of an open transaction, the last stable offset is that batch's base offset,
       below the log start.    UnifiedLog.maybeUpdateFirstUnstableOffset
Not done: -
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkastub.config import RACK_AWARE
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import PartitionState, Topic
from kafkastub.security import Operation
from kafkastub.state.fetch_sessions import (
    TOPIC_IDS_FROM,
    Answers,
    FetchPlan,
    Wanted,
    records_size,
)
from kafkastub.state.pace import paced
from kafkastub.state.partitions import leader_hint, led_log
from kafkastub.storage import AbortedColumns, PartitionLog
from kafkawire.api import ApiKey
from kafkawire.codec import encoder
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.fetch_request import FetchRequest
from kafkawire.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kafkawire.rows import Rows

if TYPE_CHECKING:
    from kafkastub.state.quota_usage import Throttle

REPLICA_STATE_FROM = 15
LEADER_HINTS_FROM = 16
FOLLOWERS_FROM = 11
DIVERGENCE_FROM = 12
NO_EPOCH = -1
CONSUMER = -1
READ_COMMITTED = 1
_FRAME_SIZE = 4
"""Bytes that tell how long a frame is."""
_HINTED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def error_response(request: FetchRequest, code: ErrorCode, version: int) -> FetchResponse:
    """The code at the top, and before version 13 with every partition."""
    topics = []
    if version < TOPIC_IDS_FROM:
        topics = [
            FetchableTopicResponse(
                topic=topic.topic, partitions=[_unread(one.partition, code) for one in topic.partitions]
            )
            for topic in request.topics
        ]
    return FetchResponse(error_code=code, session_id=request.session_id, responses=topics)


@handles(ApiKey.FETCH, 4, 18, error_response=error_response)
def fetch(ctx: RequestContext, request: FetchRequest) -> Outcome:
    if request.isolation_level not in (0, 1):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Unknown isolation level {request.isolation_level}")
    plan = ctx.state.fetch_purgatory.sessions_of(ctx.node_id).plan(request, ctx.api_version, ctx.timer_ms)
    if ctx.state.throttle is None:
        return Fetch(ctx, request, plan).answer_or_wait()
    return ThrottledFetch(ctx, request, plan, ctx.state.throttle).answer_or_wait()


class Fetch:
    """One request on its way to an answer."""

    def __init__(self, ctx: RequestContext, request: FetchRequest, plan: FetchPlan) -> None:
        self.ctx = ctx
        self.request = request
        self.plan = plan
        self.max_bytes: int = min(request.max_bytes, ctx.state.config["fetch.max.bytes"])
        self.min_bytes: int = min(request.min_bytes, self.max_bytes)
        by_state = ctx.api_version >= REPLICA_STATE_FROM
        self.replica_id = request.replica_state.replica_id if by_state else request.replica_id
        self.committed = request.isolation_level == READ_COMMITTED and self.replica_id == CONSUMER
        self.rack = request.rack_id if request.rack_id and self._looks_for_racks() else ""
        self.may_read = _may_read(ctx, self.replica_id)
        self.read_from: list[tuple[Wanted, Topic]] = []
        self.unknown: Answers = []
        for wanted in paced(plan.partitions, ctx.pace):
            self._sort_out(wanted)
        if len(self.unknown) > 1:
            self.unknown.sort(key=lambda one: one[1].error_code != ErrorCode.UNKNOWN_TOPIC_ID)

    def _sort_out(self, wanted: Wanted) -> None:
        cluster = self.ctx.state.cluster
        topic = cluster.topic_by_id(wanted.topic_id) if self.plan.by_id else cluster.topic(wanted.name)
        if self.may_read is not None:
            name = topic.name if topic is not None else wanted.known_as if self.plan.by_id else wanted.name
            if name is not None and not self.may_read(name):
                self.unknown.append((wanted, _unread(wanted.index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)))
                return
        if topic is not None:
            wanted.known_as = topic.name
            if 0 <= wanted.index < len(topic.partitions):
                self.read_from.append((wanted, topic))
                return
        missing_id = topic is None and self.plan.by_id and wanted.known_as is None
        code = ErrorCode.UNKNOWN_TOPIC_ID if missing_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self.unknown.append((wanted, _unread(wanted.index, code)))

    def answer_or_wait(self) -> Outcome:
        answers = self._read()
        enough = (
            not self.read_from
            or self.request.max_wait_ms <= 0
            or sum(records_size(answer.records) for _, answer in answers) >= self.min_bytes
            or any(answer.error_code or answer.diverging_epoch.epoch >= 0 for _, answer in answers)
            or (self.rack and any(answer.preferred_read_replica >= 0 for _, answer in answers))
        )
        if enough or self._ready():
            return self._respond(answers)
        deferred = Deferred(lambda _: self._respond(self._read()))
        keys = ((topic.topic_id, wanted.index) for wanted, topic in self.read_from)
        deadline = self.ctx.timer_ms + self.request.max_wait_ms
        self.ctx.state.fetch_purgatory.park(deferred, keys, deadline, self._ready)
        return deferred

    def _ready(self) -> bool:
        """Is there enough now, or something else that must be told (DelayedFetch.tryComplete)?"""
        gathered = 0
        for wanted, topic in self.read_from:
            try:
                log = self._log(wanted, topic)
            except KafkaError:
                return True
            end = log.last_stable_offset if self.committed else log.high_watermark
            if self._behind(wanted.offset, end, log) or self._diverging(wanted, log) is not None:
                return True
            if wanted.offset < end:
                available = log.bytes_after(wanted.offset, end if self.committed else None)
                if available is None:
                    return True
                gathered += min(available, wanted.max_bytes)
        return gathered >= self.min_bytes

    def _behind(self, offset: int, end: int, log: PartitionLog) -> bool:
        """Whether the offset is in a batch that begins behind the end of what may be read."""
        return offset > end and (offset >= log.high_watermark or log.batch_offset(offset) > end)

    def _log(self, wanted: Wanted, topic: Topic) -> PartitionLog:
        current = self.ctx.state.cluster.topic_by_id(topic.topic_id)
        follower = self.ctx.api_version >= FOLLOWERS_FROM and self.replica_id == CONSUMER
        return led_log(self.ctx.state, self.ctx.node_id, current, wanted.index, wanted.leader_epoch, follower=follower)

    def _read(self) -> Answers:
        """Partition by partition within the limits; the first that has records may exceed them."""
        left, at_least_one = self.max_bytes, True
        answers: Answers = []
        for wanted, topic in paced(self.read_from, self.ctx.pace):
            try:
                answer = self._read_one(wanted, topic, min(wanted.max_bytes, left), at_least_one)
            except KafkaError as error:
                answer = _unread(wanted.index, error.code)
                answer.aborted_transactions = None
            size = records_size(answer.records)
            at_least_one = at_least_one and not size
            left = max(0, left - size)
            answers.append((wanted, answer))
        return answers

    def _read_one(self, wanted: Wanted, topic: Topic, limit: int, at_least_one: bool) -> PartitionData:
        log = self._log(wanted, topic)
        if self.replica_id >= 0:
            named = wanted.leader_epoch != NO_EPOCH
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH if named else ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.rack:
            nearer = self._nearer(topic.partitions[wanted.index], wanted.offset, log)
            if nearer is not None:
                return self._elsewhere(wanted.index, log, nearer)
        diverging = self._diverging(wanted, log)
        if diverging is not None and (diverging.end_offset < 0 or wanted.offset < log.log_start_offset):
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        answer = PartitionData(
            partition_index=wanted.index,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start_offset,
            diverging_epoch=diverging,
            aborted_transactions=None,
            records=b"",
        )
        if diverging is None:
            upto = answer.last_stable_offset if self.committed else None
            read = log.read(wanted.offset, limit, at_least_one=at_least_one, upto=upto)
            answer.records = read.chunks
            if upto is not None and not read.incomplete:
                told = log.aborted_in_read(wanted.offset, read.size) if wanted.offset < upto else None
                answer.aborted_transactions = () if told is None else _rows(told)
        return answer

    def _looks_for_racks(self) -> bool:
        consumer = self.replica_id == CONSUMER and self.ctx.api_version >= FOLLOWERS_FROM
        return consumer and self.ctx.state.config["replica.selector.class"] == RACK_AWARE

    def _nearer(self, partition: PartitionState, offset: int, log: PartitionLog) -> int | None:
        """The replica in the consumer's rack, where this is the leader, in another one (RackAwareReplicaSelector)."""
        cluster, here = self.ctx.state.cluster, self.ctx.node_id
        if partition.leader != here or not log.log_start_offset <= offset <= log.log_end_offset:
            return None
        in_sync = (cluster.node_seen_from(self.ctx.listener, node_id) for node_id in partition.isr)
        near = [node.node_id for node in in_sync if node is not None and node.rack == self.rack]
        return None if here in near else max(near, default=None)

    def _elsewhere(self, index: int, log: PartitionLog, node_id: int) -> PartitionData:
        """Where the records are to be had instead."""
        return PartitionData(
            partition_index=index,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start_offset,
            aborted_transactions=None,
            preferred_read_replica=node_id,
            records=b"",
        )

    def _diverging(self, wanted: Wanted, log: PartitionLog) -> EpochEndOffset | None:
        """Where the client's last epoch ended, if it has read beyond that; -1 where nobody knows."""
        if wanted.last_fetched_epoch == NO_EPOCH:
            return None
        epoch, end = log.epochs.end_offset(wanted.last_fetched_epoch, log.log_end_offset)
        if end >= 0 and wanted.last_fetched_epoch <= epoch and wanted.offset <= end:
            return None
        return EpochEndOffset(epoch=epoch, end_offset=end)

    def _respond(self, answers: Answers) -> FetchResponse:
        state = self.ctx.state
        endpoints: dict[int, NodeEndpoint] = {}
        if self.ctx.api_version >= LEADER_HINTS_FROM:
            for wanted, answer in answers:
                if answer.error_code in _HINTED:
                    self._add_leader_hint(wanted, answer, endpoints)
        code, session_id, told = self.plan.finish([*answers, *self.unknown], self.ctx.timer_ms, state.random)
        if self.ctx.api_version < DIVERGENCE_FROM and any(answer.diverging_epoch.epoch >= 0 for _, answer in told):
            return error_response(self.request, ErrorCode.UNSUPPORTED_VERSION, self.ctx.api_version)
        return FetchResponse(
            error_code=code,
            session_id=session_id,
            responses=self._by_topic(told),
            node_endpoints=list(endpoints.values()),
        )

    def _by_topic(self, told: Answers) -> list[FetchableTopicResponse]:
        topics: list[FetchableTopicResponse] = []
        whose: str | bytes | None = None
        partitions: list[PartitionData] = []
        for wanted, answer in told:
            if wanted.key[0] != whose:
                whose, partitions = wanted.key[0], []
                topics.append(
                    FetchableTopicResponse(topic=wanted.name, topic_id=wanted.topic_id, partitions=partitions)
                )
            partitions.append(answer)
        return topics

    def _add_leader_hint(self, wanted: Wanted, answer: PartitionData, endpoints: dict[int, NodeEndpoint]) -> None:
        cluster = self.ctx.state.cluster
        topic = cluster.topic_by_id(wanted.topic_id) if self.plan.by_id else cluster.topic(wanted.name)
        leader, epoch, node = leader_hint(self.ctx.state, self.ctx.listener, topic, wanted.index)
        answer.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
        if node is not None:
            endpoints[leader] = NodeEndpoint(node_id=leader, host=node.host, port=node.port, rack=node.rack)


class ThrottledFetch(Fetch):
    """One request, while there are quotas. Followers have none."""

    def __init__(self, ctx: RequestContext, request: FetchRequest, plan: FetchPlan, throttle: Throttle) -> None:
        super().__init__(ctx, request, plan)
        self._throttle = throttle
        self._counts = self.replica_id <= CONSUMER
        if self._counts:
            self.max_bytes = min(self.max_bytes, throttle.most_fetched(ctx))
            self.min_bytes = min(self.min_bytes, self.max_bytes)

    def _respond(self, answers: Answers) -> FetchResponse:
        if not self._counts:
            return super()._respond(answers)
        whole = FetchResponse(responses=self._by_topic(self.plan.news([*answers, *self.unknown])))
        size = _FRAME_SIZE + sum(map(len, encoder(FetchResponse, self.ctx.api_version)(whole)))
        wait = self._throttle.fetch_ms(self.ctx, size)
        if wait <= 0:
            return super()._respond(answers)
        code, session_id = self.plan.nothing()
        return FetchResponse(throttle_time_ms=wait, error_code=code, session_id=session_id)


def _rows(told: AbortedColumns) -> Rows[AbortedTransaction]:
    columns = {"producer_id": told.producer_ids, "first_offset": told.first_offsets}
    return Rows(AbortedTransaction, len(told.producer_ids), columns, {})


def _may_read(ctx: RequestContext, replica_id: int) -> Callable[[str], bool] | None:
    """Which topics, by name, a fetch may read; None where there is no authorizer.

    Followers need ClusterAction on the cluster instead. Asked by the handler itself, as its sessions remember
    partitions that may be refused today and allowed tomorrow.
    """
    if ctx.state.authorizer is None:
        return None
    access = ctx.access
    if replica_id >= 0:
        may = access.to_cluster(Operation.CLUSTER_ACTION)
        return lambda _: may
    return lambda name: access.to_topic(Operation.READ, name)


def _unread(index: int, code: ErrorCode) -> PartitionData:
    """A partition about which nothing is told but an error (FetchResponse.partitionResponse)."""
    return PartitionData(partition_index=index, error_code=code, high_watermark=-1, records=b"")
