"""Plays the ACL matrix over raw frames. `python -m tests.security.matrix_player` records it anew from Apache Kafka.

What Apache Kafka answered is in `acl_matrix.json`: of each request every answer that there was, with the sets of
entries that led to it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import socket
from pathlib import Path
from typing import Any

from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages import RESPONSES
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.schema import Message, Struct
from tests.oracle.apache_kafka import ApacheKafka
from tests.rawclient import RawClient
from tests.security.matrix import ADMIN, CREW, OPEN_TX, OTHER, SEEN, SUBJECT, TEAM, TX, acl_sets, admin_acls, cells
from tests.security.matrix_shares import FLOCK, HERD
from tests.security.matrix_streams import begin_flow
from tests.waiting import until

RECORDED = Path(__file__).with_name("acl_matrix.json")
CONFIG: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.max.session.timeout.ms": 3_600_000,
    "group.consumer.session.timeout.ms": 3_600_000,  # a member that is silent for as long as the matrix takes
    "group.share.assignment.interval.ms": 0,
    "group.share.max.session.timeout.ms": 3_600_000,
    "group.share.session.timeout.ms": 3_600_000,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.max.session.timeout.ms": 3_600_000,
    "group.streams.session.timeout.ms": 3_600_000,
    "log.retention.ms": -1,
    "share.coordinator.state.topic.num.partitions": 1,
}
"""Everybody may do everything until the first entry is made: by then the admin has its own."""
_LONGEST_TIMEOUT_MS = 900_000
_PETS = ("victim", "pet", "pet2")
"""Topics that the requests delete, where they may; "auto" is made by one of them."""
Answers = dict[str, dict[str, list[str]]]
"""Request -> answer as JSON -> names of the sets."""


def has_second_address() -> bool:
    """Whether the subject's address is one of this machine's."""
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.bind((SUBJECT, 0))
        return True
    return False


class Player:
    """One broker, asked by the admin and by the subject."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._servers = bootstrap_servers
        self._admin = RawClient(bootstrap_servers, source=ADMIN)
        self._subject = RawClient(bootstrap_servers, source=SUBJECT)
        self._given: list[Acl] = []
        self._ids: dict[str, bytes] = {}

    def close(self) -> None:
        self._admin.close()
        self._subject.close()

    def play(self) -> Answers:
        """Everything, from a broker that is new."""
        self._prepare()
        answers: Answers = {}
        for name, acls in acl_sets():
            self._give(acls)
            self._renew_pets()
            for cell in cells(self._ids):
                text = json.dumps(self._ask(cell.key, cell.version, cell.request), sort_keys=True)
                answers.setdefault(cell.title, {}).setdefault(text, []).append(name)
        return answers

    def _prepare(self) -> None:
        self._change(admin_acls(), [])
        self._admin_ask(
            ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic(one, 1, 1) for one in (SEEN, OTHER)], 10000)
        )
        for kind, key in enumerate((TEAM, TX, "team:AAECAwQFBgcICQoLDA0ODw:0")):
            until(
                lambda kind=kind, key=key: (
                    not self._admin_ask(  # type: ignore[misc]
                        ApiKey.FIND_COORDINATOR, 6, FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                    )
                    .coordinators[0]
                    .error_code
                ),
                f"a coordinator of {key}",
            )
        for group in (TEAM, "others"):
            for topic in (SEEN, OTHER):
                asked = [OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 5)])]
                until(
                    lambda group=group, asked=asked: (
                        not self._admin_ask(  # type: ignore[misc]
                            ApiKey.OFFSET_COMMIT, 9, OffsetCommitRequest(group, topics=asked)
                        )
                        .topics[0]
                        .partitions[0]
                        .error_code
                    ),
                    f"a commit of {group} to {topic}",
                )
        joining = ConsumerGroupHeartbeatRequest(
            CREW, "steady", 0, None, None, 60_000, [SEEN, OTHER], topic_partitions=[]
        )
        until(lambda: not self._admin_ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, joining).error_code, "a member of it")
        self._gather_herd()
        begin_flow(self._admin_ask, SEEN, OTHER)
        started = InitProducerIdRequest(TX, 1000)
        until(lambda: not self._admin_ask(ApiKey.INIT_PRODUCER_ID, 5, started).error_code, f"transactional id {TX}")
        self._open_transaction()

    def _gather_herd(self) -> None:
        """A share group whose member has both topics, and a session that stays open; and one without members."""
        epoch = 0

        def has_topics() -> bool:
            nonlocal epoch
            beat = ShareGroupHeartbeatRequest(HERD, "steady", epoch, None, [SEEN, OTHER] if not epoch else None)
            answer = self._admin_ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, beat)
            epoch = epoch if answer.error_code else answer.member_epoch
            return answer.assignment is not None and len(answer.assignment.topic_partitions) == 2

        def can_be_read() -> bool:
            topics = [FetchTopic(self._ids[one], [FetchPartition(0)]) for one in (SEEN, OTHER)]
            request = ShareFetchRequest(HERD, "steady", 0, 500, 1, 1, 1, 1, topics=topics)
            answer = self._admin_ask(ApiKey.SHARE_FETCH, 2, request)
            partitions = [one for topic in answer.responses for one in topic.partitions]
            return len(partitions) == 2 and not any(one.error_code for one in partitions)

        until(has_topics, "an assignment of both topics")
        self._ids = {topic.name: topic.topic_id for topic in self._topics([SEEN, OTHER])}
        until(can_be_read, "share partitions")
        begin = [
            AlterShareGroupOffsetsRequestTopic(one, [AlterShareGroupOffsetsRequestPartition(0, 0)])
            for one in (SEEN, OTHER)
        ]
        until(
            lambda: (
                not self._admin_ask(
                    ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, AlterShareGroupOffsetsRequest(FLOCK, begin)
                ).error_code
            ),
            "a share group without members",
        )

    def _open_transaction(self) -> None:
        """It stays open for as long as the matrix takes."""
        producer = self._admin_ask(ApiKey.INIT_PRODUCER_ID, 5, InitProducerIdRequest(OPEN_TX, _LONGEST_TIMEOUT_MS))
        topics = [AddPartitionsToTxnTopic(one, [0]) for one in (SEEN, OTHER)]
        who = producer.producer_id, producer.producer_epoch
        added = self._admin_ask(
            ApiKey.ADD_PARTITIONS_TO_TXN, 3, AddPartitionsToTxnRequest((), OPEN_TX, *who, topics)
        ).results_by_topic_v3_and_below
        assert not any(one.partition_error_code for topic in added for one in topic.results_by_partition)

    def _give(self, acls: list[Acl]) -> None:
        """The subject has these entries, and no others."""
        self._change([one for one in acls if one not in self._given], [one for one in self._given if one not in acls])
        self._given = acls

    def _change(self, add: list[Acl], drop: list[Acl]) -> None:
        if drop:
            filters = [DeleteAclsFilter(*one) for one in drop]
            self._admin_ask(ApiKey.DELETE_ACLS, 3, DeleteAclsRequest(filters))
        if add:
            self._admin_ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([AclCreation(*one) for one in add]))
        until(lambda: self._has(add) and not any(self._has([one]) for one in drop), "the entries")

    def _has(self, acls: list[Acl]) -> bool:
        wanted = (ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)
        answer = self._admin_ask(ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(*wanted))
        there = {
            (r.resource_type, r.resource_name, r.pattern_type, a.principal, a.host, a.operation, a.permission_type)
            for r in answer.resources
            for a in r.acls
        }
        return all(tuple(one) in there for one in acls)

    def _renew_pets(self) -> None:
        """Topics that are deleted by the requests are there again, the one that they create is gone.

        The controller says what is there: a broker of Apache Kafka learns of a deletion later than its client does, and
        shows the topic until then.
        """
        states = [DeleteTopicState("auto")]
        self._admin_ask(ApiKey.DELETE_TOPICS, 6, DeleteTopicsRequest(states, (), 10000))
        topics = [CreatableTopic(name, 1, 1) for name in _PETS]
        answers = self._admin_ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics, 10000)).topics
        made = {topic.name: topic.topic_id for topic in answers if not topic.error_code}

        def settled() -> bool:
            found = self._topics([*_PETS, SEEN, OTHER, "auto"])
            self._ids = {topic.name: topic.topic_id for topic in found if not topic.error_code}
            ready = {t.name for t in found if t.partitions and not any(p.error_code for p in t.partitions)}
            return ready == {*_PETS, SEEN, OTHER} and made.items() <= self._ids.items()

        until(settled, "topics with leaders")

    def _topics(self, names: list[str]) -> list[Any]:
        request = MetadataRequest([MetadataRequestTopic(name=name) for name in names], False)
        return list(self._admin_ask(ApiKey.METADATA, 12, request).topics)

    def _admin_ask(self, key: ApiKey, version: int, request: Message) -> Any:
        return decoded(key, version, self._admin.exchange(key, version, encode(request, version)))

    def _ask(self, key: ApiKey, version: int, request: Message) -> Any:
        """The answer to the subject, plain; "closed" where its connection is."""
        try:
            answer = decoded(key, version, self._subject.exchange(key, version, encode(request, version)))
        except ConnectionError:
            self._subject.close()
            self._subject = RawClient(self._servers, source=SUBJECT)
            return "closed"
        return _simple(key, _plain(answer), {value: name for name, value in self._ids.items()})


