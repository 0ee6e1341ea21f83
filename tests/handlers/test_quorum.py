"""DescribeQuorum, AddRaftVoter, RemoveRaftVoter, UnregisterBroker, UnregisterController."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.state import quorum
from kafkastub.state.leadership import node_started, node_stopped
from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest, Listener
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.unregister_controller_request import UnregisterControllerRequest
from kafkawire.schema import ZERO_UUID
from tests.handlers.in_process import BROKER_MS, InProcess
from tests.nodes.asking import ask

ELSEWHERE = bytes(range(1, 17))
SHOWN = "AQIDBAUGBwgJCgsMDQ4PEA"
STATIC = {"controller.quorum.voters": "1@first:9093,2@second:9094"}
NOW = BROKER_MS, 1000


@pytest.fixture
def broker() -> InProcess:
    return InProcess()


@pytest.fixture
def three() -> InProcess:
    return InProcess(nodes=3)


def describe(broker: InProcess, *topics: tuple[str, list[int]], version: int = 2) -> Any:
    asked = topics or (("__cluster_metadata", [0]),)
    request = DescribeQuorumRequest([TopicData(name, [PartitionData(index) for index in ids]) for name, ids in asked])
    return broker.ask(request, version)


def partition(broker: InProcess, version: int = 2) -> Any:
    (topic,) = describe(broker, version=version).topics
    (one,) = topic.partitions
    return one


@pytest.mark.behaviour("QU-1", "QU-2")
@pytest.mark.parametrize("version", range(3))
def test_the_first_node_votes_and_the_others_look_on(three: InProcess, version: int):
    told = partition(three, version)
    assert (told.error_code, told.leader_id, told.leader_epoch) == (ErrorCode.NONE, 1, 1)
    assert [one.replica_id for one in told.current_voters] == [1]
    assert [one.replica_id for one in told.observers] == [2, 3]
    when = BROKER_MS if version >= 1 else -1
    for one in (*told.current_voters, *told.observers):
        assert one.log_end_offset == told.high_watermark > 0
        assert (one.last_fetch_timestamp, one.last_caught_up_timestamp) == (when, when)


@pytest.mark.behaviour("QU-1")
def test_the_log_grows_with_what_is_changed(broker: InProcess):
    before = partition(broker).high_watermark
    create_topic(broker.state, "a")
    assert partition(broker).high_watermark > before
    versions = broker.ask(ApiVersionsRequest(client_software_name="test", client_software_version="1"), 4)
    assert versions.finalized_features_epoch == partition(broker).high_watermark - 1


@pytest.mark.behaviour("QU-3")
def test_version_2_tells_directories_and_addresses(three: InProcess):
    answer = describe(three)
    told = answer.topics[0].partitions[0]
    ids = [one.replica_directory_id for one in (*told.current_voters, *told.observers)]
    assert len(set(ids)) == 3
    assert ZERO_UUID not in ids
    assert [one.replica_directory_id for one in partition(three).current_voters] == ids[:1]
    (node,) = answer.nodes
    assert (node.node_id, [(one.name, one.host, one.port) for one in node.listeners]) == (
        1,
        [("CONTROLLER", "node-1", 9001)],
    )


@pytest.mark.behaviour("QU-4")
@pytest.mark.parametrize(
    "topics",
    [
        [("__cluster_metadata", [1])],
        [("__cluster_metadata", [0, 1])],
        [("__cluster_metadata", [])],
        [("__cluster_metadata", [0]), ("x", [3])],
        [("x", [0, 2]), ("y", [])],
    ],
)
@pytest.mark.parametrize("version", range(3))
def test_anything_else_is_unknown(broker: InProcess, topics: list[tuple[str, list[int]]], version: int):
    answer = describe(broker, *topics, version=version)
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.error_code == ErrorCode.NONE
    assert [
        (one.topic_name, [(each.partition_index, each.error_code) for each in one.partitions]) for one in answer.topics
    ] == [(name, [(index, code) for index in indexes]) for name, indexes in topics]
    text = "This server does not host this topic-partition." if version == 2 else ""
    assert {each.error_message for one in answer.topics for each in one.partitions} <= {text}
    assert answer.nodes == ()


@pytest.mark.behaviour("QU-5")
def test_a_node_that_was_stopped_stays_for_a_while(three: InProcess):
    node_stopped(three.state, 2, (BROKER_MS - 299_000, 0))
    create_topic(three.state, "a")
    told = partition(three)
    gone, there = told.observers
    assert (gone.replica_id, gone.last_fetch_timestamp) == (2, BROKER_MS - 299_000)
    assert gone.log_end_offset < there.log_end_offset
    node_stopped(three.state, 3, (BROKER_MS - 300_000, 0))
    assert [one.replica_id for one in partition(three).observers] == [2]
    node_started(three.state, 3, NOW)
    assert [one.replica_id for one in partition(three).observers] == [2, 3]


@pytest.mark.behaviour("QU-6", "AV-4")
def test_a_static_quorum_is_told_as_configured():
    broker = InProcess(STATIC)
    answer = describe(broker)
    voters = answer.topics[0].partitions[0].current_voters
    assert [(one.replica_id, one.replica_directory_id) for one in voters] == [(1, ZERO_UUID), (2, ZERO_UUID)]
    told = [(node.node_id, one.name, one.host, one.port) for node in answer.nodes for one in node.listeners]
    assert told == [(1, "CONTROLLER", "first", 9093), (2, "CONTROLLER", "second", 9094)]
    versions = broker.ask(ApiVersionsRequest(client_software_name="test", client_software_version="1"), 4)
    assert "kraft.version" not in {one.name for one in versions.finalized_features}


# -- voters --------------------------------------------------------------------------------------------------------


def add(broker: InProcess, cluster_id: str | None, voter: int, directory: bytes, *listeners: Listener) -> Any:
    answer = broker.ask(AddRaftVoterRequest(cluster_id, 1000, voter, directory, listeners))
    return ErrorCode(answer.error_code), answer.error_message


HERE = Listener("CONTROLLER", "localhost", 9093)


@pytest.mark.behaviour("VA-1")
def test_a_voter_that_is_none_is_not_added(broker: InProcess):
    own_id = broker.state.cluster.cluster_id
    text = f'The given id "other" doesn\'t match the cluster id "{own_id}"'
    assert add(broker, "other", -1, ZERO_UUID) == (ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    invalid = ErrorCode.INVALID_REQUEST, "Add voter request didn't include a valid voter"
    assert add(broker, own_id, -1, ELSEWHERE) == add(broker, None, 5, ZERO_UUID) == invalid
    begin, end = "Add voter request didn't include the endpoint (Endpoints(endpoints={", "ListenerName(CONTROLLER)"
    text = f"{begin}}})) for the default listener {end}"
    assert add(broker, None, 1, ELSEWHERE) == (ErrorCode.INVALID_REQUEST, text)
    listeners = [Listener("X", "localhost", 9093), Listener("a", "nowhere", 1)]
    told = "ListenerName(X)=localhost/<unresolved>:9093, ListenerName(A)=nowhere/<unresolved>:1"
    text = f"{begin}{told}}})) for the default listener {end}"
    assert add(broker, None, 1, ELSEWHERE, *listeners) == (ErrorCode.INVALID_REQUEST, text)


@pytest.mark.behaviour("VA-2", "VR-2")
def test_a_static_quorum_does_not_change():
    broker = InProcess(STATIC)
    text = "Cluster doesn't support {} voter because the kraft.version feature is 0"
    assert add(broker, None, 1, ELSEWHERE, HERE) == (ErrorCode.UNSUPPORTED_VERSION, text.format("adding"))
    answer = broker.ask(RemoveRaftVoterRequest(None, 1, ELSEWHERE))
    assert (answer.error_code, answer.error_message) == (ErrorCode.UNSUPPORTED_VERSION, text.format("removing"))


@pytest.mark.behaviour("VA-3")
def test_a_voter_is_not_added_twice(broker: InProcess):
    code, text = add(broker, None, 1, ELSEWHERE, Listener("controller", "localhost", 9093))
    voters = quorum.voter_keys(broker.state)
    assert code == ErrorCode.DUPLICATE_VOTER
    assert text == (
        f"The voter id for ReplicaKey(id=1, directoryId={SHOWN}) is already part of the set of voters {voters}."
    )


@pytest.mark.behaviour("VA-4")
def test_a_voter_that_nobody_hears_of_is_not_added(broker: InProcess):
    text = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
    assert add(broker, None, 7, ELSEWHERE, HERE) == (ErrorCode.REQUEST_TIMED_OUT, text)


@pytest.mark.behaviour("VR-1", "VR-3")
def test_who_is_removed(broker: InProcess):
    def remove(cluster_id: str | None, voter: int, directory: bytes) -> Any:
        answer = broker.ask(RemoveRaftVoterRequest(cluster_id, voter, directory))
        return ErrorCode(answer.error_code), answer.error_message

    own_id = broker.state.cluster.cluster_id
    text = f'The given id "" doesn\'t match the cluster id "{own_id}"'
    assert remove("", 1, ZERO_UUID) == (ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    invalid = ErrorCode.INVALID_REQUEST, "Remove voter request didn't include a valid voter"
    assert remove(own_id, -1, ELSEWHERE) == remove(None, 1, ZERO_UUID) == invalid
    for voter in (1, 2):
        text = (
            f"Cannot remove voter ReplicaKey(id={voter}, directoryId={SHOWN}) from the set of voters "
            f"{quorum.voter_keys(broker.state)}"
        )
        assert remove(None, voter, ELSEWHERE) == (ErrorCode.VOTER_NOT_FOUND, text)
    assert remove(None, 1, quorum.directory_id(broker.state, 1))[0] == ErrorCode.VOTER_NOT_FOUND
    assert [one.replica_id for one in partition(broker).current_voters] == [1]


# -- out of the cluster --------------------------------------------------------------------------------------------


def brokers(broker: InProcess) -> list[int]:
    answer = broker.ask(DescribeClusterRequest(include_fenced_brokers=True))
    assert sorted(one.node_id for one in broker.ask(MetadataRequest(topics=[]), 12).brokers) == sorted(
        one.broker_id for one in answer.brokers if not one.is_fenced
    )
    return sorted(one.broker_id for one in answer.brokers)


def unregister(broker: InProcess, node_id: int) -> tuple[int, str | None]:
    answer = broker.ask(UnregisterBrokerRequest(node_id))
    return answer.error_code, answer.error_message


@pytest.mark.behaviour("UB-1")
def test_a_broker_that_is_unregistered_leads_nothing_and_gets_nothing(three: InProcess):
    topic = create_topic(three.state, "a", 6, 3)
    node_stopped(three.state, 3, NOW)
    assert brokers(three) == [1, 2, 3]
    assert unregister(three, 3) == unregister(three, 2) == (ErrorCode.NONE, "")
    assert brokers(three) == [1]
    assert {one.leader for one in topic.partitions} == {1}
    assert {tuple(sorted(one.replicas)) for one in topic.partitions} == {(1, 2, 3)}
    assert {tuple(one.isr) for one in topic.partitions} == {(1,)}
    by_hand = CreatableTopic("by hand", assignments=[CreatableReplicaAssignment(0, [2])])
    by_hand.name = "by-hand"
    by_hand.num_partitions = by_hand.replication_factor = -1
    wide = CreatableTopic("wide", 1, 2)
    answer = three.ask(CreateTopicsRequest(topics=[by_hand, wide], timeout_ms=1000))
    codes = {one.name: one.error_code for one in answer.topics}
    assert codes == {"by-hand": ErrorCode.INVALID_REPLICA_ASSIGNMENT, "wide": ErrorCode.INVALID_REPLICATION_FACTOR}
    node_started(three.state, 2, NOW)
    assert brokers(three) == [1, 2]
    assert {tuple(sorted(one.isr)) for one in topic.partitions} == {(1, 2)}


@pytest.mark.behaviour("UB-2")
def test_without_the_last_broker_nothing_has_a_leader(broker: InProcess):
    topic = create_topic(broker.state, "a")
    assert unregister(broker, 1) == (ErrorCode.NONE, "")
    answer = broker.ask(MetadataRequest(topics=None), 12)
    assert (list(answer.brokers), answer.controller_id) == ([], -1)
    assert topic.partitions[0].leader == -1
    node_started(broker.state, 1, NOW)
    assert (brokers(broker), topic.partitions[0].leader, broker.state.cluster.controller_id) == ([1], 1, 1)


@pytest.mark.behaviour("UB-2")
def test_an_unregistered_broker_is_served_and_comes_back_when_it_starts():
    with KafkaStub(nodes=2) as stub:
        second = stub.nodes[2]
        assert ask(stub.nodes[1].bootstrap_servers, UnregisterBrokerRequest(2), 0).error_code == ErrorCode.NONE
        for node in (stub.nodes[1], second):
            told = ask(node.bootstrap_servers, MetadataRequest(topics=[]), 12)
            assert [one.node_id for one in told.brokers] == [1]
        second.start()
        told = ask(second.bootstrap_servers, MetadataRequest(topics=[]), 12)
        assert sorted(one.node_id for one in told.brokers) == [1, 2]
        ask(stub.nodes[1].bootstrap_servers, UnregisterBrokerRequest(2), 0)
        second.stop()
        with pytest.raises(OSError, match="refused"):
            ask(second.bootstrap_servers, MetadataRequest(topics=[]), 12)


@pytest.mark.behaviour("UB-3")
def test_a_broker_that_is_not_there_is_not_unregistered(broker: InProcess):
    for node_id in (2, -1, 1000):
        text = f"Broker ID {node_id} is not currently registered"
        assert unregister(broker, node_id) == (ErrorCode.BROKER_ID_NOT_REGISTERED, text)
    unregister(broker, 1)
    assert unregister(broker, 1)[0] == ErrorCode.BROKER_ID_NOT_REGISTERED
    older = InProcess({"kafkastub.as.version": "3.9"})
    assert unregister(older, 2) == (ErrorCode.BROKER_ID_NOT_REGISTERED, "")


@pytest.mark.behaviour("UC-1", "UC-2")
def test_no_controller_can_be_unregistered(three: InProcess):
    answer = three.ask(UnregisterControllerRequest(1))
    text = "Controller cannot unregister itself while it is active."
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, text)
    for node_id in (2, -1):
        answer = three.ask(UnregisterControllerRequest(node_id))
        text = f"Controller ID {node_id} is not currently registered."
        assert (answer.error_code, answer.error_message) == (ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)
