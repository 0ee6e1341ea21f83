"""Where requests and answers name groups, transactions, topics and partitions, and where answers have their errors.

Only the names of the outer arrays are written down here; what is inside comes from the messages' `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec.layout import FieldLayout, StructLayout, layout_of
from kafkawire.schema import ZERO_UUID

_TOPICS: Final = {
    ApiKey.PRODUCE: (("topic_data",), "responses"),
    ApiKey.FETCH: (("topics",), "responses"),
    ApiKey.LIST_OFFSETS: (("topics",), "topics"),
    ApiKey.METADATA: (("topics",), "topics"),
    ApiKey.OFFSET_COMMIT: (("topics",), "topics"),
    ApiKey.OFFSET_FETCH: (("topics",), "topics"),
    ApiKey.CREATE_TOPICS: (("topics",), "topics"),
    ApiKey.DELETE_TOPICS: (("topics", "topic_names"), "responses"),
    ApiKey.DELETE_RECORDS: (("topics",), "topics"),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (("topics",), "topics"),
    ApiKey.TXN_OFFSET_COMMIT: (("topics",), "topics"),
    ApiKey.CREATE_PARTITIONS: (("topics",), "results"),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (("topics",), "results"),
    ApiKey.ELECT_LEADERS: (("topic_partitions",), "replica_election_results"),
    ApiKey.ADD_PARTITIONS_TO_TXN: (("v3_and_below_topics",), "results_by_topic_v3_and_below"),
    ApiKey.OFFSET_DELETE: (("topics",), "topics"),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (("subscribed_topic_names",), ""),
    ApiKey.SHARE_GROUP_HEARTBEAT: (("subscribed_topic_names",), ""),
    ApiKey.DESCRIBE_PRODUCERS: (("topics",), "topics"),
    ApiKey.DESCRIBE_QUORUM: (("topics",), "topics"),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (("topics",), "topics"),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: (("topics",), "results"),
    ApiKey.READ_SHARE_GROUP_STATE: (("topics",), "results"),
    ApiKey.WRITE_SHARE_GROUP_STATE: (("topics",), "results"),
    ApiKey.DELETE_SHARE_GROUP_STATE: (("topics",), "results"),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: (("topics",), "results"),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (("topics",), "responses"),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (("topics",), "responses"),
}
"""API -> the request's arrays of topics (whichever its version has), the answer's."""

_HOLDERS: Final = {ApiKey.ALTER_REPLICA_LOG_DIRS: "dirs"}
"""API -> the request's array in whose elements the topics stand, where it is not the request that has them."""

