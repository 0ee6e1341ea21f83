"""What a message says of groups, topics, partitions and errors, derived from the messages' tables of fields.

The definitions of Kafka's messages use the same few names throughout; the walk knows those, so that a new API needs
nothing here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from kafkawire.api import ApiKey
from kafkawire.codec.layout import StructLayout, layout_of
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.rows import Rows
from kafkawire.schema import ZERO_UUID, Message, Struct

_TOPIC: Final = ("topic", "topic_name")
_PARTITION: Final = ("partition", "partition_index", "partition_id")
_PARTITIONS: Final = ("partitions", "partition_indexes")
_GROUP_LISTS: Final = ("groups", "groups_names", "group_ids")
_TOPIC_LISTS: Final = ("topic_names", "topics", "subscribed_topic_names")
_TOPIC_RESOURCE: Final = 2
_GROUP_KEY: Final = 0

TopicName = Callable[[bytes], str | None]
"""A topic id to the topic's name; None where there is none of it."""


class Mentioned:
    """What a request is about, each in the order of its first mention."""

    def __init__(self) -> None:
        self.groups: dict[str, None] = {}
        self.topics: dict[str, None] = {}
        self.partitions: dict[tuple[str, int], None] = {}


def mentioned(request: Message, version: int, topic_name: TopicName) -> Mentioned:
    """The groups, topics and partitions that a request of this version names."""
    found = Mentioned()
    _walk(request, version, "", None, found, topic_name)
    if isinstance(request, FindCoordinatorRequest) and request.key_type == _GROUP_KEY:
        for key in (*request.coordinator_keys, *([request.key] if request.key else [])):
            found.groups.setdefault(key)
    return found


Tally = Callable[[Any], dict[int, int]]
"""An answer to its error codes, each with how often it stands there, NONE (0) too."""


def error_tally(response: type[Message], version: int) -> Tally:
    """Counts the error codes that a version of an answer has. Raises ValueError for a version that it has not."""
    lines = ["def tally(message):", "    counts = {}", *_counting(layout_of(response, version), "message", 1)]
    made: dict[str, Any] = {"add": _add_column, "Rows": Rows}
    exec("\n".join([*lines, "    return counts"]), made)  # of our own tables: as the codec does, for the hot path
    return cast(Tally, made["tally"])


def _counting(layout: StructLayout, of: str, depth: int) -> list[str]:
    """The lines that count what is in the struct of that name."""
    lines: list[str] = []
    indent = "    " * depth
    for field in (*layout.fields, *layout.tagged):
        if field.kind == "int16" and not field.array and field.name.endswith("error_code"):
            lines += [f"{indent}code = {of}.{field.name}", f"{indent}counts[code] = counts.get(code, 0) + 1"]
        elif field.struct is not None:
            each = f"{field.name}_{depth}"
            inner = _counting(field.struct, each, depth + 2)
            if not inner:
                continue
            lines.append(f"{indent}found = {of}.{field.name}")
            if not field.array:
                lines += [f"{indent}for {each} in () if found is None else (found,):", f"{indent}    if 1:", *inner]
            elif len(inner) == 2:  # one code and nothing else
                name = inner[0].rpartition(".")[2]
                lines += [f"{indent}if type(found) is Rows:", f"{indent}    add(found, {name!r}, counts)"]
                lines += [f"{indent}else:", f"{indent}    for {each} in found or ():", *inner]
            else:
                lines += [f"{indent}for {each} in found or ():", f"{indent}    if 1:", *inner]
    return lines


def _add_column(rows: Rows[Any], name: str, counts: dict[int, int]) -> None:
    column = rows.columns.get(name)
    if column is None:
        code = rows.constant(name)
        counts[code] = counts.get(code, 0) + len(rows)
    else:
        for code, times in Counter(column).items():
            counts[code] = counts.get(code, 0) + times


def api_name(key: int) -> str:
    """`OffsetCommit`; an unknown key as its number."""
    try:
        return ApiKey(key).camel
    except ValueError:
        return f"api {key}"


def _walk(
    struct: Struct, version: int, inside: str, topic: str | None, found: Mentioned, topic_name: TopicName
) -> None:
    topic = _topic_of(struct, inside, topic_name) or topic
    if topic is not None:
        found.topics.setdefault(topic)
    for name, kind, versions, *_ in struct.FIELDS:
        value = getattr(struct, name)
        if value is None or not versions[0] <= version <= versions[1]:  # it has a default, and nobody said it
            continue
        if name == "group_id":
            found.groups.setdefault(value)
        elif kind == "[]string":
            if name in _GROUP_LISTS:
                found.groups.update(dict.fromkeys(value))
            elif name in _TOPIC_LISTS:
                found.topics.update(dict.fromkeys(value))
        elif kind == "[]uuid" and name == "topic_ids":
            found.topics.update(dict.fromkeys(filter(None, map(topic_name, value))))
        elif topic is not None and kind == "int32" and name in _PARTITION:
            found.partitions.setdefault((topic, value))
        elif topic is not None and kind == "[]int32" and name in _PARTITIONS:
            found.partitions.update(dict.fromkeys((topic, index) for index in value))
        elif kind[0] == "[" or kind[0].isupper():
            for each in _structs(value):
                _walk(each, version, name, topic, found, topic_name)


def _topic_of(struct: Any, inside: str, topic_name: TopicName) -> str | None:
    """The topic that a struct is about. `inside` is the name of the field that holds the struct."""
    fields = {row[0]: row[1] for row in struct.FIELDS}
    for name in _TOPIC:
        if fields.get(name) == "string" and getattr(struct, name):
            return str(getattr(struct, name))
    if "topic" in inside and fields.get("name") == "string" and struct.name:
        return str(struct.name)
    if "topic_id" in fields and struct.topic_id != ZERO_UUID:
        return topic_name(struct.topic_id)
    if fields.get("resource_name") == "string" and getattr(struct, "resource_type", None) == _TOPIC_RESOURCE:
        return str(struct.resource_name)
    return None


def _structs(value: Any) -> Iterable[Struct]:
    if isinstance(value, Struct):
        return (value,)
    if isinstance(value, str | bytes | memoryview) or value is None:
        return ()
    return (each for each in value if isinstance(each, Struct))
