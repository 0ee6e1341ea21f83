"""The ACL matrix: every API, at its last version and at those where its shape changes, under every set of entries.

A set allows one operation on one type of resource and nothing else ("only topic READ"), or everything but one ("all but
topic READ", by an entry that denies it), or nothing, or everything. The subject is who comes from `SUBJECT`; whoever
comes from `ADMIN` may do everything, which keeps one listener and one principal enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkastub.security import CLUSTER_NAME, Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest
from kafkawire.messages.alter_client_quotas_request import AlterClientQuotasRequest, EntityData, EntryData, OpData
from kafkawire.messages.alter_configs_request import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
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
)
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_client_quotas_request import ComponentData, DescribeClientQuotasRequest
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kafkawire.messages.describe_topic_partitions_request import DescribeTopicPartitionsRequest
from kafkawire.messages.describe_topic_partitions_request import TopicRequest as NamedTopic
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest, UserName
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.incremental_alter_configs_request import AlterableConfig as Change
from kafkawire.messages.incremental_alter_configs_request import AlterConfigsResource as Changed
from kafkawire.messages.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.list_config_resources_request import ListConfigResourcesRequest
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.unregister_controller_request import UnregisterControllerRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.security.matrix_shares import share_requests
from tests.security.matrix_streams import streams_requests
from tests.security.matrix_twice import twice

ADMIN = "127.0.0.1"
SUBJECT = "127.0.0.2"
SEEN, OTHER, GONE = "seen", "other", "gone"
"""Two topics that exist, and one that does not. Entries that deny are about the first."""
TEAM, TX, OPEN_TX = "team", "tx", "open-tx"
"""The last one has an open transaction over the two topics that exist."""
CREW = "crew"
"""A group of the consumer protocol with a member, which has both of these topics."""
NAMES = {
    ResourceType.TOPIC: SEEN,
    ResourceType.GROUP: TEAM,
    ResourceType.CLUSTER: CLUSTER_NAME,
    ResourceType.TRANSACTIONAL_ID: TX,
}
OPERATIONS = [one for one in Operation if one not in (Operation.UNKNOWN, Operation.ANY)]
_STAMP = 1_700_000_000_000
_ONE_RECORD = build_batch([NewRecord(b"k", b"v", _STAMP)])
_TRANSACTIONAL = build_batch(
    [NewRecord(b"k", b"v", _STAMP)], producer_id=0, producer_epoch=0, base_sequence=0, attributes=0x10
)
_UNKNOWN_ID = bytes(range(16))


class Cell(NamedTuple):
    """A request of the matrix."""

    title: str
    key: ApiKey
    version: int
    request: Message


def acl_sets() -> Iterator[tuple[str, list[Acl]]]:
    """(name, entries) of every set, for the subject."""

    def allow(kind: int, operation: int) -> Acl:
        name = CLUSTER_NAME if kind == ResourceType.CLUSTER else "*"
        return Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", SUBJECT, operation, Permission.ALLOW)

    everything = [allow(kind, Operation.ALL) for kind in NAMES]
    yield "nothing", []
    yield "everything", everything
    for kind, name in NAMES.items():
        for operation in OPERATIONS:
            what = f"{kind.name.lower()} {operation.name}"
            yield f"only {what}", [allow(kind, operation)]
            denied = Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", "*", operation, Permission.DENY)
            yield f"all but {what}", [*everything, denied._replace(host=SUBJECT)]


def admin_acls() -> list[Acl]:
    """What whoever comes from `ADMIN` needs, this test and the broker itself."""
    return [
        Acl(kind, CLUSTER_NAME if kind == ResourceType.CLUSTER else "*", 3, "User:ANONYMOUS", ADMIN, 2, 3)
        for kind in NAMES
    ]


def cells(ids: dict[str, bytes]) -> list[Cell]:
    """Every request, in the order in which they are sent. `ids` are those of the two topics that exist."""
    created = MetadataRequest([MetadataRequestTopic(name=name) for name in ("no/name", "auto")], True)
    last = Cell("topics to create", ApiKey.METADATA, 8, created)
    return [
        *_data(ids),
        *_transactions(ids),
        *_groups(ids),
        *_offsets(ids),
        *(Cell(*asked) for asked in share_requests(ids, SEEN, OTHER, GONE, TEAM)),
        *(Cell(*asked) for asked in streams_requests(SEEN, OTHER, GONE, TEAM)),
        *_topics(ids),
        *_configs(),
        *_cluster(),
        *_acls(),
        *(Cell(*asked) for asked in twice(ids, (SEEN, OTHER, GONE), (TEAM, TX, OPEN_TX))),
        last,
    ]


def _data(ids: dict[str, bytes]) -> Iterator[Cell]:
    names = (SEEN, OTHER, GONE)

    def produce(version: int, records: bytes, transactional_id: str | None) -> Message:
        data = [TopicProduceData(name, _id(ids, name), [PartitionProduceData(0, records)]) for name in names]
        return ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=data)

    for version in (3, 12, 13):
        yield Cell(f"produce {version}", ApiKey.PRODUCE, version, produce(version, _ONE_RECORD, None))
    yield Cell("produce transactional", ApiKey.PRODUCE, 11, produce(11, _TRANSACTIONAL, TX))
    for version in (4, 12, 13, 18):
        topics = [
            FetchTopic(name, _id(ids, name), [FetchPartition(partition=0, partition_max_bytes=1)]) for name in names
        ]
        yield Cell(f"fetch {version}", ApiKey.FETCH, version, FetchRequest(topics=topics, max_bytes=1))
    topics = [FetchTopic(SEEN, ids[SEEN], [FetchPartition(partition=0, partition_max_bytes=1)])]
    follower = FetchRequest(topics=topics, max_bytes=1, replica_state=ReplicaState(replica_id=7, replica_epoch=-1))
    yield Cell("fetch by a follower", ApiKey.FETCH, 17, follower)
    for version in (1, 11):
        earliest = [ListOffsetsTopic(name, [ListOffsetsPartition(0, -1, -2)]) for name in names]
        yield Cell(f"list offsets {version}", ApiKey.LIST_OFFSETS, version, ListOffsetsRequest(-1, 0, earliest))
    records = [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, 0)]) for name in names]
    yield Cell("delete records", ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest(records, timeout_ms=1000))
    epochs = [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0, -1, 0)]) for name in names]
    yield Cell("epochs", ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, OffsetForLeaderEpochRequest(topics=epochs))
    producers = [TopicRequest(name, [0]) for name in (SEEN, "no/name", OTHER, GONE)]
    yield Cell("producers", ApiKey.DESCRIBE_PRODUCERS, 0, DescribeProducersRequest(producers))
    yield Cell("producer id", ApiKey.INIT_PRODUCER_ID, 5, InitProducerIdRequest(None, 1000))
    yield Cell("producer id of a transaction", ApiKey.INIT_PRODUCER_ID, 5, InitProducerIdRequest(TX, 1000))


def _transactions(ids: dict[str, bytes]) -> Iterator[Cell]:
    """None of them changes anything: where they are allowed, the producer id is another one's."""
    who = 1 << 40, 0
    topics = [AddPartitionsToTxnTopic(name, [0]) for name in (SEEN, OTHER)]
    more = [*topics, *(AddPartitionsToTxnTopic(name, [0]) for name in (GONE, "__consumer_offsets"))]
    for title, asked in (("partitions", topics), ("all kinds of partitions", more)):
        for version in (0, 3):
            added = AddPartitionsToTxnRequest((), TX, *who, asked)
            yield Cell(f"add {title} {version}", ApiKey.ADD_PARTITIONS_TO_TXN, version, added)
        several = [AddPartitionsToTxnTransaction(one, *who, one != TX, asked) for one in (TX, OPEN_TX)]
        yield Cell(f"add {title} 5", ApiKey.ADD_PARTITIONS_TO_TXN, 5, AddPartitionsToTxnRequest(several))
    yield Cell("add offsets", ApiKey.ADD_OFFSETS_TO_TXN, 4, AddOffsetsToTxnRequest(TX, *who, TEAM))
    for version in (0, 5):
        yield Cell(f"end {version}", ApiKey.END_TXN, version, EndTxnRequest(TX, *who, True))
    for version in (0, 3, 5, 6):
        offsets = [
            TxnOffsetCommitRequestTopic(name, _id(ids, name), [TxnOffsetCommitRequestPartition(0, 1)])
            for name in (SEEN, GONE, OTHER)
        ]
        committed = TxnOffsetCommitRequest(TX, TEAM, *who, topics=offsets)
        yield Cell(f"commit offsets {version}", ApiKey.TXN_OFFSET_COMMIT, version, committed)
    markers = [WritableTxnMarker(*who, True, [WritableTxnMarkerTopic(SEEN, [7]), WritableTxnMarkerTopic(GONE, [0])], 0)]
    for version in (1, 2):
        yield Cell(f"markers {version}", ApiKey.WRITE_TXN_MARKERS, version, WriteTxnMarkersRequest(markers))
    described = DescribeTransactionsRequest([OPEN_TX, "none", TX])
    yield Cell("describe transactions", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    yield Cell("transactions", ApiKey.LIST_TRANSACTIONS, 2, ListTransactionsRequest())


def _groups(ids: dict[str, bytes]) -> Iterator[Cell]:
    yield Cell("coordinator 0", ApiKey.FIND_COORDINATOR, 0, FindCoordinatorRequest(TEAM))
    yield Cell("coordinator 3", ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest(TX, 1))
    share_key = "team:AAECAwQFBgcICQoLDA0ODw:0"
    for kind, keys in enumerate(((TEAM, "others"), (TX, "tx2"), (share_key,))):
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
        yield Cell(f"coordinators of type {kind}", ApiKey.FIND_COORDINATOR, 6, request)
    # a session timeout that is refused, so that nobody becomes a member
    protocols = [JoinGroupRequestProtocol("range", b"")]
    for version in (0, 9):
        join = JoinGroupRequest(TEAM, 1, 1, "", None, "consumer", protocols)
        yield Cell(f"join {version}", ApiKey.JOIN_GROUP, version, join)
    for version in (0, 5):
        sync = SyncGroupRequest(TEAM, 1, "nobody", None, "consumer", "range")
        yield Cell(f"sync {version}", ApiKey.SYNC_GROUP, version, sync)
    yield Cell("sync without protocol", ApiKey.SYNC_GROUP, 5, SyncGroupRequest(TEAM, 1, "nobody"))
    yield Cell("heartbeat", ApiKey.HEARTBEAT, 4, HeartbeatRequest(TEAM, 1, "nobody"))
    yield Cell("leave 2", ApiKey.LEAVE_GROUP, 2, LeaveGroupRequest(TEAM, "nobody"))
    yield Cell("leave 5", ApiKey.LEAVE_GROUP, 5, LeaveGroupRequest(TEAM, members=[MemberIdentity("nobody")]))
    for title, group, topics in (
        ("of nobody", "none", None),
        ("of another type", TEAM, None),
        ("of nobody, with topics", "none", [SEEN, GONE]),
        ("of another type, with topics", TEAM, [OTHER, SEEN]),
        ("with an empty list", TEAM, []),
    ):
        beat = ConsumerGroupHeartbeatRequest(group, "nobody", 5, subscribed_topic_names=topics)
        yield Cell(f"consumer heartbeat {title}", ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, beat)
    for version in (0, 1):
        told = ConsumerGroupDescribeRequest([CREW, "none", "", TEAM, CREW], include_authorized_operations=version > 0)
        yield Cell(f"consumer describe {version}", ApiKey.CONSUMER_GROUP_DESCRIBE, version, told)
    for version in (0, 5, 6):
        describe = DescribeGroupsRequest(["others", TEAM, "none"], include_authorized_operations=version >= 3)
        yield Cell(f"describe groups {version}", ApiKey.DESCRIBE_GROUPS, version, describe)
    yield Cell("list groups", ApiKey.LIST_GROUPS, 5, ListGroupsRequest())
    yield Cell("delete groups", ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["none", TEAM + "-none", "none"]))


