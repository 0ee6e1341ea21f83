"""AddPartitionsToTxnRequest (key 24), versions 0-5. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AddPartitionsToTxnTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 5), None, None, None),
        ("partitions", "[]int32", (0, 5), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AddPartitionsToTxnTransaction(Struct):
    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics")
    FIELDS = (
        ("transactional_id", "string", (4, 5), None, None, None),
        ("producer_id", "int64", (4, 5), None, None, None),
        ("producer_epoch", "int16", (4, 5), None, None, None),
        ("verify_only", "bool", (4, 5), None, None, None),
        ("topics", "[]AddPartitionsToTxnTopic", (4, 5), None, None, None),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = topics


class AddPartitionsToTxnRequest(Message):
    __slots__ = ("transactions", "v3_and_below_transactional_id", "v3_and_below_producer_id", "v3_and_below_producer_epoch", "v3_and_below_topics")
    API_KEY = 24
    VERSIONS = (0, 5)
    FLEXIBLE = (3, 32767)
    FIELDS = (
        ("transactions", "[]AddPartitionsToTxnTransaction", (4, 5), None, None, None),
        ("v3_and_below_transactional_id", "string", (0, 3), None, None, None),
        ("v3_and_below_producer_id", "int64", (0, 3), None, None, None),
        ("v3_and_below_producer_epoch", "int16", (0, 3), None, None, None),
        ("v3_and_below_topics", "[]AddPartitionsToTxnTopic", (0, 3), None, None, None),
    )

    def __init__(
        self,
        transactions: Sequence[AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactions = transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = v3_and_below_topics
