"""The quorum of controllers, features and brokers that are taken out: what can be asked without changing anything."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

RAFT = "KIP-595, Kafka: KafkaRaftClient"
VOTERS = "KIP-853, Kafka: KafkaRaftClient"
FEATURES = "KIP-584, Kafka: FeatureControlManager"
METADATA = "__cluster_metadata"
ELSEWHERE = bytes(range(1, 17))
UPGRADE, SAFE_DOWNGRADE = 1, 2


def partition(*topics: tuple[str, list[int]]) -> list[dict[str, Any]]:
    return [
        {"topic_name": name, "partitions": [{"partition_index": one} for one in indexes]} for name, indexes in topics
    ]


def quorum(on: Broker) -> Any:
    answer = on.ask("DescribeQuorum", topics=partition((METADATA, [0])))
    expect(answer, error_code=E.NONE, topics=[{"topic_name": METADATA, "partitions": NOT_EMPTY}])
    return answer.topics[0].partitions[0]


@case(
    "DescribeQuorum",
    "The leader of the metadata partition is one of its voters, and at the end of the log.",
    source=RAFT,
)
def leader_votes(on: Broker) -> None:
    told = quorum(on)
    ends = {one.replica_id: one.log_end_offset for one in told.current_voters}
    expect_that("error_code", told.error_code, E.NONE)
    expect_that("whether the leader votes", told.leader_id in ends, True)
    expect_that("whether it has all that is committed", ends[told.leader_id] >= told.high_watermark > 0, True)


@case("DescribeQuorum", "Anything else than that one partition is unknown.", source=RAFT)
def another_partition(on: Broker) -> None:
    for topics in ([(METADATA, [1])], [(METADATA, [0, 1])], [(METADATA, [0]), ("x", [0])], [("x", [0, 2]), ("y", [])]):
        answer = on.ask("DescribeQuorum", topics=partition(*topics))
        rows = [
            {
                "topic_name": name,
                "partitions": [{"partition_index": one, "error_code": E.UNKNOWN_TOPIC_OR_PARTITION} for one in indexes],
            }
            for name, indexes in topics
        ]
        expect(answer, error_code=E.NONE, topics=rows)


def update(on: Broker, *updates: tuple[str, int, int]) -> Answer:
    typed = on.version_of("UpdateFeatures") >= 1
    rows = [
        {"feature": name, "max_version_level": level} | ({"upgrade_type": kind} if typed else {})
        for name, level, kind in updates
    ]
    dry: dict[str, Any] = {"validate_only": True} if typed else {}
    return on.ask("UpdateFeatures", timeout_ms=10_000, feature_updates=rows, **dry)


@case(
    "UpdateFeatures",
    "An impossible update: INVALID_UPDATE_VERSION at the top level, whatever the other updates are.",
    source=FEATURES,
    since="4.0",
    before="each feature has its own error, and there is none at the top",
)
def refused(on: Broker) -> None:
    for updates in (
        [("metadata.version", 1000, UPGRADE)],
        [("metadata.version", -1, UPGRADE)],
        [("no.such.feature", 1, UPGRADE)],
        [("no.such.feature", 0, SAFE_DOWNGRADE)],
        [("metadata.version", 1000, 0)],
        [("metadata.version", 1, SAFE_DOWNGRADE)],
        [("group.version", 0, UPGRADE + 8)],
        [("transaction.version", 0, SAFE_DOWNGRADE), ("no.such.feature", 1, UPGRADE)],
    ):
        expect(update(on, *updates), error_code=E.INVALID_UPDATE_VERSION, error_message=NOT_EMPTY)


@case(
    "UpdateFeatures",
    "A level that there is already: no error, and each feature is named where the version has results.",
    source="KIP-584, Kafka: QuorumController.updateFeatures",
    also=["ApiVersions"],
)
def as_it_is(on: Broker) -> None:
    versions = on.ask("ApiVersions", client_software_name="conform", client_software_version="1")
    level = next(one.max_version_level for one in versions.finalized_features if one.name == "metadata.version")
    for kind in (UPGRADE, SAFE_DOWNGRADE):
        answer = update(on, ("metadata.version", level, kind))
        expect(answer, error_code=E.NONE)
        if answer.version <= 1:
            expect(answer, results=[{"feature": "metadata.version", "error_code": E.NONE}])


@case("AddRaftVoter", "Another cluster's id, and a voter without id or directory, are refused.", source=VOTERS)
def no_voter(on: Broker) -> None:
    asked: dict[str, Any] = {"timeout_ms": 1000, "voter_id": 1, "voter_directory_id": ELSEWHERE, "listeners": []}
    expect(on.ask("AddRaftVoter", cluster_id="another", **asked), error_code=E.INCONSISTENT_CLUSTER_ID)
    for change in ({"voter_id": -1}, {"voter_directory_id": bytes(16)}, {}):
        answer = on.ask("AddRaftVoter", cluster_id=None, **(asked | change))
        expect(answer, error_code=E.INVALID_REQUEST, error_message=NOT_EMPTY)


@case("RemoveRaftVoter", "Another cluster's id, and a voter without id or directory, are refused.", source=VOTERS)
def nobody_to_remove(on: Broker) -> None:
    asked: dict[str, Any] = {"voter_id": 1, "voter_directory_id": ELSEWHERE}
    expect(on.ask("RemoveRaftVoter", cluster_id="another", **asked), error_code=E.INCONSISTENT_CLUSTER_ID)
    for change in ({"voter_id": -1}, {"voter_directory_id": bytes(16)}):
        answer = on.ask("RemoveRaftVoter", cluster_id=None, **(asked | change))
        expect(answer, error_code=E.INVALID_REQUEST, error_message=NOT_EMPTY)


@case(
    "UnregisterBroker",
    "A broker that is not there: BROKER_ID_NOT_REGISTERED.",
    source="Kafka: ReplicationControlManager.unregisterBroker",
    also=["Metadata"],
)
def no_broker(on: Broker) -> None:
    unused = 1 + max(one.node_id for one in on.ask("Metadata", topics=[]).brokers)
    for node_id in (-1, unused + 100_000):
        answer = on.ask("UnregisterBroker", broker_id=node_id)
        expect(answer, error_code=E.BROKER_ID_NOT_REGISTERED)


@case(
    "UnregisterController",
    "A controller that is not there: CONTROLLER_ID_NOT_REGISTERED.",
    source="Kafka: ClusterControlManager.unregisterController",
)
def no_controller(on: Broker) -> None:
    for node_id in (-1, 1_000_000):
        answer = on.ask("UnregisterController", controller_id=node_id)
        expect(answer, error_code=E.CONTROLLER_ID_NOT_REGISTERED, error_message=NOT_EMPTY)


@case(
    "UnregisterController",
    "The active controller stays.",
    source="Kafka: QuorumController.unregisterController",
    also=["DescribeQuorum"],
)
def active_controller(on: Broker) -> None:
    answer = on.ask("UnregisterController", controller_id=quorum(on).leader_id)
    expect(answer, error_code=E.INVALID_REQUEST, error_message=NOT_EMPTY)
