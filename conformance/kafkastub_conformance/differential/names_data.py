"""What differs from run to run in the answers of the data plane; the table is in the module `names`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.names import PLAIN_NODE, TOPICS, Names, is_near
from kafkastub_conformance.differential.names_admin import CHANGES as OF_ADMINISTRATION
from kafkastub_conformance.differential.names_admin import learn_given
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, check_crc, decompress, parse_header, split_batches
from kafkawire.schema import Message

BROKERS = (4, 8)
"""The types of a broker, and of its loggers, as a resource."""

MILLISECONDS = re.compile(r"(?<!\d)(?:\d{13}|-\d{19})(?!\d)")
"""In texts; also as far behind the earliest long as the time is behind 1970."""

LONGEST = 2**63 - 1
OFFSETS_TOPIC = "__consumer_offsets"

UNORDERED_DATA: dict[tuple[str, ...], tuple[str, ...]] = {
    ("Produce", "responses"): ("name", "topic_id"),
    ("Produce", "responses", "partition_responses"): ("index",),
    ("Produce", "node_endpoints"): ("node_id",),
    ("ListOffsets", "topics"): ("name",),
    ("ListOffsets", "topics", "partitions"): ("partition_index",),
    ("OffsetForLeaderEpoch", "topics"): ("topic",),
    ("DeleteRecords", "topics"): ("name",),
    ("DeleteRecords", "topics", "partitions"): ("partition_index",),
    ("CreateTopics", "topics"): ("name",),
    ("CreateTopics", "topics", "configs"): ("name",),
    ("CreatePartitions", "results"): ("name",),
    ("DeleteTopics", "responses"): ("name", "topic_id"),
    ("Metadata", "topics"): ("name", "topic_id"),
    ("Metadata", "topics", "partitions"): ("partition_index",),
    ("DescribeConfigs", "results"): ("resource_type", "resource_name"),
    ("DescribeConfigs", "results", "configs"): ("name",),
    ("AlterConfigs", "responses"): ("resource_type", "resource_name"),
    ("IncrementalAlterConfigs", "responses"): ("resource_type", "resource_name"),
    ("ListConfigResources", "config_resources"): ("resource_type", "resource_name"),
    ("ConsumerGroupHeartbeat", "assignment", "topic_partitions"): ("topic_id",),
    ("ConsumerGroupDescribe", "groups", "members", "subscribed_topic_names"): (),
    ("ConsumerGroupDescribe", "groups", "members", "assignment", "topic_partitions"): ("topic_id",),
    ("ConsumerGroupDescribe", "groups", "members", "target_assignment", "topic_partitions"): ("topic_id",),
    ("ShareGroupHeartbeat", "assignment", "topic_partitions"): ("topic_id",),
    ("ShareGroupDescribe", "groups", "members", "subscribed_topic_names"): (),
    ("ShareGroupDescribe", "groups", "members", "assignment", "topic_partitions"): ("topic_id",),
    ("ShareFetch", "responses"): ("topic_id",),
    ("ShareFetch", "responses", "partitions"): ("partition_index",),
    ("ShareAcknowledge", "responses"): ("topic_id",),
    ("ShareAcknowledge", "responses", "partitions"): ("partition_index",),
    ("DescribeShareGroupOffsets", "groups"): ("group_id",),
    ("DescribeShareGroupOffsets", "groups", "topics"): ("topic_name",),
    ("DescribeShareGroupOffsets", "groups", "topics", "partitions"): ("partition_index",),
    ("AlterShareGroupOffsets", "responses"): ("topic_name",),
    ("AlterShareGroupOffsets", "responses", "partitions"): ("partition_index",),
    ("DeleteShareGroupOffsets", "responses"): ("topic_name",),
    **{
        (api, "results", *deeper): keys
        for api in (
            "InitializeShareGroupState",
            "ReadShareGroupState",
            "WriteShareGroupState",
            "DeleteShareGroupState",
            "ReadShareGroupStateSummary",
        )
        for deeper, keys in (((), ("topic_id",)), (("partitions",), ("partition",)))
    },
    ("DescribeProducers", "topics", "partitions", "active_producers"): ("producer_id",),
    ("DescribeTransactions", "transaction_states", "topics"): ("topic",),
    ("ListTransactions", "transaction_states"): ("transactional_id",),
    ("AddPartitionsToTxn", "results_by_transaction", "topic_results"): ("name",),
    ("AddPartitionsToTxn", "results_by_transaction", "topic_results", "results_by_partition"): ("partition_index",),
    ("AddPartitionsToTxn", "results_by_transaction"): ("transactional_id", "topic_results"),
    ("AddPartitionsToTxn", "results_by_topic_v3_and_below"): ("name",),
    ("AddPartitionsToTxn", "results_by_topic_v3_and_below", "results_by_partition"): ("partition_index",),
    ("WriteTxnMarkers", "markers"): ("producer_id",),
    ("WriteTxnMarkers", "markers", "topics"): ("name",),
    ("WriteTxnMarkers", "markers", "topics", "partitions"): ("partition_index",),
    ("DescribeLogDirs", "results"): ("log_dir",),
    ("DescribeLogDirs", "results", "topics"): ("name",),
    ("DescribeLogDirs", "results", "topics", "partitions"): ("partition_index",),
    ("DescribeAcls", "resources", "acls"): ("principal", "host", "operation", "permission_type"),
    ("DescribeAcls", "resources"): ("resource_type", "resource_name", "pattern_type"),
    ("DeleteAcls", "filter_results", "matching_acls"): (
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    ),
    ("DescribeClientQuotas", "entries", "entity"): ("entity_type",),
    ("DescribeClientQuotas", "entries", "values"): ("key",),
    ("DescribeClientQuotas", "entries"): ("entity",),
    # By the enum's hash, another one in every Java.
    ("DescribeUserScramCredentials", "results", "credential_infos"): ("mechanism",),
    ("DescribeUserScramCredentials", "results"): ("user",),
    ("AlterPartitionReassignments", "responses"): ("name",),
    ("ListPartitionReassignments", "topics"): ("name",),
    ("AlterReplicaLogDirs", "results"): ("topic_name",),
    ("AlterReplicaLogDirs", "results", "partitions"): ("partition_index",),
    ("DescribeDelegationToken", "tokens"): ("token_id",),
    ("ApiVersions", "finalized_features"): ("name",),
    ("ApiVersions", "supported_features"): ("name",),
    ("ElectLeaders", "replica_election_results"): ("topic",),
    ("ElectLeaders", "replica_election_results", "partition_result"): ("partition_id",),
}
"""Arrays that Kafka fills from a hash map, and what we sort them by."""


def learn_numbers(names: Names, message: Message) -> None:
    """Name what a broker gave out and later requests say again: `<session 1>`, `<subscription 1>`, `<token 1>`."""
    kind = type(message).__name__.removesuffix("Response")
    said: Any = message
    learn_given(names, kind, said)
    if kind == "Fetch" and said.session_id:
        names.number("session", said.session_id)
    if kind in ("InitProducerId", "EndTxn"):
        names.learn_producer(said.producer_id)
    if kind == "GetTelemetrySubscriptions" and said.subscription_id:
        names.number("subscription", said.subscription_id)


def normalise_data(names: Names, api: str, request: Mapping[str, Json], answer: dict[str, Json]) -> dict[str, Json]:
    """The answer of an API of the data plane with the table applied; any other as it is."""
    change = CHANGES.get(api)
    if change is not None:
        change(names, request, answer)
    for (of_api, *path), keys in UNORDERED_DATA.items():
        if of_api == api:
            sort_at(answer, path, keys)
    return _texts(answer)  # type: ignore[no-any-return]


def sort_at(answer: Json, path: list[str], keys: tuple[str, ...]) -> None:
    """Sort the arrays at `path` by their elements' fields `keys`; where there are none, by the elements."""
    if isinstance(answer, list):
        for item in answer:
            sort_at(item, path, keys)
    elif isinstance(answer, dict) and path and path[0] in answer:
        if len(path) > 1:
            sort_at(answer[path[0]], path[1:], keys)
        elif answer[path[0]]:
            answer[path[0]].sort(key=lambda item: [_comparable(item.get(key)) for key in keys] if keys else item)


