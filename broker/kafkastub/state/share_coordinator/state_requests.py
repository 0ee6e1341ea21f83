"""What other brokers may ask the share coordinator by the APIs 83 to 87: the same way for all five.

Kafka: ShareCoordinatorService. Its answers have topics and partitions in the order of its maps, and each partition
once: the last time that it was asked for counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from kafkastub.share_coordinator.coordinator import Turn
from kafkastub.share_coordinator.records import SharePartitionKey
from kafkastub.share_coordinator.state_batches import StateBatch
from kafkastub.state.deferred import Steps
from kafkastub.state.share_coordinator.persister import NOTHING
from kafkastub.state.share_coordinator.runtime import ShareRuntime
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import hash_map_order, uuid_hash
from kafkawire.messages import delete_share_group_state_response as delete
from kafkawire.messages import initialize_share_group_state_response as initialize
from kafkawire.messages import read_share_group_state_response as read
from kafkawire.messages import read_share_group_state_summary_response as summary
from kafkawire.messages import write_share_group_state_response as write
from kafkawire.schema import Message

_MOST_BATCHES: Final = 2_000
"""Of one share partition in one request. Nobody has more who goes by group.share.partition.max.record.locks, and to put
so many over others takes some milliseconds, in which nobody else is served.
"""
_TOO_MANY: Final = f"{{}} state batches for one partition are refused: allowed are {_MOST_BATCHES} in one request."
_ABSENT: Final = {
    ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator.",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "The coordinator is loading and hence can't process requests.",
}
"""What Kafka says of these; other APIs have no text for them."""
_READ: Final = 50
"""Batches of an answer that are as much work as a partition."""
_MOST_ORDERED: Final = 1_000
"""Nobody looks at the order of more."""


class _Api(NamedTuple):
    """One of the five.

    Attributes:
        verb: what could not be done, where the coordinator is not there.
        ask: (the share coordinator, whom it is about, what the request says, turn) -> what the answer says.
        partition: makes what the answer says of a partition.
        topic: makes what it says of a topic.
        response: makes the answer.
        skips_empty: a topic without partitions is not answered; else the answer is empty.
    """

    verb: str
    ask: Callable[[ShareRuntime, SharePartitionKey, Any, Turn], Any]
    partition: Callable[..., Any]
    topic: Callable[[bytes, Any], Any]
    response: Callable[[Any], Message]
    skips_empty: bool = False


def _initialize(shares: ShareRuntime, key: SharePartitionKey, asked: Any, turn: Turn) -> Any:
    shares.coordinator.initialize(key, asked.state_epoch, asked.start_offset, turn)
    return initialize.PartitionResult(key.partition)


def _read(shares: ShareRuntime, key: SharePartitionKey, asked: Any, turn: Turn) -> Any:
    found = shares.coordinator.read(key, asked.leader_epoch, turn)
    batches: Any = found.batches  # as they are until it is known that they are answered
    return read.PartitionResult(
        key.partition, state_epoch=found.state_epoch, start_offset=found.start_offset, state_batches=batches
    )


def _write(shares: ShareRuntime, key: SharePartitionKey, asked: Any, turn: Turn) -> Any:
    if len(asked.state_batches) > _MOST_BATCHES:
        raise KafkaError(ErrorCode.INVALID_REQUEST, _TOO_MANY.format(len(asked.state_batches)))
    batches = [
        StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
        for one in asked.state_batches
    ]
    shares.coordinator.write(
        key,
        asked.state_epoch,
        asked.leader_epoch,
        asked.start_offset,
        asked.delivery_complete_count,
        batches,
        turn,
    )
    return write.PartitionResult(key.partition)


def _delete(shares: ShareRuntime, key: SharePartitionKey, asked: Any, turn: Turn) -> Any:
    shares.coordinator.delete(key, turn)
    return delete.PartitionResult(key.partition)


def _summary(shares: ShareRuntime, key: SharePartitionKey, asked: Any, turn: Turn) -> Any:
    found = shares.coordinator.summary(key) or NOTHING
    return summary.PartitionResult(
        key.partition,
        state_epoch=found.state_epoch,
        leader_epoch=found.leader_epoch,
        start_offset=found.start_offset,
        delivery_complete_count=found.delivery_complete_count,
    )


INITIALIZE: Final = _Api(
    "initialize share group state",
    _initialize,
    initialize.PartitionResult,
    initialize.InitializeStateResult,
    initialize.InitializeShareGroupStateResponse,
    skips_empty=True,
)
READ: Final = _Api(
    "read share group state", _read, read.PartitionResult, read.ReadStateResult, read.ReadShareGroupStateResponse
)
WRITE: Final = _Api(
    "write share group state", _write, write.PartitionResult, write.WriteStateResult, write.WriteShareGroupStateResponse
)
DELETE: Final = _Api(
    "delete share group state",
    _delete,
    delete.PartitionResult,
    delete.DeleteStateResult,
    delete.DeleteShareGroupStateResponse,
)
SUMMARY: Final = _Api(
    "read share group state summary",
    _summary,
    summary.PartitionResult,
    summary.ReadStateSummaryResult,
    summary.ReadShareGroupStateSummaryResponse,
)


def refused(api: _Api, request: Any, code: ErrorCode) -> Message:
    """The code, with its text, at every partition."""
    text = default_text(code)

    def partitions(asked: Iterable[Any]) -> list[Any]:
        return [api.partition(one.partition, error_code=code, error_message=text) for one in asked]

    return api.response([api.topic(one.topic_id, partitions(one.partitions)) for one in request.topics])


def steps(api: _Api, shares: ShareRuntime, request: Any, node_id: int, broker_ms: int) -> Steps:
    """The answer of a node; partition by partition, so that no large request holds others up."""
    group_id = request.group_id
    if not group_id or (not api.skips_empty and not all(topic.partitions for topic in request.topics)):
        return api.response([])
    found: dict[bytes, dict[int, Any]] = {}
    for topic in request.topics:
        for asked in topic.partitions:
            key = SharePartitionKey(group_id, topic.topic_id, asked.partition)
            of_topic = found.setdefault(topic.topic_id, {})
            of_topic[asked.partition] = _answer(api, shares, key, asked, node_id, broker_ms)
            yield 1 + len(getattr(asked, "state_batches", ())) // 2
    if api is READ:
        for of_topic in found.values():
            for answer in of_topic.values():
                answer.state_batches = [read.StateBatch(*one) for one in answer.state_batches]
                yield len(answer.state_batches) // _READ
    topics = _ordered((uuid_hash(topic_id), topic_id) for topic_id in found)
    answers = []
    for topic_id in topics:
        partitions: list[Any] = []
        for one in _ordered((one & 0xFFFFFFFF, one) for one in found[topic_id]):
            partitions.append(found[topic_id][one])
            if len(partitions) % _READ == 0:
                yield 1
        answers.append(api.topic(topic_id, partitions))
    return api.response(answers)


def _ordered(keys: Iterable[tuple[int, Any]]) -> list[Any]:
    several = list(keys)
    return [one for _, one in several] if len(several) > _MOST_ORDERED else hash_map_order(several)


def _answer(api: _Api, shares: ShareRuntime, key: SharePartitionKey, asked: Any, node_id: int, broker_ms: int) -> Any:
    """What is answered of one partition."""
    try:
        if shares.leader_of(key) != node_id:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        shares.check_available(reads_only=api is SUMMARY)
    except KafkaError as error:
        text = f"Unable to {api.verb}: {_ABSENT.get(error.code, error.code.name)}"
        return api.partition(key.partition, error_code=error.code, error_message=text)
    turn = Turn(broker_ms)
    try:
        found = api.ask(shares, key, asked, turn)
        shares.settle(turn)
    except KafkaError as error:
        return api.partition(
            key.partition, error_code=error.code, error_message=error.message or default_text(error.code)
        )
    return found
