"""Every request that changes what kafkastub.json holds, on a disk that takes no more: refused, and none of it stays."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from kafkastub import DataDirError, KafkaStub, StubError, TopicError
from kafkastub.handlers.registry import registrations
from kafkastub.layers.durable_replies import NEVER_REPEATED, READ_ONLY, REFUSED_BY_LOGS
from kafkastub.storage.disk import DataDirectory
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages import alter_configs_request as replacing
from kafkawire.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
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
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafkawire.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafkawire.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.schema import Message, Struct
from tests.conftest import CONFIG
from tests.persistence.speaker import EARLIEST, LATEST, Speaker
from tests.process.serving import Serving

AUTHORIZED: Final = {
    **CONFIG,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
DIRS: Final = {"log.dirs": "/d/one,/d/two,/d/three"}
ACL = AclCreation(2, "orders", 3, "User:alice", "*", 3, 3)
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
ERROR = ErrorCode.KAFKA_STORAGE_ERROR


class Case(NamedTuple):
    request: Message
    version: int
    code: ErrorCode = ERROR


def setting(kind: int, name: str, key: str, value: str) -> Case:
    return Case(IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, [AlterableConfig(key, 0, value)])]), 1)


CASES: Final = {
    "a topic": Case(CreateTopicsRequest([CreatableTopic("new", 1, 1)], 1000), 7),
    "a topic's end": Case(DeleteTopicsRequest([DeleteTopicState(name="orders")], timeout_ms=1000), 6),
    "partitions": Case(CreatePartitionsRequest([CreatePartitionsTopic("orders", 5, None)], 1000), 3),
    "records": Case(
        DeleteRecordsRequest([DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 2)])], timeout_ms=1000), 2
    ),
    "a topic's configuration": setting(2, "orders", "retention.ms", "77"),
    "a topic's configuration, all of it": Case(
        replacing.AlterConfigsRequest([replacing.AlterConfigsResource(2, "orders", [])]), 2
    ),
    "a broker's configuration": setting(4, "1", "message.max.bytes", "77777"),
    "all brokers' configuration": setting(4, "", "message.max.bytes", "77777"),
    "a group's configuration": setting(32, "g", "consumer.session.timeout.ms", "47000"),
    "a subscription of metrics": setting(16, "m", "interval.ms", "2000"),
    "an ACL": Case(CreateAclsRequest([AclCreation(2, "other", 3, "User:bob", "*", 4, 3)]), 3),
    "an ACL's end": Case(DeleteAclsRequest([DeleteAclsFilter(1, None, 1, None, None, 1, 1)]), 3),
    "a user": Case(
        AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("bob", 1, 4096, b"salt", b"password")]), 0
    ),
    "a user's end": Case(AlterUserScramCredentialsRequest([ScramCredentialDeletion("alice", 1)], []), 0),
    "a quota": Case(
        AlterClientQuotasRequest(
            [EntryData([EntityData("client-id", "c")], [OpData("producer_byte_rate", 5.0, False)])], False
        ),
        1,
    ),
    "a feature": Case(UpdateFeaturesRequest(1000, [FeatureUpdateKey("share.version", 1, upgrade_type=2)]), 2),
    "a broker": Case(UnregisterBrokerRequest(1), 0),
    "replicas": Case(
        AlterPartitionReassignmentsRequest(
            timeout_ms=1000, topics=[ReassignableTopic("orders", [ReassignablePartition(0, [2])])]
        ),
        0,
    ),
    "a replica's directory": Case(
        AlterReplicaLogDirsRequest([AlterReplicaLogDir("/d/three", [AlterReplicaLogDirTopic("orders", [0])])]), 2
    ),
    "a leader": Case(ElectLeadersRequest(0, [TopicPartitions("orders", [0])], 1000), 2),
    "a producer": Case(InitProducerIdRequest(transactional_id="new", transaction_timeout_ms=1000), 4),
    "a topic that is asked for": Case(
        MetadataRequest([MetadataRequestTopic(name="new")], True), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ),
    "a coordinator's topic": Case(
        FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4, ErrorCode.COORDINATOR_NOT_AVAILABLE
    ),
}
NEED_TWO_NODES: Final = {"replicas": [1], "a leader": [2, 1]}
"""With the replicas of both partitions; those of the others are on the only node."""
OF_GROUPS: Final = {
    ApiKey.OFFSET_COMMIT,
    ApiKey.JOIN_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.DELETE_GROUPS,
    ApiKey.OFFSET_DELETE,
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ApiKey.STREAMS_GROUP_HEARTBEAT,
}
"""What these write goes into `__consumer_offsets`: tests/persistence/test_storage_error.py."""
OF_TOKENS: Final = {
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
}
"""For who has signed in: tests/persistence/test_delegation_tokens.py."""

OF_TRANSACTIONS: Final = {
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.END_TXN,
    ApiKey.WRITE_TXN_MARKERS,
    ApiKey.TXN_OFFSET_COMMIT,
}
"""What these write goes into logs: tests/persistence/test_transactions.py."""

OF_SHARE_GROUPS: Final = {
    ApiKey.SHARE_GROUP_HEARTBEAT,
    ApiKey.SHARE_FETCH,
    ApiKey.SHARE_ACKNOWLEDGE,
    ApiKey.INITIALIZE_SHARE_GROUP_STATE,
    ApiKey.READ_SHARE_GROUP_STATE,
    ApiKey.WRITE_SHARE_GROUP_STATE,
    ApiKey.DELETE_SHARE_GROUP_STATE,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
}
"""What these write goes into `__share_group_state` too: tests/persistence/test_share_state.py."""


def test_every_api_that_writes_is_here():
    of_logs = OF_GROUPS | OF_TOKENS | OF_TRANSACTIONS | OF_SHARE_GROUPS
    written = {ApiKey(case.request.API_KEY) for case in CASES.values()} | of_logs
    assert written - READ_ONLY == set(registrations()) - READ_ONLY - NEVER_REPEATED - REFUSED_BY_LOGS


def codes(answer: Any) -> Iterator[int]:
    """All error codes in it, at any depth, but those of the top that are nothing."""
    for name, *_ in answer.FIELDS:
        value = getattr(answer, name)
        if name == "error_code":
            yield value
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Struct):
                yield from codes(one)


def told(answer: Any) -> set[int]:
    return set(codes(answer)) - {0}


def seed(speaker: Speaker, replicas: list[int]) -> None:
    """Something of everything."""
    placed = [CreatableReplicaAssignment(index, replicas) for index in range(2)]
    topic = CreatableTopic("orders", -1, -1, placed, [CreatableTopicConfig("retention.ms", "-1")])
    assert told(speaker.ask(CreateTopicsRequest([topic], 1000), 7)) == set()
    user = ScramCredentialUpsertion("alice", 1, 4096, b"salt", b"password")
    entry = EntryData([EntityData("client-id", "c")], [OpData("producer_byte_rate", 1e6, False)])
    for request, version in (
        (CreateAclsRequest([ACL]), 3),
        (AlterUserScramCredentialsRequest([], [user]), 0),
        (AlterClientQuotasRequest([entry], False), 1),
        setting(32, "g", "consumer.session.timeout.ms", "46000")[:2],
        setting(16, "m", "interval.ms", "1000")[:2],
    ):
        assert told(speaker.ask(request, version)) == set()


def seen(speaker: Speaker) -> list[Any]:
    """What clients see of all that, in an order of its own."""
    resources = [(2, "orders"), (4, "1"), (32, "g"), (16, "m")]
    configs = speaker.ask(DescribeConfigsRequest([DescribeConfigsResource(*one, None) for one in resources]), 4)
    topics = speaker.ask(MetadataRequest(None), 12).topics
    return [
        [(topic.name, topic.topic_id, topic.partitions) for topic in sorted(topics, key=lambda one: one.name)],
        [
            [(one.name, one.value) for one in result.configs if one.name != "advertised.listeners"]  # another port
            for result in configs.results
        ],
        {one.name: one.max_version_level for one in speaker.ask(VERSIONS, 4).finalized_features},
        [one.node_id for one in speaker.ask(MetadataRequest([]), 12).brokers],
        speaker.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3).resources,
        speaker.ask(DescribeUserScramCredentialsRequest(None), 0).results,
        speaker.ask(DescribeClientQuotasRequest([], False), 1).entries,
        [speaker.offset("orders", 0, EARLIEST), speaker.offset("orders", 0, LATEST)],
        speaker.values("orders", 0),
        [(one.log_dir, one.topics) for one in speaker.ask(DescribeLogDirsRequest(None), 3).results],
    ]


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    def replace_state(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(DataDirectory, "replace_state", replace_state)


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    case = CASES[name]

    def start() -> KafkaStub:
        nodes = 2 if name in NEED_TWO_NODES else 1
        return KafkaStub(config=AUTHORIZED | DIRS, data_dir=tmp_path, nodes=nodes)

    def speak(stub: KafkaStub) -> Speaker:
        return Speaker(stub.bootstrap_servers.partition(",")[0])

    with start() as stub, speak(stub) as speaker:
        seed(speaker, NEED_TWO_NODES.get(name, [1]))
        if name == "a leader":
            stub.nodes[2].stop()
            stub.nodes[2].start()
        for value in (b"1", b"2", b"3"):
            assert speaker.produce("orders", 0, value)[0] == 0
    with start() as stub, speak(stub) as speaker, monkeypatch.context() as patch:
        before = seen(speaker)
        full(patch)
        assert told(speaker.ask(case.request, case.version)) == {case.code}
        assert seen(speaker) == before
        assert told(speaker.ask(case.request, case.version)) == {case.code}, "refused at once by now"
        assert seen(speaker) == before
    with start() as stub, speak(stub) as speaker:
        assert seen(speaker) == before


def test_a_process_on_a_full_disk(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    for key, value in AUTHORIZED.items():
        options += ["--config", f"{key}={value}"]
    user = ScramCredentialUpsertion("bob", 1, 4096, b"salt", b"password")
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.create_topic("first") == 0
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        assert told(speaker.ask(CreateAclsRequest([ACL]), 3)) == {ERROR}
        assert told(speaker.ask(AlterUserScramCredentialsRequest([], [user]), 0)) == {ERROR}
        (topic,) = process.metadata("new").topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert speaker.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3).resources == ()
        assert "the data directory" in process.stderr, "its log is cut by the same limit"
        assert "Traceback" not in process.stderr
    with Serving(*options) as process:
        assert [topic.name for topic in process.metadata().topics] == ["orders", "first"]


def test_a_test_is_told_that_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What the public face has done is on the disk when it returns; else it says so, and nothing of it stays."""
    with KafkaStub(config=CONFIG, data_dir=tmp_path) as stub, monkeypatch.context() as patch:
        full(patch)
        with pytest.raises(StubError, match="takes no more writes: syncing failed: No space left on device"):
            stub.create_topic("orders")
        with pytest.raises(TopicError, match="takes no more writes"):
            stub.create_topic("orders")
        with pytest.raises(ValueError, match="takes no more writes"):
            stub.set_quota(client_id="c", producer_byte_rate=1)
        with Speaker(stub.bootstrap_servers) as speaker:
            assert speaker.ask(MetadataRequest(None), 12).topics == ()
        assert stub.metrics()["offset-commits"] == 0


