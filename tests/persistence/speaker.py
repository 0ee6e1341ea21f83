"""A client that sends one request at a time and keeps nothing to itself: errors are numbers in its answers."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Self

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.messages.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, Record, build_batch, read_batch, split_batches
from kafkawire.schema import Message
from tests.rawclient import RawClient
from tests.waiting import until

EARLIEST, LATEST, LARGEST_TIMESTAMP = -2, -1, -3


class Speaker:
    """One connection. Every method gives what the broker answered; `ask` is what they all come to."""

    def __init__(self, servers: str, timeout: float = 60) -> None:
        self._client = RawClient(servers, timeout)

    def ask(self, request: Message, version: int) -> Any:
        """The decoded answer. ConnectionError where the broker closes, or is gone."""
        key = ApiKey(request.API_KEY)
        module, name, _ = RESPONSES[key]
        answer = self._client.exchange(key, version, encode(request, version))
        return decode(getattr(importlib.import_module(module), name), version, answer)

    def ask_loaded(self, request: Message, version: int) -> Any:
        """The same, asked again while the coordinator is loading, as it may be on a busy machine."""

        def loaded() -> Any:
            answer = self.ask(request, version)
            return None if "error_code=14" in str(answer) else answer

        return until(loaded, "a coordinator that is loaded")

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> int:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()],
        )
        code: int = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10000), 5).topics[0].error_code
        return code

    def commit(
        self,
        group: str,
        topic: str,
        offsets: dict[int, int],
        *,
        metadata: str = "",
        generation: int = -1,
        member: str = "",
    ) -> list[int]:
        """The error codes, partition by partition."""
        partitions = [OffsetCommitRequestPartition(index, offset, -1, metadata) for index, offset in offsets.items()]
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
        )
        return [one.error_code for one in self.ask(request, 8).topics[0].partitions]

    def committed(self, group: str, topic: str, partitions: Sequence[int]) -> list[int]:
        """Offsets, -1 where there is none; raises AssertionError for an error."""
        asked = OffsetFetchRequestGroup(
            group, topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)]
        )
        (answer,) = self.ask(OffsetFetchRequest(groups=[asked]), 8).groups
        assert answer.error_code == 0, answer
        return [one.committed_offset for one in answer.topics[0].partitions]

    def fetch_error(self, group: str) -> int:
        """The code with which the coordinator answers for a group's offsets."""
        (answer,) = self.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)]), 8).groups
        code: int = answer.error_code
        return code

    def produce(self, topic: str, partition: int, *values: bytes, batch: bytes | None = None) -> tuple[int, int]:
        """Error code and base offset of one batch of these values, or of a batch made elsewhere."""
        if batch is None:
            batch = build_batch([NewRecord(None, value, 1_700_000_000_000) for value in values])
        request = ProduceRequest(
            acks=-1,
            timeout_ms=10000,
            topic_data=[TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])],
        )
        answer = self.ask(request, 9).responses[0].partition_responses[0]
        return answer.error_code, answer.base_offset

    def producer_id(self, transactional_id: str | None = None) -> tuple[int, int]:
        answer = self.ask_loaded(InitProducerIdRequest(transactional_id, transaction_timeout_ms=1000), 4)
        assert answer.error_code == 0, answer
        return answer.producer_id, answer.producer_epoch

    def offset(self, topic: str, partition: int, timestamp: int) -> int:
        asked = ListOffsetsTopic(topic, [ListOffsetsPartition(partition, -1, timestamp)])
        answer = self.ask(ListOffsetsRequest(replica_id=-1, topics=[asked]), 7).topics[0].partitions[0]
        assert answer.error_code == 0, answer
        offset: int = answer.offset
        return offset

    def records(self, topic: str, partition: int) -> list[Record]:
        """Everything that the partition has."""
        return list(self._records(topic, partition))

    def values(self, topic: str, partition: int) -> list[bytes | None]:
        return [record.value for record in self.records(topic, partition)]

    def _records(self, topic: str, partition: int) -> Iterator[Record]:
        offset, end = self.offset(topic, partition, EARLIEST), self.offset(topic, partition, LATEST)
        while offset < end:
            asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = FetchRequest(max_wait_ms=0, max_bytes=1 << 24, topics=[FetchTopic(topic, partitions=[asked])])
            answer = self.ask(request, 11).responses[0].partitions[0]
            assert answer.error_code == 0, answer
            before = offset
            for _, batch in split_batches(answer.records):
                for record in read_batch(batch):
                    if record.offset >= offset:
                        yield record
                        offset = record.offset + 1
            assert offset > before, f"nothing at {offset} of {topic}-{partition}, which goes to {end}"

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