def decoded(key: ApiKey, version: int, body: bytes) -> Any:
    module, name, _ = RESPONSES[key]
    return decode(getattr(importlib.import_module(module), name), version, body)


def _plain(value: Any) -> Any:
    if isinstance(value, Struct | Message):
        return {name: _plain(getattr(value, name)) for name, *_ in value.FIELDS}
    if isinstance(value, (bytes, memoryview, bytearray)):
        return bytes(value).hex()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


_PLACES = {"brokers", "host", "port", "node_id", "cluster_id", "controller_id", "throttle_time_ms", "leader_id"}
_VARYING = {"base_offset", "log_append_time_ms", "log_start_offset", "high_watermark", "last_stable_offset", "records"}
_VARYING |= {"leader_epoch", "end_offset", "offset", "low_watermark", "producer_id", "producer_epoch", "member_id"}
_VARYING |= {
    "active_producers",
    "api_keys",
    "session_id",
    "node_endpoints",
    "log_dir",
    "size",
    "committed_leader_epoch",
    "transaction_start_time_ms",
    "acquired_records",
    "start_offset",
    "lag",
}
_LISTS = {"configs", "replica_nodes", "isr_nodes", "offline_replicas", "results_of_dirs"}


def _simple(key: ApiKey, answer: dict[str, Any], names: dict[bytes, str]) -> Any:
    """An answer without what differs from run to run, and in one order where Kafka has none."""
    if key == ApiKey.API_VERSIONS:
        return {"error_code": answer["error_code"]}
    if key == ApiKey.DESCRIBE_LOG_DIRS:
        return {"error_code": answer["error_code"], "told": bool(answer["results"])}
    known = {value.hex(): name for value, name in names.items()}
    return _without(answer, known, key)


