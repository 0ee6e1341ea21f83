"""An error for a part of a request: a partition, topic, group or transaction is taken out of the work and put into the
answer.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kafkastub.faults.naming import Array, Naming, index_of, is_error_code, topic_of
from kafkawire.api import ApiKey
from kafkawire.schema import ZERO_UUID, Message

WRITES: Final = frozenset(
    {
        ApiKey.PRODUCE, ApiKey.OFFSET_COMMIT, ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.DELETE_RECORDS,
        ApiKey.CREATE_PARTITIONS, ApiKey.ELECT_LEADERS, ApiKey.OFFSET_DELETE, ApiKey.DELETE_GROUPS,
        ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT, ApiKey.WRITE_TXN_MARKERS,
        ApiKey.ALTER_REPLICA_LOG_DIRS, ApiKey.INITIALIZE_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE,
        ApiKey.WRITE_SHARE_GROUP_STATE, ApiKey.DELETE_SHARE_GROUP_STATE, ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)  # fmt: skip
"""What changes something: the part must not be done. Of the others all is asked for, and the answer is changed."""

TopicName = Callable[[bytes], str | None]


class Part(NamedTuple):
    """What of a request the error is for."""

    owner: Any
    """A group, a transactional id, or a marker's producer id; None: it is at the top of the request."""
    topic: str | None
    topic_id: bytes
    partition: int | None
    """None: the whole topic or owner."""


class Wanted(NamedTuple):
    """What a rule names."""

    group: str | None
    transactional_id: str | None
    topic: str | None
    partition: int | None

    @property
    def owner(self) -> str | None:
        """The group or the transaction: no API has arrays of both."""
        return self.transactional_id if self.group is None else self.group

    @property
    def topical(self) -> bool:
        return self.topic is not None or self.partition is not None


def split(request: Any, names: Naming, wanted: Wanted, topic_name: TopicName) -> tuple[Any, list[Part]]:
    """The request without what the rule names (None: nothing is left), and that."""
    parts: list[Part] = []
    rest: list[Any] = []
    if wanted.topical and names.topics is not None:
        array = names.topics
        if names.holder is not None:
            return _held_without(request, names.holder, array, wanted, topic_name, parts), parts
        rest = _topics_without(request, array, wanted, topic_name, parts)
    elif names.owners is not None:
        array = names.owners
        for owner in getattr(request, array.field) or ():
            kept = _owner_without(owner, array, names, wanted, topic_name, parts)
            if kept is not None:
                rest.append(kept)
    else:
        return request, parts
    return _with(request, array.field, rest), parts


def _topics_without(holder: Any, array: Array, wanted: Wanted, topic_name: TopicName, parts: list[Part]) -> list[Any]:
    topics = (_without(one, array, None, wanted, topic_name, parts) for one in getattr(holder, array.field) or ())
    return [topic for topic in topics if topic is not None]


def _held_without(
    request: Any, field: str, array: Array, wanted: Wanted, topic_name: TopicName, parts: list[Part]
) -> Any:
    """What is left of a request whose topics stand in the elements of another array; None: nothing."""
    rest = []
    for holder in getattr(request, field):
        topics = _topics_without(holder, array, wanted, topic_name, parts)
        if topics:
            rest.append(_with(holder, array.field, topics))
    return _with(request, field, rest)


def _owner_without(
    owner: Any, array: Array, names: Naming, wanted: Wanted, topic_name: TopicName, parts: list[Part]
) -> Any:
    """What is left of a group, a transaction or a marker; None: nothing."""
    name = owner if array.name is None else getattr(owner, array.name)
    if wanted.owner not in (None, name):
        return owner
    answer = names.answer_owners
    if not wanted.topical and (array.inner is None or (answer is not None and answer.has_error)):
        parts.append(Part(name, None, ZERO_UUID, None))
        return None
    if array.inner is None:
        return owner
    rest = []
    for topic in getattr(owner, array.inner.field) or ():
        kept = _without(topic, array.inner, name, wanted, topic_name, parts)
        if kept is not None:
            rest.append(kept)
    return _with(owner, array.inner.field, rest)


def _without(topic: Any, array: Array, owner: Any, wanted: Wanted, topic_name: TopicName, parts: list[Part]) -> Any:
    """What is left of a topic; None: nothing."""
    name = topic_of(topic, array, topic_name)
    if wanted.topic not in (None, name):
        return topic
    topic_id = getattr(topic, "topic_id", ZERO_UUID)
    if array.inner is None:
        parts.append(Part(owner, name, topic_id, None))
        return None
    kept = []
    for partition in getattr(topic, array.inner.field) or ():
        index = index_of(partition, array.inner)
        if wanted.partition in (None, index):
            parts.append(Part(owner, name, topic_id, index))
        else:
            kept.append(partition)
    return _with(topic, array.inner.field, kept)


def _with(whole: Any, field: str, rest: list[Any]) -> Any:
    """A copy that has no more than the rest there; None where that is nothing."""
    if not rest:
        return None
    left = copy.copy(whole)
    setattr(left, field, tuple(rest))
    return left


def put(answer: Message, names: Naming, parts: list[Part], code: int) -> Message:
    """Another answer, which has the error at those parts and is otherwise the same."""
    changed: Any = copy.copy(answer)
    for part in parts:
        if names.answer_owners is not None and part.owner is not None:
            owner = _element(changed, names.answer_owners, part.owner)
            if part.topic is None:
                _fail(owner, code)
            elif names.answer_owners.inner is not None:
                _put_topic(owner, names.answer_owners.inner, part, code)
        elif names.answer_topics is not None:
            _put_topic(changed, names.answer_topics, part, code)
    return changed  # type: ignore[no-any-return]


def _put_topic(holder: Any, array: Array, part: Part, code: int) -> None:
    topic = _element(holder, array, part.topic_id if array.by_id else part.topic or "")
    if part.topic_id != ZERO_UUID and hasattr(topic, "topic_id"):
        topic.topic_id = part.topic_id
    if part.partition is None or array.inner is None or not array.inner.has_error:
        _fail(topic, code)
    else:
        _fail(_element(topic, array.inner, part.partition), code)


def _element(holder: Any, array: Array, name: object) -> Any:
    """A copy of the element of that name, in the place of the one that is there, or a new one at the end."""
    assert array.name is not None
    elements = list(getattr(holder, array.field) or ())
    for position, one in enumerate(elements):
        if getattr(one, array.name) == name:
            found = copy.copy(one)
            elements[position] = found
            break
    else:
        found = array.cls()
        setattr(found, array.name, name)
        elements.append(found)
    setattr(holder, array.field, elements)
    return found


_KEPT: Final = frozenset(("topic", "topic_name", "name", "topic_id", "group_id", "transactional_id", "key"))
_UNSET: Final = frozenset(("producer_id", "transaction_start_time_ms"))
"""What DescribeTransactions leaves at its default beside an error."""
_INDEX: Final = frozenset(("partition_index", "partition", "partition_id", "index"))


def _fail(element: Any, code: int) -> None:
    """Make it say the error and nothing else: no offset, no records, as Kafka has it."""
    blank = type(element)()
    for row in element.FIELDS:
        name, kind = row[0], row[1]
        if name in _KEPT or name in _INDEX:
            continue
        if is_error_code(name):
            value: Any = code
        elif (kind == "int64" and name not in _UNSET) or (kind == "int32" and name.endswith(("epoch", "_id", "port"))):
            value = -1
        elif kind == "records":
            value = b""
        else:
            value = getattr(blank, name)
        setattr(element, name, value)
