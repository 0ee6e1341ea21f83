"""What ShareFetch and ShareAcknowledge have in common on the wire: who asks, and what is said of one partition."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.state.broker_state import BrokerState
from kafkastub.state.group_protocols import serves_share_protocol

if TYPE_CHECKING:
    from kafkastub.state.share_partitions.at_once import AtOnce

_LONGEST: Final = 127
"""Bytes of a text, or a list, whose length is one byte, and one more."""
_LONGEST_MEMBER_ID: Final = 36
_MOST: Final = 10_000
"""Members, or partitions of all of them, that are remembered."""
_partition = Struct(">B16sBiB").unpack_from
_PARTITION_SIZE: Final = 23
_batch = Struct(">qqBbB")
_only = Struct(">B16sBiBqqBb3B").unpack_from
"""A partition with one batch, and all tags."""
_ONE_OF_EACH: Final = (2, 2, 2, 2, 0, 0, 0)
"""Topic, partition, batch, type; and no tags."""
_TAGS: Final = 2
"""Those of a partition and of its topic, which are none."""

TopicPartition = tuple[bytes, int]
Batches = list[tuple[int, int, int]]
"""First offset, last offset, type."""


class Who(NamedTuple):
    """A member of a group.

    Attributes:
        clear: of which partitions nothing stands in the way.
    """

    group_id: str
    member_id: str
    clear: dict[TopicPartition, bool]


class Members:
    """Those who have asked already, by their bytes.

    Args:
        state: in which they are.
        is_clear: whether nothing stands before the handler of a request of this group and member about a partition.
    """

    def __init__(self, state: BrokerState, is_clear: Callable[[str, str, TopicPartition], bool]) -> None:
        self._state = state
        self._at_once: AtOnce | None = None
        self._is_clear = is_clear
        self._known: dict[bytes, Who | None] = {}
        self._partitions = 0

    def at_once(self) -> AtOnce | None:
        """How they are served at once; None where there are no share groups."""
        if self._at_once is None and self._state.has_share_partitions:
            self._at_once = self._state.share_partitions.at_once
        return self._at_once if serves_share_protocol(self._state) else None

    def find(self, raw: bytes) -> Who | None:
        """Group and member, as they stand in a request; None where they are not ordinary."""
        who = self._known.get(raw)
        if who is None and raw not in self._known:
            if len(self._known) >= _MOST:
                self._forget()
            who = self._known[raw] = _who(raw)
        return who

    def is_clear(self, who: Who, partition: TopicPartition) -> bool:
        """Whether nothing cares for what this member does with a partition."""
        clear = who.clear.get(partition)
        if clear is None:
            if self._partitions >= _MOST:
                self._forget()
                who.clear.clear()
            self._partitions += 1
            clear = who.clear[partition] = self._is_clear(who.group_id, who.member_id, partition)
        return clear

    def _forget(self) -> None:
        self._known.clear()
        self._partitions = 0


def _who(raw: bytes) -> Who | None:
    at = raw[0] if raw else 0
    if not 1 < at <= _LONGEST or not 1 < raw[at] <= _LONGEST or at + raw[at] != len(raw):
        return None
    try:
        group_id, member_id = raw[1:at].decode(), raw[at + 1 :].decode()
    except UnicodeDecodeError:
        return None
    return Who(group_id, member_id, {}) if member_id.isascii() and len(member_id) <= _LONGEST_MEMBER_ID else None


def acknowledged(data: bytes, at: int, end: int, highest: int) -> tuple[TopicPartition, Batches] | None:
    """What is said of the only partition in `data[at:end]`, the topics of a request; None for anything else.

    Batches in order, that do not touch, with one type each from 1 to `highest`.
    """
    size = end - at - _PARTITION_SIZE - _TAGS
    if size == _batch.size:
        topics, topic_id, partitions, index, count, first, upto, types, kind, t1, t2, t3 = _only(data, at)
        if (topics, partitions, count, types, t1, t2, t3) != _ONE_OF_EACH:
            return None
        return ((topic_id, index), [(first, upto, kind)]) if 0 <= first <= upto and 1 <= kind <= highest else None
    if size <= 0 or size % _batch.size:
        return None
    topics, topic_id, partitions, index, count = _partition(data, at)
    if (topics, partitions) != (2, 2) or not 1 < count == size // _batch.size + 1 <= _LONGEST:
        return None
    if data[end - 2] or data[end - 1]:
        return None
    batches = []
    last = -1
    for first, upto, types, kind, tags in _batch.iter_unpack(data[at + _PARTITION_SIZE : end - _TAGS]):
        if not last < first <= upto or types != 2 or tags or not 1 <= kind <= highest:
            return None
        batches.append((first, upto, kind))
        last = upto
    return (topic_id, index), batches
