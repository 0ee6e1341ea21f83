"""Whether a producer may write transactional batches, asked before they are appended (KIP-890;
ReplicaManager.handleProduceAppend, UnifiedLog.maybeStartTransactionVerification).

A partition in which its transaction is open already knows so itself. For any other the coordinator is asked: from
version 12 of Produce on to add it to the transaction, below whether it was added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.partitions import led_log
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import BatchHeader

JOINS_FROM: Final = 12
"""From this version of Produce on a producer's epoch is raised by every end of a transaction, and partitions join."""
_UNREACHABLE: Final = (
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)

Place = tuple[str, int]
"""A topic's name and a partition."""


def refused_appends(
    state: BrokerState,
    node_id: int,
    api_version: int,
    transactional_id: str,
    batches: Mapping[Place, tuple[Topic, BatchHeader]],
    broker_ms: int,
    timer_ms: int,
) -> dict[Place, KafkaError]:
    """Why which of these batches of a Produce request must not be appended.

    KafkaError INVALID_PRODUCER_ID_MAPPING where they are of several producers.
    """
    transactional = {
        place: (topic, header)
        for place, (topic, header) in batches.items()
        if header.transactional and header.has_producer
    }
    producers = {(header.producer_id, header.producer_epoch) for _, header in transactional.values()}
    if len(producers) > 1:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID"
        )
    joins = api_version >= JOINS_FROM
    if not producers or not (joins or state.config["transaction.partition.verification.enable"]):
        return {}
    (producer,) = producers
    refused: dict[Place, KafkaError] = {}
    asked = []
    for place, (topic, header) in transactional.items():
        try:
            log = led_log(state, node_id, topic, place[1])
            states = log.producer_states
            if states.has_ongoing(*producer):
                continue
            states.check_epoch(*producer, log.name)
        except KafkaError as error:
            refused[place] = KafkaError(error.code)
            continue
        states.start_verification(*producer, header.base_sequence, epochs_are_raised=joins, now_ms=broker_ms)
        asked.append(place)
    if asked:
        answers = state.transactions.join(
            transactional_id, *producer, asked, api_key=ApiKey.PRODUCE, api_version=api_version,
            broker_ms=broker_ms, timer_ms=timer_ms,
        )  # fmt: skip
        refused.update((place, _as_told(code, joins)) for place, code in answers.items() if code)
    return refused


def _as_told(code: ErrorCode, joins: bool) -> KafkaError:
    """What a Produce answer says where the coordinator said no: something that makes old clients try again."""
    if code == ErrorCode.INVALID_TXN_STATE:
        return KafkaError(code, "Partition was not added to the transaction")
    if code in _UNREACHABLE or (code == ErrorCode.CONCURRENT_TRANSACTIONS and not joins):
        why = f"Unable to verify the partition has been added to the transaction. Underlying error: {code.name}"
        return KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, why)
    return KafkaError(code)
