"""A broker that scenarios are played on: where it is, and what is there for all of them.

Either others may be at home there (`visited`): everything has names of its own and is removed again, and nothing else
is touched. Or it is there for the scenarios `alone` (`prepared`): their topics have plain names, nothing is tidied up,
and they also ask for the empty group id, internal topics and the broker's own configuration.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple

from kafkastub.client import ClientError
from kafkastub_conformance.cleaning import clean
from kafkastub_conformance.cluster import Cluster, NotReady, address
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.names import PLAIN_NODE, TOPICS
from kafkastub_conformance.expecting import Answer
from kafkastub_conformance.link import Link, remembered
from kafkastub_conformance.messages import versions
from kafkastub_conformance.model import Skipped
from kafkawire.errors import ErrorCode

SETTLED = "settled"
"""A topic of which only the configuration is altered, to see that earlier changes of the cluster have come through."""

READY_SECONDS = 30.0
ANSWER_SECONDS = 10.0
PROBE_SECONDS = 1.0
REVIVAL_SECONDS = 5.0
"""So long a broker that does not answer is given to come back."""

TRIES = 100
"""So many names are tried to find one of a group that a node coordinates."""

ASKED = {
    "AddOffsetsToTxn", "AddPartitionsToTxn", "AlterConfigs", "AlterReplicaLogDirs", "AlterShareGroupOffsets",
    "ConsumerGroupDescribe", "ConsumerGroupHeartbeat", "CreateDelegationToken",
    "CreatePartitions", "CreateTopics", "DeleteGroups", "DeleteRecords", "DeleteShareGroupOffsets",
    "DeleteShareGroupState", "DeleteTopics", "DescribeCluster",
    "DescribeConfigs", "DescribeDelegationToken", "DescribeGroups", "DescribeLogDirs", "DescribeProducers",
    "DescribeQuorum", "DescribeShareGroupOffsets", "DescribeTopicPartitions", "DescribeTransactions",
    "ElectLeaders", "EndTxn", "ExpireDelegationToken", "Fetch", "FindCoordinator", "GetTelemetrySubscriptions",
    "Heartbeat", "IncrementalAlterConfigs", "InitProducerId", "InitializeShareGroupState", "JoinGroup", "LeaveGroup",
    "ListConfigResources", "ListGroups",
    "ListOffsets", "ListTransactions", "Metadata", "OffsetCommit", "OffsetDelete", "OffsetFetch",
    "OffsetForLeaderEpoch", "Produce", "PushTelemetry", "ReadShareGroupState",
    "ReadShareGroupStateSummary", "RenewDelegationToken", "ShareAcknowledge", "ShareFetch", "ShareGroupDescribe",
    "ShareGroupHeartbeat", "StreamsGroupDescribe", "StreamsGroupHeartbeat", "StreamsGroupTopologyDescriptionUpdate",
    "SyncGroup", "TxnOffsetCommit",
    "UnregisterBroker", "UnregisterController", "UpdateFeatures", "WriteShareGroupState",
    "WriteTxnMarkers",
}  # fmt: skip
"""The APIs that scenarios may be about."""

Ask = Callable[[str, dict[str, Json]], Json]
"""From the name of an API and a body to the answer, asked at the newest version."""

Versions = Mapping[str, tuple[int, int]]
"""(lowest, highest) by the name of the API."""


class Door(NamedTuple):
    """Where somebody comes in who has signed in by PLAIN: the port of that listener, and a password."""

    port: int
    password: str


class Lost(Exception):
    """A broker cannot be asked any further; the message says which, and why."""


@dataclass
class Broker:
    """A running broker that has the shared topics.

    `topics` are their names there and `topic_ids` their ids, by their names in scenarios. `usable` are the versions
    that may be asked, None for all that Apache Kafka has; `answer_seconds` is how long one answer may take.
    """

    host: str
    port: int
    topic_ids: dict[str, bytes] = field(default_factory=dict)
    name: str = "the broker"
    topics: dict[str, str] = field(default_factory=dict)
    own: str = ""
    """What the names of groups and topics begin with."""
    node: int = PLAIN_NODE
    alone: bool = True
    usable: Versions | None = None
    answer_seconds: float = ANSWER_SECONDS
    cluster: Cluster | None = None
    ignore: frozenset[str] = frozenset()
    """Fields of answers that are not compared."""
    doors: Mapping[str, Door] = field(default_factory=dict)
    """Of clients that sign in, by user, which is their client id, too."""
    emptied: Callable[[Ask], object] | None = None
    """Takes away, before each play, what scenarios change and no name tells to be theirs: ACLs, quotas, users."""

    @property
    def nodes(self) -> int:
        """How many nodes its cluster has."""
        return 1 if self.cluster is None else self.cluster.nodes

    def versions(self, api: str) -> range:
        """The versions of an API that may be asked; none where the broker does not have it."""
        ours = versions(api)
        if self.usable is None:
            return ours
        low, high = self.usable.get(api, (0, -1))
        return range(max(ours.start, low), min(ours.stop, high + 1))

    def newest(self, api: str) -> int:
        """The highest of them. Raises Lost where there is none."""
        if not self.versions(api):
            raise Lost(f"{self.name} does not have {api}, which every scenario needs")
        return self.versions(api)[-1]

    def prefix(self, number: int) -> str:
        """What the groups and topics of a play begin with."""
        return f"{self.own or 'p'}{number:05d}-"

    def placed(self, prefix: str, groups: Sequence[str]) -> dict[str, str]:
        """Where there are several nodes, the names of groups that the one coordinates which is asked, by `<p>…`.

        Raises Lost.
        """
        if self.cluster is None or self.nodes == 1:
            return {}
        keys = {f"{prefix}{group}-{attempt}": group for group in groups for attempt in range(TRIES)}
        try:
            answer = self.cluster.ask("FindCoordinator", coordinator_keys=list(keys))
            found = {keys[one.key]: one.key for one in answer.coordinators if one.node_id == self.node}
        except (ClientError, Skipped, KeyError) as error:
            raise Lost(f"{self.name} does not tell who coordinates groups: {error}") from None
        if len(found) < len(groups):
            raise Lost(f"node {self.node} of {self.name} coordinates too few groups")
        return {f"<p>{group}": name for group, name in found.items()}

    def tidy(self, groups: set[str], topics: set[str], members: list[str]) -> None:
        """Remove what a play has made; `members` are the ids that it was given. What stays is tried again later."""
        if self.cluster is None:
            return
        self.owe(groups, topics)
        owed = set(self.cluster.groups), set(self.cluster.topics)
        with suppress(ClientError, Skipped):
            self._let_go(groups, members)
            if clean(self.cluster):
                self.owe(*owed)

    def owe(self, groups: set[str], topics: set[str]) -> None:
        """Note what is to be removed: after the next play, or when we leave."""
        if self.cluster is not None:
            self.cluster.groups |= groups
            self.cluster.topics |= topics

    def _let_go(self, groups: set[str], members: list[str]) -> None:
        """Let those leave who were given an id and did not come back: nobody shows them."""
        assert self.cluster is not None
        if self.cluster.newest("LeaveGroup") >= 3:
            identities = [{"member_id": member} for member in members]
            for group in groups if members else ():
                self.cluster.ask("LeaveGroup", group_id=group, members=identities)

    def alive(self, seconds: float = PROBE_SECONDS) -> bool:
        """Whether it answers."""
        return self.cluster is None or self.cluster.alive(seconds)

    def comes_back(self, seconds: float | None = None) -> bool:
        """Whether it answers within the time; what had been there for all scenarios is made anew then."""
        if self.cluster is None:
            return False
        self.cluster.forget_admin()
        deadline = time.monotonic() + (REVIVAL_SECONDS if seconds is None else seconds)
        while not self.alive():
            if time.monotonic() > deadline:
                return False
            Event().wait(0.1)
        self.owe(set(), self._shared())
        try:
            _settle_in(self)
        except (ClientError, NotReady, Skipped):
            return False
        return True

    def take_stock(self) -> None:
        """After an interruption: note what is there of ours, whether we got as far as noting it or not."""
        if self.cluster is not None:
            self.cluster.take_stock()

    def leave(self) -> list[str]:
        """Remove everything that is ours; the names of what could not be removed."""
        if self.cluster is None:
            return []
        self.owe(set(), self._shared())
        left = clean(self.cluster)
        self.cluster.forget_admin()
        return left

    def _shared(self) -> set[str]:
        """The topics that are there for all scenarios."""
        return {self.topics[name] for name in (*TOPICS, SETTLED) if name in self.topics}


@contextmanager
def visiting(
    bootstrap_servers: str, name: str = "the broker", timeout: float = ANSWER_SECONDS, left: list[str] | None = None
) -> Iterator[Broker]:
    """A broker that is `visited`, and left again in the end. `left` gets the names of what could not be removed."""
    broker = visited(bootstrap_servers, name, timeout)
    try:
        yield broker
    except KeyboardInterrupt:
        broker.take_stock()
        raise
    finally:
        names = broker.leave()
        if left is not None:
            left += names


def visited(bootstrap_servers: str, name: str = "the broker", timeout: float = ANSWER_SECONDS) -> Broker:
    """A broker that is somebody else's, with the shared topics under names of their own.

    One node of a cluster is asked everything: the one that has the port of `bootstrap_servers` (HOST:PORT, the first of
    several), at the address that it advertises. Raises ValueError, ClientError, NotReady and Skipped, each with a
    sentence.
    """
    host, port = address(bootstrap_servers.partition(",")[0])
    cluster = Cluster(host, port, "kafka", timeout)
    broker = Broker(host, port, name=f"{name} ({bootstrap_servers})", alone=False, answer_seconds=timeout)
    broker.cluster = cluster
    try:
        cluster.prepare()
        broker.usable = cluster.advertised
        _settle_in(broker)
    except BaseException:
        broker.take_stock()
        broker.leave()
        raise
    return broker


def _settle_in(broker: Broker) -> None:
    """Make the shared topics under names that nobody has."""
    cluster = broker.cluster
    assert cluster is not None
    _go_where_it_says(broker, cluster)
    broker.own = cluster.prefix = f"conform-{uuid.uuid4().hex[:8]}-"
    broker.topics = {name: broker.own + name for name in (*TOPICS, SETTLED, "nope")}
    wanted = []
    for name, count in {**TOPICS, SETTLED: 1}.items():
        one: dict[str, Json] = {"name": broker.topics[name], "num_partitions": count, "replication_factor": 1}
        if cluster.nodes > 1:
            rows = [{"partition_index": index, "broker_ids": [broker.node]} for index in range(count)]
            one |= {"num_partitions": -1, "replication_factor": -1, "assignments": rows}
        wanted.append(one)
    body = {"topics": wanted, "timeout_ms": int(broker.answer_seconds * 1000)}
    for result in cluster.ask("CreateTopics", **body).topics:
        if result.error_code:
            reason = f"error {result.error_code} {result.error_message or ''}".rstrip()
            raise NotReady(f"{broker.name} does not let us create a topic: {reason}")
    for name, count in {**TOPICS, SETTLED: 1}.items():
        broker.topic_ids[name] = cluster.await_topic(broker.topics[name], count).id


def _go_where_it_says(broker: Broker, cluster: Cluster) -> None:
    """Use the address that the node advertises, as every client does."""
    nodes = cluster.ask("Metadata", topics=[]).brokers
    for node in nodes:
        if node.node_id == cluster.node_id and (node.host, node.port) != (cluster.host, cluster.port):
            cluster.host, cluster.port = node.host, node.port
            cluster.forget_admin()
            if not cluster.alive(PROBE_SECONDS):
                raise NotReady(f"{broker.name} says that it is at {node.host}:{node.port}, where nobody answers")
    broker.host, broker.port, broker.node = cluster.host, cluster.port, cluster.node_id


def in_common(one: Broker, other: Broker) -> list[str]:
    """Let both be asked only what both have; gives the APIs of scenarios that only one of them has."""
    first, second = one.usable, other.usable
    assert first is not None
    assert second is not None
    both = {
        api: (max(first[api][0], second[api][0]), min(first[api][1], second[api][1])) for api in first if api in second
    }
    one.usable = other.usable = both
    return sorted(ASKED & (set(first) ^ set(second)))


def prepared(bootstrap_servers: str) -> Broker:
    """Create the shared topics on a fresh broker that is ours alone, and wait until its group coordinator serves."""
    host, _, port = bootstrap_servers.rpartition(":")
    broker = Broker(host, int(port))
    with Link(broker.host, broker.port, READY_SECONDS, "preparing", math.inf, remembered()) as link:
        topics = [{"name": name, "num_partitions": count, "replication_factor": 1} for name, count in TOPICS.items()]
        topics.append({"name": SETTLED, "num_partitions": 1, "replication_factor": 1})
        _ask(link, "CreateTopics", 5, topics=topics, timeout_ms=30000)
        for key_type in (0, 1):
            _until(ErrorCode.NONE, link, "FindCoordinator", 2, key="warm", key_type=key_type)
        nobody = {"group_id": "warm", "member_id": "nobody", "generation_id": 1}
        _until(ErrorCode.UNKNOWN_MEMBER_ID, link, "Heartbeat", 3, **nobody)
        _until(ErrorCode.NONE, link, "InitProducerId", 0, transactional_id=None)
        named = [{"name": name} for name in (*TOPICS, "__consumer_offsets")]
        for topic in _ask(link, "Metadata", 12, topics=named).topics:
            broker.topic_ids[topic.name] = bytes(topic.topic_id)
    return broker


def _ask(link: Link, api: str, version: int, **body: Json) -> Answer:
    return link.request(api, version, body).answer()


def _until(code: ErrorCode, link: Link, api: str, version: int, **body: Json) -> None:
    """Ask until the answer has the error code `code`; raises AssertionError after the deadline."""
    deadline = time.monotonic() + READY_SECONDS
    while (answer := _ask(link, api, version, **body)).error_code != code:
        assert time.monotonic() < deadline, f"{api} still answers {answer!r}"
        Event().wait(0.02)
