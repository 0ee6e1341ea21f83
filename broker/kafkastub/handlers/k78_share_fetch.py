"""ShareFetch (key 78), versions 1-2.

SF-1   Where share groups are switched off (share.version 0): UNSUPPORTED_VERSION. KafkaApis.isShareGroupProtocolEnabled
SF-2   No group id, or no member id or one of more than 36 characters: INVALID_REQUEST.       KafkaApis.isMemberIdValid
SF-3   A renewing request (is_renew_ack) must ask for no records: max_wait_ms, min_bytes, max_bytes and max_records are
       0, else INVALID_REQUEST, and its session does not go on. It acquires nothing.                          KIP-1222
SF-4   Epoch 0 begins a session, in place of one that the member may have; it may not acknowledge anything
       (INVALID_REQUEST), nor name a partition twice (UNKNOWN_SERVER_ERROR). A later epoch has to be the next one:
       SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH; also where it was overtaken while it waited.
                                                                           SharePartitionManager.newContext, KIP-932
SF-5   Epoch -1 ends the session: what comes along is acknowledged, what else the member has acquired is given back,
       nothing is acquired.
SF-6   A session ends with the connection that it was begun on, wherever it went on; with a group's last session on a
       node what is in flight there is forgotten. While a fetch waits on it nobody notices that it has gone: that is
       so when the fetch is over, and what it has acquired is given back then.     ShareSessionCache, Selector (muted)
SF-7   group.share.max.share.sessions on a node: more than that are SHARE_SESSION_LIMIT_REACHED, once max_wait_ms is
       over.
SF-8   The first answer of a session tells of all partitions that could be looked at, later ones of those with records,
       with an error, or new; one with records goes to the end of the line.                       ShareSessionContext
SF-9   Partitions are gone through from another one on with each epoch.                        PartitionRotateStrategy
SF-10  An unknown topic id is UNKNOWN_TOPIC_ID, an unknown partition or a topic that has gone
       UNKNOWN_TOPIC_OR_PARTITION, again with each answer.
SF-11  Acquired are the records that are available, at most max_records, but for whole batches in mode 0; max_bytes is
       divided among the partitions, and of the first that has records a batch is read in any case.
                                                                       SharePartition.acquire, PartitionMaxBytesStrategy
SF-12  Without min_bytes of records the answer waits, up to max_wait_ms, and where nothing can be acquired whatever
       min_bytes is. It is looked at again after an append or a marker, the end of a lock, when somebody is given
       records there, when the start offset moves, and when an acknowledgement begins: what that gives back is
       available later, and releases nobody by itself.                       DelayedShareFetch, SharePartitionManager
SF-13  max_records or max_bytes 0: at once, and nothing.                       SharePartitionManager.processShareFetch
SF-14  A share partition is brought into memory with the first fetch, behind its back: without max_wait_ms that fetch is
       told nothing of it. Where the group has never read it, it begins by share.auto.offset.reset.
                                                                                      SharePartition.maybeInitialize
SF-15  What the share coordinator says against that: the error that a leader gives it.          …fetchPersisterError
SF-16  share.isolation.level read_committed: up to the last stable offset, without records of aborted transactions.
SF-17  The log begins behind what is to be fetched: what was before is over, and the answer is empty.
                                                                                  ShareFetchUtils.processFetchResponse
SF-18  Acknowledgements that come along are begun first, and written when the fetch has acquired what it can at once:
       so what they give back it is not given. What became of them is told at their partitions.
                                                                                       KafkaApis.handleShareFetchRequest
SF-19  The answer has the batches that have what was acquired, and no others.     ShareFetchUtils.maybeSliceFetchRecords
SF-20  acquisition_lock_timeout_ms is the group's.
SF-21  NOT_LEADER_OR_FOLLOWER comes with the leader and its endpoint.                                         KIP-951
SF-22  Without Read on the group GROUP_AUTHORIZATION_FAILED, on a topic TOPIC_AUTHORIZATION_FAILED, at every request and
       for what the session remembers, too; also for a topic that has gone. A session is the member's, whoever asks.
SF-23  Under a consumer_byte_rate: who has used more gets throttle_time_ms and no partitions.         ClientQuotaManager
SF-24  A share_acquire_mode that is none: UNKNOWN_SERVER_ERROR, where there is a partition to be fetched.
SF-25  Membership is not asked for: whoever may read fetches, of a group that is unknown too.
SF-26  Many partitions and acknowledgements are looked at in parts, so that others are served between.
SF-27  Of a partition that has another leader, is gone or stopped, what was in flight is what was written; the lock and
       the count of what was not are forgotten.
SF-28  What a session had is given back in parts, and its last request is answered when all is; one that its member
       begins meanwhile, after that. A session has at most 20000 partitions, and all of a node 1000000: more are
       SHARE_SESSION_LIMIT_REACHED. Apache Kafka has no such limits.
SF-29  With an authorizer a topic id that is no topic's, named now or, if it never was one's in this session, before:
       UNKNOWN_SERVER_ERROR, and nothing is fetched or acknowledged; the session goes on. Kafka asks who may read a
       topic that has no name.                                                                               AuthHelper
Not done: -
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.partitions import leader_hint
from kafkastub.state.topics import auto_create
from kafkawire.api import ApiKey
from kafkawire.codec import encoder
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_fetch_request import ShareFetchRequest
from kafkawire.messages.share_fetch_response import (
    AcquiredRecords,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchResponse,
)
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.share_partitions.sessions import ShareSession
    from kafkastub.state.share_partitions.acknowledgements import Acknowledgements
    from kafkastub.state.share_partitions.fetching import Fetched, ShareFetching
    from kafkastub.state.share_partitions.partition_cache import Live

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
RENEW_FROM: Final = 2
_MODES: Final = (0, 1)
_LOOKED_AT: Final = 250
"""Partitions that are looked at before others may have their turn."""
_MADE: Final = 20
"""Work that it is to bring one into memory, in partitions that are looked at."""
_WRITTEN_WITHIN_MS: Final = 5
"""Who waits for less is answered, in Kafka, before its acknowledgements are written: it is not given what they give
back.
"""
_FRAME_SIZE: Final = 4
"""Bytes that tell how long a frame is."""
_HINTED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)

TopicPartition = tuple[bytes, int]


def error_response(request: ShareFetchRequest, code: ErrorCode, version: int) -> ShareFetchResponse:
    """The code at the top, without a text."""
    return ShareFetchResponse(error_code=code)


@handles(ApiKey.SHARE_FETCH, 1, 2, error_response=error_response)
def share_fetch(ctx: RequestContext, request: ShareFetchRequest) -> Outcome:
    from kafkastub.state.share_partitions.acknowledgements import AT_ONCE, check_member

    if not serves_share_protocol(ctx.state):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    may_read = None if ctx.state.authorizer is None else partial(ctx.access.to_group, Operation.READ)
    member = check_member(request.group_id, request.member_id, may_read)
    asked = (request.max_wait_ms, request.min_bytes, request.max_bytes, request.max_records)
    if request.is_renew_ack and ctx.api_version >= RENEW_FROM and asked != (0, 0, 0, 0):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    ctx.state.share_partitions.seen((ctx.broker_ms, ctx.timer_ms))
    try:
        fetch = ShareFetch(ctx, request, *member)
    except KafkaError as error:
        if error.code != ErrorCode.SHARE_SESSION_LIMIT_REACHED or request.max_wait_ms <= 0:
            raise
        refused = error_response(request, error.code, ctx.api_version)
        deferred = Deferred(lambda _: refused)
        ctx.state.fetch_purgatory.park(deferred, (), ctx.timer_ms + request.max_wait_ms, lambda: False)
        return deferred
    failed = partial(error_response, request, version=ctx.api_version)
    return in_parts(fetch.answer_or_wait(), AT_ONCE, ctx.state.share_partitions.turns.add, failed)


class ShareFetch:
    """One request on its way to an answer, from its session on."""

    def __init__(self, ctx: RequestContext, request: ShareFetchRequest, group_id: str, member_id: str) -> None:
        self.ctx = ctx
        self.request = request
        self.group_id = group_id
        self.member_id = member_id
        self.manager = ctx.state.share_partitions
        self.epoch = request.share_session_epoch
        self.now = ctx.broker_ms, ctx.timer_ms
        self.named = [(topic.topic_id, one.partition_index) for topic in request.topics for one in topic.partitions]
        self.acknowledging = any(one.acknowledgement_batches for topic in request.topics for one in topic.partitions)
        self.may_read = None if ctx.state.authorizer is None else partial(ctx.access.to_topic, Operation.READ)
        self.max_bytes = min(request.max_bytes, ctx.state.config["fetch.max.bytes"])
        if ctx.state.throttle is not None:
            self.max_bytes = min(self.max_bytes, ctx.state.throttle.most_fetched(ctx))
        self.session = self._session()
        self.expected = self.session.epoch
        if self.may_read is not None:
            self._check_names()
        self.answers: dict[TopicPartition, PartitionData] = {}
        self.ended = False

    def _session(self) -> ShareSession:
        """The session that the request begins, goes on with, or ends. Raises KafkaError."""
        sessions = self.manager.sessions_of(self.ctx.node_id)
        if self.epoch == FINAL_EPOCH:
            return sessions.find(self.group_id, self.member_id)
        if self.epoch != INITIAL_EPOCH:
            forgotten = [
                (topic.topic_id, index) for topic in self.request.forgotten_topics_data for index in topic.partitions
            ]
            return sessions.go_on(self.group_id, self.member_id, self.epoch, self.named, forgotten)
        if self.acknowledging:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        if len(set(self.named)) < len(self.named):
            old = sessions.get(self.group_id, self.member_id)
            if old is not None:
                sessions.end(old)
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "a partition is named twice")
        self.manager.begins(self.ctx.node_id, self.group_id, self.member_id)
        connection = self.ctx.connection
        session = sessions.begin(self.group_id, self.member_id, self.named, connection.id)
        connection.on_gone = partial(self.manager.disconnected, self.ctx.node_id, connection.id)
        return session

    def _check_names(self) -> None:
        """Raise KafkaError where one is to be asked for that Kafka does not have."""
        known, topic = self.session.known, self.manager.topic
        asked = dict.fromkeys(topic_id for topic_id, _ in self.named)
        if self.epoch != FINAL_EPOCH:
            for topic_id in dict.fromkeys(topic_id for topic_id, _ in self.session.partitions):
                found = topic(topic_id)
                if found is not None:
                    known[topic_id] = found.name
                elif topic_id not in known:
                    asked[topic_id] = None
        if any(topic(topic_id) is None for topic_id in asked):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "an unknown topic id, and an authorizer")

    def answer_or_wait(self) -> Steps:
        """Do what is asked for, part by part."""
        acknowledgements = None
        if self.acknowledging:
            acknowledgements = self._acknowledgements()
            yield from acknowledgements.take(
                self.request.topics,
                version=self.ctx.api_version,
                renewing=self.request.is_renew_ack,
                may_read=self.may_read,
            )
        try:
            fetching = yield from self._fetching()
        except KafkaError:
            if acknowledgements is not None:
                acknowledgements.write()  # what was begun before is on its way
            raise
        if fetching is not None and not fetching.is_ready() and self.request.max_wait_ms > 0:
            whole = self._wait(fetching, acknowledgements)
            if acknowledgements is not None and self.request.max_wait_ms >= _WRITTEN_WITHIN_MS:
                yield from acknowledgements.writing()
            return whole
        if fetching is not None:
            self._take(fetching.finish(self.ctx.timer_ms))
        if acknowledgements is not None:
            yield from acknowledgements.writing()
        if self.epoch == FINAL_EPOCH and (acknowledgements is None or acknowledgements.is_done):
            self.ended = True
            yield from self.manager.ending(self.ctx.node_id, self.session, self.now)
        return self._respond_when(acknowledgements)

    def _acknowledgements(self) -> Acknowledgements:
        from kafkastub.state.share_partitions.acknowledgements import Acknowledgements

        return Acknowledgements(self.manager, self.ctx.node_id, self.group_id, self.member_id, self.now)

    def _wait(self, fetching: ShareFetching, acknowledgements: Acknowledgements | None) -> Deferred:
        whole, fetched = self._both(fetching, acknowledgements)
        deadline = self.ctx.timer_ms + self.request.max_wait_ms
        self.ctx.state.fetch_purgatory.park(fetched, fetching.keys(), deadline, fetching.is_ready)
        return whole

    def _both(self, fetching: ShareFetching, acknowledgements: Acknowledgements | None) -> tuple[Deferred, Deferred]:
        """(the answer, what has to be fetched for it): what it acknowledges has to be written, too."""
        whole = Deferred(lambda _: self._respond(acknowledgements))
        over: Callable[[], None] | None = None

        def answer() -> None:
            if not (fetched.done and (acknowledgements is None or acknowledgements.is_done)) or whole.done:
                return
            whole.complete()
            if over is not None:
                over()

        def finish(_: object) -> ShareFetchResponse:
            self._take(fetching.finish(self.manager.timer_ms()))
            if acknowledgements is not None:
                acknowledgements.write()
            answer()
            return ShareFetchResponse()

        fetched = Deferred(finish)

        def abandon() -> None:
            nonlocal over
            connection = self.ctx.connection
            over = self.manager.abandoned.begin(len(self.session.partitions), connection.on_gone)
            if over is not None:
                connection.on_gone = None
                self.request, self.named = ShareFetchRequest(), []  # which may be large
                return
            fetched.abandon()
            if acknowledgements is not None:
                acknowledgements.write()

        whole.on_abandon = abandon
        if acknowledgements is not None:
            acknowledgements.when_done(answer)
        return whole, fetched

    def _respond_when(self, acknowledgements: Acknowledgements | None) -> Message | Deferred:
        if acknowledgements is None or acknowledgements.is_done:
            return self._respond(acknowledgements)
        deferred = Deferred(lambda _: self._respond(acknowledgements))
        acknowledgements.when_done(deferred.complete)
        return deferred

    # -- fetching ------------------------------------------------------------------------------------------------

    def _fetching(self) -> Generator[int, None, ShareFetching | None]:
        """What is to be fetched; None where that is nothing. Errors are noted as answers."""
        if self.epoch == FINAL_EPOCH or (self.request.is_renew_ack and self.ctx.api_version >= RENEW_FROM):
            return None
        valid = []
        for number, key in enumerate((*self.session.partitions,), 1):
            if self._is_there(key):
                valid.append(key)
            if not number % _LOOKED_AT:
                yield _LOOKED_AT
        if not valid:
            return None
        if self.request.share_acquire_mode not in _MODES:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Unknown share acquire mode id")
        if self.request.max_records == 0 or self.max_bytes == 0:
            return None
        at = self.epoch % len(valid)
        lives = []
        for key in valid[at:] + valid[:at]:
            live = self.manager.partitions.get(self.ctx.node_id, self.group_id, *key)
            if live is None:
                live = self._made(key)
                yield _MADE
            if live is not None:
                lives.append(live)
        if not lives and all(key in self.answers for key in valid):
            return None
        from kafkastub.state.share_partitions.fetching import Wanted

        request = self.request
        wanted = Wanted(
            self.group_id,
            self.member_id,
            min(request.min_bytes, self.max_bytes),
            self.max_bytes,
            request.max_records,
            request.batch_size,
            request.share_acquire_mode,
            self.manager.reads_committed(self.group_id),
        )
        return self.manager.fetching(wanted, lives)

    def _is_there(self, key: TopicPartition) -> bool:
        topic_id, index = key
        topic = self.manager.topic(topic_id)
        if topic is not None:
            self.session.known[topic_id] = topic.name
        name = self.session.known.get(topic_id)
        if name is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
        elif self.may_read is not None and not self.may_read(name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic is not None and 0 <= index < len(topic.partitions):
            return True
        else:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self.answers[key] = PartitionData(partition_index=index, error_code=code, records=b"")
        return False

    def _made(self, key: TopicPartition) -> Live | None:
        """The share partition, brought into memory; an error is noted.

        What happens in Kafka behind the answer to who can't wait for it, it is not told of.
        """
        (topic_id, index), manager = key, self.manager
        topic = manager.topic(topic_id)
        if topic is None:  # it has gone since it was looked at
            return None
        waits = self.request.max_wait_ms > 0
        if self.ctx.state.cluster.topic(SHARE_GROUP_STATE) is None:
            auto_create(self.ctx.state, SHARE_GROUP_STATE)
        try:
            live = manager.partitions.make(self.ctx.node_id, self.group_id, topic, index, self.now)
        except KafkaError as error:
            if waits or error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                self.answers[key] = PartitionData(partition_index=index, error_code=error.code, records=b"")
            return None
        return live if waits else None

    def _take(self, fetched: list[Fetched]) -> None:
        for live, code, records, acquired in fetched:
            self.answers[live.topic_id, live.index] = PartitionData(
                partition_index=live.index,
                error_code=code,
                records=records,
                acquired_records=[AcquiredRecords(*one) for one in acquired],
            )

    # -- the answer ----------------------------------------------------------------------------------------------

    def _respond(self, acknowledgements: Acknowledgements | None) -> ShareFetchResponse:
        endpoints: dict[int, NodeEndpoint] = {}
        for key, answer in self.answers.items():
            if answer.error_code in _HINTED:
                self._add_leader_hint(key, answer, endpoints)
        told, code, throttle_ms = self._told()
        if acknowledgements is not None:
            for key, (acknowledge_code, message) in acknowledgements.said.items():
                answer = told.get(key) or told.setdefault(key, PartitionData(partition_index=key[1], records=b""))
                answer.acknowledge_error_code, answer.acknowledge_error_message = acknowledge_code, message
        if self.epoch == FINAL_EPOCH and not self.ended:
            self.manager.end_session(self.ctx.node_id, self.session, self.now)
        return ShareFetchResponse(
            throttle_time_ms=throttle_ms,
            error_code=code,
            acquisition_lock_timeout_ms=self.manager.settings(self.group_id).record_lock_duration_ms,
            responses=_by_topic(told),
            node_endpoints=list(endpoints.values()),
        )

    def _told(self) -> tuple[dict[TopicPartition, PartitionData], int, int]:
        """(what of the answers is told, an error, how long the client has to wait)."""
        later = self.epoch not in (INITIAL_EPOCH, FINAL_EPOCH)
        late = later and self.session.epoch != self.expected
        throttle = self.ctx.state.throttle
        if throttle is not None:
            whole = ShareFetchResponse(responses=_by_topic(self.answers))
            size = _FRAME_SIZE + sum(map(len, encoder(ShareFetchResponse, self.ctx.api_version)(whole)))
            wait = throttle.fetch_ms(self.ctx, size)
            if wait > 0:
                return {}, ErrorCode.INVALID_SHARE_SESSION_EPOCH if late else ErrorCode.NONE, wait
        if late:
            return {}, ErrorCode.INVALID_SHARE_SESSION_EPOCH, 0
        if not later:
            return self.answers, ErrorCode.NONE, 0
        told = {
            key: answer
            for key, answer in self.answers.items()
            if self.session.must_answer(key, answer.error_code, bool(answer.records))
        }
        return told, ErrorCode.NONE, 0

    def _add_leader_hint(self, key: TopicPartition, answer: PartitionData, endpoints: dict[int, NodeEndpoint]) -> None:
        state = self.ctx.state
        leader, epoch, node = leader_hint(state, self.ctx.listener, self.manager.topic(key[0]), key[1])
        answer.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
        if node is not None:
            endpoints[leader] = NodeEndpoint(node_id=leader, host=node.host, port=node.port, rack=node.rack)


def _by_topic(answers: dict[TopicPartition, PartitionData]) -> list[ShareFetchableTopicResponse]:
    topics: dict[bytes, list[PartitionData]] = {}
    for (topic_id, _), answer in answers.items():
        topics.setdefault(topic_id, []).append(answer)
    return [ShareFetchableTopicResponse(topic_id, partitions) for topic_id, partitions in topics.items()]
