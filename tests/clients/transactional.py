"""A transactional producer that speaks the protocol itself: it can stop anywhere, and write what no client would."""

from __future__ import annotations

from typing import Any

from kafkastub.client import Client
from kafkastub.client.routing import TRANSACTION
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch

TRANSACTIONAL = 0x10
"""In a batch's attributes."""
_TOO_EARLY = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS})
_INIT, _ADD, _PRODUCE, _END = 4, 3, 11, 3
"""Versions: those before KIP-890, in which nothing happens by itself."""


class RawProducer:
    """Initialised when it is made. What is refused raises AssertionError."""

    def __init__(self, client: Client, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self._client = client
        self.transactional_id = transactional_id
        answer = self._ask_coordinator(InitProducerIdRequest(transactional_id, timeout_ms), _INIT)
        assert not answer.error_code, ErrorCode(answer.error_code).name
        self.producer_id: int = answer.producer_id
        self.epoch: int = answer.producer_epoch
        self._sequences: dict[tuple[str, int], int] = {}

    def add(self, topic: str, *partitions: int) -> None:
        """AddPartitionsToTxn."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(topic, list(partitions))],
        )
        answer = self._ask_coordinator(request, _ADD)
        codes = {
            row.partition_error_code for one in answer.results_by_topic_v3_and_below for row in one.results_by_partition
        }
        assert codes == {0}, codes

    def produce(self, topic: str, partition: int, value: bytes, timestamp: int) -> ErrorCode:
        """One record; gives the partition's error code."""
        place = topic, partition
        batch = build_batch(
            [NewRecord(timestamp=timestamp, key=None, value=value)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get(place, 0),
            attributes=TRANSACTIONAL,
        )
        data = [TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])]
        request = ProduceRequest(self.transactional_id, acks=-1, timeout_ms=10_000, topic_data=data)
        answer = self._client.ask(request, version=_PRODUCE)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code is ErrorCode.NONE:
            self._sequences[place] = self._sequences.get(place, 0) + 1
        return code

    def end(self, commit: bool = True) -> None:
        """EndTxn."""
        request = EndTxnRequest(self.transactional_id, self.producer_id, self.epoch, commit)
        answer = self._ask_coordinator(request, _END)
        assert not answer.error_code, ErrorCode(answer.error_code).name

    def _ask_coordinator(self, request: Any, version: int) -> Any:
        return self._client.ask_coordinator(self.transactional_id, request, TRANSACTION, version, _TOO_EARLY)