def _offsets(ids: dict[str, bytes]) -> Iterator[Cell]:
    names = (OTHER, GONE, SEEN)
    for version in (2, 9, 10):
        asked = [
            OffsetCommitRequestTopic(
                name, _id(ids, name), [OffsetCommitRequestPartition(0, 5, -1, ""), OffsetCommitRequestPartition(9, 5)]
            )
            for name in names
        ]
        yield Cell(f"commit {version}", ApiKey.OFFSET_COMMIT, version, OffsetCommitRequest(TEAM, topics=asked))
    for version in (1, 2, 7):
        topics = [OffsetFetchRequestTopic(name, [0, 1]) for name in names]
        yield Cell(f"offsets {version}", ApiKey.OFFSET_FETCH, version, OffsetFetchRequest(TEAM, topics))
    yield Cell("all offsets 7", ApiKey.OFFSET_FETCH, 7, OffsetFetchRequest(TEAM, None))
    for version in (8, 9, 10):
        some = [OffsetFetchRequestTopics(name, _id(ids, name), [0, 1]) for name in names]
        groups = [OffsetFetchRequestGroup(group, topics=some) for group in (TEAM, "others", "none")]
        yield Cell(f"offsets {version}", ApiKey.OFFSET_FETCH, version, OffsetFetchRequest(groups=groups))
        groups = [OffsetFetchRequestGroup(group, topics=None) for group in (TEAM, "others")]
        yield Cell(f"all offsets {version}", ApiKey.OFFSET_FETCH, version, OffsetFetchRequest(groups=groups))
    gone = [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(7)]) for name in names]
    yield Cell("delete offsets", ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(TEAM, gone))
    yield Cell("delete offsets of no group", ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest("none", gone))


