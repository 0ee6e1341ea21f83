"""What is asked alike of groups of every type: which there are, how one is described, its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from kafkastub.client.errors import BrokerError
from kafkastub.client.routing import Client, Node
from kafkastub.client.topics import TopicPartition
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.schema import Message


@dataclass(frozen=True)
class Listing:
    """A group of a type that was asked for, as ListGroups shows it."""

    group_id: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Member:
    """What a coordinator tells of a member of a group of every type."""

    id: str
    instance_id: str | None
    client_id: str
    host: str


def of_member(row: Any) -> dict[str, Any]:
    """The fields of a `Member`, by their names in a description; None where it has nothing to tell."""
    called = {"id": "member_id", "host": "client_host"}
    found = {one.name: getattr(row, called.get(one.name, one.name), None) for one in fields(Member)}
    if hasattr(row, "group_instance_id"):  # so DescribeGroups calls it
        found["instance_id"] = row.group_instance_id
    return found


M = TypeVar("M", bound=Member)


@dataclass(frozen=True, kw_only=True)
class Group(Generic[M]):
    """A group as its coordinator describes it; the epochs are None in a classic one."""

    id: str
    coordinator: Node
    state: str
    epoch: int | None = None
    assignment_epoch: int | None = None
    assignor: str
    members: list[M]


def of_group(coordinator: Node, row: Any) -> dict[str, Any]:
    """The fields of a `Group` in the description of one with epochs, but for its members."""
    return {
        "id": row.group_id,
        "coordinator": coordinator,
        "state": row.group_state,
        "epoch": row.group_epoch,
        "assignment_epoch": row.assignment_epoch,
        "assignor": getattr(row, "assignor_name", None) or "",
    }


def listed(client: Client, node: Node, states: Iterable[str], types: Iterable[str]) -> list[Any]:
    """The groups that a broker lists; no filter lets all pass. Raises BrokerError."""
    answer = client.ask_patiently(ListGroupsRequest(sorted(states), sorted(types)), node)
    if answer.error_code:
        raise BrokerError(answer.error_code)
    return list(answer.groups)


def list_of_type(client: Client, group_type: str, states: Iterable[str]) -> list[Listing]:
    """The groups of one type of all brokers, in the order of their answers. Raises BrokerError."""
    found: dict[str, Listing] = {}
    for node in client.nodes():
        for row in listed(client, node, states, [group_type]):
            found[row.group_id] = Listing(row.group_id, row.group_state)
    return list(found.values())


def described(client: Client, group_id: str, request: Message) -> tuple[Node, Any]:
    """A group's coordinator, and the description that it answers such a request with. Raises BrokerError."""
    coordinator = client.coordinator(group_id)
    (row,) = client.ask_coordinator(group_id, request).groups
    check(row)
    return coordinator, row


def delete(client: Client, group_id: str) -> None:
    """Delete a group. Raises BrokerError."""
    (result,) = client.ask_coordinator(group_id, DeleteGroupsRequest(groups_names=[group_id])).results
    if result.error_code:
        raise BrokerError(result.error_code)


def check(told: Any) -> None:
    """Raises BrokerError where that, an answer or a part of one, is an error."""
    if told.error_code:
        raise BrokerError(told.error_code, told.error_message)


def partitions(rows: Iterable[Any]) -> list[TopicPartition]:
    """The partitions of a description, topic by topic."""
    return [(row.topic_name, index) for row in rows for index in row.partitions]
