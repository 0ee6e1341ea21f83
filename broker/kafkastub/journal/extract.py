"""What a message says of groups, members, transactions, topics, partitions and errors, out of its table of fields.

The definitions of Kafka's messages use the same few names throughout; the walk knows those, so that a new API needs
nothing here.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, cast

from kafkawire.api import ApiKey
from kafkawire.codec.layout import StructLayout, layout_of
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.produce_request import ProduceRequest
from kafkawire.messages.write_txn_markers_request import WritableTxnMarker
from kafkawire.records import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kafkawire.rows import Rows
from kafkawire.schema import ZERO_UUID, Message, Struct

_TOPIC: Final = ("topic", "topic_name")
_PARTITION: Final = ("partition", "partition_index", "partition_id", "index")
_PARTITIONS: Final = ("partitions", "partition_indexes")
_GROUP_LISTS: Final = ("groups", "groups_names", "group_ids")
_TOPIC_LISTS: Final = ("topic_names", "topics", "subscribed_topic_names", "source_topics", "repartition_sink_topics")
_TOPIC_RESOURCE: Final = 2
_GROUP_KEY: Final = 0
_TRANSACTION_KEY: Final = 1
_TRANSACTIONAL_IDS: Final = ("transactional_id", "v3_and_below_transactional_id")
_PRODUCER_IDS: Final = ("producer_id", "v3_and_below_producer_id")
_PRODUCER_EPOCHS: Final = ("producer_epoch", "v3_and_below_producer_epoch")
_OF_TRANSACTIONS: Final = frozenset((*_TRANSACTIONAL_IDS, *_PRODUCER_IDS, *_PRODUCER_EPOCHS))
_EPOCHS: Final = ("member_epoch", "generation_id_or_member_epoch", "generation_id")
_INSTANCES: Final = ("instance_id", "group_instance_id")
_NAMES_MEMBERS: Final = ("", "members", "groups")
"""Where who asks, or is spoken for, stands in a request: at the top, or in these arrays."""
_OF_A_BATCH: Final = struct.Struct(">21xh20xqh").unpack_from
"""Attributes, producer id and epoch in a batch's header."""
_BATCH_HEADER: Final = 53
_TRANSACTIONAL: Final = 0x10

TopicName = Callable[[bytes], str | None]
"""A topic id to the topic's name; None where there is none of it."""


class Transaction(NamedTuple):
    """What a request says of the transaction that it is part of or asks about."""

    transactional_id: str | None
    """None where the request knows the producer alone: WriteTxnMarkers."""
    producer_id: int
    """-1 where the request does not know it."""
    producer_epoch: int


class Member(NamedTuple):
    """What a request says of a member of a group."""

    member_id: str
    """The one that it was given, where it had none."""
    instance_id: str | None
    """Of a static member, where the request says it."""
    epoch: int | None
    """Its generation or member epoch, as the request says; None where it does not."""


class Mentioned:
    """What a request is about, each in the order of its first mention."""

    def __init__(self) -> None:
        self.groups: dict[str, None] = {}
        self.members: dict[Member, None] = {}
        self.transactions: dict[Transaction, None] = {}
        self.topics: dict[str, None] = {}
        self.partitions: dict[tuple[str, int], None] = {}


def mentioned(request: Message, version: int, topic_name: TopicName) -> Mentioned:
    """The groups, transactions, topics and partitions that a request of this version names."""
    found = Mentioned()
    _walk(request, version, "", None, found, topic_name)
    if isinstance(request, FindCoordinatorRequest):
        for key in (*request.coordinator_keys, *([request.key] if request.key else [])):
            if request.key_type == _GROUP_KEY:
                found.groups.setdefault(key)
            elif request.key_type == _TRANSACTION_KEY:
                found.transactions.setdefault(Transaction(key, NO_PRODUCER_ID, NO_PRODUCER_EPOCH))
    elif isinstance(request, ProduceRequest):
        found.transactions = dict.fromkeys(_produced_in(request))
    return found