def _topics(ids: dict[str, bytes]) -> Iterator[Cell]:
    names = (SEEN, OTHER, GONE)
    named = [MetadataRequestTopic(name=name) for name in (*names, "no/name", "__consumer_offsets")]
    for version in (0, 1, 9, 13):
        yield Cell(f"all topics {version}", ApiKey.METADATA, version, MetadataRequest([] if not version else None))
        # below version 4 a topic that is asked for is always made
        existing = [one for one in named if version >= 4 or one.name != GONE]
        request = MetadataRequest(existing, False, 8 <= version <= 10, version >= 8)
        yield Cell(f"topics {version}", ApiKey.METADATA, version, request)
    by_id = [MetadataRequestTopic(one, None) for one in (ids[SEEN], _UNKNOWN_ID, ids[OTHER])]
    yield Cell("topics by id", ApiKey.METADATA, 12, MetadataRequest(by_id, False, False, True))
    asked = [NamedTopic(name) for name in names]
    yield Cell("partitions", ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, DescribeTopicPartitionsRequest(asked))
    yield Cell("all partitions", ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, DescribeTopicPartitionsRequest([]))
    created = [CreatableTopic(name, 1, 1) for name in ("new", SEEN, "twice", "twice")]
    yield Cell("create topics", ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(created, 10000, True))
    more = [CreatePartitionsTopic(name, 2, None) for name in (SEEN, GONE)]
    yield Cell("create partitions", ApiKey.CREATE_PARTITIONS, 3, CreatePartitionsRequest(more, 10000, True))
    yield Cell("delete topics 5", ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest([], ["victim", GONE], 10000))
    states = [
        DeleteTopicState(GONE),
        DeleteTopicState(None, _UNKNOWN_ID),
        DeleteTopicState(None, ids["pet"]),
        DeleteTopicState("pet2"),
    ]
    yield Cell("delete topics 6", ApiKey.DELETE_TOPICS, 6, DeleteTopicsRequest(states, (), 10000))


