"""Faults and the journal for a cluster's administration: where each API has its errors, and what it names."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import RESPONSES
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest
from kafkawire.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_delegation_token_request import CreateDelegationTokenRequest
from kafkawire.messages.describe_delegation_token_request import DescribeDelegationTokenRequest
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kafkawire.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.unregister_controller_request import UnregisterControllerRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.schema import Message
from tests.conftest import A_STUB_ALONE
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient

CODE = ErrorCode.NOT_CONTROLLER
SECRET = b"nobody shall read this"
ELSEWHERE = bytes(range(1, 17))


def rows(*each: tuple[str, str, list[int]]) -> AlterReplicaLogDirsRequest:
    """Of directory, topic and partitions."""
    return AlterReplicaLogDirsRequest(
        [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name, indexes)]) for path, name, indexes in each]
    )


REQUESTS: dict[ApiKey, Message] = {
    ApiKey.ALTER_REPLICA_LOG_DIRS: rows(("/a", "t", [1, 1, 0]), ("/b", "t", [1])),
    ApiKey.CREATE_DELEGATION_TOKEN: CreateDelegationTokenRequest(None, None, [], -1),
    ApiKey.RENEW_DELEGATION_TOKEN: RenewDelegationTokenRequest(SECRET, -1),
    ApiKey.EXPIRE_DELEGATION_TOKEN: ExpireDelegationTokenRequest(SECRET, -1),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: DescribeDelegationTokenRequest(None),
    ApiKey.DESCRIBE_QUORUM: DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])]),
    ApiKey.UPDATE_FEATURES: UpdateFeaturesRequest(1000, [FeatureUpdateKey("share.version", 0, upgrade_type=2)]),
    ApiKey.UNREGISTER_BROKER: UnregisterBrokerRequest(1),
    ApiKey.ADD_RAFT_VOTER: AddRaftVoterRequest(None, 1000, 1, ELSEWHERE, []),
    ApiKey.REMOVE_RAFT_VOTER: RemoveRaftVoterRequest(None, 1, ELSEWHERE),
    ApiKey.UNREGISTER_CONTROLLER: UnregisterControllerRequest(7),
}
HARMLESS: dict[ApiKey, Message] = {
    ApiKey.UPDATE_FEATURES: UpdateFeaturesRequest(1000, [FeatureUpdateKey("no.such", 1, upgrade_type=1)]),
    ApiKey.UNREGISTER_BROKER: UnregisterBrokerRequest(7),
}
"""What is asked where no fault is in the way: other tests have the same cluster."""
VERSIONS = {
    ApiKey.ALTER_REPLICA_LOG_DIRS: (1, 2),
    ApiKey.CREATE_DELEGATION_TOKEN: (1, 2, 3),
    ApiKey.RENEW_DELEGATION_TOKEN: (1, 2),
    ApiKey.EXPIRE_DELEGATION_TOKEN: (1, 2),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (1, 2, 3),
    ApiKey.DESCRIBE_QUORUM: (0, 1, 2),
    ApiKey.UPDATE_FEATURES: (0, 1, 2),
    ApiKey.UNREGISTER_BROKER: (0,),
    ApiKey.ADD_RAFT_VOTER: (0, 1),
    ApiKey.REMOVE_RAFT_VOTER: (0,),
    ApiKey.UNREGISTER_CONTROLLER: (0,),
}
EACH = [(key, version) for key, versions in VERSIONS.items() for version in versions]
AT_THE_TOP = [(key, version) for key, version in EACH if key != ApiKey.ALTER_REPLICA_LOG_DIRS]


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KafkaStub]:
    """In front of Apache Kafka there is one log directory, its own."""
    config = {"log.dirs": f"{tmp_path}/a,{tmp_path}/b"}
    with front(request, {"t": 2, "u": 1}, config) as running:
        yield running


@pytest.fixture
def of_two(stub: KafkaStub, tmp_path: Path) -> KafkaStub:
    """With the two log directories."""
    with Client(stub.bootstrap_servers) as client:
        there = {one.log_dir for one in client.ask(DescribeLogDirsRequest(None)).results}
    if there != {f"{tmp_path}/a", f"{tmp_path}/b"}:
        pytest.skip(f"{A_STUB_ALONE}its log directories are its own")
    return stub


def ask(stub: KafkaStub, request: Message, version: int) -> Any:
    key = ApiKey(type(request).API_KEY)
    module, name, _ = RESPONSES[key]
    with RawClient(stub.bootstrap_servers) as client:
        body = client.exchange(key, version, encode(request, version))
    return decode(getattr(importlib.import_module(module), name), version, body)


def state(stub: KafkaStub) -> Any:
    """What these APIs could change."""
    with Client(stub.bootstrap_servers) as client:
        features = client.ask(ApiVersionsRequest(client_software_name="t", client_software_version="1"))
        brokers = client.ask(MetadataRequest(topics=[])).brokers
        return features.finalized_features, brokers, places(stub)


def places(stub: KafkaStub) -> dict[tuple[str, int], str]:
    with Client(stub.bootstrap_servers) as client:
        told = client.ask(DescribeLogDirsRequest(None)).results
    return {
        (topic.name, one.partition_index): result.log_dir.rpartition("/")[2]
        for result in told
        for topic in result.topics
        for one in topic.partitions
    }


def moved(answer: Any) -> list[tuple[str, list[tuple[int, int]]]]:
    return [
        (row.topic_name, [(one.partition_index, one.error_code) for one in row.partitions]) for row in answer.results
    ]


@pytest.mark.parametrize(("key", "version"), AT_THE_TOP)
def test_an_error_is_at_the_top_and_nothing_is_done(stub: KafkaStub, key: ApiKey, version: int) -> None:
    before = state(stub)
    with stub.faults.add(api=key.camel, error=CODE.name) as fault:
        answer = ask(stub, REQUESTS[key], version)
        assert fault.hits == 1
    assert answer.error_code == CODE
    assert not any(getattr(answer, name, ()) for name in ("results", "topics", "tokens", "nodes", "token_id", "hmac"))
    assert state(stub) == before


@pytest.mark.behaviour("RD-7")
@pytest.mark.parametrize("version", VERSIONS[ApiKey.ALTER_REPLICA_LOG_DIRS])
def test_an_error_is_at_every_partition_as_it_was_asked(stub: KafkaStub, version: int) -> None:
    before = state(stub)
    with stub.faults.add(api="AlterReplicaLogDirs", error=CODE.name):
        answer = ask(stub, REQUESTS[ApiKey.ALTER_REPLICA_LOG_DIRS], version)
    assert moved(answer) == [("t", [(1, CODE), (1, CODE), (0, CODE)]), ("t", [(1, CODE)])]
    assert state(stub) == before


def test_one_replica_is_not_moved_and_the_others_are(of_two: KafkaStub, tmp_path: Path) -> None:
    ask(of_two, rows((f"{tmp_path}/a", "t", [0, 1]), (f"{tmp_path}/a", "u", [0])), 2)
    request = rows((f"{tmp_path}/b", "t", [0, 1]), (f"{tmp_path}/b", "u", [0]))
    with of_two.faults.add(api="AlterReplicaLogDirs", topic="t", partition=1, error="KAFKA_STORAGE_ERROR"):
        answer = ask(of_two, request, 2)
    storage = ErrorCode.KAFKA_STORAGE_ERROR
    assert sorted(moved(answer)) == [("t", [(0, 0), (1, storage)]), ("u", [(0, 0)])]
    assert places(of_two) == {("t", 0): "b", ("t", 1): "a", ("u", 0): "b"}


def test_a_topic_that_is_not_named_is_moved(of_two: KafkaStub, tmp_path: Path) -> None:
    with of_two.faults.add(api="AlterReplicaLogDirs", topic="t", error="KAFKA_STORAGE_ERROR") as fault:
        assert moved(ask(of_two, rows((f"{tmp_path}/b", "u", [0])), 2)) == [("u", [(0, 0)])]
        assert fault.matched == 0
        answer = ask(of_two, rows((f"{tmp_path}/b", "t", [0])), 2)
    assert moved(answer) == [("t", [(0, ErrorCode.KAFKA_STORAGE_ERROR)])]


def test_the_partition_of_the_quorum_fails(stub: KafkaStub) -> None:
    with stub.faults.add(api="DescribeQuorum", topic="__cluster_metadata", partition=0, error=CODE.name):
        answer = ask(stub, REQUESTS[ApiKey.DESCRIBE_QUORUM], 2)
    (partition,) = answer.topics[0].partitions
    assert answer.error_code == 0
    assert (partition.partition_index, partition.error_code, partition.leader_id) == (0, CODE, -1)
    assert not partition.current_voters


@pytest.mark.parametrize(("key", "version"), EACH)
def test_the_journal_names_topics_and_errors(stub: KafkaStub, key: ApiKey, version: int) -> None:
    with stub.faults.add(api=key.camel, error=CODE.name, times=1) as fault:
        for _ in range(2):
            ask(stub, HARMLESS.get(key, REQUESTS[key]), version)
    first, second = stub.journal.requests(api=key.camel)
    assert (first.fault, first.error_names) == (fault.id, (CODE.name,))
    assert CODE.name not in second.error_names
    named = {
        ApiKey.ALTER_REPLICA_LOG_DIRS: (("t",), (("t", 1), ("t", 0))),
        ApiKey.DESCRIBE_QUORUM: (("__cluster_metadata",), (("__cluster_metadata", 0),)),
    }
    assert (second.topics, second.partitions) == named.get(key, ((), ()))
    assert (second.api_version, second.groups) == (version, ())
    assert SECRET not in second.request_frame


def test_the_journal_counts_what_real_answers_say(of_two: KafkaStub, tmp_path: Path) -> None:
    stub = of_two
    stub.journal.clear()
    ask(stub, rows((f"{tmp_path}/a", "t", [0, 9]), ("/nowhere", "u", [0])), 2)
    ask(stub, UpdateFeaturesRequest(1000, [FeatureUpdateKey("no.such", 1, upgrade_type=1)]), 2)
    ask(stub, UnregisterBrokerRequest(7), 0)
    ask(stub, REQUESTS[ApiKey.CREATE_DELEGATION_TOKEN], 3)
    assert [entry.error_names for entry in stub.journal.requests()] == [
        ("UNKNOWN_TOPIC_OR_PARTITION", "LOG_DIR_NOT_FOUND"),
        ("INVALID_UPDATE_VERSION",),
        ("BROKER_ID_NOT_REGISTERED",),
        ("DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",),
    ]
