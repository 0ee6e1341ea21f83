"""An error for a part of a request: its partition, topic or group is taken out of the work and put into the answer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kafkastub.faults.naming import Array, Naming, index_of, topic_of
from kafkawire.api import ApiKey
from kafkawire.schema import ZERO_UUID, Message

WRITES: Final = frozenset(
    {
        ApiKey.PRODUCE, ApiKey.OFFSET_COMMIT, ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.DELETE_RECORDS,
        ApiKey.CREATE_PARTITIONS, ApiKey.ELECT_LEADERS, ApiKey.OFFSET_DELETE, ApiKey.DELETE_GROUPS,
        ApiKey.ALTER_REPLICA_LOG_DIRS,
    }
)  # fmt: skip
"""What changes something: the part must not be done. Of the others all is asked for, and the answer is changed."""

TopicName = Callable[[bytes], str | None]


class Part(NamedTuple):
    """What of a request the error is for."""

    group: str | None
    topic: str | None
    topic_id: bytes
    partition: int | None
    """None: the whole topic or group."""


class Wanted(NamedTuple):
    """What a rule names."""

    group: str | None
    topic: str | None
    partition: int | None

    @property
    def topical(self) -> bool:
        return self.topic is not None or self.partition is not None


def split(request: Any, names: Naming, wanted: Wanted, topic_name: TopicName) -> tuple[Any, list[Part]]:
    """The request without what the rule names (None: nothing is left), and that."""
    parts: list[Part] = []
    left = copy.copy(request)
    rest: list[Any] = []
    if wanted.topical and names.topics is not None:
        array = names.topics
        if names.holder is not None:
            return _held_without(request, names.holder, array, wanted, topic_name, parts), parts
        rest = _topics_without(request, array, wanted, topic_name, parts)
    elif names.groups is not None:
        array = names.groups
        for group in getattr(request, array.field) or ():
            kept = _group_without(group, array, wanted, topic_name, parts)
            if kept is not None:
                rest.append(kept)
    else:
        return request, parts
    setattr(left, array.field, tuple(rest))
    return (left if rest else None), parts


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
            kept = copy.copy(holder)
            setattr(kept, array.field, tuple(topics))
            rest.append(kept)
    left = copy.copy(request)
    setattr(left, field, tuple(rest))
    return left if rest else None


def _group_without(group: Any, array: Array, wanted: Wanted, topic_name: TopicName, parts: list[Part]) -> Any:
    name = group if array.name is None else getattr(group, array.name)
    if wanted.group not in (None, name):
        return group
    if not wanted.topical:
        parts.append(Part(name, None, ZERO_UUID, None))
        return None
    assert array.inner is not None
    for topic in getattr(group, array.inner.field) or ():
        _without(topic, array.inner, name, wanted, topic_name, parts)
    return group


def _without(
    topic: Any, array: Array, group: str | None, wanted: Wanted, topic_name: TopicName, parts: list[Part]
) -> Any:
    """What is left of a topic; None: nothing."""
    name = topic_of(topic, array, topic_name)
    if wanted.topic not in (None, name):
        return topic
    topic_id = getattr(topic, "topic_id", ZERO_UUID)
    if array.inner is None:
        parts.append(Part(group, name, topic_id, None))
        return None
    kept = []
    for partition in getattr(topic, array.inner.field) or ():
        index = index_of(partition, array.inner)
        if wanted.partition in (None, index):
            parts.append(Part(group, name, topic_id, index))
        else:
            kept.append(partition)
    if not kept:
        return None
    left = copy.copy(topic)
    setattr(left, array.inner.field, tuple(kept))
    return left


def put(answer: Message, names: Naming, parts: list[Part], code: int) -> Message:
    """Another answer, which has the error at those parts and is otherwise the same."""
    changed: Any = copy.copy(answer)
    for part in parts:
        if names.answer_groups is not None and part.group is not None:
            group = _element(changed, names.answer_groups, part.group)
            if part.topic is None:
                _fail(group, code)
            elif names.answer_groups.inner is not None:
                _put_topic(group, names.answer_groups.inner, part, code)
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


_KEPT: Final = frozenset(_name for _name in ("topic", "topic_name", "name", "topic_id", "group_id", "key"))
_INDEX: Final = frozenset(("partition_index", "partition", "partition_id", "index"))


def _fail(element: Any, code: int) -> None:
    """Make it say the error and nothing else: no offset, no records, as Kafka has it."""
    blank = type(element)()
    for row in element.FIELDS:
        name, kind = row[0], row[1]
        if name in _KEPT or name in _INDEX:
            continue
        if name == "error_code":
            value: Any = code
        elif kind == "int64" or (kind == "int32" and name.endswith(("epoch", "_id", "port"))):
            value = -1
        elif kind == "records":
            value = b""
        else:
            value = getattr(blank, name)
        setattr(element, name, value)
