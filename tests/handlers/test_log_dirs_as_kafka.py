"""Apache Kafka with three log directories, and a stub that is told of the same: what they answer, tools included."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_log_dirs_request import DescribableLogDirTopic, DescribeLogDirsRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.schema import Message
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_kafka import ApacheKafka, run_tool
from tests.waiting import until

LOG_DIRS: Final = "org.apache.kafka.tools.LogDirsCommand"
REASSIGN: Final = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
OF_THE_MACHINE: Final = ("total_bytes", "usable_bytes", "topic_id", "throttle_time_ms")
LONG: Final = "q" * 213
ALL: Final = {"one", "two", "three"}
"""Directories."""
TOGETHER: Final = ("m1", "m5", "m9")
"""Partitions of these do not meet in a bucket of a hash map: Kafka's order in one follows from random topic ids."""


def plain(value: Any) -> Any:
    """Without what is the machine's, and in an order that does not depend on hash maps."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return sorted((plain(one) for one in value), key=str)
    if hasattr(value, "FIELDS"):
        return {row[0]: plain(getattr(value, row[0])) for row in value.FIELDS if row[0] not in OF_THE_MACHINE}
    return value


class Story:
    """Plays on one broker; `told` is what it has answered."""

    def __init__(self, servers: str, base: str) -> None:
        self.servers = servers
        self.base = base
        self.told: list[tuple[str, Any]] = []

    def ask(self, label: str, request: Message, version: int | None = None) -> None:
        with Client(self.servers, timeout=60) as client:
            answer = client.connection().ask(request, version) if version is not None else client.ask(request)
        self.told.append((label, plain(answer)))

    def create(self, *rows: tuple[str, int]) -> None:
        """Topics of one request; returns when their logs are there."""
        topics = [CreatableTopic(name=name, num_partitions=count, replication_factor=1) for name, count in rows]
        self.ask(f"create {rows}", CreateTopicsRequest(topics, timeout_ms=30_000))
        self.told[-1] = (self.told[-1][0], [topic["error_code"] for topic in self.told[-1][1]["topics"]])
        wanted = {(name, index) for name, count in rows for index in range(count)}
        until(lambda: wanted <= self.logs().keys(), f"logs of {rows}")

    def delete(self, name: str) -> None:
        self.ask(f"delete {name}", DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=30_000))
        until(lambda: not any(topic == name for topic, _ in self.logs()), f"no logs of {name}")

    def logs(self) -> dict[tuple[str, int], list[tuple[str, bool]]]:
        """By topic and partition: directories, and whether it is a future one."""
        with Client(self.servers, timeout=60) as client:
            answer = client.connection().ask(DescribeLogDirsRequest(None), 4)
        found: dict[tuple[str, int], list[tuple[str, bool]]] = {}
        for result in answer.results:
            for topic in result.topics:
                for one in topic.partitions:
                    found.setdefault((topic.name, one.partition_index), []).append((result.log_dir, one.is_future_key))
        return found

    def settled(self) -> None:
        """Nothing is on its way."""
        until(lambda: not any(future for rows in self.logs().values() for _, future in rows), "no future replica")

    def move(self, *rows: tuple[str, str, Sequence[int]], version: int = 2) -> None:
        """Rows of directory (its last part), topic and partitions."""
        asked = [
            AlterReplicaLogDir(self.base + path, [AlterReplicaLogDirTopic(name, list(partitions))])
            for path, name, partitions in rows
        ]
        self.ask(f"move {rows} {version}", AlterReplicaLogDirsRequest(asked), version)
        self.settled()

    def look(self, *names: str) -> None:
        for version in range(1, 6):
            topics = [DescribableLogDirTopic(name, [0, 1, 2, 3, 4, 9]) for name in names] if names else None
            self.ask(f"look {names} {version}", DescribeLogDirsRequest(topics), version)

    def cordon(self, *paths: str, written: str | None = None, broker: str = "1", operation: int = 0) -> None:
        text = ",".join(self.base + path for path in paths) if written is None else written
        change = AlterableConfig("cordoned.log.dirs", operation, text)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(4, broker, [change])])
        before = len(self.told)
        self.ask(f"cordon {text} {broker} {operation}", request, 1)
        (answer,) = self.told[before][1]["responses"]
        if answer["error_code"] == 0:
            wanted = self._cordoned(paths, text, operation)
            until(lambda: wanted is None or self.told_cordoned() == wanted, "cordoned directories")
            # the broker knows before the controller, which its next heartbeat tells
            room = wanted is None or wanted != ALL
            until(lambda: self.has_room() == room, "the controller to know of cordoned directories")

    def _cordoned(self, paths: Sequence[str], text: str, operation: int) -> set[str] | None:
        if operation in (2, 3):
            return None
        return ALL if text == "*" else set(paths)

    def has_room(self) -> bool:
        """Whether the controller would place a new topic."""
        asked = CreateTopicsRequest([CreatableTopic("room", 1, 1)], timeout_ms=30_000, validate_only=True)
        with Client(self.servers, timeout=60) as client:
            return client.ask(asked).topics[0].error_code == 0

    def told_cordoned(self) -> set[str]:
        with Client(self.servers, timeout=60) as client:
            answer = client.connection().ask(DescribeLogDirsRequest([]), 5)
        return {result.log_dir.rpartition("/")[2] for result in answer.results if result.is_cordoned}

    def tool(self, main: str, *args: str) -> None:
        done = run_tool(main, "--bootstrap-server", self.servers, *args)
        trace = [line for line in done.stderr.splitlines() if not line.startswith(("\tat ", "\t..."))]
        shown = [_in_order(json.loads(line)) if line.startswith("{") else line for line in done.stdout.splitlines()]
        self.told.append((f"{main} {args}", (done.returncode, shown, trace)))


def _in_order(value: Any) -> Any:
    """JSON of a tool: partitions come as their client's hash map has them, which the broker's order is a part of."""
    if isinstance(value, dict):
        return {name: _in_order(one) for name, one in value.items()}
    return sorted((_in_order(one) for one in value), key=str) if isinstance(value, list) else value


def places_and_moves(story: Story) -> None:
    story.look()
    story.create(("a", 5))
    story.create(("b", 1))
    story.create(*((name, 3) for name in TOGETHER))
    story.ask("grow", CreatePartitionsRequest([CreatePartitionsTopic("a", 8, None)], 30_000))
    until(lambda: {("a", 5), ("a", 6), ("a", 7)} <= story.logs().keys(), "more partitions")
    story.look()
    for version in (1, 2):
        story.move(
            ("two", "a", [0, 1, 9, -1]), ("two", "nope", [0]), ("two", "", [0]), ("one", "b", [0]), version=version
        )
        story.move(("three", LONG, [0, 10]), ("nope", LONG, [10]), version=version)
        story.move(
            ("nope", "a", [0, 9]), ("nope", "nope", [0]), ("one/", "a", [0]), ("../one", "a", [0]), version=version
        )
        story.move(("one", "a", [2, 2]), ("three", "a", [2]), ("three", "b", []), version=version)
        story.look("a", "b")
    story.move()
    story.move(("two", "a", [3]))
    story.move(("one", "a", [3]))
    story.look("a")


def wishes(story: Story) -> None:
    story.move(("one", "wish", [0, 1]))
    story.move(("three", "wish", [0]))
    story.create(("wish", 3))
    story.look("wish")
    story.delete("wish")
    story.create(("wish", 2))
    story.look("wish")


def cordoned(story: Story) -> None:
    story.cordon("two", "three")
    story.look()
    story.create(("kept", 3))
    story.move(("two", "kept", [0, 9]), ("nope", "kept", [1]), ("one", "kept", [2]))
    for written in ("/x,/y", "one", "*,/x", f"{story.base}one,{story.base}one", f"{story.base}two/"):
        story.cordon(written=written)
    story.cordon(written=f"{story.base}one", broker="")
    story.cordon("two", operation=3)
    story.cordon(written="*")
    topic = CreatableTopic("refused", 2, 1)
    story.ask("create with all cordoned", CreateTopicsRequest([topic], 30_000))
    manual = CreatableTopic("manual", -1, -1, [CreatableReplicaAssignment(0, [1])])
    story.ask("create by hand with all cordoned", CreateTopicsRequest([manual], 30_000))
    story.ask("grow with all cordoned", CreatePartitionsRequest([CreatePartitionsTopic("kept", 4, None)], 30_000))
    same = ReassignableTopic("kept", [ReassignablePartition(0, [1])])
    story.ask("reassign with all cordoned", AlterPartitionReassignmentsRequest(30_000, True, [same]), 1)
    story.cordon(written="")
    story.create(("open", 3))
    story.look("open", "kept")


def tools(story: Story, folder: Path) -> None:
    file = folder / "reassignment.json"
    story.tool(LOG_DIRS, "--describe")
    story.tool(LOG_DIRS, "--describe", "--topic-list", "a,nope", "--broker-list", "1")
    story.tool(LOG_DIRS, "--describe", "--broker-list", "1,7")
    for path in ("three", "nope"):
        rows = [{"topic": "a", "partition": one, "replicas": [1], "log_dirs": [story.base + path]} for one in (0, 1)]
        rows.append({"topic": "b", "partition": 0, "replicas": [1], "log_dirs": ["any"]})
        file.write_text(json.dumps({"version": 1, "partitions": rows}))
        story.tool(REASSIGN, "--reassignment-json-file", str(file), "--execute")
        story.settled()
        story.tool(REASSIGN, "--reassignment-json-file", str(file), "--verify")
    story.look("a")


def config(base: str) -> dict[str, object]:
    return {"log.dirs": ",".join(base + one for one in ("one", "two", "three"))}


def compare(theirs: Story, ours: Story) -> None:
    for (label, expected), (_, found) in zip(theirs.told, ours.told, strict=True):
        assert found == expected, label


@pytest.mark.oracle
def test_log_dirs_as_apache_kafka(tmp_path: Path) -> None:
    """One story: what a part of it leaves behind is where the next begins, after a restart too."""
    base = f"{tmp_path}/"
    settings: Mapping[str, object] = config(base)
    quick = {"controlled.shutdown.enable": "true"}  # a broker that says that it goes may come back at once
    with ApacheKafka(APACHE_CONFIG | settings | quick) as kafka:
        theirs = Story(kafka.bootstrap_servers, base)
        with KafkaStub(config=dict(settings), data_dir=tmp_path / "data") as stub:
            ours = Story(stub.bootstrap_servers, base)
            for story in (theirs, ours):
                places_and_moves(story)
                wishes(story)
                cordoned(story)
                tools(story, tmp_path)
                story.move(("two", "later", [0]))
            compare(theirs, ours)
        kafka.pause()
        kafka.resume()
        with KafkaStub(config=dict(settings), data_dir=tmp_path / "data") as again:
            ours.servers = again.bootstrap_servers
            for story in (theirs, ours):
                story.look()
                story.create(("later", 1))
                story.look()
            compare(theirs, ours)
