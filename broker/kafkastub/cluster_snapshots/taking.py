"""Taking a snapshot of a real cluster, from the first question to the file.

A cluster goes on while it is read. What coordinators have written comes first and where logs end comes last, so that
no committed offset is behind the end of a log. What is on one partition of one topic is as it was at one moment.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from kafkastub.client import BrokerError, Client, ClientError
from kafkastub.cluster_snapshots import assembled, contents, fetched_offsets, positions, records
from kafkastub.cluster_snapshots.archive import Archive
from kafkastub.cluster_snapshots.records import ALL
from kafkastub.cluster_snapshots.remains import Remains
from kafkastub.cluster_snapshots.source import Place, Source
from kafkastub.metadata import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkastub.metadata.ids import uuid_text
from kafkastub.state import persisted
from kafkastub.state.internal_topics.catalog import CATALOG
from kafkastub.state.snapshots import documents
from kafkastub.transaction_coordinator.records import TransactionCodec, TransactionMetadata
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kafkawire.records import parse_header, read_batch

SCHEMAS: Final = "_schemas"
"""The topic of a schema registry. Its records are taken, unless others are asked for, and never redacted."""
_NOT_COMPACTED: Final = frozenset(name for name, one in CATALOG.items() if one.configs["cleanup.policy"] != "compact")
_PRODUCER_IDS: Final = 1000
"""A broker takes as many at a time."""
_SEGMENT: Final = 1 << 30
_ABSENT: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION})

Progress = Callable[[str], None]
"""Is told what is read now."""


class Taken(NamedTuple):
    """What a snapshot has.

    Attributes:
        topics, partitions: how many, without those of coordinators.
        missing: what could not be read, and why.
    """

    cluster_id: str
    topics: int
    partitions: int
    missing: list[tuple[str, str]]


class Wanted(NamedTuple):
    """What is wanted.

    Attributes:
        records: how many of the newest records of each partition, or ALL, by topic; "*" for all other topics.
        redact: what is redacted: None, "values" or "all".
    """

    records: Mapping[str, int]
    redact: str | None = None

    def of(self, topic: str) -> int:
        """How many records of each partition of a topic."""
        if topic == SCHEMAS and topic not in self.records:
            return ALL
        return self.records.get(topic, self.records.get("*", 0))


def take(client: Client, path: str | os.PathLike[str], wanted: Wanted, progress: Progress = lambda what: None) -> Taken:
    """Write a snapshot of the cluster that the client asks to a file, which is replaced if it is there.

    Raises ClientError where nothing can be read, SnapshotError where it would be too large, OSError.
    """
    source = Source(client)
    progress("topics")
    metadata = _metadata(source, wanted)
    source.learn(metadata)
    with Archive(path) as archive:
        taking = _Taking(source, archive, wanted, metadata, progress)
        archive.document(taking.document())
    user_topics = [one for one in metadata.topics if one.name not in CATALOG]
    return Taken(taking.cluster_id, len(user_topics), sum(len(one.partitions) for one in user_topics), source.missing)


def _metadata(source: Source, wanted: Wanted) -> Any:
    """All topics. Those of coordinators, and those of which records are wanted, are asked for by name: of what is not
    permitted a list says nothing.
    """
    metadata = source.client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    listed = {one.name for one in metadata.topics}
    named = [one for one in (*CATALOG, *wanted.records) if one not in listed and one != "*"]
    if named:
        names = [MetadataRequestTopic(name=name) for name in named]
        for one in source.client.ask(MetadataRequest(topics=names, allow_auto_topic_creation=False)).topics:
            if one.error_code in _ABSENT and one.name in CATALOG:
                continue
            if one.error_code:
                source.note(f"topic {one.name}", BrokerError(one.error_code))
                source.hidden.add(one.name)
    metadata.topics = [one for one in metadata.topics if not one.error_code and one.partitions]
    return metadata


class _Taking:
    """One run."""

    def __init__(self, source: Source, archive: Archive, wanted: Wanted, metadata: Any, progress: Progress) -> None:
        self._source = source
        self._archive = archive
        self._wanted = wanted
        self._metadata = metadata
        self._progress = progress
        self._newest_ms = int(time.time() * 1000)
        self._next_producer_id = 0
        self._transactions = TransactionCodec()
        self.cluster_id = metadata.cluster_id or uuid_text(uuid.uuid4().bytes)

    def document(self) -> bytes:
        """What the snapshot says beside records, when all of these are written."""
        self._progress("configurations")
        source, nodes = self._source, contents.nodes(self._metadata)
        moving = contents.reassignments(source)
        of_brokers = contents.broker_configs(source, min(one.node_id for one in nodes if one.alive))
        configs = contents.topic_configs(source, [one.name for one in self._metadata.topics])
        groups, client_metrics = contents.resource_configs(source)
        features = contents.features(source)
        acls, quotas = contents.acls(source), contents.quotas(source)
        logs = self._internal_logs()
        logs |= self._user_logs(configs)
        topics = [
            self._topic(one, configs.get(one.name, {}), moving, logs)
            for one in sorted(self._metadata.topics, key=lambda one: one.name not in CATALOG)
        ]
        return assembled.document(
            topics,
            cluster_id=self.cluster_id,
            nodes=nodes,
            controller_id=max(-1, self._metadata.controller_id),
            broker_ms=self._newest_ms,
            next_producer_id=-(-self._next_producer_id // _PRODUCER_IDS) * _PRODUCER_IDS,
            settings={
                "broker_configs": {"broker": of_brokers.dynamic, "default": of_brokers.default},
                "group_configs": groups,
                "client_metrics_configs": client_metrics,
                "features": features.levels,
                "metadata": {"offset": features.offset, "epoch": 1},
                "quotas": quotas,
                "acls": acls,
            },
            properties=of_brokers.properties,
            missing=source.missing,
        )

    def _topic(
        self,
        told: Any,
        configs: Mapping[str, str],
        moving: Mapping[Place, contents.Moving],
        logs: Mapping[Place, dict[str, Any]],
    ) -> str:
        partitions = []
        for one in sorted(told.partitions, key=lambda one: one.partition_index):
            place = told.name, one.partition_index
            state = contents.partition(one, moving.get(place))
            partitions.append({**persisted.partition(state), **logs.get(place, documents.NEW)})
        topic_id = told.topic_id if any(told.topic_id) else uuid.uuid4().bytes  # of brokers before 2.8
        return assembled.topic(told.name, topic_id, configs, partitions)

    # -- what coordinators have written --------------------------------------------------------------------------

    def _internal_logs(self) -> dict[Place, dict[str, Any]]:
        if CONSUMER_OFFSETS in self._source.hidden:
            self._metadata.topics.append(self._unseen(CONSUMER_OFFSETS))
        logs: dict[Place, dict[str, Any]] = {}
        for topic in self._metadata.topics:
            if topic.name in CATALOG:
                self._progress(topic.name)
                found = self._logs_of(topic)
                if topic.name == CONSUMER_OFFSETS and not found:
                    found = self._fetched_offsets(topic)
                logs |= found
        return logs

    def _logs_of(self, topic: Any) -> dict[Place, dict[str, Any]]:
        """Those of a coordinator's topic that can be read."""
        logs: dict[Place, dict[str, Any]] = {}
        if topic.name in self._source.hidden:
            return logs
        places = [(topic.name, one.partition_index) for one in topic.partitions]
        ends = positions.offsets(self._source, places, positions.LATEST)
        starts = positions.offsets(self._source, ends, positions.EARLIEST)
        for place, start in starts.items():
            try:
                logs[place] = self._internal_log(place, start.offset, ends[place].offset)
            except (ClientError, KafkaError) as error:
                self._source.note(f"records of {place[0]}", error)
                if isinstance(error, BrokerError):  # what is not permitted is not for any partition
                    break
        return logs

    def _fetched_offsets(self, topic: Any) -> dict[Place, dict[str, Any]]:
        """Instead of the records of `__consumer_offsets`, what groups say."""
        logs = {}
        found = fetched_offsets.batches(self._source, len(topic.partitions), self._newest_ms)
        for partition, some in found.items():
            place = CONSUMER_OFFSETS, partition
            self._archive.begin(*place, 0)
            for batch in some:
                self._archive.write(batch)
            self._archive.end()
            end = parse_header(some[-1]).last_offset + 1
            logs[place] = documents.log_document(0, end, [[0, 0]], [], [], [0])
        return logs

    def _unseen(self, name: str) -> MetadataResponseTopic:
        """A coordinator's topic that nobody may see, as Kafka makes it."""
        node_id = self._metadata.brokers[0].node_id
        rows = [
            MetadataResponsePartition(0, index, node_id, 0, [node_id], [node_id])
            for index in range(fetched_offsets.PARTITIONS)
        ]
        return MetadataResponseTopic(name=name, topic_id=uuid.uuid4().bytes, is_internal=True, partitions=rows)

    def _internal_log(self, place: Place, start: int, end: int) -> dict[str, Any]:
        """Raises ClientError, KafkaError."""
        segments: list[int] = []
        batches = self._source.batches(place, start, end)
        if place[0] in _NOT_COMPACTED:
            for header, batch in batches:
                self._have_seen(header.max_timestamp, header.producer_id)
                self._begin_once(segments, place, header.base_offset)
                self._archive.write(batch)
                end = header.last_offset + 1
        else:
            left = Remains()
            for header, batch in batches:
                self._have_seen(header.max_timestamp, header.producer_id)
                left.add(header, batch)
            for content in left.batches():
                if place[0] == TRANSACTION_STATE:
                    self._have_seen_producers(content)
                self._begin_once(segments, place, int.from_bytes(content[:8], "big"))
                self._archive.write(content)
            end = left.end
        self._archive.end()
        end = max(end, start)
        return documents.log_document(start, end, [[0, 0]], [], [], segments)

    def _begin_once(self, segments: list[int], place: Place, base_offset: int) -> None:
        if not segments:
            segments.append(base_offset)
            self._archive.begin(*place, base_offset)

    def _have_seen_producers(self, batch: bytes) -> None:
        """Those that transactional ids have. Raises KafkaError."""
        for record in read_batch(batch):
            with suppress(MalformedMessage):  # the stub skips it, too
                found = self._transactions.decode(record.key, record.value)
                if isinstance(found, TransactionMetadata):
                    self._have_seen(-1, max(found.producer_id, found.next_producer_id))

    def _have_seen(self, timestamp: int, producer_id: int) -> None:
        """The brokers' clock may be ahead of ours, and no producer id may come twice."""
        self._newest_ms = max(self._newest_ms, timestamp)
        self._next_producer_id = max(self._next_producer_id, producer_id + 1)

    # -- what others have written --------------------------------------------------------------------------------

    def _user_logs(self, configs: Mapping[str, Mapping[str, str]]) -> dict[Place, dict[str, Any]]:
        self._progress("offsets of topics")
        epochs = {
            (topic.name, one.partition_index): one.leader_epoch
            for topic in self._metadata.topics
            if topic.name not in CATALOG
            for one in topic.partitions
        }
        found = {}
        redact = None if self._wanted.redact is None else records.redacting(self._wanted.redact)
        refused: set[str] = set()
        for place, log in positions.logs(self._source, epochs).items():
            topic, most = place[0], self._wanted.of(place[0])
            copied = records.Copied()
            if most and log.start < log.end and topic not in refused:
                self._progress(f"{topic}-{place[1]}")
                try:
                    records.copy(
                        self._source,
                        self._archive,
                        place,
                        log,
                        copied,
                        most=most,
                        roll_at=int(configs.get(topic, {}).get("segment.bytes", _SEGMENT)),
                        redact=None if topic == SCHEMAS else redact,
                    )
                except (ClientError, KafkaError) as error:
                    self._source.note(f"records of topic {topic}", error)
                    refused.add(topic)
                self._archive.end()
            for one in log.producers:
                self._have_seen(-1, one.producer_id)
            found[place] = records.document(log, copied)
        return found
