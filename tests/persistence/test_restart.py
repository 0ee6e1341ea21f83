"""A stub on the directory of an earlier one goes on where that one ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_configs_request import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kafkawire.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.persistence.speaker import EARLIEST, LARGEST_TIMESTAMP, LATEST, Speaker

Start = Callable[..., KafkaStub]
TOPIC, BROKER, GROUP = 2, 4, 32


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Makes a stub on the test's data directory."""

    def make(config: dict[str, object] | None = None, **options: Any) -> KafkaStub:
        return KafkaStub(config={**CONFIG, **(config or {})}, data_dir=tmp_path / "data", **options)

    return make


def _metadata(servers: str) -> Any:
    with Speaker(servers) as speaker:
        return speaker.ask(MetadataRequest(topics=None), 12)


def _config(speaker: Speaker, kind: int, name: str, key: str) -> str:
    request = DescribeConfigsRequest(resources=[DescribeConfigsResource(kind, name, [key])])
    value: str = speaker.ask(request, 4).results[0].configs[0].value
    return value


def test_topics_come_back_with_their_ids_and_the_cluster_with_its_own(start: Start):
    with start(topics={"orders": 3}) as stub:
        stub.create_topic("payments", 2, {"cleanup.policy": "compact"})
        before = _metadata(stub.bootstrap_servers)
    with start() as stub:
        after = _metadata(stub.bootstrap_servers)
        with Speaker(stub.bootstrap_servers) as speaker:
            assert _config(speaker, TOPIC, "payments", "cleanup.policy") == "compact"
    assert after.cluster_id == before.cluster_id
    assert after.topics == before.topics