def with_answered_producer(transactions: Iterable[Transaction], answer: Any) -> tuple[Transaction, ...]:
    """The same; of an InitProducerId with the producer id and epoch that it was given."""
    if not isinstance(answer, InitProducerIdResponse) or answer.error_code:
        return tuple(transactions)
    return tuple(Transaction(each.transactional_id, answer.producer_id, answer.producer_epoch) for each in transactions)


def with_answered_member(members: Iterable[Member], answer: Any) -> tuple[Member, ...]:
    """The same; who joined without a member id has the one that it was given."""
    given = getattr(answer, "member_id", None)
    found = (one if one.member_id or not given else one._replace(member_id=given) for one in members)
    return tuple(one for one in found if one.member_id or one.instance_id)


def _produced_in(request: ProduceRequest) -> list[Transaction]:
    """Of a Produce: its transactional id with the producers of its transactional batches."""
    producers = []
    for topic in request.topic_data or ():
        for partition in topic.partition_data or ():
            records = partition.records
            head = b"".join(records) if isinstance(records, list | tuple) else records
            if head is not None and len(head) >= _BATCH_HEADER:
                attributes, producer_id, epoch = _OF_A_BATCH(head)
                if attributes & _TRANSACTIONAL:
                    producers.append((producer_id, epoch))
    if request.transactional_id is not None and not producers:
        producers.append((NO_PRODUCER_ID, NO_PRODUCER_EPOCH))
    return [Transaction(request.transactional_id, *producer) for producer in producers]


Tally = Callable[[Any], dict[int, int]]
"""An answer to its error codes, each with how often it stands there, NONE (0) too."""


def error_tally(response: type[Message], version: int) -> Tally:
    """Counts the error codes that a version of an answer has. Raises ValueError for a version that it has not."""
    return cast(Tally, _compiled(cast(Any, response), version))


def error_steps(response: type[Message], version: int) -> Callable[[Any], Generator[int, None, dict[int, int]]]:
    """The same of a large answer: gives 1 for each thing that it has counted, and the counts in the end."""
    made = _compiled(cast(Any, response), version, "yield 1")
    return cast("Callable[[Any], Generator[int, None, dict[int, int]]]", made)


@cache  # of so many versions of so many answers; whoever looks at a journal asks for the same ones again and again
def _compiled(response: Any, version: int, between: str = "") -> Any:
    lines = ["def tally(message):", "    counts = {}", *_counting(layout_of(response, version), "message", 1, between)]
    if between:
        lines.append(f"    {between}")
    made: dict[str, Any] = {"add": _add_column, "Rows": Rows}
    exec("\n".join([*lines, "    return counts"]), made)  # of our own tables: as the codec does, for the hot path
    return made["tally"]


def _counting(layout: StructLayout, of: str, depth: int, between: str) -> list[str]:
    """The lines that count what is in the struct of that name; `between` is done for each thing of an array."""
    lines: list[str] = []
    indent = "    " * depth
    for field in (*layout.fields, *layout.tagged):
        if field.kind == "int16" and not field.array and field.name.endswith("error_code"):
            lines += [f"{indent}code = {of}.{field.name}", f"{indent}counts[code] = counts.get(code, 0) + 1"]
        elif field.struct is not None:
            each = f"{field.name}_{depth}"
            inner = _counting(field.struct, each, depth + 2, between)
            if not inner:
                continue
            alone = len(inner) == 2  # one code and nothing else
            if between and field.array:
                inner.append(f"{indent}        {between}")
            lines.append(f"{indent}found = {of}.{field.name}")
            if not field.array:
                lines += [f"{indent}for {each} in () if found is None else (found,):", f"{indent}    if 1:", *inner]
            elif alone:
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
    message: Struct, version: int, inside: str, topic: str | None, found: Mentioned, topic_name: TopicName
) -> None:
    topic = _topic_of(message, inside, topic_name) or topic
    if topic is not None:
        found.topics.setdefault(topic)
    transaction = _transaction_of(message, version)
    if transaction is not None:
        found.transactions.setdefault(transaction)
    member = _member_of(message, version) if inside in _NAMES_MEMBERS else None
    if member is not None:
        found.members.setdefault(member)
    for name, kind, versions, *_ in message.FIELDS:
        value = getattr(message, name)
        if value is None or not versions[0] <= version <= versions[1]:  # it has a default, and nobody said it
            continue
        if name == "group_id":
            found.groups.setdefault(value)
        elif kind == "[]string":
            if name in _GROUP_LISTS:
                found.groups.update(dict.fromkeys(value))
            elif name in _TOPIC_LISTS:
                found.topics.update(dict.fromkeys(value))
            elif name == "transactional_ids":
                asked = (Transaction(each, NO_PRODUCER_ID, NO_PRODUCER_EPOCH) for each in value)
                found.transactions.update(dict.fromkeys(asked))
        elif kind == "[]uuid" and name == "topic_ids":
            found.topics.update(dict.fromkeys(filter(None, map(topic_name, value))))
        elif topic is not None and kind == "int32" and name in _PARTITION:
            found.partitions.setdefault((topic, value))
        elif topic is not None and kind == "[]int32" and name in _PARTITIONS:
            found.partitions.update(dict.fromkeys((topic, index) for index in value))
        elif kind[0] == "[" or kind[0].isupper():
            for each in _structs(value):
                _walk(each, version, name, topic, found, topic_name)


