"""`kafkastub share-groups`: what is not as Kafka's tool has it: JSON, exit statuses, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import ShareConsumer

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.stub.test_share_groups import EARLIEST, QUICK, read


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    """Group g has accepted two of three records, and its only member is `one`."""
    with KafkaStub(topics={"orders": 1}, config=QUICK) as stub:
        stub.share_groups.configure("g", EARLIEST)
        for number in range(3):
            stub.produce("orders", f"{number}")
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "client.id": "one"}
        worker = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
        worker.subscribe(["orders"])
        messages = read(worker)
        for message in messages[:2]:
            worker.acknowledge(message)
        worker.commit_sync()
        yield stub
        worker.acknowledge(messages[2])
        worker.close()


def told(stub: KafkaStub, *args: str, status: int = 0) -> Any:
    """The JSON of an action."""
    done = run("share-groups", *args, "--bootstrap-server", stub.bootstrap_servers, "-o", "json")
    assert (done.status, done.err) == (status, "")
    return json.loads(done.out)


def test_groups_as_data(stub: KafkaStub) -> None:
    assert told(stub, "list") == [{"group": "g", "state": "Stable"}]
    assert told(stub, "list", "--state", "empty") == []
    (offsets,) = told(stub, "describe", "--group", "g")
    row = {"topic": "orders", "partition": 0, "leader_epoch": 0, "start_offset": 0, "lag": 1}
    assert offsets == {"group": "g", "state": "Stable", "offsets": [row]}
    (members,) = told(stub, "describe", "--all-groups", "--members")
    (member,) = members["members"]
    assert (member["client_id"], member["assignment"], member["subscribed"]) == ("one", [["orders", 0]], ["orders"])
    (state,) = told(stub, "describe", "--group", "g", "--state")
    assert (state["assignor"], state["members"], state["group_epoch"]) == ("simple", 1, state["assignment_epoch"])


def test_changes_as_data(stub: KafkaStub) -> None:
    assert told(stub, "delete", "--group", "g", status=1) == [
        {
            "group": "g",
            "error": "org.apache.kafka.common.errors.GroupNotEmptyException: Share group 'g' is not EMPTY.",
        }
    ]
    moved = told(stub, "reset-offsets", "--group", "other", "--topic", "orders:0", "--to-latest", "--execute")
    assert moved == [{"group": "other", "topic": "orders", "partition": 0, "new_offset": 3}]
    refused = told(stub, "delete-offsets", "--group", "g", "--topic", "orders", status=1)
    assert (refused["error"], refused["topics"][0]["topic"]) == ("NON_EMPTY_GROUP", "orders")
    forgotten = told(stub, "delete-offsets", "--group", "other", "--topic", "orders")
    assert forgotten == {"group": "other", "error": None, "topics": [{"topic": "orders", "error": None}]}
    assert told(stub, "delete", "--group", "other") == [{"group": "other", "error": None}]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("list", "--state", "Assigning"), "Invalid state list 'Assigning'. Valid states are: Empty, Stable, Dead"),
        (("describe",), "one of the arguments --group --all-groups is required"),
        (("reset-offsets", "--group", "g", "--to-latest"), "one of the arguments --topic --all-topics is required"),
        (("reset-offsets", "--group", "g", "--topic", "orders:x", "--to-latest"), "is not empty"),
        (("reset-offsets", "--group", "h", "--topic", "orders:x", "--to-latest"), "Invalid partition 'x'"),
        (
            ("reset-offsets", "--group", "h", "--topic", "orders", "--to-datetime", "noon"),
            "'noon' is not a time such as",
        ),
    ],
)
def test_what_is_refused(stub: KafkaStub, args: tuple[str, ...], said: str) -> None:
    done = run("share-groups", *args, "--bootstrap-server", stub.bootstrap_servers)
    assert done.status
    assert said in done.err


def test_it_is_asked_as_kafkas_tool_is(stub: KafkaStub) -> None:
    done = run("share-groups", "--bootstrap-server", stub.bootstrap_servers, "--list")
    assert (done.status, done.out) == (0, "g\n")


def test_a_group_of_another_type_is_none(stub: KafkaStub) -> None:
    stub.commit("classic", {("orders", 0): 1})
    done = run("share-groups", "describe", "--group", "classic", "--bootstrap-server", stub.bootstrap_servers)
    assert done.status == 1
    assert "Group classic is not a share group." in done.out
    done = run("share-groups", "delete", "--group", "classic", "--bootstrap-server", stub.bootstrap_servers)
    assert done.status == 1
    assert "Group 'classic' is not a share group." in done.out