def _configs() -> Iterator[Cell]:
    resources = [(2, SEEN), (4, "1"), (2, GONE), (4, ""), (8, "1"), (16, "sub"), (32, TEAM)]
    described = [DescribeConfigsResource(kind, name, ["retention.ms"]) for kind, name in resources]
    yield Cell("describe configs", ApiKey.DESCRIBE_CONFIGS, 4, DescribeConfigsRequest(described))
    keys = {
        2: ("retention.ms", "60000"),
        4: ("log.cleaner.backoff.ms", "15000"),
        16: ("interval.ms", "5000"),
        32: ("consumer.session.timeout.ms", "50000"),
    }
    pairs = [one for one in resources if one[0] in keys]
    set_all = [AlterConfigsResource(kind, name, [AlterableConfig(*keys[kind])]) for kind, name in pairs]
    yield Cell("alter configs", ApiKey.ALTER_CONFIGS, 2, AlterConfigsRequest(set_all, True))
    changes = [Changed(kind, name, [Change(keys[kind][0], 0, keys[kind][1])]) for kind, name in pairs]
    changes += [Changed(8, "1", [Change("root", 0, "INFO")]), Changed(4, "5", [Change(keys[4][0], 0, "1")])]
    changes += [Changed(2, OTHER, [Change("retention.ms", 0, None)]), Changed(2, "x", [Change("retention.ms", 0, "1")])]
    request = IncrementalAlterConfigsRequest(changes, True)
    yield Cell("change configs", ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    yield Cell("config resources 0", ApiKey.LIST_CONFIG_RESOURCES, 0, ListConfigResourcesRequest())
    yield Cell("config resources 1", ApiKey.LIST_CONFIG_RESOURCES, 1, ListConfigResourcesRequest([32]))


def _cluster() -> Iterator[Cell]:
    yield Cell("api versions", ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
    for version in (0, 2):
        yield Cell(f"cluster {version}", ApiKey.DESCRIBE_CLUSTER, version, DescribeClusterRequest(True))
    yield Cell("cluster of controllers", ApiKey.DESCRIBE_CLUSTER, 1, DescribeClusterRequest(True, 2))
    for version in (1, 4):
        yield Cell(f"log dirs {version}", ApiKey.DESCRIBE_LOG_DIRS, version, DescribeLogDirsRequest(None))
    moves = [
        AlterReplicaLogDir("/nowhere", [AlterReplicaLogDirTopic(SEEN, [0]), AlterReplicaLogDirTopic(GONE, [0, 1])])
    ]
    for version in (1, 2):
        yield Cell(
            f"move log dirs {version}", ApiKey.ALTER_REPLICA_LOG_DIRS, version, AlterReplicaLogDirsRequest(moves)
        )
    users = DescribeUserScramCredentialsRequest([UserName("nobody")])
    yield Cell("users", ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users)
    changes = AlterUserScramCredentialsRequest([ScramCredentialDeletion("nobody", 1)])
    yield Cell("change users", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, changes)
    filters = [ComponentData("user", 0, "nobody")]
    yield Cell("quotas", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, DescribeClientQuotasRequest(filters, True))
    unchanged = EntryData([EntityData("user", "nobody")], [OpData("producer_byte_rate", 0.0, True)])
    yield Cell("change quotas", ApiKey.ALTER_CLIENT_QUOTAS, 1, AlterClientQuotasRequest([unchanged], False))
    elected = [TopicPartitions(SEEN, [0]), TopicPartitions(GONE, [0])]
    yield Cell("elect leaders", ApiKey.ELECT_LEADERS, 2, ElectLeadersRequest(0, elected, 10000))
    moved = [ReassignableTopic(SEEN, [ReassignablePartition(0, None)])]
    request = AlterPartitionReassignmentsRequest(10000, True, moved)
    yield Cell("reassign", ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1, request)
    yield Cell("reassignments", ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, ListPartitionReassignmentsRequest(10000, None))
    elsewhere = DescribeQuorumRequest([TopicData(SEEN, [PartitionData(0)])])
    for version in (0, 2):
        yield Cell(f"quorum {version}", ApiKey.DESCRIBE_QUORUM, version, elsewhere)
        features = UpdateFeaturesRequest(10000, [FeatureUpdateKey("group.version", 1)])
        yield Cell(f"features {version}", ApiKey.UPDATE_FEATURES, version, features)
    yield Cell("add a voter", ApiKey.ADD_RAFT_VOTER, 1, AddRaftVoterRequest(None, 1000, 1))
    yield Cell("remove a voter", ApiKey.REMOVE_RAFT_VOTER, 0, RemoveRaftVoterRequest(None, 1))
    yield Cell("unregister a broker", ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(99))
    yield Cell("unregister a controller", ApiKey.UNREGISTER_CONTROLLER, 0, UnregisterControllerRequest(99))


def _acls() -> Iterator[Cell]:
    none = (ResourceType.ANY, "nobody's", PatternType.ANY, None, None, Operation.ANY, Permission.ANY)
    yield Cell("describe acls", ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(*none))
    yield Cell("describe acls of no type", ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(0, None, 3, None, None, 1, 1))
    yield Cell("describe unheard of acls", ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(99, None, 3, None, None, 1, 1))
    refused = [
        AclCreation(2, "", 3, "User:a", "*", 3, 3),
        AclCreation(4, "no-cluster", 3, "User:a", "*", 3, 3),
        AclCreation(2, "t", 3, "User:a", "*", 99, 3),
        AclCreation(99, "t", 3, "User:a", "*", 3, 3),
        AclCreation(2, "t", 99, "User:a", "*", 3, 3),
        AclCreation(2, "t", 3, "User:a", "*", 3, 99),
    ]
    yield Cell("create acls", ApiKey.CREATE_ACLS, 3, CreateAclsRequest(refused))
    for kind, pattern, operation, permission in ((1, 3, 3, 3), (2, 1, 3, 3), (2, 2, 3, 3), (2, 3, 1, 3), (2, 3, 3, 1)):
        creations = [AclCreation(kind, "t", pattern, "User:a", "*", operation, permission)]
        creations.append(AclCreation(2, "", 3, "User:a", "*", 3, 3))
        title = f"create acls {kind} {pattern} {operation} {permission}"
        yield Cell(title, ApiKey.CREATE_ACLS, 3, CreateAclsRequest(creations))
    nameless = [AclCreation(2, "", 3, "User:a", "*", 3, 3), AclCreation(2, "t", 3, "a", "*", 3, 3)]
    yield Cell("create acls of nobody", ApiKey.CREATE_ACLS, 3, CreateAclsRequest(nameless))
    zero = CreateAclsRequest([AclCreation(2, "t", 3, "User:a", "*", 0, 3)])
    yield Cell("create acls of no operation", ApiKey.CREATE_ACLS, 3, zero)
    unknown = [DeleteAclsFilter(*none[:5], 99, 1), DeleteAclsFilter(99, *none[1:])]
    filters = [DeleteAclsFilter(*none), *unknown]
    yield Cell("delete acls", ApiKey.DELETE_ACLS, 3, DeleteAclsRequest(filters))
    zero_filter = DeleteAclsRequest([DeleteAclsFilter(*none[:5], 0, 1)])
    yield Cell("delete acls of no operation", ApiKey.DELETE_ACLS, 3, zero_filter)


def _id(ids: dict[str, bytes], name: str) -> bytes:
    return ids.get(name, _UNKNOWN_ID)
