"""From the journal's entries to events: each request is decoded once, if a guarantee asks for it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kafkastub.guarantees.events import At, Batch, Client, Event, Fetched, Produced, Replicated
from kafkastub.guarantees.reading_fetches import batch_of, fetch_answer, spans
from kafkastub.guarantees.reading_groups import GROUPS
from kafkastub.guarantees.reading_transactions import TRANSACTIONS
from kafkastub.journal.extract import TopicName
from kafkastub.journal.ring import Outcome, Raw
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode_from
from kafkawire.errors import KafkaError, MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.records import HEADER_SIZE, read_batch, split_batches
from kafkawire.schema import ZERO_UUID

_MOST_SESSIONS: Final = 4096
_MOST_NAMES: Final = 10_000
_key_and_version: Final = struct.Struct(">hh").unpack_from
_SAID_AGAIN: Final = frozenset((
    ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.FIND_COORDINATOR,
))  # fmt: skip
"""What says nothing new when it is said again."""
_UNIQUE: Final = (Outcome.CLOCK, Outcome.REFUSED, Outcome.PENDING)

Read = Callable[[At, Client, Any, Any, Callable[[Any], str | None]], Iterable[Event]]
"""Of a request and its answer, which is None where there was none, and a struct that names a topic to that topic."""


class Reader:
    """Reads entries one after the other, in the order in which they ended."""

    def __init__(self, topic_name: TopicName) -> None:
        self._topic_name = topic_name
        self._names: dict[bytes, str] = {}
        self._replicas: dict[str, int] = {}
        """Of topics that have more than one, as they were told last."""
        """Topic ids that answers to Metadata and CreateTopics have told."""
        self._asked: dict[tuple[int, int], dict[tuple[str, int], int]] = {}
        """What fetch sessions ask for, by node, session id and partition."""
        self._said: dict[tuple[int, int], tuple[bytes, bytes, bytes | None]] = {}
        """By connection and API: the last request and its answer."""
        self.requests = 0
        """Of which something was read."""

    def read(self, sequence: int, raw: Raw) -> Iterator[Event]:
        """The events of an entry; none where it says nothing that matters, or cannot be read."""
        data, start, end = raw.data, raw.start, raw.end
        if end - start < 10 or raw.outcome in _UNIQUE:
            return
        key, version = _key_and_version(data, start)
        if key not in READ:
            return
        if key in _SAID_AGAIN and self._is_said_again(raw, key):
            self.requests += 1
            return
        try:
            cls, answer_cls = request_class(key), response_class(key)
            flexible = is_flexible(cls, version)
            header = read_request_header(data, start, end, flexible)
            request = decode_from(cls, version, data, header.end)[0]
            answer: Any = None
            if raw.outcome is Outcome.REPLY and raw.reply is not None:
                body = 4 + response_header_size(key, is_flexible(answer_cls, version))
                if key == ApiKey.FETCH:
                    answer = fetch_answer(raw.reply, body, version)
                else:
                    reply = raw.reply_frame
                    assert reply is not None
                    answer = decode_from(answer_cls, version, reply, body)[0]
        except (KeyError, MalformedMessage, ValueError):
            return
        if key == ApiKey.METADATA or key == ApiKey.CREATE_TOPICS:
            yield from self._learn(sequence, raw, answer)
            return
        self.requests += 1
        ended = raw.started if raw.ended is None else raw.ended
        at = At(sequence, raw.broker_ms, raw.started, ended)
        info = raw.connection
        client = Client(info.id, header.client_id or "", info.client_host, info.principal)
        if key == ApiKey.FETCH:
            yield from self._fetched(at, client, info.node_id, request, answer)
        else:
            yield from READ[key](at, client, request, answer, self._name)

    def _is_said_again(self, raw: Raw, key: int) -> bool:
        """Whether a connection's last request of an API was the same, correlation ids left out, and its answer, too."""
        reply = raw.reply_frame
        said = raw.data[raw.start : raw.start + 4], raw.data[raw.start + 8 : raw.end], reply and reply[8:]
        place = raw.connection.id, key
        if self._said.get(place) == said:
            return True
        self._said[place] = said
        if len(self._said) > _MOST_SESSIONS:
            del self._said[next(iter(self._said))]
        return False

    def _name(self, one: Any) -> str | None:
        """The topic that a struct is about."""
        name = getattr(one, "name", "") or getattr(one, "topic", "")
        if name:
            return str(name)
        topic_id = getattr(one, "topic_id", ZERO_UUID)
        if topic_id == ZERO_UUID:
            return None
        return self._topic_name(topic_id) or self._names.get(topic_id)

    def _learn(self, sequence: int, raw: Raw, answer: Any) -> Iterator[Event]:
        """What an answer to Metadata or CreateTopics tells of topics."""
        for topic in getattr(answer, "topics", None) or ():
            topic_id = getattr(topic, "topic_id", ZERO_UUID)
            if topic_id != ZERO_UUID and topic.name and len(self._names) < _MOST_NAMES:
                self._names[topic_id] = topic.name
            partitions = getattr(topic, "partitions", None) or ()
            replicas = max((len(one.replica_nodes) for one in partitions), default=0)
            replicas = max(replicas, getattr(topic, "replication_factor", 0))
            if topic.name and replicas > 1 and self._replicas.get(topic.name) != replicas:
                if len(self._replicas) < _MOST_NAMES:
                    self._replicas[topic.name] = replicas
                ended = raw.started if raw.ended is None else raw.ended
                info = raw.connection
                client = Client(info.id, "", info.client_host, info.principal)
                yield Replicated(At(sequence, raw.broker_ms, raw.started, ended), client, topic.name, replicas)

    def _fetched(self, at: At, client: Client, node: int, request: Any, answer: Any) -> Iterator[Event]:
        if request.replica_id >= 0 or (request.replica_state is not None and request.replica_state.replica_id >= 0):
            return
        asked = self._asked_for(node, request)
        if answer is None:  # where it wanted to read is known all the same
            for topic in request.topics:
                name = self._name(topic)
                for each in topic.partitions:
                    if name is not None:
                        offset, committed = each.fetch_offset, request.isolation_level == 1
                        yield Fetched(at, client, (name, each.partition), offset, offset, (), committed, 0, -1, 0)
            return
        if answer.error_code:
            return
        if request.session_epoch == 0 and answer.session_id:
            while len(self._asked) >= _MOST_SESSIONS:
                del self._asked[next(iter(self._asked))]
            self._asked[node, answer.session_id] = asked
        for topic in answer.responses:
            name = self._name(topic)
            for each in topic.partitions:
                if name is not None:
                    partition = name, each.partition_index
                    yield _answered(at, client, partition, asked.get(partition), request.isolation_level, each)

    def _asked_for(self, node: int, request: Any) -> dict[tuple[str, int], int]:
        """By partition: where a request asks for records; of a session what it did not say again, too.

        A session belongs to a node, and may go on on another connection.
        """
        asked: dict[tuple[str, int], int] = {}
        if request.session_epoch > 0:
            asked = self._asked.setdefault((node, request.session_id), {})
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                asked.pop((self._name(topic) or "", index), None)
        for topic in request.topics:
            name = self._name(topic)
            for each in topic.partitions:
                if name is not None:
                    asked[name, each.partition] = each.fetch_offset
        return asked


