"""What a cluster answers to whoever looks: the same questions to a cluster and to a stub that stands for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.client import Client, of_groups, topics, transactions
from kafkastub.client.routing import TRANSACTION
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.schema import Struct

_ELSEWHERE: Final = frozenset({"throttle_time_ms", "host", "port", "cluster_authorized_operations", "client_host"})
"""What depends on who asks where."""
_DESCRIBING: Final[dict[str, Callable[[str], Any]]] = {
    "classic": lambda group: DescribeGroupsRequest(groups=[group]),
    "consumer": lambda group: ConsumerGroupDescribeRequest(group_ids=[group]),
    "share": lambda group: ShareGroupDescribeRequest(group_ids=[group]),
    "streams": lambda group: StreamsGroupDescribeRequest(group_ids=[group]),
}


def all_answers(client: Client) -> dict[str, Any]:
    """Everything, by what it is about."""
    metadata = client.ask(MetadataRequest(topics=None))
    places = [(one.name, row.partition_index) for one in metadata.topics for row in one.partitions]
    found = {row.group_id: row for node in client.nodes() for row in of_groups.listed(client, node, (), ())}
    kinds = {name: row.group_type.lower() for name, row in sorted(found.items())}
    return {
        "topics": sorted(map(plain, metadata.topics), key=lambda one: one["name"]),
        "nodes": sorted((one.node_id, one.rack) for one in metadata.brokers),
        "cluster": metadata.cluster_id,
        "topic configurations": _configs(client, 2, [one.name for one in metadata.topics]),
        "group configurations": _configs(client, 32, list(kinds)),
        "offsets": offsets(client, places),
        "stable offsets": offsets(client, places, isolation=1),
        "epochs": _epochs(client, [one for one in places if not one[0].startswith("__")]),
        "producers": _producers(client, places),
        "groups": sorted((row.group_id, row.group_type, row.group_state, row.protocol_type) for row in found.values()),
        "descriptions": {name: _described(client, name, kind) for name, kind in kinds.items()},
        "committed": {name: committed(client, name) for name, kind in kinds.items() if kind != "share"},
        "stable committed": {name: committed(client, name, True) for name, kind in kinds.items() if kind != "share"},
        "share offsets": {name: _share_offsets(client, name) for name, kind in kinds.items() if kind == "share"},
        "transactions": _transactions(client),
        "acls": _acls(client),
        "quotas": _quotas(client),
    }


def plain(message: Any) -> Any:
    """An answer as values, whatever order its arrays have."""
    if isinstance(message, Struct):
        return {row[0]: plain(getattr(message, row[0])) for row in message.FIELDS if row[0] not in _ELSEWHERE}
    if isinstance(message, bytes | str | int | float | None):
        return message
    if isinstance(message, memoryview):
        return bytes(message)
    return sorted((plain(one) for one in message), key=repr)


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two of them differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [line for key in {**one, **other} for line in differences(one.get(key), other.get(key), f"{path}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            line
            for number, pair in enumerate(zip(one, other, strict=True))
            for line in differences(*pair, f"{path}[{number}]")
        ]
    return [] if one == other else [f"{path}: {one!r:.500}\n  here {other!r:.500}"]


def offsets(client: Client, places: Iterable[tuple[str, int]], isolation: int = 0) -> dict[str, tuple[int, int]]:
    """The first and the last offset of each partition."""
    places, found = list(places), {}
    for timestamp in (topics.EARLIEST, topics.LATEST):

        def make(own: list[tuple[str, int]], timestamp: int = timestamp) -> ListOffsetsRequest:
            return ListOffsetsRequest(
                replica_id=-1,
                isolation_level=isolation,
                topics=[ListOffsetsTopic(name, [ListOffsetsPartition(index, -1, timestamp)]) for name, index in own],
            )

        for answer in client.ask_leaders(places, make):
            for topic in answer.topics:
                for row in topic.partitions:
                    assert row.error_code == 0, row
                    found.setdefault((topic.name, row.partition_index), []).append(row.offset)
    return {f"{name}-{index}": tuple(both) for (name, index), both in sorted(found.items())}


def committed(client: Client, group: str, stable: bool = False) -> Any:
    """What a group has committed; with `stable` as who must not see what a transaction may yet change."""
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=None)], group_id=group, require_stable=stable
    )
    return plain(client.ask_coordinator(group, request, version=9))


def _epochs(client: Client, places: list[tuple[str, int]]) -> Any:
    def make(own: list[tuple[str, int]]) -> OffsetForLeaderEpochRequest:
        asked = [
            OffsetForLeaderTopic(name, [OffsetForLeaderPartition(index, leader_epoch=epoch)])
            for name, index in own
            for epoch in range(3)
        ]
        return OffsetForLeaderEpochRequest(topics=asked)

    return [plain(one) for one in client.ask_leaders(places, make)]


def _producers(client: Client, places: list[tuple[str, int]]) -> Any:
    def make(own: list[tuple[str, int]]) -> DescribeProducersRequest:
        return DescribeProducersRequest(topics=[TopicRequest(name, [index]) for name, index in own])

    wanted = [one for one in places if not one[0].startswith("__")]
    return [plain(one) for one in client.ask_leaders(wanted, make)]


def _described(client: Client, group: str, kind: str) -> Any:
    described = plain(client.ask_coordinator(group, _DESCRIBING[kind](group)))
    if kind == "streams":
        for one in described["groups"]:
            for subtopology in (one["topology"] or {"subtopologies": []})["subtopologies"]:
                for topic in subtopology["state_changelog_topics"] + subtopology["repartition_source_topics"]:
                    del topic["partitions"]  # no record has it: with the next heartbeat they are counted again
    return described


def _share_offsets(client: Client, group: str) -> Any:
    request = DescribeShareGroupOffsetsRequest(groups=[DescribeShareGroupOffsetsRequestGroup(group, None)])
    return plain(client.ask_coordinator(group, request))


def _configs(client: Client, kind: int, names: list[str]) -> Any:
    request = DescribeConfigsRequest(resources=[DescribeConfigsResource(kind, name, None) for name in names])
    return {one.resource_name: plain(one.configs) for one in client.ask(request).results}


def _transactions(client: Client) -> Any:
    found = {}
    for one in transactions.list_transactions(client):
        request = DescribeTransactionsRequest(transactional_ids=[one.transactional_id])
        found[one.transactional_id] = plain(client.ask_coordinator(one.transactional_id, request, TRANSACTION))
    return found


def _acls(client: Client) -> Any:
    answer = client.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1))
    assert answer.error_code == ErrorCode.NONE, answer
    return plain(answer)


def _quotas(client: Client) -> Any:
    return plain(client.ask(DescribeClientQuotasRequest(components=[], strict=False)))