def _member_of(message: Struct, version: int) -> Member | None:
    """The member that a struct is about."""
    cls: Any = type(message)
    names = _names_of_members(cls, version)
    if "member_id" not in names:
        return None
    said = {name: getattr(message, name) for name in names}
    instance_id, epoch = _first(said, _INSTANCES, None), _first(said, _EPOCHS, None)
    return None if said["member_id"] is None else Member(said["member_id"], instance_id, epoch)


@lru_cache(maxsize=1024)
def _names_of_members(cls: type[Struct], version: int) -> tuple[str, ...]:
    """The fields of a struct that say something of a member."""
    wanted = ("member_id", *_EPOCHS, *_INSTANCES)
    return tuple(row[0] for row in cls.FIELDS if row[0] in wanted and row[2][0] <= version <= row[2][1])


def _transaction_of(message: Struct, version: int) -> Transaction | None:
    """The transaction that a struct is about."""
    cls: Any = type(message)
    names = _names_of_transactions(cls, version)
    if not names:
        return None
    said = {name: getattr(message, name) for name in names}
    transactional_id = _first(said, _TRANSACTIONAL_IDS, None)
    if transactional_id is None and not isinstance(message, WritableTxnMarker):
        return None  # an idempotent producer's
    producer_id = _first(said, _PRODUCER_IDS, NO_PRODUCER_ID)
    return Transaction(transactional_id, producer_id, _first(said, _PRODUCER_EPOCHS, NO_PRODUCER_EPOCH))


@lru_cache(maxsize=1024)
def _names_of_transactions(cls: type[Struct], version: int) -> tuple[str, ...]:
    """The fields of a struct that say something of a transaction."""
    return tuple(row[0] for row in cls.FIELDS if row[0] in _OF_TRANSACTIONS and row[2][0] <= version <= row[2][1])


def _first(said: dict[str, Any], names: tuple[str, ...], otherwise: Any) -> Any:
    return next((said[name] for name in names if name in said), otherwise)


def _topic_of(message: Any, inside: str, topic_name: TopicName) -> str | None:
    """The topic that a struct is about. `inside` is the name of the field that holds the struct."""
    fields = {row[0]: row[1] for row in message.FIELDS}
    for name in _TOPIC:
        if fields.get(name) == "string" and getattr(message, name):
            return str(getattr(message, name))
    if "topic" in inside and fields.get("name") == "string" and message.name:
        return str(message.name)
    if "topic_id" in fields and message.topic_id != ZERO_UUID:
        return topic_name(message.topic_id)
    if fields.get("resource_name") == "string" and getattr(message, "resource_type", None) == _TOPIC_RESOURCE:
        return str(message.resource_name)
    return None


def _structs(value: Any) -> Iterable[Struct]:
    if isinstance(value, Struct):
        return (value,)
    if isinstance(value, str | bytes | memoryview) or value is None:
        return ()
    return (each for each in value if isinstance(each, Struct))