_OWNERS: Final = {
    ApiKey.DELETE_GROUPS: (("groups_names",), "results"),
    ApiKey.DESCRIBE_GROUPS: (("groups",), "groups"),
    ApiKey.OFFSET_FETCH: (("groups",), "groups"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (("group_ids",), "groups"),
    ApiKey.SHARE_GROUP_DESCRIBE: (("group_ids",), "groups"),
    ApiKey.STREAMS_GROUP_DESCRIBE: (("group_ids",), "groups"),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (("groups",), "groups"),
    ApiKey.FIND_COORDINATOR: (("coordinator_keys",), "coordinators"),
    ApiKey.ADD_PARTITIONS_TO_TXN: (("transactions",), "results_by_transaction"),
    ApiKey.DESCRIBE_TRANSACTIONS: (("transactional_ids",), "transaction_states"),
    ApiKey.WRITE_TXN_MARKERS: (("markers",), "markers"),
}
"""The same for arrays of what topics belong to, or what is asked for by itself: groups, transactions, markers."""

_TRANSACTIONS_ALONE: Final = frozenset(
    {ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.WRITE_TXN_MARKERS}
)
"""Whose owners are no groups."""
_NAMELESS: Final = frozenset({ApiKey.WRITE_TXN_MARKERS})
"""Whose owners are known by their producer ids alone."""
_OF_SUBTOPOLOGIES: Final = (
    "source_topics", "repartition_sink_topics", "repartition_source_topics", "state_changelog_topics",
)  # fmt: skip
"""The arrays of topics that each part of a topology of Kafka Streams has, in `topology.subtopologies`."""
_TOPIC_NAMES: Final = ("topic", "topic_name", "name")
_OWNER_NAMES: Final = ("group_id", "transactional_id", "key", "producer_id")
_TRANSACTIONAL_IDS: Final = ("transactional_id", "v3_and_below_transactional_id")
_INDEXES: Final = ("partition_index", "partition", "partition_id", "index")


class Array(NamedTuple):
    """An array of owners, topics or partitions in one version."""

    field: str
    name: str | None
    """The attribute with the element's name or index; None: the element is that itself."""
    by_id: bool
    """Topics by their id and not by name."""
    cls: Any
    has_error: bool
    inner: Array | None
    """The topics of an owner, the partitions of a topic."""


class Naming(NamedTuple):
    """What one version of an API names; None where it does not."""

    group: str | None
    """The attribute with the one group of a request."""
    transaction: str | None
    """The attribute with its one transactional id."""
    owners: Array | None
    owner_groups: bool
    """Whether the owners are groups, or may be (FindCoordinator)."""
    owner_transactions: bool
    topics: Array | None
    """Those at the top; those in `owners` are there."""
    answer_owners: Array | None
    answer_topics: Array | None
    holder: str | None = None
    """The array in whose elements `topics` are, where it is not the request that has them."""
    of_subtopologies: tuple[Array, ...] = ()
    """The arrays of topics in each part of a topology, where the request has one."""

    @property
    def names_groups(self) -> bool:
        return self.group is not None or self.owner_groups

    @property
    def names_transactions(self) -> bool:
        return self.transaction is not None or self.owner_transactions

    @property
    def request_topics(self) -> Array | None:
        if self.of_subtopologies:
            return self.of_subtopologies[0]
        return self.topics or (self.owners.inner if self.owners is not None else None)

    @property
    def answered_topics(self) -> Array | None:
        return self.answer_topics or (self.answer_owners.inner if self.answer_owners is not None else None)

    @property
    def names_partitions(self) -> bool:
        topics = self.request_topics
        return topics is not None and topics.inner is not None


@lru_cache(maxsize=512)
def naming(key: ApiKey, version: int) -> Naming:
    """Raises ValueError for a version that the messages do not have."""
    request, answer = layout_of(request_class(key), version), layout_of(response_class(key), version)
    has = {field.name for field in request.fields}
    group: str | None = "group_id" if "group_id" in has else None
    transaction: str | None = next((name for name in _TRANSACTIONAL_IDS if name in has), None)
    if key == ApiKey.FIND_COORDINATOR and "key" in has:
        group = transaction = "key"
    of_owners, of_topics = _OWNERS.get(key, ((), "")), _TOPICS.get(key, ((), ""))
    holder, holding = _HOLDERS.get(key), request
    for field in request.fields:
        if field.name == holder and field.struct is not None:
            holding = field.struct
    owners = _array(request, of_owners[0], _OWNER_NAMES)
    subtopology = _subtopology(request)
    parts = (_array(subtopology, (name,), _TOPIC_NAMES) for name in _OF_SUBTOPOLOGIES) if subtopology else ()
    return Naming(
        group,
        transaction,
        owners,
        owners is not None and key not in _TRANSACTIONS_ALONE,
        owners is not None and (key in _TRANSACTIONS_ALONE - _NAMELESS or key == ApiKey.FIND_COORDINATOR),
        _array(holding, of_topics[0], _TOPIC_NAMES),
        _array(answer, (of_owners[1],), _OWNER_NAMES),
        _array(answer, (of_topics[1],), _TOPIC_NAMES),
        holder,
        tuple(part for part in parts if part is not None),
    )


def _subtopology(request: StructLayout) -> StructLayout | None:
    """The parts of the topology that a request has."""
    topology = next((field.struct for field in request.fields if field.name == "topology"), None)
    if topology is None:
        return None
    return next((field.struct for field in topology.fields if field.name == "subtopologies"), None)


@lru_cache(maxsize=512)
def has_field(key: ApiKey, version: int, name: str) -> bool:
    """Whether the answer has it at the top."""
    layout = layout_of(response_class(key), version)
    return any(field.name == name for field in (*layout.fields, *layout.tagged))


def has_error(key: ApiKey, version: int) -> bool:
    """Whether an error code stands anywhere in the answer."""
    return _has_error(layout_of(response_class(key), version))


def _has_error(layout: StructLayout) -> bool:
    return any(
        is_error_code(field.name) or (field.struct is not None and _has_error(field.struct)) for field in layout.fields
    )


def is_error_code(name: str) -> bool:
    """Whether a field of that name holds an error: AddPartitionsToTxn calls it `partition_error_code`."""
    return name.endswith("error_code")


def _array(layout: StructLayout, names: tuple[str, ...], called: tuple[str, ...]) -> Array | None:
    for field in layout.fields:
        if field.name in names and field.array:
            return _described(field, called)
    return None


def _described(field: FieldLayout, called: tuple[str, ...]) -> Array:
    if field.struct is None:
        return Array(field.name, None, False, None, False, None)
    has = {each.name: each for each in field.struct.fields}
    name = next((each for each in called if each in has), None)
    inner = None
    if called is _OWNER_NAMES:
        inner = _array(field.struct, ("topics", "topic_results"), _TOPIC_NAMES)
    elif called is _TOPIC_NAMES:
        inner = _array(field.struct, tuple(each for each in has if "partition" in each), _INDEXES)
    by_id = "topic_id" in has and (name is None or called is not _TOPIC_NAMES)
    has_error = any(map(is_error_code, has))
    return Array(field.name, "topic_id" if by_id else name, by_id, field.struct.cls, has_error, inner)


def topic_of(element: Any, array: Array, topic_name: Any) -> str | None:
    """The name of a topic in a request."""
    if array.name is None:
        return str(element)
    if array.by_id:
        found: str | None = topic_name(element.topic_id)
        return found
    name = getattr(element, array.name)
    topic_id = getattr(element, "topic_id", ZERO_UUID)
    if not name and topic_id != ZERO_UUID:
        name = topic_name(topic_id)
    return name if name is None else str(name)


def index_of(element: Any, array: Array) -> int:
    """The index of a partition in a request."""
    return int(element if array.name is None else getattr(element, array.name))


def topics_in(request: Any, names: Naming) -> Iterator[tuple[object, Array, Any]]:
    """(owner that it stands in, its array, the element) for each topic that a request names."""
    if names.of_subtopologies and request.topology is not None:
        for part in request.topology.subtopologies:
            for array in names.of_subtopologies:
                for topic in getattr(part, array.field):
                    yield None, array, topic
    if names.topics is not None:
        for each in (request,) if names.holder is None else getattr(request, names.holder):
            for topic in getattr(each, names.topics.field) or ():
                yield None, names.topics, topic
    if names.owners is not None and names.owners.inner is not None:
        assert names.owners.name is not None
        for owner in getattr(request, names.owners.field) or ():
            for topic in getattr(owner, names.owners.inner.field) or ():
                yield getattr(owner, names.owners.name), names.owners.inner, topic
