"""Produce, straight from the frame to the answer's bytes: what producers send every day, for one partition at a time.

Decoding, judging and encoding step by step costs more than all the work there is. But producers send the same again and
again: only the records change, and in the answer the offset. So what stands before the records is decoded once, by the
codec, and known again by its bytes; and what stands around the offsets of the answer is encoded once, by the codec.

Anything else than one ordinary batch, that can be appended here and now, is left to `k00_produce`: nothing has happened
then. With a transactional id that is one of an open transaction, or the first in its partition. `k00_produce`
knows what is wrong with a request and how Kafka puts it.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.state.broker_state import BrokerState
from kafkastub.storage.ordinary import TRANSACTIONAL
from kafkawire.codec import encode, fast_decoder
from kafkawire.codec.varint import read_uvarint
from kafkawire.messages.produce_request import ProduceRequest
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

if TYPE_CHECKING:
    from kafkastub.state.transaction_coordinator.at_once import AtOnce

FLEXIBLE_FROM = 9
TOPIC_IDS_FROM = 13
JOINS_FROM = 12
_V2: Final = 2
"""The transaction version of who adds partitions by writing to them."""
LOG_START_FROM = 5
ZSTD_FROM = 7
_NO_TIME = -1
_size = Struct(">i").unpack_from
_short = Struct(">h").unpack_from
_producer = Struct(">qh").unpack_from
_CODEC_AT: Final = 22
"""Where in a batch its codec is, in three bits."""
_ZSTD: Final = 4
_PRODUCER_AT: Final = 43
"""Where in a batch producer id and epoch are."""
_PRODUCER: Final = slice(9, 11)
"""Where among its header's fields."""
_LEAST: Final = 40
"""Bytes of a body: with fewer there are no records, and nothing is looked at."""
_LONGEST: Final = 300
"""Bytes of a beginning that is remembered; a topic's name has 249 at most."""
_MOST_PLANS: Final = 1000
"""Beginnings that are remembered."""
_MARK: Final = 0x7EA5_0FF5_E7A5_0FF5


class _Plan(NamedTuple):
    """What a request that begins so asks for, and how its answer is written."""

    name: str
    topic_id: bytes
    partition: int
    transactional_id: str | None
    before: bytes
    behind: bytes
    """Of the answer: what comes before and behind the offsets."""


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath:
    """The fast path for one version."""
    plans: dict[bytes, _Plan | None] = {}
    cluster, logs, waits = state.cluster, state.logs, state.fetch_purgatory
    flexible, by_id, joins = version >= FLEXIBLE_FROM, version >= TOPIC_IDS_FROM, version >= JOINS_FROM
    before_zstd = version < ZSTD_FROM
    tail = b"\0\0\0" if flexible else b""
    at_once: AtOnce | None = None
    told = Struct(">qqq" if version >= LOG_START_FROM else ">qq").pack

    def produce(info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int) -> bytes | None:
        nonlocal at_once
        if end - body < _LEAST:
            return None
        # Behind the transactional id, if there is one.
        at = body
        if flexible:
            if data[body]:
                at += data[body] - 1
        elif data[body] < 128:
            at += _short(data, body)[0]
        if end - at < _LEAST:
            return None
        # Where the size of the records is, if the request begins as one for one partition does.
        if by_id:
            at += 29
        elif flexible:
            at += 13 + data[at + 8]
        else:
            at += 22 + _short(data, at + 12)[0]
        begin = data[body:at]
        plan = plans.get(begin)
        if plan is None:
            if begin in plans or not 0 < len(begin) <= _LONGEST or end - at < 4:
                return None
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plan = plans[begin] = _planned(begin, version, is_clear)
            if plan is None:
                return None
        if flexible:
            size = data[at]
            at += 1
            if size > 127:
                size, at = read_uvarint(data, at - 1)
            size -= 1
        else:
            (size,) = _size(data, at)
            at += 4
        stop = at + size
        if stop + len(tail) != end or data[stop:end] != tail:
            return None
        if before_zstd and size > _CODEC_AT and data[at + _CODEC_AT] & 7 >= _ZSTD:
            return None
        name, topic_id, index, transactional_id, before, behind = plan
        topic = cluster.topic_by_id(topic_id) if by_id else cluster.topic(name)
        if topic is None or topic.internal or index >= len(topic.partitions):
            return None
        partition = topic.partitions[index]
        if partition.leader != info.node_id or len(partition.isr) < len(partition.replicas):
            return None
        log = logs.log(topic.topic_id, index)
        if log is None or not log.name:
            return None
        wall_ms = logs.wall_ms
        bounds_ms = broker_ms if wall_ms is None else wall_ms()
        epoch = partition.leader_epoch
        if transactional_id is None:
            first = log.append_ordinary(data, at, stop, epoch, broker_ms, bounds_ms)
        elif log.producer_states.first_unstable is not None and (
            size > _PRODUCER_AT + 10 and log.producer_states.has_ongoing(*_producer(data, at + _PRODUCER_AT))
        ):
            first = log.append_ordinary(data, at, stop, epoch, broker_ms, bounds_ms, TRANSACTIONAL)
        elif at_once is not None or state.has_transactions:
            if at_once is None:
                at_once = state.transactions.at_once
            fields = log.ordinary_beginning(data, at, stop, broker_ms, bounds_ms)
            if fields is None:
                return None
            (producer_id, producer_epoch), place = fields[_PRODUCER], (topic.name, index)
            if joins:
                if not at_once.add(transactional_id, producer_id, producer_epoch, (place,), _V2, broker_ms, timer_ms):
                    return None
            elif not at_once.may_write(transactional_id, producer_id, producer_epoch, place):
                return None
            first = log.append_beginning(data, at, stop, fields, epoch, broker_ms)
        else:
            return None
        if first is None:
            return None
        if waits.waiting:
            try:
                waits.appended(topic.topic_id, index)
            except Exception:  # what others wait for is not this request's trouble: it is done, not to be done again
                state.log.exception("a fetch that waited cannot be answered", topic=name, partition=index)
        if version >= LOG_START_FROM:
            return before + told(first, _NO_TIME, log.log_start_offset) + behind
        return before + told(first, _NO_TIME) + behind

    return produce


def _planned(begin: bytes, version: int, is_clear: IsClear) -> _Plan | None:
    """The plan for requests whose bytes up to the size of the records are these; None where there is more than one
    partition, or anything uncommon.
    """
    null = b"\0" if version >= FLEXIBLE_FROM else b"\xff\xff\xff\xff"
    whole = begin + null + (b"\0\0\0" if version >= FLEXIBLE_FROM else b"")
    try:
        request, stop = fast_decoder(ProduceRequest, version)(whole, 0, len(whole))
    except Exception:
        return None
    assert isinstance(request, ProduceRequest)
    if stop != len(whole) or len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return None
    topic = request.topic_data[0]
    (partition,) = topic.partition_data
    ordinary = request.acks in (-1, 1) and partition.index >= 0
    if not ordinary or partition.records is not None or not is_clear(request):
        return None
    answer = PartitionProduceResponse(
        index=partition.index, base_offset=_MARK, log_append_time_ms=_MARK, log_start_offset=_MARK
    )
    response = ProduceResponse(responses=[TopicProduceResponse(topic.name, topic.topic_id, [answer])])
    mark = Struct(">q").pack(_MARK) * (3 if version >= LOG_START_FROM else 2)
    before, found, behind = encode(response, version).partition(mark)
    if not found:
        return None
    return _Plan(topic.name, topic.topic_id, partition.index, request.transactional_id, before, behind)