def test_an_operator_is_told_that_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Over HTTP, once it has shown that the disk takes no more."""
    with KafkaStub(config=CONFIG, data_dir=tmp_path, topics={"orders": 1}, control_port=0) as stub:
        with monkeypatch.context() as patch:
            full(patch)
            with pytest.raises(StubError):
                stub.create_topic("new")
        for method, path, body in (
            ("DELETE", "/v1/topics/orders", None),
            ("POST", "/v1/topics", {"name": "other"}),
        ):
            told = httpx.request(method, f"{stub.control_url}{path}", json=body)
            assert (told.status_code, told.json().get("code")) == (503, "KAFKA_STORAGE_ERROR"), told.text
            assert "takes no more writes" in told.json()["error"]
        assert [one["name"] for one in httpx.get(f"{stub.control_url}/v1/topics").json()["topics"]] == ["orders"]


def test_a_start_whose_topics_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        full(patch)
        with pytest.raises(DataDirError, match=f"{tmp_path} cannot be written: No space left on device"):
            KafkaStub(config=CONFIG, data_dir=tmp_path, topics={"orders": 1}).start()
    with KafkaStub(config=CONFIG, data_dir=tmp_path, topics={"orders": 1}):
        assert '"orders"' in (tmp_path / "kafkastub.json").read_text(), "written before clients are let in"
