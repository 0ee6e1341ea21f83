"""Incremental fetch sessions (KIP-227; Kafka: FetchSession, FetchManager).

A session remembers what a client fetches, so that its next request names only what changed and its answer only what is
new. Which partition is whose is known by topic id from Fetch version 13 on, by name before.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest
from kafkawire.messages.fetch_response import PartitionData
from kafkawire.schema import Records

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
TOPIC_IDS_FROM = 13
SLOTS = 1000
"""Kafka's default of max.incremental.fetch.session.cache.slots."""
EVICTION_MS = 120000
"""A session unused for longer makes room for a new one (KafkaConfig: FetchSessionCache, two minutes)."""
_LAST_EPOCH = 0x7FFFFFFF

Key = tuple[str | bytes, int]
"""Topic name or id, and partition."""
Answers = list[tuple["Wanted", PartitionData]]


class Wanted:
    """One partition that somebody fetches: where from, how much, and what was last told about it."""

    __slots__ = (
        "high_watermark", "index", "key", "known_as", "last_fetched_epoch", "leader_epoch", "log_start_offset",
        "max_bytes", "name", "offset", "topic_id",
    )  # fmt: skip

    def __init__(self, name: str, topic_id: bytes, by_id: bool, asked: FetchPartition) -> None:
        self.name = name
        self.topic_id = topic_id
        self.index = asked.partition
        self.key: Key = (topic_id if by_id else name, asked.partition)
        self.high_watermark = -1
        self.log_start_offset = -1
        self.known_as: str | None = None
        """The name of the topic whose id it is, or was, as far as this session knows."""
        self._ask(asked)

    def _ask(self, asked: FetchPartition) -> None:
        self.offset = asked.fetch_offset
        self.max_bytes = asked.partition_max_bytes
        self.leader_epoch = asked.current_leader_epoch
        self.last_fetched_epoch = asked.last_fetched_epoch

    def update(self, newer: Wanted) -> None:
        self.offset, self.max_bytes = newer.offset, newer.max_bytes
        self.leader_epoch, self.last_fetched_epoch = newer.leader_epoch, newer.last_fetched_epoch

    def is_news(self, answer: PartitionData) -> bool:
        """Whether an incremental answer has to say it."""
        return (
            records_size(answer.records) > 0
            or self.high_watermark != answer.high_watermark
            or self.log_start_offset != answer.log_start_offset
            or answer.preferred_read_replica >= 0
            or answer.error_code != 0
            or answer.diverging_epoch.epoch >= 0
        )

    def note_answer(self, answer: PartitionData) -> bool:
        """Note what an incremental answer would say; False where it is no news and can be left out."""
        news = self.is_news(answer)
        self.high_watermark, self.log_start_offset = answer.high_watermark, answer.log_start_offset
        if answer.error_code:
            self.high_watermark = -1
        return news


class Session:
    __slots__ = ("by_id", "created_ms", "epoch", "id", "last_used_ms", "partitions")

    def __init__(self, session_id: int, by_id: bool, partitions: dict[Key, Wanted], now_ms: int) -> None:
        self.id = session_id
        self.by_id = by_id
        self.partitions = partitions
        self.epoch = _next_epoch(INITIAL_EPOCH)
        self.created_ms = self.last_used_ms = now_ms


class FetchPlan:
    """What one request is to be answered about, and how its answer is cut down.

    `error` is a session error: then there is nothing else to say. `partitions` are in the order of the answer.
    """

    __slots__ = ("_epoch", "_sessions", "by_id", "error", "full", "partitions", "session")

    def __init__(
        self,
        sessions: FetchSessions,
        by_id: bool,
        partitions: Iterable[Wanted] = (),
        *,
        error: ErrorCode = ErrorCode.NONE,
        full: bool = False,
        session: Session | None = None,
    ) -> None:
        self._sessions = sessions
        self.by_id = by_id
        self.partitions = list(partitions)
        self.error = error
        self.full = full
        self.session = session
        self._epoch = session.epoch if session is not None else 0

    def finish(self, answers: Answers, now_ms: int, source: random.Random) -> tuple[ErrorCode, int, Answers]:
        """(top-level error, session id, what is answered): news only in a session, which a full fetch founds."""
        session = self.session
        if self.error:
            return self.error, NO_SESSION, []
        if self.full:
            return ErrorCode.NONE, self._sessions.found(self.by_id, answers, now_ms, source), answers
        if session is None:
            return ErrorCode.NONE, NO_SESSION, answers
        if session.epoch != self._epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH, session.id, []
        told = []
        for wanted, answer in answers:
            if wanted.note_answer(answer):
                told.append((wanted, answer))
                if records_size(answer.records) > 0:
                    # To the end of the line, so that no partition starves behind a busy one.
                    session.partitions.pop(wanted.key, None)
                    session.partitions[wanted.key] = wanted
        return ErrorCode.NONE, session.id, told

    def news(self, answers: Answers) -> Answers:
        """What `finish` would give; nothing is noted."""
        session = self.session
        if self.error or (session is not None and session.epoch != self._epoch):
            return []
        if session is None:
            return answers
        return [one for one in answers if one[0].is_news(one[1])]

    def nothing(self) -> tuple[ErrorCode, int]:
        """(error, session id) of an answer that tells nothing, and of which the session learns nothing."""
        session = self.session
        if session is None:
            return ErrorCode.NONE, NO_SESSION
        late = session.epoch != self._epoch
        return ErrorCode.INVALID_FETCH_SESSION_EPOCH if late else ErrorCode.NONE, session.id