def _comparable(value: Json) -> tuple[int, str]:
    """An absent field is the schema's default: 0 or an empty text."""
    if isinstance(value, list):
        return 0, str(value)
    return (value, "") if isinstance(value, int) else (0, value or "")


def _texts(value: Json) -> Any:
    """Times near now within error texts."""
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, str):
        return MILLISECONDS.sub(_time, value)
    return value


def _time(found: re.Match[str]) -> str:
    """The earliest time that a limit of the largest long lets through is now, less that."""
    value = int(found[0])
    return "<time>" if is_near(value if value > 0 else value + LONGEST) else found[0]


def _fetch(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    if answer.get("session_id"):
        answer["session_id"] = names.stable_number(answer["session_id"])
    for topic in answer.get("responses", ()):
        for partition in topic["partitions"]:
            if partition.get("records"):
                partition["records"] = shown_records(bytes.fromhex(partition["records"]), names.producer)


def shown_records(records: bytes, producer: Callable[[int], Json] = int) -> list[Json]:
    """Batch by batch: the header's fields, and the payload as it is; a codec's output is shown unpacked.

    What is cut off by a limit stands at the end, without what differs.
    """
    shown: list[Json] = []
    at = 0
    for _, batch in split_batches(records):
        one = _shown_batch(bytes(batch))
        shown.append(one | {"producer_id": producer(one["producer_id"])})
        at += len(batch)
    if at < len(records):
        shown.append({"cut off": len(records) - at, "from": records[at : at + 12].hex()})
    return shown


def _shown_batch(batch: bytes) -> Json:
    header = parse_header(batch)
    shown: dict[str, Json] = dict(zip(BatchHeader._fields, header, strict=True))
    shown["crc"] = "right" if check_crc(batch) else "wrong"
    for field in ("max_timestamp", "base_timestamp"):
        shown[field] = "<time>" if is_near(shown[field]) else shown[field]
    payload = batch[HEADER_SIZE:]
    if header.compression:
        try:
            plain = bytes(decompress(header.compression, payload))
        except KafkaError:
            plain = payload
        shown["unpacked"] = plain.hex()
        del shown["length"]
    else:
        shown["payload"] = payload.hex()
    return shown


def _log_dirs(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    for result in answer.get("results", ()):
        result |= {"total_bytes": "<bytes>", "usable_bytes": "<bytes>"}
        if not str(result.get("log_dir", "")).startswith("<dir "):
            result["log_dir"] = "<dir>"
        result["topics"] = [topic for topic in result.get("topics", ()) if topic["name"].startswith("<p>")]
        for topic in result["topics"]:
            if topic["name"].startswith("<p>recompressed"):
                for partition in topic["partitions"]:
                    partition.pop("partition_size", None)


def _metadata(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    if request.get("topics", ()) is None:
        answer["topics"] = [one for one in answer.get("topics", ()) if _is_ours(one.get("name"))]


def _resources(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    kept = []
    for one in answer.get("config_resources", ()):
        broker = one.get("resource_type") in BROKERS
        if broker and one["resource_name"] == str(names.node):
            kept.append(one | {"resource_name": str(PLAIN_NODE)})
        elif not broker and _is_ours(one.get("resource_name")):
            kept.append(one)
    answer["config_resources"] = kept


def _is_ours(name: str | None) -> bool:
    """A topic of this play's or run's."""
    return (name or "").startswith("<p>") or name in TOPICS


def _configs(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    for result in answer.get("results", ()):
        for config in result.get("configs", ()):
            if config.get("documentation"):
                config["documentation"] = "<text>"


def _telemetry(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    if answer.get("subscription_id"):
        answer["subscription_id"] = names.stable_number(answer["subscription_id"])
    if not str(answer.get("client_instance_id", "<")).startswith("<"):
        answer["client_instance_id"] = "<some id>"


def _transactions(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    """Partitions are in a set; which one of the internal topic it is depends on the group's name."""
    for state in answer.get("transaction_states", ()):
        for topic in state.get("topics", ()):
            topic.get("partitions", []).sort()
            if topic["topic"] == OFFSETS_TOPIC and names.topics:
                topic["partitions"] = ["<partition>" for _ in topic["partitions"]]


def _listed_transactions(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    ours = [one for one in answer.get("transaction_states", ()) if one.get("transactional_id", "").startswith("<p>")]
    answer["transaction_states"] = ours


def _consumer_groups(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    """Members are in a map by their ids: in the same order everywhere, where no broker has made one of them up."""
    for group in answer.get("groups", ()):
        members = group.get("members", [])
        if any(one.get("member_id", "").startswith("<") for one in members):
            members.sort(key=lambda one: one.get("member_id", ""))


def _share_fetch(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    for topic in answer.get("responses", ()):
        for partition in topic["partitions"]:
            if partition.get("records"):
                partition["records"] = shown_records(bytes.fromhex(partition["records"]), names.producer)


CHANGES: Mapping[str, Callable[[Names, Mapping[str, Json], dict[str, Json]], None]] = {
    "Fetch": _fetch,
    "ShareFetch": _share_fetch,
    "DescribeConfigs": _configs,
    "DescribeLogDirs": _log_dirs,
    "Metadata": _metadata,
    "ListConfigResources": _resources,
    "GetTelemetrySubscriptions": _telemetry,
    "DescribeTransactions": _transactions,
    "ConsumerGroupDescribe": _consumer_groups,
    "ListTransactions": _listed_transactions,
    **OF_ADMINISTRATION,
}