def _without(value: Any, ids: dict[str, str], key: ApiKey) -> Any:
    if isinstance(value, dict):
        kept: dict[str, Any] = {}
        for name, one in value.items():
            if name in _PLACES or name in _VARYING:
                continue
            if name == "topic_id":
                kept[name] = "none" if not int(one or "0", 16) else ids.get(one, "some")
            elif name == "configs":
                kept[name] = one if one is None else bool(one)
            elif name in _LISTS:
                continue
            elif name == "topic_partitions" and one:  # by the topics' ids, which are others in each run
                kept[name] = sorted(_without(one, ids, key), key=lambda topic: str(topic["topic_name"]))
            else:
                kept[name] = _without(one, ids, key)
        if key in _OWN_WORDS and kept.get("error_code") == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            kept.pop("error_message", None)
        if key == ApiKey.METADATA and kept.get("name") == "auto" and kept.get("error_code") in (0, 3, 5):
            return {"name": "auto", "created": True}  # it is in the stub's first answer, in Kafka's second
        return kept
    if isinstance(value, list):
        if len(value) > _MOST:  # the partitions of Kafka's own topics
            return f"{len(value)} of them"
        items = [_without(one, ids, key) for one in value]
        if key in _UNORDERED:
            items.sort(key=lambda one: json.dumps(one, sort_keys=True))
        return items
    return value


_MOST = 20
_OWN_WORDS = {
    ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.UPDATE_FEATURES,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.UNREGISTER_CONTROLLER,
}
"""Where Kafka prints the request object as the reason of a refusal."""
_UNORDERED = {
    ApiKey.PRODUCE,
    ApiKey.METADATA,
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.DELETE_RECORDS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.LIST_GROUPS,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.OFFSET_FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.LIST_CONFIG_RESOURCES,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.WRITE_TXN_MARKERS,
    ApiKey.DESCRIBE_TRANSACTIONS,
    ApiKey.LIST_TRANSACTIONS,
    ApiKey.SHARE_FETCH,
    ApiKey.SHARE_ACKNOWLEDGE,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
}


def recorded() -> Answers:
    answers: Answers = json.loads(RECORDED.read_text())
    return answers


def by_set(answers: Answers) -> dict[tuple[str, str], Any]:
    """(request, set) -> answer."""
    return {
        (title, one): json.loads(text) for title, each in answers.items() for text, sets in each.items() for one in sets
    }


def differences(got: Answers) -> dict[tuple[str, str], Any]:
    """(request, set) -> (recorded, answered now)."""
    expected, now = by_set(recorded()), by_set(got)
    return {
        key: (expected.get(key), now.get(key))
        for key in expected.keys() | now.keys()
        if expected.get(key) != now.get(key)
    }


def main() -> None:
    with ApacheKafka(config=CONFIG) as kafka:
        player = Player(kafka.bootstrap_servers)
        try:
            answers = player.play()
        finally:
            player.close()
    RECORDED.write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
