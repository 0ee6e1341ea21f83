"""What is asked, at random: as members, producers and consumers ask it, and what an administrator changes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafkastub.security import Operation, PatternType, Permission, ResourceType
from kafkastub.state.configs.entries import ResourceType as ConfigType
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.alter_client_quotas_request import AlterClientQuotasRequest, EntityData, EntryData, OpData
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.incremental_alter_configs_request import AlterableConfig as Change
from kafkawire.messages.incremental_alter_configs_request import AlterConfigsResource as Changed
from kafkawire.messages.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_fetch_request import AcknowledgementBatch as AlongBatch
from kafkawire.messages.share_fetch_request import FetchPartition as SharePartition
from kafkawire.messages.share_fetch_request import FetchTopic as ShareTopic
from kafkawire.messages.share_fetch_request import ForgottenTopic, ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.server.changing import ADMIN, CLIENT_IDS, TOPICS, USERS, Both

MEMBERS: Final = ("m1", "m2")
TRANSACTIONS: Final = ("tx", "tx2")
GROUPS: Final = ("g", "c", "")
"""The first one is a share group's, and others commit for it as well."""
RESOURCES: Final = (
    *((ResourceType.TOPIC, name) for name in (*TOPICS, "*")),
    *((ResourceType.GROUP, name) for name in ("g", "c", "k", "s", "t", "*")),
    *((ResourceType.TRANSACTIONAL_ID, name) for name in (*TRANSACTIONS, "*")),
)
OPERATIONS: Final = (Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL)
CONFIGS: Final[dict[tuple[ConfigType, str], dict[str, tuple[str, ...]]]] = {
    (ConfigType.TOPIC, "orders"): {
        "max.message.bytes": ("100", "1000000"),
        "message.timestamp.type": ("LogAppendTime", "CreateTime"),
        "message.timestamp.after.max.ms": ("1", "3600000"),
        "cleanup.policy": ("compact", "delete", "compact,delete"),
        "compression.type": ("gzip", "zstd", "uncompressed", "producer"),
        "message.timestamp.before.max.ms": ("1", "9223372036854775807"),
        "max.decompressed.message.bytes": ("20", "2147483639"),
        "min.insync.replicas": ("1", "2"),
    },
    (ConfigType.GROUP, "g"): {
        "share.isolation.level": ("read_committed", "read_uncommitted"),
        "share.record.lock.duration.ms": ("15000", "60000"),
        "share.auto.offset.reset": ("earliest", "latest"),
        "share.partition.max.record.locks": ("100", "2000"),
        "share.delivery.count.limit": ("2", "5"),
    },
    (ConfigType.GROUP, "k"): {
        "consumer.session.timeout.ms": ("45000", "60000"),
        "consumer.heartbeat.interval.ms": ("5000", "10000"),
    },
    (ConfigType.GROUP, "s"): {"share.heartbeat.interval.ms": ("5000", "10000")},
    (ConfigType.BROKER, ""): {
        "message.max.bytes": ("90", "1048588"),
        "log.message.timestamp.type": ("LogAppendTime", "CreateTime"),
        "min.insync.replicas": ("1", "2"),
        "transaction.partition.verification.enable": ("true", "false"),
    },
}
FEATURES: Final = {"share.version": (0, 1, 2), "transaction.version": (0, 1, 2), "group.version": (0, 1)}
_ANY_ACL: Final = (ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)


