"""DescribeShareGroupOffsets, AlterShareGroupOffsets, DeleteShareGroupOffsets, and DeleteGroups of share groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafkastub.handlers.registry import registrations
from kafkastub.layers.nodes import on_its_node
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.share_coordinator.records import SharePartitionKey, coordinator_key
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages import (
    alter_share_group_offsets_request as alter,
)
from kafkawire.messages import (
    describe_share_group_offsets_request as describe,
)
from kafkawire.messages.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeleteGroupsResponse
from kafkawire.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.delete_share_group_offsets_response import DeleteShareGroupOffsetsResponse
from kafkawire.messages.describe_share_group_offsets_response import DescribeShareGroupOffsetsResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kafkawire.records import NewRecord, build_batch
from tests.handlers.desk import Desk

MEMBER = "oQAAAAAAAAAAAAAAAAAAAQ"
NOBODYS = "This server does not host this topic-partition."
Offsets = Sequence[tuple[int, int]]
"""Partition and start offset."""


def named(topics: Mapping[str, Sequence[int]]) -> list[describe.DescribeShareGroupOffsetsRequestTopic]:
    return [describe.DescribeShareGroupOffsetsRequestTopic(name, list(some)) for name, some in topics.items()]


class Shop(Desk):
    """A topic "orders" of two partitions with ten records each, and share groups that read it."""

    def __init__(self, nodes: int = 1, **config: object) -> None:
        super().__init__({name.replace("_", "."): value for name, value in config.items()}, nodes)
        self.topic_id = self.topic("orders", 2).topic_id
        for partition in range(2):
            log = self.state.logs.log(self.topic_id, partition)
            assert log is not None
            batch = build_batch([NewRecord(b"k", b"v", self.broker_ms)] * 10)
            log.append(batch, leader_epoch=0, now_ms=self.broker_ms)

    def beat(self, epoch: int, group: str = "g") -> ShareGroupHeartbeatResponse:
        names = ["orders"] if not epoch else None
        request = ShareGroupHeartbeatRequest(group, MEMBER, epoch, subscribed_topic_names=names)
        return self.ask(1, request, ShareGroupHeartbeatResponse)

    def read_once(self, group: str = "g") -> None:
        """A member has been there: the group has state of both partitions, and is empty."""
        assert self.beat(self.beat(0, group).member_epoch, group).error_code == 0
        self.beat(-1, group)

    def described(
        self, *groups: tuple[str, Mapping[str, Sequence[int]] | None], version: int = 1
    ) -> list[dict[str, list[tuple[Any, ...]]]]:
        """Of each group, by topic: (partition, start offset, lag, error)."""
        found = self.groups(*groups, version=version)
        return [
            {
                topic.topic_name: [
                    (one.partition_index, one.start_offset, one.lag, one.error_code) for one in topic.partitions
                ]
                for topic in group.topics
            }
            for group in found
        ]

    def groups(self, *groups: tuple[str, Mapping[str, Sequence[int]] | None], version: int = 1) -> list[Any]:
        asked = [
            describe.DescribeShareGroupOffsetsRequestGroup(
                group,
                None
                if topics is None
                else [
                    describe.DescribeShareGroupOffsetsRequestTopic(name, list(some)) for name, some in topics.items()
                ],
            )
            for group, topics in groups
        ]
        request = describe.DescribeShareGroupOffsetsRequest(asked)
        return list(self.ask(version, request, DescribeShareGroupOffsetsResponse).groups)

    def alter(
        self, topics: Mapping[str, Sequence[tuple[int, int]]], group: str = "g"
    ) -> AlterShareGroupOffsetsResponse:
        asked = [
            alter.AlterShareGroupOffsetsRequestTopic(
                name, [alter.AlterShareGroupOffsetsRequestPartition(*one) for one in some]
            )
            for name, some in topics.items()
        ]
        return self.ask(0, alter.AlterShareGroupOffsetsRequest(group, asked), AlterShareGroupOffsetsResponse)

    def forget(self, *topics: str, group: str = "g") -> DeleteShareGroupOffsetsResponse:
        asked = [DeleteShareGroupOffsetsRequestTopic(name) for name in topics]
        return self.ask(0, DeleteShareGroupOffsetsRequest(group, asked), DeleteShareGroupOffsetsResponse)

    def delete_groups(self, *groups: str) -> list[tuple[str, int]]:
        answer = self.ask(2, DeleteGroupsRequest(list(groups)), DeleteGroupsResponse)
        return [(one.group_id, one.error_code) for one in answer.results]

    @property
    def known(self) -> int:
        """How many share partitions the share coordinator knows."""
        return len(self.state.share_partitions.coordinator.coordinator.states)


def top(answer: Any) -> tuple[int, str | None]:
    return answer.error_code, answer.error_message


def partitions(answer: AlterShareGroupOffsetsResponse) -> dict[str, list[tuple[Any, ...]]]:
    return {
        topic.topic_name: [(one.partition_index, one.error_code, one.error_message) for one in topic.partitions]
        for topic in answer.responses
    }


@pytest.mark.behaviour("SO-1", "SO-2")
def test_a_group_is_told_where_it_is() -> None:
    shop = Shop()
    assert shop.described(("g", None)) == [{}]
    shop.read_once()
    assert shop.described(("g", None)) == [{"orders": [(0, -1, -1, 0), (1, -1, -1, 0)]}]
    shop.state.share_partitions.persister.write(
        SharePartitionKey("g", shop.topic_id, 0), 9, 3, 2, 1, [], shop.broker_ms
    )
    assert shop.described(("g", None)) == [{"orders": [(0, 2, 7, 0), (1, -1, -1, 0)]}]
    assert shop.described(("g", {"orders": [0]}), version=0) == [{"orders": [(0, 2, -1, 0)]}]
    shop.state.share_partitions.persister.read("g", shop.topic_id, 0, 4, shop.broker_ms)
    (group,) = shop.groups(("g", {"orders": [0]}))
    assert group.topics[0].partitions[0].leader_epoch == 4
    assert group.topics[0].topic_id == shop.topic_id


@pytest.mark.behaviour("SO-3", "SO-4")
def test_what_nobody_has_read_has_no_offset() -> None:
    shop = Shop()
    nowhere = {"gone": [(0, -1, -1, 0)]}
    assert shop.described(("g", {"gone": [0], "orders": [1, 9]}), ("g", {}), ("", None)) == [
        {"orders": [(1, -1, -1, 0), (9, -1, -1, 0)], **nowhere},
        {},
        {},
    ]
    assert [list(one) for one in shop.described(("g", {"gone": [0], "orders": [1]}))] == [["orders", "gone"]]
    failed, neighbour = shop.groups(("g", {"orders": []}), ("g", {"gone": []}))
    unexpected = "The server experienced an unexpected error when processing the request."
    assert top(failed) == (ErrorCode.UNKNOWN_SERVER_ERROR, unexpected)
    assert top(neighbour) == (0, None)


@pytest.mark.behaviour("SO-6", "AZ-7", "XO-5")
def test_where_share_groups_are_switched_off_nothing_is_told() -> None:
    shop = Shop()
    shop.state.features.finalized = {}
    (group,) = shop.groups(("g", None))
    assert top(group) == (ErrorCode.UNSUPPORTED_VERSION, None)
    refused = ErrorCode.UNSUPPORTED_VERSION, "The version of API is not supported."
    assert top(shop.alter({"orders": [(0, 1)]})) == refused
    assert top(shop.forget("orders")) == refused


@pytest.mark.behaviour("AZ-1", "AZ-2")
def test_a_group_begins_to_read_where_it_is_told_to() -> None:
    shop = Shop()
    answer = shop.alter({"orders": [(0, 5), (1, 500), (0, 7)]})
    assert top(answer) == (0, None)
    assert partitions(answer) == {"orders": [(0, 0, None), (1, 0, None), (0, 0, None)]}
    assert answer.responses[0].topic_id == shop.topic_id
    assert shop.described(("g", None)) == [{"orders": [(0, 7, 3, 0), (1, 500, -490, 0)]}]
    shop.read_once()
    assert shop.described(("g", None)) == [{"orders": [(0, 7, 3, 0), (1, 500, -490, 0)]}]
    shop.alter({"orders": [(0, -5)]})
    assert shop.described(("g", {"orders": [0]})) == [{"orders": [(0, -5, 15, 0)]}]
    epochs = {
        key.partition: one.state_epoch
        for key, one in shop.state.share_partitions.coordinator.coordinator.states.items()
    }
    assert epochs[0] > epochs[1]


@pytest.mark.behaviour("AZ-3", "XO-2")
def test_who_may_not_be_told_where_to_read_is_told_why() -> None:
    shop = Shop()
    shop.beat(0)
    not_empty = ErrorCode.NON_EMPTY_GROUP, "The group is not empty."
    invalid = ErrorCode.INVALID_GROUP_ID, "The group id is invalid."
    assert top(shop.alter({"orders": [(0, 5)]})) == not_empty
    assert top(shop.forget("orders")) == not_empty
    assert top(shop.alter({"orders": [(0, 5)]}, group="")) == invalid
    assert top(shop.forget("orders", group="")) == invalid
    code, text = top(shop.forget("orders", group="nobody"))
    assert (code, text) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group nobody not found.")


@pytest.mark.behaviour("AZ-4")
def test_offsets_of_what_is_not_there_are_refused_beside_others() -> None:
    shop = Shop()
    answer = partitions(shop.alter({"orders": [(0, 7), (5, 0)], "gone": [(0, 0)]}))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert list(answer.items()) == [
        ("gone", [(0, unknown, NOBODYS)]),
        ("orders", [(0, 0, None), (5, unknown, NOBODYS)]),
    ]
    assert shop.described(("g", None)) == [{"orders": [(0, 7, 3, 0)]}]


@pytest.mark.behaviour("AZ-6")
def test_what_the_share_coordinator_refuses_stands_at_its_partition() -> None:
    shop = Shop()
    shop.read_once()
    topic = shop.state.cluster.topics["__share_group_state"]
    shares = shop.state.share_partitions.coordinator
    (first,) = (key for key in shares.coordinator.states if key.partition == 0)
    topic.partitions[shares.topic.logs.index(shares.topic.log_of(coordinator_key(first)))].leader = -1
    found = partitions(shop.alter({"orders": [(0, 5), (1, 5)]}))["orders"]
    assert [one[:2] for one in found] == [(0, ErrorCode.COORDINATOR_NOT_AVAILABLE), (1, 0)]


@pytest.mark.behaviour("XO-1", "XO-3")
def test_a_group_forgets_where_it_was() -> None:
    shop = Shop()
    shop.read_once()
    shop.topic("bills")
    assert shop.known == 2
    answer = shop.forget("bills", "orders", "gone", "orders")
    assert top(answer) == (0, None)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(one.topic_name, one.error_code, one.error_message) for one in answer.responses] == [
        ("orders", 0, None),
        ("bills", unknown, "There is no offset information to delete."),
        ("gone", unknown, NOBODYS),
    ]
    assert shop.known == 0
    assert shop.described(("g", None)) == [{}]


@pytest.mark.behaviour("XO-3")
def test_what_speaks_against_it_is_told_as_often_as_a_topic_is_named() -> None:
    shop = Shop()
    shop.read_once()
    shop.topic("bills")
    named = ("gone", "bills", "orders", "gone", "bills", "orders")
    assert [one.topic_name for one in shop.forget(*named).responses] == ["orders", "gone", "bills", "gone", "bills"]


@pytest.mark.behaviour("XO-6")
def test_a_group_that_never_read_anything_has_nothing_to_forget_or_to_refuse() -> None:
    shop = Shop()
    for epoch in (0, -1):
        request = ShareGroupHeartbeatRequest("g", MEMBER, epoch, subscribed_topic_names=["gone"])
        assert shop.ask(1, request, ShareGroupHeartbeatResponse).error_code == 0
    answer = shop.forget("orders", "gone")
    assert (*top(answer), answer.responses) == (0, None, ())


@pytest.mark.behaviour("GD-9")
def test_with_a_group_goes_what_is_known_of_it() -> None:
    shop = Shop()
    shop.read_once("g")
    shop.read_once("other")
    shop.beat(0, "busy")
    assert shop.known == 6
    assert dict(shop.delete_groups("g", "busy", "nobody", "g")) == {
        "g": 0,
        "busy": ErrorCode.NON_EMPTY_GROUP,
        "nobody": ErrorCode.GROUP_ID_NOT_FOUND,
    }
    assert shop.known == 4
    assert shop.described(("g", None), ("other", None)) == [{}, {"orders": [(0, -1, -1, 0), (1, -1, -1, 0)]}]


@pytest.mark.behaviour("GD-10")
def test_a_group_stays_where_it_was_to_begin_in_a_topic_only_at_partitions_that_are_not_there() -> None:
    shop = Shop()
    shop.topic("bills")
    shop.alter({"orders": [(0, 5)], "bills": [(9, 5)]})
    assert shop.delete_groups("g") == [("g", ErrorCode.UNKNOWN_SERVER_ERROR)]
    assert shop.known == 1, "nothing has been deleted"
    assert shop.described(("g", None)) == [{}]
    assert shop.delete_groups("g") == [("g", 0)], "the next time all partitions of these topics are meant"
    assert shop.known == 0


@pytest.mark.behaviour("GD-10")
def test_a_group_goes_where_there_is_nothing_but_such_topics() -> None:
    shop = Shop()
    shop.alter({"orders": [(9, 5)]})
    assert shop.delete_groups("g") == [("g", 0)]


class Guarded(Shop):
    """Nothing is allowed to who asks but what is said; there is a second topic, "bills"."""

    def __init__(self) -> None:
        super().__init__(authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer")
        self.topic("bills")
        self.read_once()

    def allow(self, *allowed: tuple[ResourceType, str, Operation]) -> None:
        assert self.state.authorizer is not None
        self.state.authorizer.replace(
            Acl(kind, name, PatternType.LITERAL, "User:*", "*", operation, Permission.ALLOW)
            for kind, name, operation in allowed
        )


GROUP, TOPIC = ResourceType.GROUP, ResourceType.TOPIC
NO_GROUP, NO_TOPIC = ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP_TEXT, NO_TOPIC_TEXT = "Group authorization failed.", "Topic authorization failed."


@pytest.mark.behaviour("SO-5")
def test_only_who_may_describe_them_is_told_of_groups_and_topics() -> None:
    shop = Guarded()
    shop.allow((GROUP, "g", Operation.DESCRIBE))
    asked = {"bills": [0], "gone": [0], "orders": [0]}
    mine, other = shop.groups(("g", asked), ("other", None))
    assert top(other) == (NO_GROUP, None)
    assert [(one.topic_name, one.partitions[0].error_message) for one in mine.topics] == [
        (name, NO_TOPIC_TEXT) for name in asked
    ]
    assert shop.described(("g", None)) == [{}]
    shop.allow((GROUP, "g", Operation.DESCRIBE), (TOPIC, "orders", Operation.DESCRIBE))
    (found,) = shop.described(("g", asked))
    assert list(found.items()) == [
        ("orders", [(0, -1, -1, 0)]),
        ("bills", [(0, -1, -1, NO_TOPIC)]),
        ("gone", [(0, -1, -1, NO_TOPIC)]),
    ]
    assert list(*shop.described(("g", None))) == ["orders"]


@pytest.mark.behaviour("AZ-5")
def test_only_who_may_read_them_tells_groups_where_to_read() -> None:
    shop = Guarded()
    shop.allow((GROUP, "g", Operation.DESCRIBE))
    assert top(shop.alter({"orders": [(0, 5)]})) == (NO_GROUP, NO_GROUP_TEXT)
    shop.allow((GROUP, "g", Operation.READ), (TOPIC, "orders", Operation.READ))
    assert list(partitions(shop.alter({"orders": [(0, 5)], "bills": [(0, 5)]})).items()) == [
        ("bills", [(0, NO_TOPIC, NO_TOPIC_TEXT)]),
        ("orders", [(0, 0, None)]),
    ]


@pytest.mark.behaviour("XO-4")
def test_only_who_may_delete_the_group_makes_it_forget() -> None:
    shop = Guarded()
    shop.allow((GROUP, "g", Operation.READ))
    assert top(shop.forget("orders")) == (NO_GROUP, NO_GROUP_TEXT)
    shop.allow((GROUP, "g", Operation.DELETE), (TOPIC, "bills", Operation.READ))
    assert [(one.topic_name, one.error_code) for one in shop.forget("bills", "orders").responses] == [
        ("orders", NO_TOPIC),
        ("bills", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert shop.known == 2


@pytest.mark.behaviour("SO-7")
def test_every_node_tells_of_named_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop(nodes=2)
    shop.read_once()
    api = registrations()[ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS]
    routed = {**registrations(), api.key: replace(api, handler=on_its_node(api))}
    monkeypatch.setattr("tests.handlers.desk.registrations", lambda: routed)
    refused = []
    for node_id in (1, 2):
        shop.node_id = node_id
        of_all, of_named = shop.groups(("g", None), ("g", {"orders": [0]}))
        assert [len(topic.partitions) for topic in of_named.topics] == [1]
        if of_all.error_code:
            refused.append(top(of_all))
        else:
            assert [len(topic.partitions) for topic in of_all.topics] == [2]
    assert refused == [(ErrorCode.NOT_COORDINATOR, "This is not the correct coordinator.")]