class FetchSessions:
    """The sessions of all clients, in the order of their last use."""

    def __init__(self, slots: int = SLOTS) -> None:
        self.slots = slots
        self._sessions: dict[int, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def partitions_of(self, session_id: int) -> Sequence[Wanted]:
        """What a session fetches, whether its next request names it or not."""
        session = self._sessions.get(session_id)
        return () if session is None else tuple(session.partitions.values())

    def knows(self, session_id: int) -> bool:
        """Whether the session is still there."""
        return session_id in self._sessions

    def fetch_offset(self, session_id: int, name: str, topic_id: bytes, partition: int) -> int | None:
        """From which offset on a session fetches a partition now; None where it does not."""
        session = self._sessions.get(session_id)
        wanted = None if session is None else session.partitions.get((topic_id if session.by_id else name, partition))
        return None if wanted is None else wanted.offset

    def plan(self, request: FetchRequest, version: int, now_ms: int) -> FetchPlan:
        """What `request` wants, its session considered (FetchManager.newContext)."""
        by_id = version >= TOPIC_IDS_FROM
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            partitions = {wanted.key: wanted for wanted in _wanted(request, by_id)}
            return FetchPlan(self, by_id, partitions.values(), full=request.session_epoch == INITIAL_EPOCH)
        session = self._sessions.get(request.session_id)
        if session is None:
            return FetchPlan(self, by_id, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            return FetchPlan(self, by_id, error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            return FetchPlan(self, by_id, error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        _update(session, request)
        if not session.partitions:
            del self._sessions[session.id]
            # What it names is answered all the same, where it is forgotten in the same breath.
            return FetchPlan(self, by_id, {wanted.key: wanted for wanted in _wanted(request, by_id)}.values())
        session.epoch = _next_epoch(session.epoch)
        session.last_used_ms = now_ms
        self._sessions[session.id] = self._sessions.pop(session.id)
        return FetchPlan(self, by_id, session.partitions.values(), session=session)

    def found(self, by_id: bool, answers: Answers, now_ms: int, source: random.Random) -> int:
        """Found a session over what a full fetch was answered; its id, or 0 where there is no room for it."""
        if len(self._sessions) >= self.slots and not self._evict(len(answers), now_ms):
            return NO_SESSION
        session_id = source.randint(1, 0x7FFFFFFE)
        while session_id in self._sessions:
            session_id = source.randint(1, 0x7FFFFFFE)
        for wanted, answer in answers:
            wanted.high_watermark, wanted.log_start_offset = answer.high_watermark, answer.log_start_offset
        partitions = {wanted.key: wanted for wanted, _ in answers}
        self._sessions[session_id] = Session(session_id, by_id, partitions, now_ms)
        return session_id

    def _evict(self, size: int, now_ms: int) -> bool:
        """Make room: by the longest unused session if that is stale, else by a settled one that is no larger."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now_ms - oldest.last_used_ms <= EVICTION_MS:
            settled = [s for s in self._sessions.values() if now_ms - s.created_ms > EVICTION_MS]
            oldest = min(settled, key=lambda session: (len(session.partitions), session.id), default=None)
            if oldest is None or size < len(oldest.partitions):
                return False
        del self._sessions[oldest.id]
        return True


def records_size(records: Records | None) -> int:
    """Bytes of an answer's records, whatever form they have."""
    if records is None:
        return 0
    if isinstance(records, bytes | memoryview):
        return len(records)
    return sum(map(len, records))


def _wanted(request: FetchRequest, by_id: bool) -> Iterator[Wanted]:
    for topic in request.topics:
        for asked in topic.partitions:
            yield Wanted(topic.topic, topic.topic_id, by_id, asked)


def _update(session: Session, request: FetchRequest) -> None:
    for newer in _wanted(request, session.by_id):
        known = session.partitions.get(newer.key)
        if known is None:
            session.partitions[newer.key] = newer
        else:
            known.update(newer)
    for topic in request.forgotten_topics_data:
        whose: str | bytes = topic.topic_id if session.by_id else topic.topic
        _forget(session, whose, topic.partitions)


def _forget(session: Session, whose: str | bytes, partitions: Sequence[int]) -> None:
    for partition in partitions:
        session.partitions.pop((whose, partition), None)


def _next_epoch(epoch: int) -> int:
    return 1 if epoch == _LAST_EPOCH else epoch + 1