class Play:
    """One history."""

    def __init__(self, both: Both) -> None:
        self.both = both
        self.random = both.random
        self.share_epochs = dict.fromkeys(MEMBERS, 0)
        self.fetching: dict[tuple[str, int], tuple[int, int]] = {}
        """Session and epoch, by who fetches and by version."""
        self.who: dict[str | None, tuple[int, int]] = {}
        self.sequences: dict[Any, int] = {}
        self.members: dict[tuple[str, str], tuple[int, Any]] = {}
        """The epoch, and what is to be said next of what it has, by kind of group and user."""
        self.usual: dict[Callable[[], None], int] = {
            self.produce: 16, self.share_fetch: 14, self.share_acknowledge: 9, self.commit: 8, self.fetch: 8,
            self.add_partitions: 6, self.end: 7, self.commit_in_transaction: 3, self.restart: 1, self.read_offsets: 4,
            self.heartbeat: 3, self.wait: 3, self.look: 14, self.beat: 14,
        }  # fmt: skip
        self.changes: dict[Callable[[], None], int] = {
            self.permissions: 8, self.quotas: 3, self.configs: 5, self.features: 1, self.topics: 2, self.leave: 1,
        }  # fmt: skip
        both.ask(ADMIN, FindCoordinatorRequest(key_type=1, coordinator_keys=list(TRANSACTIONS)), 4)
        for name in (None, *TRANSACTIONS):
            self.start(name)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step(self.changes if self.chance(0.1) else self.usual)
        self.both.compare()

    def step(self, kinds: dict[Callable[[], None], int]) -> None:
        (step,) = self.random.choices(list(kinds), list(kinds.values()))
        step()
        for broker in self.both.brokers:
            broker.pass_time(3)

    # What is chosen.

    def pick(self, *items: Any) -> Any:
        return self.random.choice(items)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def user(self) -> str:
        return self.random.choice(USERS)

    def places(self, *names: str) -> list[tuple[str, list[int]]]:
        """Topics and partitions, most of them such as there are."""
        chosen = [self.pick("orders", "orders", "orders", "other")]
        if self.chance(0.3):
            chosen = [*TOPICS, *names]
        return [(name, self.pick([0], [0], [0], [1], [0, 1], [7])) for name in chosen]

    # -- everybody, first ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """As a client does that has just come: each of few requests, again and again."""
        request: Message
        match self.pick("versions", *["metadata"] * 3, *["coordinator"] * 2, "cluster", *["offsets"] * 2):
            case "versions":
                version, name = self.pick(0, 3, 3, 4, 5), self.pick("test", "test", "test", "other", "")
                request = ApiVersionsRequest(name, "1")
                if version == 5 and self.chance(0.5):
                    cluster = self.both.straight.state.cluster
                    request.cluster_id, request.node_id = cluster.cluster_id, self.pick(1, 1, 2)
            case "metadata":
                version = self.pick(1, 9, 9, 12, 12, 13)
                request = MetadataRequest(self._looked_at(version), self.chance(0.1), self.chance(0.1))
                request.include_topic_authorized_operations = version >= 8 and self.chance(0.1)
            case "coordinator":
                version, kind = self.pick(2, 4, 4, 4, 6), self.pick(0, 0, 0, 1, 7)
                names = GROUPS[:2] if kind == 0 else TRANSACTIONS
                request = FindCoordinatorRequest(names[0], kind, [*names[: self.pick(1, 2)]])
            case "offsets":
                version = self.pick(1, 6, 6, 6, 6, 11)
                request = self._lag()
            case _:
                version = self.pick(0, 1, 2)
                request = DescribeClusterRequest(self.chance(0.3), 1 if version == 0 else self.pick(1, 1, 1, 2))
        for _ in range(self.pick(1, 1, 2)):
            self.both.ask(self.user(), request, version)

    def _looked_at(self, version: int) -> list[MetadataRequestTopic] | None:
        if self.chance(0.2):
            return None
        names = self.pick(*[["orders"]] * 6, ["other"], [*TOPICS], ["nope"], ["orders", "nope"], [])
        if version >= 12 and self.chance(0.4):
            return [MetadataRequestTopic(self.both.topic_id(name) or b"\1" * 16, None) for name in names]
        return [MetadataRequestTopic(name=name) for name in names]

    def _lag(self) -> ListOffsetsRequest:
        when = self.pick([-1], [-1], [-1], [-1], [-2], [-2], [-1, -2], [-4], [-3], [1_600_000_000_000])
        topics = [
            ListOffsetsTopic(name, [ListOffsetsPartition(index, -1, self.pick(*when)) for index in indexes])
            for name, indexes in self.pick([("orders", [0])], [("orders", [0])], [("orders", [0])], self.places())
        ]
        return ListOffsetsRequest(-1, self.pick(0, 0, 0, 1), topics)

    # -- producers -------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        self.start(self.pick(None, *TRANSACTIONS))

    def start(self, name: str | None) -> None:
        answer = self.both.ask(self.user(), InitProducerIdRequest(name, 60_000), 4)
        if answer is not None and not answer.error_code:
            self.who[name] = answer.producer_id, answer.producer_epoch

    def _whose(self, name: str | None) -> tuple[int, int]:
        producer_id, epoch = self.who.get(name, (0, 0))
        return producer_id, epoch + self.pick(*[0] * 12, 1)

    def produce(self) -> None:
        name, transactional_id = self.pick(*["orders"] * 3, "other"), self.pick(None, None, *TRANSACTIONS)
        version, index = self.pick(3, 8, 9, 11, 12, 12, 13), self.pick(0, 0, 0, 1)
        header: dict[str, Any] = {}
        count = self.pick(1, 1, 3)
        if transactional_id is not None or self.chance(0.4):
            producer_id, epoch = self._whose(transactional_id)
            place = producer_id, epoch, name, index
            header = {
                "producer_id": producer_id,
                "producer_epoch": epoch,
                "base_sequence": self.sequences.get(place, 0),
            }
            self.sequences[place] = header["base_sequence"] + self.pick(count, count, count, count, 0, 7)
            header["attributes"] = 0x10 if (transactional_id is not None) != self.chance(0.03) else 0
        now = self.both.straight.desk.broker_ms + self.pick(0, 0, 0, 0, 0, 5_000, 10_000_000)
        key = self.pick(b"k", b"k", b"k", None)
        codec = self.pick(0, 0, 0, 0, 1, 2, 3, 4)
        data = build_batch([NewRecord(key, b"v" * self.pick(10, 10, 60), now)] * count, compression=codec, **header)
        records = [PartitionProduceData(index, data)]
        if self.chance(0.05):
            records.append(PartitionProduceData(1 - index, data))
        topics = [TopicProduceData(name, self.both.topic_id(name), records)]
        request = ProduceRequest(transactional_id, self.pick(-1, -1, -1, 1), 1000, topics)
        self.both.ask(self.user(), request, version)

    def add_partitions(self) -> None:
        name = self.pick(*TRANSACTIONS)
        topics = [AddPartitionsToTxnTopic(*one) for one in self.places("nope")]
        request = AddPartitionsToTxnRequest((), name, *self._whose(name), topics)
        self.both.ask(self.user(), request, self.pick(0, 3, 3, 3))

    def end(self) -> None:
        name, version = self.pick(*TRANSACTIONS), self.pick(2, 3, 4, 5, 5)
        answer = self.both.ask(self.user(), EndTxnRequest(name, *self._whose(name), self.chance(0.7)), version)
        if answer is not None and version >= 5 and not answer.error_code:
            self.who[name] = answer.producer_id, answer.producer_epoch

    def commit_in_transaction(self) -> None:
        name, version = self.pick(*TRANSACTIONS), self.pick(3, 4, 5, 6)
        topics = [
            TxnOffsetCommitRequestTopic(
                topic, self.both.topic_id(topic), [TxnOffsetCommitRequestPartition(index, 5) for index in indexes]
            )
            for topic, indexes in self.places()
        ]
        request = TxnOffsetCommitRequest(name, self.pick("c", "c", "g"), *self._whose(name), topics=topics)
        self.both.ask(self.user(), request, version)

    # -- consumers -------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        version, offset = self.pick(2, 8, 8, 9, 10, 10), self.random.randrange(100)
        topics = [
            OffsetCommitRequestTopic(
                topic, self.both.topic_id(topic), [OffsetCommitRequestPartition(index, offset) for index in indexes]
            )
            for topic, indexes in self.places()
        ]
        self.both.ask(self.user(), OffsetCommitRequest(self.pick("c", "c", "c", *GROUPS), topics=topics), version)

    def read_offsets(self) -> None:
        topics = [OffsetFetchRequestTopics("orders", partition_indexes=self.pick([0], [0, 1]))]
        groups = [OffsetFetchRequestGroup(self.pick("c", "c", "g"), topics=self.pick(topics, topics, None))]
        self.both.ask(self.user(), OffsetFetchRequest(groups=groups, require_stable=self.chance(0.3)), 8)

    def heartbeat(self) -> None:
        self.both.ask(self.user(), HeartbeatRequest(self.pick("c", "g"), 1, "nobody"), 4)

    def fetch(self) -> None:
        user, version = self.user(), self.pick(12, 13, 18)
        whose = user, version
        session, epoch = self.fetching.get(whose, (0, 0))
        epoch = self.pick(epoch, epoch, epoch, epoch, epoch, 0, -1)
        topics = []
        if not epoch or self.chance(0.2):
            topics = [
                FetchTopic(
                    topic,
                    self.both.topic_id(topic),
                    [
                        FetchPartition(index, fetch_offset=self.pick(0, 0, 1, 5), partition_max_bytes=999)
                        for index in some
                    ],
                )
                for topic, some in self.places("nope")
            ]
        request = FetchRequest(
            max_wait_ms=self.pick(0, 0, 0, 500), min_bytes=1, isolation_level=self.pick(0, 1),
            session_id=session, session_epoch=epoch, topics=topics,
        )  # fmt: skip
        answer = self.both.ask(user, request, version)
        if answer is not None:
            self.fetching[whose] = (0, 0) if answer.error_code or epoch < 0 else (answer.session_id, epoch + 1)

    # -- members of groups with epochs -----------------------------------------------------------------------------

    def beat(self) -> None:
        """Most heartbeats say nothing, twice or more; some members leave, or subscribe to something else."""
        kind, user, topics = self.pick("consumer", "share", "streams"), self.user(), self.pick(["orders"], [*TOPICS])
        for _ in range(self.pick(2, 4, 8)):
            epoch, owned = self.members.get((kind, user), (0, None))
            if epoch and self.chance(0.04):
                epoch, owned = self.pick(-1, 0, epoch + 1), None
            if epoch == 0:
                owned = []
            names = topics if epoch == 0 or self.chance(0.02) else None
            request = self._heartbeat(kind, f"{kind}-{user[-1]}", epoch, names, owned)
            answer = self.both.ask(user, request, 1, ("test",) if self.chance(0.95) else CLIENT_IDS)
            if answer is not None:
                gone = answer.error_code or epoch < 0
                owned = self._owned(kind, answer)
                self.members[kind, user] = (0, None) if gone else (answer.member_epoch, owned)

    def _heartbeat(self, kind: str, member: str, epoch: int, names: list[str] | None, owned: Any) -> Message:
        if kind == "share":
            return ShareGroupHeartbeatRequest("s", member, epoch, subscribed_topic_names=names)
        timeout = 60_000 if epoch == 0 else -1
        if kind == "consumer":
            return ConsumerGroupHeartbeatRequest(
                "k", member, epoch, rebalance_timeout_ms=timeout, subscribed_topic_names=names, topic_partitions=owned
            )
        request = StreamsGroupHeartbeatRequest("t", member, epoch, rebalance_timeout_ms=timeout)
        if epoch == 0:
            request.topology = Topology(0, [Subtopology("0", source_topics=["orders"])])
            request.process_id = member
        if owned is not None:
            request.active_tasks, request.standby_tasks, request.warmup_tasks = owned, [], []
        return request

    @staticmethod
    def _owned(kind: str, answer: Any) -> Any:
        if kind == "consumer" and answer.assignment is not None:
            return [TopicPartitions(one.topic_id, one.partitions) for one in answer.assignment.topic_partitions]
        if kind == "streams" and answer.active_tasks is not None:
            return [TaskIds(one.subtopology_id, one.partitions) for one in answer.active_tasks]
        return None

    # -- members of share groups -----------------------------------------------------------------------------------

    def _share_epoch(self, member: str) -> int:
        epoch = self.share_epochs[member]
        if self.chance(0.03):
            return self.pick(0, -1, epoch + 1)
        return epoch

    def _shared(self, member: str, epoch: int, answer: Any) -> None:
        if answer is not None and answer.error_code == 0:
            self.share_epochs[member] = 0 if epoch < 0 else epoch + 1
        elif answer is not None and answer.error_code in (122, 123):
            self.share_epochs[member] = 0

    def share_fetch(self) -> None:
        member, version = self.pick(*MEMBERS, "m1", "m1"), self.pick(1, 2)
        epoch = self._share_epoch(member)
        named: dict[str, dict[int, list[AlongBatch]]] = {}
        if not epoch or self.chance(0.05):
            named["orders"] = {index: [] for index in self.pick([0], [0], [0], [0, 1])}
            if self.chance(0.2):
                named["other"] = {0: []}
        if epoch > 0 and self.chance(0.5):
            for topic, index, said in self._said(member):
                named.setdefault(topic, {}).setdefault(index, []).append(AlongBatch(*said))
        topics = [
            ShareTopic(self.both.topic_id(name), [SharePartition(*one) for one in some.items()])
            for name, some in named.items()
        ]
        forget = [ForgottenTopic(self.both.topic_id("other"), [0])] if self.chance(0.05) else []
        request = ShareFetchRequest(
            "g", member, epoch, self.pick(0, 0, 0, 300), 1, 1 << 20, self.pick(1, 5, 500), self.pick(1, 100),
            topics=topics, forgotten_topics_data=forget,
        )  # fmt: skip
        self._shared(member, epoch, self.both.ask(self.user(), request, version))

    def share_acknowledge(self) -> None:
        member = self.pick(*MEMBERS, "m1", "m1")
        epoch = self._share_epoch(member)
        named: dict[str, dict[int, list[AcknowledgementBatch]]] = {}
        for topic, index, said in self._said(member):
            named.setdefault(topic, {}).setdefault(index, []).append(AcknowledgementBatch(*said))
        topics = [
            AcknowledgeTopic(self.both.topic_id(name), [AcknowledgePartition(*one) for one in some.items()])
            for name, some in named.items()
        ]
        request = ShareAcknowledgeRequest("g", member, epoch, topics=topics)
        self._shared(member, epoch, self.both.ask(self.user(), request, self.pick(1, 2)))

    def _said(self, member: str) -> list[tuple[str, int, tuple[int, int, list[int]]]]:
        """Of what the member holds something; else of what it does not."""
        mine = [
            (live.name, live.index, (one.first_offset, one.last_offset, [self.pick(1, 1, 1, 2, 3)]))
            for live in self.both.straight.state.share_partitions.of_group("g")
            for one in live.partition.view()
            if one.member_id == member
        ]
        return mine[: self.pick(1, 1, 3)] or [("orders", 0, (self.pick(0, 3), 4, [1]))]

    # -- what changes ----------------------------------------------------------------------------------------------

    def permissions(self) -> None:
        """An entry comes, or one goes, or all."""
        kind, name = self.pick(*RESOURCES)
        operation, user = self.pick(*OPERATIONS), self.pick(*USERS, "User:*")
        permission = self.pick(Permission.DENY, Permission.ALLOW)
        if self.chance(0.55):
            creation = AclCreation(kind, name, PatternType.LITERAL, user, "*", operation, permission)
            self.both.ask(ADMIN, CreateAclsRequest([creation]), 3)
            return
        wanted = self.pick(
            DeleteAclsFilter(*_ANY_ACL),
            DeleteAclsFilter(kind, name, PatternType.LITERAL, None, None, Operation.ANY, Permission.ANY),
            DeleteAclsFilter(ResourceType.ANY, None, PatternType.ANY, user, None, Operation.ANY, Permission.ANY),
        )
        self.both.ask(ADMIN, DeleteAclsRequest([wanted]), 3)

    def quotas(self) -> None:
        """Of some clients for some time: as long as there are any, all fast paths are closed."""
        key, rate = self.pick("producer_byte_rate", "consumer_byte_rate"), self.pick(1.0, 200.0, 1e9)
        entity = self.pick(
            [EntityData("user", self.pick("a", "b"))], [EntityData("client-id", "test")], [EntityData("user", None)]
        )
        for ops in ([OpData(key, rate)], [OpData(key, remove=True)]):
            self.both.ask(ADMIN, AlterClientQuotasRequest([EntryData(entity, ops)]), 1)
            for _ in range(self.pick(1, 3, 10)):
                self.step(self.usual)

    def configs(self) -> None:
        (kind, name), configs = self.pick(*CONFIGS.items())
        config = self.pick(*configs)
        change = Change(config, *self.pick((0, self.pick(*configs[config])), (0, configs[config][-1]), (1, None)))
        self.both.ask(ADMIN, IncrementalAlterConfigsRequest([Changed(kind, name, [change])]), 1)

    def features(self) -> None:
        feature = self.pick(*FEATURES)
        level = self.pick(FEATURES[feature][-1], *FEATURES[feature])
        self.both.ask(ADMIN, UpdateFeaturesRequest(1000, [FeatureUpdateKey(feature, level, upgrade_type=3)]), 1)

    def topics(self) -> None:
        name, kind = self.pick(*TOPICS), self.pick(0, 0, 1, 2, 2)
        if not any(self.both.topic_id(name)):
            self.both.ask(ADMIN, CreateTopicsRequest([CreatableTopic(name, 2, 1)], 1000), 7)
        elif kind == 0:
            self.both.ask(ADMIN, DeleteTopicsRequest([DeleteTopicState(name)], (), 1000), 6)
        elif kind == 1:
            self.both.ask(ADMIN, CreatePartitionsRequest([CreatePartitionsTopic(name, 3, None)], 1000), 3)
        else:
            gone = [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, self.pick(-1, 1, 2))])]
            self.both.ask(ADMIN, DeleteRecordsRequest(gone, 1000), 2)

    def wait(self) -> None:
        ms = self.pick(1, 1, 600, 12_000, 40_000)
        for broker in self.both.brokers:
            broker.pass_time(ms)

    def leave(self) -> None:
        """A connection goes, with the sessions of share groups that were begun on it."""
        user = self.user()
        for broker in self.both.brokers:
            broker.hang_up(user)