def test_a_topic_that_is_there_already_need_not_be_created(start: Start):
    with start(topics={"orders": 3}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.produce("orders", 2, b"one")
    with start(topics={"orders": 3, "new": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.values("orders", 2) == [b"one"]
        assert speaker.values("new", 0) == []


def test_new_partitions_and_deletions_are_remembered(start: Start):
    with start(topics={"orders": 1, "gone": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.produce("gone", 0, b"of the old topic")
        speaker.commit("group", "gone", {0: 1})
        speaker.ask(CreatePartitionsRequest(topics=[CreatePartitionsTopic("orders", 4, None)], timeout_ms=1000), 3)
        speaker.ask(DeleteTopicsRequest(topic_names=["gone"], timeout_ms=1000), 5)
        speaker.produce("orders", 3, b"one")
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert [(topic.name, len(topic.partitions)) for topic in _metadata(stub.bootstrap_servers).topics] == [
            ("orders", 4),
            ("__consumer_offsets", 50),
        ]
        assert speaker.values("orders", 3) == [b"one"]
        stub.create_topic("gone")
        assert speaker.values("gone", 0) == []
        assert speaker.committed("group", "gone", [0]) == [-1]


def test_records_come_back_as_they_came(start: Start):
    headers = ((b"trace", b"1"), (b"none", None))
    batch = build_batch([NewRecord(b"k", None, 7, headers), NewRecord(b"k", b"v", 8)], compression=1)
    with start(topics={"orders": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.produce("orders", 0, batch=batch)
        speaker.produce("orders", 0, b"x" * 10_000)
        before = speaker.records("orders", 0)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.records("orders", 0) == before
        assert speaker.produce("orders", 0, b"next") == (0, 3)


def test_dynamic_configurations_come_back(start: Start):
    change = AlterConfigsResource(BROKER, "1", [AlterableConfig("log.cleaner.threads", "2")])
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.ask(AlterConfigsRequest(resources=[change]), 2).responses[0].error_code == 0
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert _config(speaker, BROKER, "1", "log.cleaner.threads") == "2"


def test_a_producer_that_sends_its_batch_again_is_recognised(start: Start):
    def batch(producer_id: int, sequence: int) -> bytes:
        return build_batch(
            [NewRecord(None, b"v", 1)], producer_id=producer_id, producer_epoch=0, base_sequence=sequence
        )

    with start(topics={"orders": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        producer_id, _ = speaker.producer_id()
        for sequence in range(3):
            assert speaker.produce("orders", 0, batch=batch(producer_id, sequence)) == (0, sequence)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.produce("orders", 0, batch=batch(producer_id, 2)) == (0, 2)
        code, _ = speaker.produce("orders", 0, batch=batch(producer_id, 5))
        assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert speaker.produce("orders", 0, batch=batch(producer_id, 3)) == (0, 3)
        assert speaker.producer_id()[0] > producer_id


def test_a_transactional_id_keeps_its_producer_id_and_its_epochs(start: Start):
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("payments")
        producer_id, epoch = speaker.producer_id("payments")
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id("payments") == (producer_id, epoch + 1)


def _join(speaker: Speaker, group: str, member_id: str = "") -> tuple[str, int]:
    """A consumer that assigned itself everything: its id and generation."""
    subscription = b"\x00\x00\x00\x00\x00\x01\x00\x06orders\xff\xff\xff\xff"
    join = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", subscription)],
    )
    answer = speaker.ask(join, 5)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        return _join(speaker, group, answer.member_id)
    sync = SyncGroupRequest(
        group_id=group,
        generation_id=answer.generation_id,
        member_id=answer.member_id,
        assignments=[SyncGroupRequestAssignment(answer.member_id, b"mine")],
    )
    assert speaker.ask(sync, 3).error_code == 0
    return answer.member_id, answer.generation_id


def test_a_stable_group_goes_on(start: Start):
    with start(topics={"orders": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        member, generation = _join(speaker, "group")
        assert speaker.commit("group", "orders", {0: 5}, member=member, generation=generation) == [0]
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        (group,) = speaker.ask(DescribeGroupsRequest(groups=["group"]), 5).groups
        assert (group.group_state, [m.member_id for m in group.members]) == ("Stable", [member])
        assert group.members[0].member_assignment == b"mine"
        beat = HeartbeatRequest(group_id="group", generation_id=generation, member_id=member)
        assert speaker.ask(beat, 3).error_code == 0
        assert speaker.commit("group", "orders", {0: 6}, member=member, generation=generation) == [0]
        assert speaker.commit("group", "orders", {0: 6}, member=member, generation=generation + 1) == [
            ErrorCode.ILLEGAL_GENERATION
        ]


def test_deleted_groups_stay_deleted(start: Start):
    with start(topics={"orders": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.commit("kept", "orders", {0: 1})
        speaker.commit("gone", "orders", {0: 2})
        speaker.ask(DeleteGroupsRequest(groups_names=["gone"]), 2)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.committed("kept", "orders", [0]) == [1]
        assert speaker.committed("gone", "orders", [0]) == [-1]


def test_the_offsets_topic_has_the_same_history(start: Start):
    config: dict[str, object] = {"offsets.topic.num.partitions": 1}
    with start(config, topics={"orders": 3}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        for offset in range(20):
            speaker.commit("one", "orders", {0: offset, 2: offset}, metadata="m")
            speaker.commit("two", "orders", {1: offset})
        _join(speaker, "members")
        speaker.ask(DeleteGroupsRequest(groups_names=["two"]), 2)
        before = speaker.records("__consumer_offsets", 0)
    with start(config) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.records("__consumer_offsets", 0) == before


@pytest.mark.parametrize("history", [0, 1, 30, 50])
def test_what_is_compacted_stays_readable(start: Start, history: int):
    config: dict[str, object] = {"offsets.topic.num.partitions": 3, "kafkastub.offsets.history.records": history}

    def last_values(speaker: Speaker) -> dict[bytes | None, bytes | None]:
        records = [record for partition in range(3) for record in speaker.records("__consumer_offsets", partition)]
        values = {record.key: record.value for record in records}
        return {key: value for key, value in values.items() if value is not None}

    with start(config, topics={"orders": 8}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        for offset in range(10):
            for group in range(10):
                speaker.commit(f"group-{group}", "orders", {group % 8: offset})
        before = last_values(speaker)
    for _ in range(2):
        with start(config) as stub, Speaker(stub.bootstrap_servers) as speaker:
            assert last_values(speaker) == before
            assert len(before) == 10
            assert [speaker.committed(f"group-{group}", "orders", [group % 8]) for group in range(10)] == [[9]] * 10
            speaker.commit("group-0", "orders", {0: 9})
            before = last_values(speaker)


def test_the_clock_goes_on_where_it_was_moved_to(start: Start):
    with start() as stub:
        stub.clock.advance(days=3)
        moved = stub.clock.now()
    with start() as stub:
        assert moved <= stub.clock.now()
        stub.clock.freeze()
        frozen = stub.clock.now()
    with start() as stub:
        assert stub.clock.now() == frozen
        stub.clock.set(datetime(2040, 1, 1, tzinfo=UTC))
    with start() as stub:
        assert stub.clock.now() == datetime(2040, 1, 1, tzinfo=UTC)


def test_offsets_expire_as_if_nothing_had_been(start: Start):
    with start(topics={"orders": 1}) as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.clock.freeze()
        speaker.commit("group", "orders", {0: 1})
        stub.clock.advance(days=6)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.clock.advance(hours=23, minutes=59)
        assert speaker.committed("group", "orders", [0]) == [1]
        stub.clock.advance(minutes=1)
        assert speaker.committed("group", "orders", [0]) == [-1]
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.committed("group", "orders", [0]) == [-1]


def test_records_age_by_the_time_of_their_append(start: Start):
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.clock.freeze()
        stub.create_topic("orders", 1, {"retention.ms": "60000"})
        speaker.produce("orders", 0, b"old")
        stub.clock.advance(seconds=30)
        speaker.produce("orders", 0, b"young")
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.clock.advance(milliseconds=30_000)
        assert speaker.values("orders", 0) == [b"old", b"young"]
        stub.clock.advance(milliseconds=1)
        assert speaker.values("orders", 0) == [b"young"]
        stub.clock.advance(minutes=1)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert (speaker.offset("orders", 0, EARLIEST), speaker.offset("orders", 0, LATEST)) == (2, 2)
        assert speaker.produce("orders", 0, b"third") == (0, 2)


def test_deleted_records_stay_deleted_and_free_the_disk(start: Start, tmp_path: Path):
    delete = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 150)])], timeout_ms=1000
    )
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders", 1, {"segment.bytes": "1048576"})
        for number in range(200):
            speaker.produce("orders", 0, b"%d" % number + b"x" * 20_000)
        partition = tmp_path / "data" / "orders-0"
        names = sorted(path.name for path in partition.glob("*.log"))
        assert len(names) > 2
        speaker.ask(delete, 2)
        assert sorted(path.name for path in partition.glob("*.log")) == names[-2:]
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert (speaker.offset("orders", 0, EARLIEST), speaker.offset("orders", 0, LATEST)) == (150, 200)
        assert [value and int(value[:3]) for value in speaker.values("orders", 0)] == list(range(150, 200))


def test_the_largest_timestamp_is_that_of_a_record_before_the_log_start_after_a_start_too(start: Start):
    """As in Kafka, which looks at the whole segment: a start had left out the batches before the log start."""
    delete = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 1)])], timeout_ms=1000
    )
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders", 1)
        for number in range(3):
            speaker.produce("orders", 0, batch=build_batch([NewRecord(None, b"%d" % number, 1_700_000_000_000)]))
        speaker.ask(delete, 2)
        assert speaker.offset("orders", 0, LARGEST_TIMESTAMP) == 0
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.offset("orders", 0, LARGEST_TIMESTAMP) == 0
        assert speaker.values("orders", 0) == [b"1", b"2"]


def test_a_compacted_topic_stays_compacted(start: Start):
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders", 1, {"cleanup.policy": "compact"})
        for number in range(30):
            record = NewRecord(b"%d" % (number % 3), b"%d" % number, 1)
            speaker.produce("orders", 0, batch=build_batch([record]))
        stub.clock.advance(seconds=1)
        before = speaker.records("orders", 0)
        assert [record.offset for record in before] == [27, 28, 29]
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.records("orders", 0) == before
        assert speaker.produce("orders", 0, batch=build_batch([NewRecord(b"0", b"last", 1)])) == (0, 30)
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert [record.offset for record in speaker.records("orders", 0)][-3:] == [28, 29, 30]


def test_real_clients_go_on_too(start: Start):
    def consumer(stub: KafkaStub) -> Consumer:
        options = {"group.id": "group", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        return Consumer({"bootstrap.servers": stub.bootstrap_servers, **options})

    def consume(stub: KafkaStub, count: int) -> list[bytes | None]:
        reader = consumer(stub)
        reader.subscribe(["orders"])
        messages = reader.consume(count, 20)
        assert not any(message.error() for message in messages)
        reader.commit(asynchronous=False)
        reader.close()
        return [message.value() for message in messages]

    for run in range(3):
        with start(topics={"orders": 1}) as stub:
            producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "enable.idempotence": True})
            for number in range(10):
                producer.produce("orders", b"%d" % (run * 10 + number))
            assert producer.flush(20) == 0
            assert consume(stub, 10) == [b"%d" % number for number in range(run * 10, run * 10 + 10)]
            del producer
    with start() as stub:
        reader = consumer(stub)
        assert reader.committed([TopicPartition("orders", 0)], 20)[0].offset == 30
        reader.close()


@pytest.mark.behaviour("RD-6", "LD-4")
def test_log_directories_of_replicas_come_back(start: Start):
    def places(stub: KafkaStub) -> dict[str, list[int]]:
        with Speaker(stub.bootstrap_servers) as speaker:
            answer = speaker.ask(DescribeLogDirsRequest(None), 5)
        assert all(0 < one.usable_bytes <= one.total_bytes for one in answer.results), "those of the data directory"
        return {one.log_dir: [row.partition_index for topic in one.topics for row in topic.partitions]
                for one in answer.results}  # fmt: skip

    with start({"log.dirs": "/one,/two"}, topics={"a": 4}) as stub:
        assert places(stub) == {"/one": [0, 2], "/two": [1, 3]}
        moved = AlterReplicaLogDir("/two", [AlterReplicaLogDirTopic("a", [0, 2])])
        wished = AlterReplicaLogDir("/two", [AlterReplicaLogDirTopic("b", [0])])
        with Speaker(stub.bootstrap_servers) as speaker:
            speaker.ask(AlterReplicaLogDirsRequest([moved, wished]), 2)
    with start({"log.dirs": "/one,/two"}) as stub:
        assert places(stub) == {"/one": [], "/two": [0, 1, 2, 3]}
        stub.create_topic("b", partitions=2)
        assert places(stub) == {"/one": [0, 1], "/two": [0, 1, 2, 3]}, "a wish is forgotten"
    with start({"log.dirs": "/two,/three"}) as stub:
        assert places(stub) == {"/two": [0, 1, 2, 3], "/three": [0, 1]}, "a directory is no more"
    with start() as stub:
        assert places(stub) == {"/tmp/kafka-logs": [0, 1, 2, 3, 0, 1]}


def test_a_groups_configuration_comes_back_and_its_members_go_by_it(start: Start):
    interval = "consumer.heartbeat.interval.ms"
    joining = ConsumerGroupHeartbeatRequest(
        "g", "m", 0, rebalance_timeout_ms=1000, subscribed_topic_names=[], topic_partitions=[]
    )
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        resource = AlterConfigsResource(GROUP, "g", [AlterableConfig(interval, "7000")])
        assert speaker.ask(AlterConfigsRequest([resource]), 2).responses[0].error_code == ErrorCode.NONE
    with start() as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert _config(speaker, GROUP, "g", interval) == "7000"
        assert speaker.ask_loaded(joining, 1).heartbeat_interval_ms == 7000
    bounds: dict[str, object] = {"group.consumer.max.heartbeat.interval.ms": 6000}
    with start(bounds) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert _config(speaker, GROUP, "g", interval) == "7000"
        heartbeat = ConsumerGroupHeartbeatRequest("g", "m", 1)
        assert speaker.ask_loaded(heartbeat, 1).heartbeat_interval_ms == 6000  # what its brokers allow now
