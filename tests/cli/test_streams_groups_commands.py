"""`kafkastub streams-groups`: tables, JSON, exit statuses, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client, groups
from kafkastub.client import topics as of_topics
from tests.cli.kafkas_tools import run
from tests.streams_instance import QUICK, Instance, settle

TASKS = {"0": [0, 1], "1": [0, 1]}
REPARTITION = "app-words-repartition"


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"lines": 2}, config=QUICK, control_port=0) as stub:
        stub.produce("lines", "a word", partition=0)
        yield stub


@pytest.fixture
def one(stub: KafkaStub) -> Iterator[Instance]:
    """The only member of group app."""
    with Instance(stub.bootstrap_servers, "one") as instance:
        settle(instance)
        yield instance


def asked(stub: KafkaStub, *args: str, status: int = 0) -> list[list[str]]:
    """What is printed, in words."""
    done = run("streams-groups", *args, "--bootstrap-server", stub.bootstrap_servers)
    assert (done.status, done.err) == (status, ""), done
    return [line.split() for line in done.out.splitlines() if line.strip()]


def told(stub: KafkaStub, *args: str, status: int = 0) -> Any:
    """The JSON of an action."""
    done = run("streams-groups", *args, "--bootstrap-server", stub.bootstrap_servers, "-o", "json")
    assert (done.status, done.err) == (status, ""), done
    return json.loads(done.out)


def commit(stub: KafkaStub, offsets: dict[tuple[str, int], int]) -> None:
    with Client(stub.bootstrap_servers) as client:
        groups.commit(client, "app", offsets)


def topics(stub: KafkaStub) -> set[str]:
    """Those that are not the broker's."""
    with Client(stub.bootstrap_servers) as client:
        return {name for name in of_topics.names(client) if not name.startswith("__")}


