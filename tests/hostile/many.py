"""Requests of so many bytes that name as much as they can, the same again and again or ever new things.

What an answer costs depends on what is named: each of these is the dearest of its kind that we know.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages import REQUESTS

ONE, THOUSAND = "t0", "t1"
"""Topics of one and of a thousand partitions."""
TOPICS = (f"{ONE}:1", f"{THOUSAND}:1000")
TRANSACTION = "tx"
"""A transactional id whose producer has the id 0 and the epoch 0, and an open transaction."""
_BROKER, _LOGGER, _TOPIC, _METRICS, _GROUP = 4, 8, 2, 16, 32


class Many:
    """One request, whose body is made when it is first wanted: a large one takes its time."""

    def __init__(self, name: str, key: int, version: int, body: bytes | Callable[[], bytes]) -> None:
        self.name = name
        self.key = key
        self.version = version
        self._body = body

    @property
    def body(self) -> bytes:
        if not isinstance(self._body, bytes):
            self._body = self._body()
        return self._body


def _module(key: int) -> Any:
    return importlib.import_module(REQUESTS[key][0])


def _fill(
    name: str, key: int, version: int, size: int, make: Callable[[int], Any], whole: Callable[[Any], Any]
) -> Many:
    """As many of `make(index)` as fit into `size` bytes."""

    def body() -> bytes:
        some = len(encode(whole([make(index) for index in range(10_000, 10_100)]), version))
        count = max(1, 100 * size // some)
        return encode(whole([make(index) for index in range(count)]), version)

    return Many(name, key, version, body)


def requests(size: int, names: Sequence[str] | None = None) -> Iterator[Many]:
    """One after the other, each of about `size` bytes; all, or those of these names."""
    for part in (_described, _partitions, _groups, _altered, _security, _transactions):
        for one in part(size):
            if names is None or one.name in names:
                yield one


def _described(size: int) -> Iterator[Many]:
    m = _module(ApiKey.DESCRIBE_CONFIGS)

    def configs(name: str, make: Callable[[int], tuple[int, str, Sequence[str] | None]]) -> Many:
        return _fill(
            f"DescribeConfigs, {name}", ApiKey.DESCRIBE_CONFIGS, 4, size,
            lambda index: m.DescribeConfigsResource(*make(index)),
            lambda found: m.DescribeConfigsRequest(found, include_synonyms=True, include_documentation=True),
        )  # fmt: skip

    yield configs("one broker", lambda _: (_BROKER, "1", None))
    yield configs("one broker, other keys each time", lambda index: (_BROKER, "1", [str(index)]))
    yield configs("one topic", lambda _: (_TOPIC, ONE, None))
    yield configs("one logger", lambda _: (_LOGGER, "1", None))
    yield configs("groups that do not exist", lambda index: (_GROUP, str(index), None))
    yield configs("subscriptions that do not exist", lambda index: (_METRICS, str(index), None))
    m = _module(ApiKey.METADATA)
    for name, topic in (("one topic", ONE), ("a large topic", THOUSAND)):
        yield _fill(
            f"Metadata, {name}", ApiKey.METADATA, 12, size,
            lambda _, topic=topic: m.MetadataRequestTopic(name=topic), lambda topics: m.MetadataRequest(topics, False),
        )  # fmt: skip
    yield _fill(
        "Metadata, unknown topics", ApiKey.METADATA, 12, size,
        lambda index: m.MetadataRequestTopic(name=f"x{index}"), lambda topics: m.MetadataRequest(topics, False),
    )  # fmt: skip
    t = _module(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
    for name, naming in (("a large topic", lambda _: THOUSAND), ("unknown topics", lambda index: f"x{index}")):
        yield _fill(
            f"DescribeTopicPartitions, {name}", ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, size,
            lambda index, naming=naming: t.TopicRequest(naming(index)),
            lambda found: t.DescribeTopicPartitionsRequest(found),
        )  # fmt: skip


_EVERY = range(1000)


def _partitions(size: int) -> Iterator[Many]:
    """APIs that name topics with their partitions: one partition again and again, and every topic anew."""
    shapes: list[tuple[int, int, Callable[[Any, str, Sequence[int]], Any], Callable[[Any, Any], Any]]] = [
        (ApiKey.LIST_OFFSETS, 8,
         lambda m, topic, ps: m.ListOffsetsTopic(topic, [m.ListOffsetsPartition(p, -1, 5) for p in ps]),
         lambda m, topics: m.ListOffsetsRequest(-1, 0, topics)),
        (ApiKey.OFFSET_FOR_LEADER_EPOCH, 4,
         lambda m, topic, ps: m.OffsetForLeaderTopic(topic, [m.OffsetForLeaderPartition(p, -1, 0) for p in ps]),
         lambda m, topics: m.OffsetForLeaderEpochRequest(-1, topics)),
        (ApiKey.DESCRIBE_PRODUCERS, 0,
         lambda m, topic, ps: m.TopicRequest(topic, ps), lambda m, topics: m.DescribeProducersRequest(topics)),
        (ApiKey.DESCRIBE_LOG_DIRS, 4,
         lambda m, topic, ps: m.DescribableLogDirTopic(topic, ps), lambda m, topics: m.DescribeLogDirsRequest(topics)),
        (ApiKey.DELETE_RECORDS, 2,
         lambda m, topic, ps: m.DeleteRecordsTopic(topic, [m.DeleteRecordsPartition(p, 0) for p in ps]),
         lambda m, topics: m.DeleteRecordsRequest(topics, 1000)),
        (ApiKey.ELECT_LEADERS, 2,
         lambda m, topic, ps: m.TopicPartitions(topic, ps), lambda m, topics: m.ElectLeadersRequest(0, topics)),
        (ApiKey.LIST_PARTITION_REASSIGNMENTS, 0,
         lambda m, topic, ps: m.ListPartitionReassignmentsTopics(topic, ps),
         lambda m, topics: m.ListPartitionReassignmentsRequest(1000, topics)),
        (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0,
         lambda m, topic, ps: m.ReassignableTopic(topic, [m.ReassignablePartition(p, None) for p in ps]),
         lambda m, topics: m.AlterPartitionReassignmentsRequest(1000, topics=topics)),
        (ApiKey.OFFSET_FETCH, 8,
         lambda m, topic, ps: m.OffsetFetchRequestTopics(topic, partition_indexes=ps),
         lambda m, topics: m.OffsetFetchRequest(groups=[m.OffsetFetchRequestGroup("g", topics=topics)])),
        (ApiKey.OFFSET_COMMIT, 8,
         lambda m, topic, ps: m.OffsetCommitRequestTopic(
             topic, partitions=[m.OffsetCommitRequestPartition(p, 1) for p in ps]),
         lambda m, topics: m.OffsetCommitRequest("g", topics=topics)),
        (ApiKey.OFFSET_DELETE, 0,
         lambda m, topic, ps: m.OffsetDeleteRequestTopic(topic, [m.OffsetDeleteRequestPartition(p) for p in ps]),
         lambda m, topics: m.OffsetDeleteRequest("g", topics)),
        (ApiKey.FETCH, 12,
         lambda m, topic, ps: m.FetchTopic(topic, partitions=[m.FetchPartition(p, partition_max_bytes=1) for p in ps]),
         lambda m, topics: m.FetchRequest(topics=topics)),
        (ApiKey.PRODUCE, 9,
         lambda m, topic, ps: m.TopicProduceData(topic, partition_data=[m.PartitionProduceData(p, b"") for p in ps]),
         lambda m, topics: m.ProduceRequest(None, 1, 1000, topics)),
    ]  # fmt: skip
    for key, version, topic, whole in shapes:
        m = _module(key)
        kinds: list[tuple[str, Callable[[int], tuple[str, Sequence[int]]]]] = [
            ("one partition", lambda _: (ONE, [0])),
            ("all of a large topic", lambda _: (THOUSAND, _EVERY)),
            ("unknown topics", lambda index: (f"x{index}", [0])),
        ]
        for name, make in kinds:
            yield _fill(
                f"{ApiKey(key).camel}, {name}", key, version, size,
                lambda index, m=m, topic=topic, make=make: topic(m, *make(index)),
                lambda topics, m=m, whole=whole: whole(m, topics),
            )  # fmt: skip


def _groups(size: int) -> Iterator[Many]:
    shapes: list[tuple[int, int, Callable[[Any, list[str]], Any]]] = [
        (ApiKey.DESCRIBE_GROUPS, 6, lambda m, names: m.DescribeGroupsRequest(names, True)),
        (ApiKey.DESCRIBE_GROUPS, 5, lambda m, names: m.DescribeGroupsRequest(names, True)),
        (ApiKey.DELETE_GROUPS, 2, lambda m, names: m.DeleteGroupsRequest(names)),
        (ApiKey.FIND_COORDINATOR, 4, lambda m, names: m.FindCoordinatorRequest(coordinator_keys=names)),
        (ApiKey.OFFSET_FETCH, 8,
         lambda m, names: m.OffsetFetchRequest(groups=[m.OffsetFetchRequestGroup(n, topics=None) for n in names])),
        (ApiKey.LEAVE_GROUP, 5,
         lambda m, names: m.LeaveGroupRequest("g", members=[m.MemberIdentity(n) for n in names])),
        (ApiKey.JOIN_GROUP, 9,
         lambda m, names: m.JoinGroupRequest("j", 10_000, 10_000, protocol_type="consumer",
                                             protocols=[m.JoinGroupRequestProtocol(n) for n in names])),
        (ApiKey.SYNC_GROUP, 5,
         lambda m, names: m.SyncGroupRequest(
             "g", 1, "m", assignments=[m.SyncGroupRequestAssignment(n) for n in names])),
    ]  # fmt: skip
    kinds = (("one name", lambda _: "g"), ("other names", str))
    for (key, version, whole), (name, naming) in itertools.product(shapes, kinds):
        m = _module(key)
        yield _fill(
            f"{ApiKey(key).camel} v{version}, {name}", key, version, size, naming,
            lambda names, m=m, whole=whole: whole(m, names),
        )  # fmt: skip


def _altered(size: int) -> Iterator[Many]:
    """What is only tried, or refused."""
    c = _module(ApiKey.CREATE_TOPICS)

    def create(name: str, make: Callable[[int], Any]) -> Many:
        return _fill(name, ApiKey.CREATE_TOPICS, 7, size, make, lambda them: c.CreateTopicsRequest(them, 1000, True))

    yield create("CreateTopics, one name", lambda _: c.CreatableTopic("n", 1, 1))
    yield create("CreateTopics, other names", lambda index: c.CreatableTopic(f"n{index}", 1, 1))
    yield create("CreateTopics, large ones", lambda index: c.CreatableTopic(f"n{index}", 1000, 1))
    yield create("CreateTopics, ones that exist", lambda _: c.CreatableTopic(ONE, 1, 1))
    yield _fill(
        "CreateTopics, assignments", ApiKey.CREATE_TOPICS, 7, size,
        lambda index: c.CreatableReplicaAssignment(index, [1]),
        lambda found: c.CreateTopicsRequest([c.CreatableTopic("n", -1, -1, found)], 1000, True),
    )  # fmt: skip
    yield _fill(
        "CreateTopics, configurations", ApiKey.CREATE_TOPICS, 7, size,
        lambda _: c.CreatableTopicConfig("retention.ms", "1"),
        lambda found: c.CreateTopicsRequest([c.CreatableTopic("n", 1, 1, configs=found)], 1000, True),
    )  # fmt: skip
    p = _module(ApiKey.CREATE_PARTITIONS)
    for name, naming in (("one topic", lambda _: ONE), ("unknown topics", lambda index: f"x{index}")):
        yield _fill(
            f"CreatePartitions, {name}", ApiKey.CREATE_PARTITIONS, 3, size,
            lambda index, naming=naming: p.CreatePartitionsTopic(naming(index), 5000, None),
            lambda topics: p.CreatePartitionsRequest(topics, 1000, True),
        )  # fmt: skip
    d = _module(ApiKey.DELETE_TOPICS)
    yield _fill(
        "DeleteTopics, unknown topics", ApiKey.DELETE_TOPICS, 6, size,
        lambda index: d.DeleteTopicState(f"x{index}"), lambda topics: d.DeleteTopicsRequest(topics),
    )  # fmt: skip
    for key, version in ((ApiKey.ALTER_CONFIGS, 2), (ApiKey.INCREMENTAL_ALTER_CONFIGS, 1)):
        a = _module(key)
        incremental = key is ApiKey.INCREMENTAL_ALTER_CONFIGS
        name = key.camel

        def config(key: str, value: str, a: Any = a, incremental: bool = incremental) -> Any:
            return a.AlterableConfig(key, 0, value) if incremental else a.AlterableConfig(key, value)

        def whole(found: Any, a: Any = a, incremental: bool = incremental) -> Any:
            made = a.IncrementalAlterConfigsRequest if incremental else a.AlterConfigsRequest
            return made(found, validate_only=True)

        for kind, resource, one in (
            ("one broker", (_BROKER, "1"), ("log.cleaner.threads", "1")),
            ("one topic", (_TOPIC, ONE), ("retention.ms", "1")),
            ("groups", (_GROUP, None), ("consumer.session.timeout.ms", "45000")),
            ("subscriptions", (_METRICS, None), ("match", "client_id=a")),
        ):
            yield _fill(
                f"{name}, {kind}", key, version, size,
                lambda index, a=a, config=config, resource=resource, one=one: a.AlterConfigsResource(
                    resource[0], resource[1] or str(index), [config(*one)]),
                whole,
            )  # fmt: skip
        for what, value in (("blanks", f"5{_LONG * ' '}x"), ("digits", f"5{_LONG * '1'}x")):
            for place, where in (
                ((_TOPIC, ONE), ("leader.replication.throttled.replicas", "retention.ms", "min.cleanable.dirty.ratio")),
                ((_METRICS, "s"), ("metrics", "match", "interval.ms")),
                ((_BROKER, ""), ("log.cleaner.io.buffer.load.factor", "max.connections.per.ip.overrides")),
            ):
                for one_name in where:
                    body = encode(whole([a.AlterConfigsResource(*place, [config(one_name, value)])]), version)
                    yield Many(f"{name}, {one_name}: {what}", key, version, body)


_LONG = 32_000
"""Nearly as long as a string can be."""


def _security(size: int) -> Iterator[Many]:
    q = _module(ApiKey.DESCRIBE_CLIENT_QUOTAS)
    yield _fill(
        "DescribeClientQuotas", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, size,
        lambda index: q.ComponentData(f"k{index}", 0, "x"), lambda found: q.DescribeClientQuotasRequest(found),
    )  # fmt: skip
    a = _module(ApiKey.ALTER_CLIENT_QUOTAS)
    for name, naming in (("one user", lambda _: "u"), ("users", str)):
        yield _fill(
            f"AlterClientQuotas, {name}", ApiKey.ALTER_CLIENT_QUOTAS, 1, size,
            lambda index, naming=naming: a.EntryData(
                [a.EntityData("user", naming(index))], [a.OpData("producer_byte_rate", 1.0)]),
            lambda found: a.AlterClientQuotasRequest(found, True),
        )  # fmt: skip
    s = _module(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
    for name, naming in (("one user", lambda _: "u"), ("users", str)):
        yield _fill(
            f"DescribeUserScramCredentials, {name}", ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, size,
            lambda index, naming=naming: s.UserName(naming(index)),
            lambda found: s.DescribeUserScramCredentialsRequest(found),
        )  # fmt: skip
    u = _module(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
    yield _fill(
        "AlterUserScramCredentials, deletions", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, size,
        lambda index: u.ScramCredentialDeletion(str(index), 1),
        lambda found: u.AlterUserScramCredentialsRequest(found),
    )  # fmt: skip
    yield _fill(
        "AlterUserScramCredentials, upsertions", ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, size,
        lambda index: u.ScramCredentialUpsertion(str(index), 9, 4096, b"", b""),
        lambda found: u.AlterUserScramCredentialsRequest(upsertions=found),
    )  # fmt: skip
    d = _module(ApiKey.DELETE_ACLS)
    yield _fill(
        "DeleteAcls", ApiKey.DELETE_ACLS, 3, size,
        lambda _: d.DeleteAclsFilter(1, None, 1, None, None, 1, 1), lambda found: d.DeleteAclsRequest(found),
    )  # fmt: skip


def _transactions(size: int) -> Iterator[Many]:
    """Of a producer that is in a transaction with all of the large topic, and in none."""
    yield from _joined(size)
    d = _module(ApiKey.DESCRIBE_TRANSACTIONS)
    for name, naming in (("one that is large", lambda _: TRANSACTION), ("unknown ones", str)):
        yield _fill(
            f"DescribeTransactions, {name}", ApiKey.DESCRIBE_TRANSACTIONS, 0, size, naming,
            lambda names: d.DescribeTransactionsRequest(names),
        )  # fmt: skip
    li = _module(ApiKey.LIST_TRANSACTIONS)
    yield _fill(
        "ListTransactions, states", ApiKey.LIST_TRANSACTIONS, 2, size, str,
        lambda names: li.ListTransactionsRequest(state_filters=names),
    )  # fmt: skip
    yield _fill(
        "ListTransactions, producer ids", ApiKey.LIST_TRANSACTIONS, 2, size, int,
        lambda ids: li.ListTransactionsRequest(producer_id_filters=ids),
    )  # fmt: skip
    w = _module(ApiKey.WRITE_TXN_MARKERS)

    def marker(producer_id: int, topic: str, partitions: Sequence[int]) -> Any:
        return w.WritableTxnMarker(producer_id, 0, True, [w.WritableTxnMarkerTopic(topic, partitions)])

    for name, make in (
        ("one partition", lambda _: marker(1 << 40, ONE, [0])),
        ("one partition, ever new producers", lambda index: marker(1 << 40 | index, ONE, [0])),
        ("all of a large topic", lambda index: marker(1 << 40 | index, THOUSAND, _EVERY)),
        ("unknown topics", lambda index: marker(1 << 40, f"x{index}", [0])),
        ("partition 0 of __consumer_offsets", lambda index: marker(1 << 40 | index, "__consumer_offsets", [0])),
    ):
        yield _fill(
            f"WriteTxnMarkers, {name}", ApiKey.WRITE_TXN_MARKERS, 1, size, make,
            lambda markers: w.WriteTxnMarkersRequest(markers),
        )  # fmt: skip
    yield _fill(
        "WriteTxnMarkers, one partition within one marker", ApiKey.WRITE_TXN_MARKERS, 1, size, lambda _: 0,
        lambda indexes: w.WriteTxnMarkersRequest([marker(1 << 41, ONE, indexes)]),
    )  # fmt: skip


def _joined(size: int) -> Iterator[Many]:
    a = _module(ApiKey.ADD_PARTITIONS_TO_TXN)
    o = _module(ApiKey.TXN_OFFSET_COMMIT)
    kinds: list[tuple[str, Callable[[int], tuple[str, Sequence[int]]]]] = [
        ("one partition", lambda _: (ONE, [0])),
        ("all of a large topic", lambda _: (THOUSAND, _EVERY)),
        ("one partition more each time", lambda index: (THOUSAND, [index % 1000])),
        ("unknown topics", lambda index: (f"x{index}", [0])),
        ("partitions that are not there", lambda index: (ONE, [index])),
    ]
    for name, make in kinds:
        yield _fill(
            f"AddPartitionsToTxn, {name}", ApiKey.ADD_PARTITIONS_TO_TXN, 3, size,
            lambda index, make=make: a.AddPartitionsToTxnTopic(*make(index)),
            lambda topics: a.AddPartitionsToTxnRequest((), TRANSACTION, 0, 0, topics),
        )  # fmt: skip
        for what, only in (("added", False), ("verified", True)):
            yield _fill(
                f"AddPartitionsToTxn, {name}, {what} by itself", ApiKey.ADD_PARTITIONS_TO_TXN, 5, size,
                lambda index, make=make, only=only: a.AddPartitionsToTxnTransaction(
                    TRANSACTION, 0, 0, only, [a.AddPartitionsToTxnTopic(*make(index))]),
                lambda each: a.AddPartitionsToTxnRequest(each),
            )  # fmt: skip
        yield _fill(
            f"TxnOffsetCommit, {name}", ApiKey.TXN_OFFSET_COMMIT, 5, size,
            lambda index, make=make: o.TxnOffsetCommitRequestTopic(
                make(index)[0], partitions=[o.TxnOffsetCommitRequestPartition(p, 1) for p in make(index)[1]]),
            lambda topics: o.TxnOffsetCommitRequest(TRANSACTION, "g", 0, 0, topics=topics),
        )  # fmt: skip
