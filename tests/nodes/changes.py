"""What a cluster of three nodes answers while partitions are reassigned, nodes stop and come back: as data.

The first cluster that goes through it writes the notes. Of the second each look is repeated until it shows the same, as
a real cluster takes its time; what it still shows at the deadline is noted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkawire.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafkawire.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafkawire.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest, TopicRequest
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.nodes.asking import SECONDS, ask

Wanted = tuple[str, int, Sequence[int] | None]
"""Topic, partition, its new replicas (None: take a reassignment back)."""
TIMEOUT_MS = 60_000


class Nodes:
    """One of the two clusters, and the notes of the journey through it."""

    def __init__(
        self,
        servers: Mapping[int, str],
        stop: Callable[[int], None],
        start: Callable[[int], None],
        wanted: Mapping[str, Any] | None = None,
    ) -> None:
        self.servers = servers
        self.stop = stop
        self.start = start
        self.notes: dict[str, Any] = {}
        self._wanted = wanted
        self._patience = 2.0 * SECONDS

    def see(self, label: str, look: Callable[[], Any]) -> None:
        """Note what is to be seen, once it is what the other cluster had to show."""
        found = look()
        if self._wanted is not None:
            deadline = time.monotonic() + self._patience
            while found != self._wanted[label] and time.monotonic() < deadline:
                time.sleep(0.1)
                found = look()
            if found != self._wanted[label]:
                self._patience = 5
        self.notes[label] = found

    def note(self, label: str, found: Any) -> None:
        self.notes[label] = found

    # -- requests to node 1, which never stops -------------------------------------------------------------------

    def ask(self, request: Any, version: int, node: int = 1) -> Any:
        return ask(self.servers[node], request, version)

    def create(
        self, name: str, *assigned: Sequence[int], factor: int = -1, partitions: int = -1, **configs: str
    ) -> tuple[int, str | None]:
        topic = CreatableTopic(
            name,
            partitions,
            factor,
            [CreatableReplicaAssignment(index, replicas) for index, replicas in enumerate(assigned)],
            [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()],
        )
        one = self.ask(CreateTopicsRequest([topic], TIMEOUT_MS), 5).topics[0]
        return one.error_code, one.error_message

    def grow(self, name: str, count: int, *assigned: Sequence[int]) -> tuple[int, str | None]:
        topic = CreatePartitionsTopic(name, count, [CreatePartitionsAssignment(one) for one in assigned])
        one = self.ask(CreatePartitionsRequest([topic], TIMEOUT_MS), 2).results[0]
        return one.error_code, one.error_message

    def reassign(self, *wanted: Wanted, any_number: bool = True, version: int = 1, timeout_ms: int = TIMEOUT_MS) -> str:
        topics: dict[str, list[ReassignablePartition]] = {}
        for name, index, replicas in wanted:
            topics.setdefault(name, []).append(ReassignablePartition(index, replicas))
        asked = [ReassignableTopic(name, partitions) for name, partitions in topics.items()]
        return str(self.ask(AlterPartitionReassignmentsRequest(timeout_ms, any_number, asked), version))

    def under_way(self, *named: tuple[str, Sequence[int]]) -> list[Any]:
        topics = [ListPartitionReassignmentsTopics(name, indexes) for name, indexes in named] or None
        answer = self.ask(ListPartitionReassignmentsRequest(TIMEOUT_MS, topics), 0)
        assert (answer.error_code, answer.error_message) == (0, None)
        return sorted(
            (
                (topic.name, one.partition_index),
                list(one.replicas),
                list(one.adding_replicas),
                list(one.removing_replicas),
            )
            for topic in answer.topics
            for one in topic.partitions
        )

    def elect(
        self, kind: int, *named: tuple[str, Sequence[int]], version: int = 2, timeout_ms: int = TIMEOUT_MS
    ) -> Any:
        """Of all topics, where none is named, only what is told of ours."""
        topics = [TopicPartitions(name, indexes) for name, indexes in named] or None
        answer = self.ask(ElectLeadersRequest(kind, topics, timeout_ms), version)
        results = [
            (one.topic, sorted((p.partition_id, p.error_code, p.error_message) for p in one.partition_result))
            for one in answer.replica_election_results
        ]
        return answer.error_code, sorted(one for one in results if named or one[0].startswith("n-"))

    def produce(self, topic: str, index: int, acks: int = -1, node: int = 1) -> tuple[int, int]:
        """(error code, the leader as the answer hints at it)."""
        data = PartitionProduceData(index, build_batch([NewRecord(b"k", b"v", 1)]))
        request = ProduceRequest(None, acks, 10_000, [TopicProduceData(name=topic, partition_data=[data])])
        one = self.ask(request, 12, node).responses[0].partition_responses[0]
        return one.error_code, one.current_leader.leader_id

    def coordinators(self, *groups: str) -> list[tuple[int, str, int]]:
        old = self.ask(FindCoordinatorRequest(key=groups[0]), 3)
        found = self.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=groups), 4).coordinators
        first = (old.error_code, old.error_message or "", old.node_id)
        return [first, *((one.error_code, one.error_message, one.node_id) for one in found)]

    # -- the state of all topics ---------------------------------------------------------------------------------

    def view(self, names: Sequence[str]) -> dict[str, Any]:
        """What Metadata, DescribeTopicPartitions and DescribeCluster say; ISRs have no order of their own."""
        found: dict[str, Any] = {}
        for version in (0, 4, 5, 12):
            topics = [MetadataRequestTopic(name=name) for name in names]
            answer = self.ask(MetadataRequest(topics, allow_auto_topic_creation=False), version)
            found[f"brokers v{version}"] = sorted((node.node_id, node.rack) for node in answer.brokers)
            for topic in answer.topics:
                for one in topic.partitions:
                    found[f"{topic.name}-{one.partition_index} v{version}"] = (
                        (one.error_code, one.leader_id, one.leader_epoch),
                        (list(one.replica_nodes), sorted(one.isr_nodes), sorted(one.offline_replicas)),
                    )
        described = DescribeTopicPartitionsRequest([TopicRequest(name) for name in names], 2000, None)
        for topic in self.ask(described, 0).topics:
            for one in topic.partitions:
                found[f"{topic.name}-{one.partition_index} described"] = (
                    (one.error_code, one.leader_id, one.leader_epoch),
                    (list(one.replica_nodes), sorted(one.isr_nodes), sorted(one.offline_replicas)),
                    (sorted(one.eligible_leader_replicas or ()), list(one.last_known_elr or ())),
                )
        for fenced in (False, True):
            answer = self.ask(DescribeClusterRequest(include_fenced_brokers=fenced, endpoint_type=1), 2)
            found[f"cluster {fenced}"] = sorted((node.broker_id, node.rack, node.is_fenced) for node in answer.brokers)
        return found