def test_groups_and_their_states(stub: KafkaStub, one: Instance) -> None:
    assert asked(stub, "list") == [["app"]]
    assert asked(stub, "list", "--state") == [["GROUP", "STATE"], ["app", "Stable"]]
    assert told(stub, "list", "--state", "notready,EMPTY") == []
    epoch = str(stub.streams_groups["app"].epoch)
    state = asked(stub, "describe", "--group", "app", "--state", "--verbose")
    assert state[0] == ["GROUP", "COORDINATOR", "(ID)", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"]
    assert state[1] == ["app", stub.bootstrap_servers, "(1)", "Stable", epoch, epoch, "1"]
    one.leave()
    lines = asked(stub, "describe", "--all-groups", "--state")
    assert lines[0] == ["Error:", "Streams", "group", "'app'", "has", "no", "active", "members."]
    assert lines[2][3:] == ["Empty", "0"]
    assert asked(stub, "describe", "--group", "app", "--members") == []


def test_members_with_their_tasks(stub: KafkaStub, one: Instance) -> None:
    (head, row) = asked(stub, "describe", "--group", "app", "--members")
    assert head == ["GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"]
    assert row == ["app", "one", "process-one", "one", "ACTIVE:", "0:[0,1];", "1:[0,1];"]
    (head, row) = asked(stub, "describe", "--group", "app", "--members", "--verbose")
    epoch = str(stub.streams_groups["app"].epoch)
    assert head[:4] == ["GROUP", "TARGET-ASSIGNMENT-EPOCH", "TOPOLOGY-EPOCH", "MEMBER"]
    assert row[1:6] == [epoch, "0", "one", "streams", epoch]
    assert row[-6:] == ["ACTIVE:", "0:[0,1];", "1:[0,1];", "TARGET-ACTIVE:", "0:[0,1];", "1:[0,1];"]
    ((group),) = told(stub, "describe", "--group", "app", "--members")
    (member,) = group["members"]
    assert member["assignment"] == {"active": TASKS, "standby": {}, "warmup": {}}
    assert (member["client_id"], member["process_id"], member["is_classic"]) == ("one", "process-one", False)


def test_offsets_of_what_is_read(stub: KafkaStub, one: Instance) -> None:
    one.leave()
    commit(stub, {("lines", 0): 1})
    settle(one)
    lines = asked(stub, "describe", "--group", "app", "--verbose")
    assert lines[0][-4:] == ["CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG"]
    assert sorted(lines[1:]) == [
        ["app", REPARTITION, "0", "-", "-", "0", "0"],
        ["app", REPARTITION, "1", "-", "-", "0", "0"],
        ["app", "lines", "0", "1", "-", "1", "0"],
        ["app", "lines", "1", "-", "-", "0", "0"],
    ]
    (group,) = told(stub, "describe", "--group", "app")
    assert {"topic": "lines", "partition": 0, "offset_lag": 0}.items() <= group["offsets"][0].items() or group[
        "offsets"
    ]


def test_a_group_goes_with_its_topics(stub: KafkaStub, one: Instance) -> None:
    (refused,) = told(stub, "delete", "--group", "app", status=1)
    assert refused["error"].endswith("GroupNotEmptyException: Streams group 'app' is not EMPTY.")
    one.leave()
    lines = asked(stub, "delete", "--group", "app", "--group", "nobody", "--delete-all-internal-topics", status=1)
    said = [" ".join(line) for line in lines]
    assert said[0] == "Error: Deletion of some streams groups failed:"
    assert said[1].endswith("Group 'nobody' does not exist or is not a streams group.")
    assert said[2:] == [
        "These streams groups were deleted successfully: 'app'.",
        "Deletion of associated internal topics of the streams groups ('app') was successful.",
    ]
    assert topics(stub) == {"lines"}
    assert asked(stub, "list") == []


def test_offsets_are_set_and_deleted(stub: KafkaStub, one: Instance) -> None:
    reset = ("reset-offsets", "--group", "app", "--to-earliest", "--execute")
    done = asked(stub, *reset, "--all-input-topics", status=1)
    assert " ".join(done[0]).endswith("if the group 'app' is inactive, but the current state is Stable.")
    one.leave()
    commit(stub, {("lines", 0): 1, (REPARTITION, 0): 0})
    done = asked(stub, *reset, "--input-topic", "lines")
    assert done == [[*NOT_PART.split()], HEAD]
    assert asked(stub, *reset, "--input-topic", "lines:0") == [HEAD, ["app", "lines", "0", "0"]]
    assert asked(stub, *reset, "--all-input-topics") == [HEAD, ["app", "lines", "0", "0"]]
    moved = ("reset-offsets", "--group", "app", "--all-input-topics", "--to-latest", "--dry-run")
    assert told(stub, *moved) == [{"group": "app", "topic": "lines", "partition": 0, "new_offset": 1}]
    gone = asked(stub, *reset, "--all-input-topics", "--delete-internal-topic", REPARTITION)
    assert (gone, REPARTITION in topics(stub)) == ([HEAD, ["app", "lines", "0", "0"]], False)
    gone = asked(stub, *reset, "--all-input-topics", "--delete-internal-topic", REPARTITION, status=1)
    assert "failed because the topics do not exist." in " ".join(gone[0])
    deleted = told(stub, "delete-offsets", "--group", "app", "--all-input-topics")
    assert deleted["partitions"] == [{"topic": "lines", "partition": 0, "error": None}]
    assert told(stub, "delete-offsets", "--group", "app", "--input-topic", "lines:1")["error"] is None


NOT_PART = "Error: One or more topics are not part of the group 'app'."
HEAD = ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("list", "--state", "Late"), "Invalid state list 'Late'. Valid states are: Empty, NotReady, Stable"),
        (("describe",), "one of the arguments --group --all-groups is required"),
        (("reset-offsets", "--group", "g", "--to-latest", "--execute"), "reset scopes should be defined"),
        (("reset-offsets", "--group", "g", "--to-latest", "--all-input-topics"), "takes the option: [execute]"),
        (("delete-offsets", "--group", "g"), "one of the arguments --input-topic --all-input-topics is required"),
    ],
)
def test_what_is_refused(stub: KafkaStub, args: tuple[str, ...], said: str) -> None:
    done = run("streams-groups", *args, "--bootstrap-server", stub.bootstrap_servers)
    assert done.status
    assert said in done.err


def test_a_group_of_another_type_is_none(stub: KafkaStub) -> None:
    stub.commit("classic", {("lines", 0): 1})
    done = run("streams-groups", "--describe", "--group", "classic", "--bootstrap-server", stub.bootstrap_servers)
    assert done.status == 1
    assert "GroupIdNotFoundException: Group classic is not a streams group." in done.out


def test_tasks_are_waited_for(stub: KafkaStub, one: Instance) -> None:
    def wait(*args: str) -> tuple[int, str]:
        done = run("wait", "streams-group", "app", *args, "--control", stub.control_url, "--timeout", "0.1")
        return done.status, done.err + done.out

    assert wait()[0] == 0
    assert wait("one=0:0,0:1,1:0,1:1")[0] == 0
    assert wait("one=0:0")[0] == 1
    status, said = wait("--status", "MISSING_SOURCE_TOPICS")
    assert (status, "lacks nothing" in said) == (1, True)
