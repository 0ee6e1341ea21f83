"""A large state, and one small request or sweep: how long everybody else waits for it.

At a fifth of the sizes here, at all of them in `make soak`. What changes the state is asked several times, each time of
something else, and the best counts.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.header import is_flexible
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.schema import Message
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import linux
from tests.hostile.test_transactions_by_the_thousand import pipelined
from tests.hostile.turns import Measured
from tests.persistence.speaker import Speaker
from tests.process.serving import Controlled
from tests.rawclient import RawClient
from tests.waiting import until

TIMES: Final = 3
TRIES: Final = 5
"""With the first request to the control port its code is loaded."""
LONGEST_TURN_MS: Final = 10.0
AT_ONCE: Final = 10_000
"""Partitions that one request adds at most."""


class Size(NamedTuple):
    partitions: int
    groups: int
    longest_ms: float


SIZES: Final = {"short": Size(18_000, 12_000, LONGEST_MS / 5), "full": Size(90_000, 60_000, LONGEST_MS)}


@pytest.fixture(params=["short", pytest.param("full", marks=pytest.mark.soak)])
def size(request: pytest.FixtureRequest) -> Size:
    return SIZES[request.param]


class Large:
    """A broker with a large state.

    Attributes:
        waits: the longest wait of another client, by what was asked meanwhile, in ms.
    """

    def __init__(self, process: Controlled) -> None:
        self.process = process
        self.waits: dict[str, float] = {}

    def ask(self, request: Message, version: int) -> None:
        with RawClient(self.process.servers) as client:
            client.send(request.API_KEY, version, encode(request, version), is_flexible(type(request), version))
            assert client.drain() is not None

    def post(self, path: str, body: Any = None, method: str = "POST") -> None:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.process.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()

    def topic(self, name: str, partitions: int) -> None:
        with Speaker(self.process.servers) as speaker:
            count = min(partitions, AT_ONCE - 1)
            assert speaker.create_topic(name, count) == 0
            while count < partitions:
                count = min(partitions, count + AT_ONCE)
                (result,) = speaker.ask(grown(name, count), 1).results
                assert result.error_code == 0

    def commits(self, groups: int, *topics: str, retention_ms: int = -1) -> None:
        partitions = [OffsetCommitRequestPartition(0, 7)]
        named = [OffsetCommitRequestTopic(name, partitions=partitions) for name in topics]
        requests = (OffsetCommitRequest(f"g{number}", -1, "", None, retention_ms, named) for number in range(groups))
        with RawClient(self.process.servers) as client:
            answers = pipelined(client, ApiKey.OFFSET_COMMIT, 4, requests, flexible=False)
            assert sum(1 for _ in answers) == groups

    def measure(
        self, name: str, attack: Callable[[int], object], times: int = TIMES, *, disconnects: bool = False
    ) -> None:
        waits = []
        for number in range(times):
            with probing(self.process.servers, returns=disconnects) as prober:
                until(lambda prober=prober: prober.rounds, "a first answer")  # type: ignore[misc]
                attack(number)
            waits.append(prober.longest_ms)
        self.waits[name] = min(waits)

    def over(self, most: float) -> dict[str, int]:
        print({name: round(ms, 1) for name, ms in self.waits.items()})
        return {name: round(ms) for name, ms in self.waits.items() if ms > most}


def grown(name: str, count: int) -> CreatePartitionsRequest:
    return CreatePartitionsRequest([CreatePartitionsTopic(name, count, None)], 60_000)


def gone(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=[name], timeout_ms=1000)


@pytest.fixture
def large() -> Iterator[Large]:
    with Controlled("--topic", "orders:1", "payments:1", "returns:1") as process:
        yield Large(process)


def test_very_many_partitions(large: Large, size: Size):
    """90,000 of them: others waited up to 0.26 s."""
    count, step = size.partitions, size.partitions // 10
    large.topic("wide", count - TIMES * step)
    for number in range(TIMES):
        large.topic(f"gone-{number}", count // TIMES)
    large.measure("CreatePartitions", lambda number: large.ask(grown("wide", count + (number + 1 - TIMES) * step), 1))
    large.measure("CreateTopics", lambda number: large.topic(f"new-{number}", step))
    retention = [AlterConfigsResource(2, "wide", [AlterableConfig("retention.ms", 0, "100000")])]
    requests: dict[str, tuple[Message, int]] = {
        "Metadata": (MetadataRequest(None), 12),
        "Metadata of one topic": (MetadataRequest([MetadataRequestTopic(name="wide")]), 13),
        "DescribeTopicPartitions": (DescribeTopicPartitionsRequest([TopicRequest("wide")], 2000), 0),
        "DescribeLogDirs": (DescribeLogDirsRequest(None), 4),
        "ElectLeaders": (ElectLeadersRequest(0, None), 2),
        "ListPartitionReassignments": (ListPartitionReassignmentsRequest(topics=None), 0),
        "IncrementalAlterConfigs": (IncrementalAlterConfigsRequest(retention), 1),
    }
    for name, (request, version) in requests.items():
        large.measure(name, lambda _, request=request, version=version: large.ask(request, version))
    large.measure("the topics over HTTP", lambda _: large.post("/v1/topics", method="GET"))
    large.measure("a look after old records", lambda _: large.post("/v1/clock/advance", {"by": "1d"}))
    large.measure("DeleteTopics", lambda number: large.ask(gone(f"gone-{number}"), 5))
    assert large.over(size.longest_ms) == {}


def test_very_many_groups(large: Large, size: Size):
    """DeleteTopics of a topic of which 60,000 have offsets: 0.39 s."""
    topics = ["orders", "payments", "returns"]
    large.commits(size.groups, *topics)
    large.measure("ListGroups", lambda _: large.ask(ListGroupsRequest(), 5))
    large.measure("the groups over HTTP", lambda _: large.post("/v1/groups", method="GET"))
    large.measure("DeleteTopics", lambda number: large.ask(gone(topics[number]), 5))
    assert large.over(size.longest_ms) == {}


def test_a_snapshot(large: Large, size: Size):
    """Of 90,000 partitions and 20,000 groups: 0.62 s, 0.22 s for its file, 1.0 s and more for a restore."""
    large.topic("wide", size.partitions)
    large.commits(size.groups // 3, "orders")
    large.measure("a snapshot", lambda number: large.post("/v1/snapshots", {"id": f"s{number}"}))
    large.measure("its file", lambda _: large.post("/v1/snapshots/s0/file", method="GET"))
    large.measure("a restore", lambda _: large.post("/v1/snapshots/s0/restore"), disconnects=True)
    assert large.over(size.longest_ms) == {}


@linux
def test_a_snapshot_of_very_many_partitions():
    """The loop worked for it for 0.1 s."""
    with Measured() as measured:
        large, turns = Large(measured), list[float]()
        for number in range(9):
            large.topic(f"wide-{number}", AT_ONCE - 1)
        while len(turns) < TRIES and (not turns or turns[-1] > LONGEST_TURN_MS):
            measured.longest_ms()
            large.post("/v1/snapshots", {"id": f"s{len(turns)}"})
            large.post("/v1/clock", method="GET")
            turns.append(measured.longest_ms())
        print(turns)
        assert min(turns) < LONGEST_TURN_MS


@pytest.mark.parametrize(
    ("groups", "interval_ms", "longest_ms"),
    [(6_000, 2_500, LONGEST_MS / 4), pytest.param(100_000, 60_000, LONGEST_MS, marks=pytest.mark.soak)],
)
def test_a_sweep_that_finds_very_many_groups(groups: int, interval_ms: int, longest_ms: float):
    """Of 100,000: 2.5 s."""
    option = f"offsets.retention.check.interval.ms={interval_ms}"
    with Controlled("--topic", "orders:1", "--config", option) as process, Speaker(process.servers) as speaker:
        large = Large(process)
        large.commits(groups, "orders", retention_ms=1)

        def swept(_: int) -> None:
            until(lambda: not speaker.ask(ListGroupsRequest(), 4).groups, "a sweep", seconds=90)

        large.measure("a sweep", swept, 1)
        assert large.over(longest_ms) == {}
