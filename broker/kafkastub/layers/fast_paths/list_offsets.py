"""ListOffsets of ends and beginnings: what a group asks when it begins, and who watches lag all the time.

An answer is kept with the logs that it tells of, and given again while the cluster's version is the same, as in
`remembered`, and each of these logs ends, or begins, where it did. The logs themselves are not kept by it: as long as
the version is the same they are there, and behind that nobody looks. Kept are only answers without any error, of topics
that are not internal, about the latest and the earliest offsets: for the others records are looked into.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from weakref import ReferenceType, ref

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.state.broker_state import BrokerState
from kafkastub.storage import PartitionLog
from kafkawire.codec import Parts
from kafkawire.messages.list_offsets_request import ListOffsetsRequest
from kafkawire.messages.list_offsets_response import ListOffsetsResponse

LATEST: Final = -1
EARLIEST: Final = (-2, -4)
_READ_COMMITTED: Final = 1
_LONGEST_REQUEST: Final = 1 << 13
"""Bytes of a body: some five hundred partitions."""
_MOST_BYTES: Final = 1 << 21
_PARTITION_OVERHEAD: Final = 60
"""Bytes that a partition takes beside those of request and answer."""

Ref = ReferenceType[PartitionLog]
Beginning = tuple[int, tuple[int, int] | None]
"""Where a log starts; its oldest leader epoch, and the offset at which that began."""


class _Known(NamedTuple):
    version: int
    """Of the cluster."""
    node_id: int
    committed: bool
    ending: list[Ref]
    ends: list[int]
    beginning: list[Ref]
    beginnings: list[Beginning]
    answer: bytes


def fast_path(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path for one version."""
    return ListOffsets(state, is_clear)


class ListOffsets:
    """A `Memory`."""

    __slots__ = ("_cluster", "_is_clear", "_known", "_size", "_state")
    token: Final = None
    """What is put off is never kept: meanwhile records come."""

    def __init__(self, state: BrokerState, is_clear: IsClear) -> None:
        self._state = state
        self._cluster = state.cluster
        self._is_clear = is_clear
        self._known: dict[bytes, _Known] = {}
        self._size = 0

    def __call__(
        self, info: ConnectionInfo, data: bytes, body: int, end: int, broker_ms: int, timer_ms: int
    ) -> bytes | None:
        if end - body > _LONGEST_REQUEST:
            return None
        known = self._known.get(data[body:end])
        if (
            known is None
            or known.version != self._cluster.version
            or known.node_id != info.node_id
            or known.ends != _ends(known.ending, known.committed)
            or (known.beginning and known.beginnings != _beginnings(known.beginning))
        ):
            return None
        return known.answer

    def keep(
        self,
        info: ConnectionInfo,
        raw: bytes,
        request: ListOffsetsRequest,
        answer: ListOffsetsResponse,
        token: object,
        body: Parts,
    ) -> None:
        """The careful way has answered."""
        if len(raw) > _LONGEST_REQUEST or any(one.error_code for topic in answer.topics for one in topic.partitions):
            return
        before = self._known.get(raw)
        if before is not None and before.version == self._cluster.version:  # of the same logs: one of them has grown
            ending, beginning = before.ending, before.beginning
        else:
            logs = self._logs(request)
            if logs is None or not self._is_clear(request):
                return
            ending, beginning = logs
        encoded = b"".join(body)
        if before is None:
            self._size += len(raw) + len(encoded) + _PARTITION_OVERHEAD * (len(ending) + len(beginning) + 5)
        if self._size > _MOST_BYTES:
            self._known.clear()
            self._size = 0
            return
        committed = request.isolation_level == _READ_COMMITTED
        self._known[raw] = _Known(
            self._cluster.version,
            info.node_id,
            committed,
            ending,
            _ends(ending, committed),
            beginning,
            _beginnings(beginning),
            encoded,
        )

    def _logs(self, request: ListOffsetsRequest) -> tuple[list[Ref], list[Ref]] | None:
        """Of which the request asks for the end, and of which for the beginning; None where it asks for more."""
        ending: list[Ref] = []
        beginning: list[Ref] = []
        for asked in request.topics:
            topic = self._cluster.topic(asked.name)
            if topic is None or topic.internal:
                return None
            for one in asked.partitions:
                log = self._state.logs.look(topic.topic_id, one.partition_index)
                if log is None:
                    return None
                if one.timestamp == LATEST:
                    ending.append(ref(log))
                elif one.timestamp in EARLIEST:
                    beginning.append(ref(log))
                else:
                    return None
        return ending, beginning


def _ends(logs: list[Ref], committed: bool) -> list[int]:
    if committed:
        return [log().last_stable_offset for log in logs]  # type: ignore[union-attr]
    return [log().high_watermark for log in logs]  # type: ignore[union-attr]


def _beginnings(logs: list[Ref]) -> list[Beginning]:
    return [(log.log_start_offset, log.epochs.earliest()) for log in (one() for one in logs) if log is not None]