def _answered(
    at: At, client: Client, partition: tuple[str, int], asked: int | None, isolation: int, said: Any
) -> Fetched:
    batches = said.batches if said.batches is not None and not said.error_code else ()
    if asked is None:  # the session is older than the journal
        asked = min((batch.first for batch in batches), default=max(said.high_watermark, 0))
    end = max((batch.end for batch in batches), default=asked)
    return Fetched(
        at, client, partition, asked, max(asked, end), batches, isolation == 1, said.log_start_offset,
        said.high_watermark, said.error_code,
    )  # fmt: skip


def batches_in(records: Any) -> Iterator[Batch]:
    """The whole batches of a field of records."""
    data = records if isinstance(records, bytes | bytearray | memoryview) else b"".join(records)
    try:
        for magic, one in split_batches(data):
            if magic == 2 and len(one) >= HEADER_SIZE:
                yield batch_of(lambda start, count, one=one: (one, start), 0, len(one))  # type: ignore[misc]
    except KafkaError:
        return


def spans_in(records: Any) -> Iterator[Batch]:
    """The same, with ordinary batches that follow each other as one."""
    data = memoryview(records if isinstance(records, bytes | bytearray | memoryview) else b"".join(records))
    return spans(lambda start, count: (data, start), 0, len(data))


def contents_of(records: bytes) -> list[int]:
    """A number for each record: of key, value and headers, not of its time. Empty where it cannot be read."""
    try:
        return [
            hash((record.key, record.value, record.headers))
            for _, one in split_batches(records)
            for record in read_batch(one)
        ]
    except (KafkaError, ValueError, ImportError):
        return []


def _produced(
    at: At, client: Client, request: Any, answer: Any, name_of: Callable[[Any], str | None]
) -> Iterator[Event]:
    said = {}
    for topic in () if answer is None else answer.responses:
        for each in topic.partition_responses:
            said[name_of(topic), each.index] = (each.error_code, each.base_offset)
    for topic in request.topic_data:
        name = name_of(topic)
        for each in topic.partition_data:
            if name is None or each.records is None:
                continue
            records = bytes(each.records) if not isinstance(each.records, list | tuple) else b"".join(each.records)
            error, base = said.get((name, each.index), (None, -1))
            for batch in batches_in(records):
                yield Produced(
                    at, client, (name, each.index), batch, request.transactional_id, request.acks, error, base,
                    lambda records=records: contents_of(records),  # type: ignore[misc]
                )  # fmt: skip
                base = base + batch.end - batch.first if base >= 0 else base


READ: Final[Mapping[int, Read]] = {
    ApiKey.PRODUCE: _produced,
    ApiKey.FETCH: _produced,
    ApiKey.METADATA: _produced,
    ApiKey.CREATE_TOPICS: _produced,
    **{int(key): read for key, read in (*GROUPS.items(), *TRANSACTIONS.items())},
}
"""What is read; Fetch, Metadata and CreateTopics in `Reader`, which has to remember something of them."""
