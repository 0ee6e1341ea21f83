"""AddPartitionsToTxn, straight from the frame to the answer's bytes: partitions that are there, of a producer as it is
known.

A producer asks for the same partitions again and again; all before and behind its id and epoch is decoded once, by the
codec, and known again by its bytes. Only version 3, in which one transaction is named, and only what is answered
without any error. Anything else is left to `k24_add_partitions_to_txn`: nothing has happened then.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.metadata import INTERNAL_TOPICS
from kafkastub.state.broker_state import BrokerState
from kafkawire.codec import encode, fast_decoder
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)

if TYPE_CHECKING:
    from kafkastub.state.transaction_coordinator.at_once import AtOnce

VERSION: Final = 3
_V1: Final = 0
"""The transaction version of who asks himself; Kafka counts it as 0."""
_who = Struct(">qh")
_LONGEST: Final = 300
"""Bytes of what is remembered of a request."""
_MOST_PLANS: Final = 1000
_FEW: Final = 10
"""Partitions."""


class _Plan(NamedTuple):
    name: str
    partitions: tuple[tuple[str, int], ...]
    topics: tuple[tuple[str, int], ...]
    """Of each topic how many partitions there have to be."""
    answer: bytes


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path for one version; None where there is none."""
    if version != VERSION:
        return None
    plans: dict[bytes, _Plan | None] = {}
    topics = state.cluster.topics
    at_once: AtOnce | None = None

    def add(info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int) -> bytes | None:
        nonlocal at_once
        at = body + data[body]
        behind = at + _who.size
        if data[body] > 127 or end - body > _LONGEST or behind >= end:
            return None
        if at_once is None:
            if not state.has_transactions:
                return None
            at_once = state.transactions.at_once
        like = data[body:at] + data[behind:end]
        plan = plans.get(like)
        if plan is None:
            if like in plans:
                return None
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[like] = _planned(data[body:end], is_clear)
            if plan is None:
                return None
        for name, count in plan.topics:
            topic = topics.get(name)
            if topic is None or len(topic.partitions) < count:
                return None
        producer_id, epoch = _who.unpack_from(data, at)
        added = at_once.add(plan.name, producer_id, epoch, plan.partitions, _V1, broker_ms, timer_ms)
        return plan.answer if added else None

    return add


def _planned(whole: bytes, is_clear: IsClear) -> _Plan | None:
    """The plan for requests that are as this one but for producer id and epoch; None where they are for the handler."""
    try:
        request, stop = fast_decoder(AddPartitionsToTxnRequest, VERSION)(whole, 0, len(whole))
    except Exception:
        return None
    assert isinstance(request, AddPartitionsToTxnRequest)
    asked = request.v3_and_below_topics
    partitions = tuple((topic.name, index) for topic in asked for index in topic.partitions)
    names = {topic.name for topic in asked}
    if stop != len(whole) or not request.v3_and_below_transactional_id or not is_clear(request):
        return None
    if not 0 < len(set(partitions)) == len(partitions) <= _FEW or len(names) != len(asked):
        return None
    if names & set(INTERNAL_TOPICS) or any(index < 0 for _, index in partitions):
        return None
    answer = AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                topic.name, [AddPartitionsToTxnPartitionResult(index, ErrorCode.NONE) for index in topic.partitions]
            )
            for topic in asked
        ]
    )
    counts = tuple((topic.name, max(topic.partitions) + 1) for topic in asked)
    return _Plan(request.v3_and_below_transactional_id, partitions, counts, encode(answer, VERSION))
