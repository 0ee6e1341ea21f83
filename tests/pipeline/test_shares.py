"""Share groups (KIP-932) in the tables: what their records say, and `__share_group_state` put together."""

from __future__ import annotations

import struct
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

from kafkastub import KafkaStub
from kafkastub.client.connection import Connection
from kafkastub_pipeline.decode.shares import Batch, SharePartition, combined
from kafkawire.codec import encode
from kafkawire.messages import share_acknowledge_request as acknowledging
from kafkawire.messages import share_fetch_request as fetching
from kafkawire.messages import share_snapshot_value, share_update_value
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.share_group_current_member_assignment_value import (
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_member_metadata_value import ShareGroupMemberMetadataValue
from kafkawire.messages.share_group_metadata_value import ShareGroupMetadataValue
from kafkawire.messages.share_group_state_partition_metadata_value import (
    ShareGroupStatePartitionMetadataValue,
    TopicPartitionsInfo,
)
from kafkawire.messages.share_snapshot_key import ShareSnapshotKey
from kafkawire.messages.share_snapshot_value import ShareSnapshotValue
from kafkawire.messages.share_update_value import ShareUpdateValue
from kafkawire.offsets_topic import RecordType
from kafkawire.schema import Message
from tests.pipeline.decoding import decode, i16, i32, text
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC_ID = bytes(range(16))
TOPIC = "00010203-0405-0607-0809-0a0b0c0d0e0f"
GROUP_CONFIG, SET = 32, 0
ACCEPT, RELEASE, REJECT = 1, 2, 3


def value(message: Message) -> bytes:
    return struct.pack(">h", 0) + encode(message, 0)


def told(type_: RecordType, message: Message, member: str | None = None) -> dict[str, Any]:
    key = i16(type_) + text("workers") + (b"" if member is None else text(member))
    (row,) = decode([(key, value(message))])
    assert (row["error"], row["group_id"], row["member_id"]) == (None, "workers", member)
    return row


def test_a_share_group_and_its_members() -> None:
    assert told(RecordType.SHARE_GROUP_METADATA, ShareGroupMetadataValue(epoch=7))["modern"]["epoch"] == 7
    member = ShareGroupMemberMetadataValue("r1", "worker", "/127.0.0.1", ["orders"])
    row = told(RecordType.SHARE_GROUP_MEMBER_METADATA, member, "m")
    assert row["topics"] == ["orders"]
    client = row["modern"]["client"]
    assert (client["client_id"], client["client_host"], client["rack_id"]) == ("worker", "/127.0.0.1", "r1")
    current = ShareGroupCurrentMemberAssignmentValue(3, 2, 0, [TopicPartitions(TOPIC_ID, [0, 1])])
    row = told(RecordType.SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT, current, "m")
    assert (row["modern"]["epoch"], row["modern"]["member_state"]) == (3, "STABLE")
    assert row["modern"]["assigned"] == [{"topic_id": TOPIC, "partitions": [0, 1], "epochs": None}]


def test_the_partitions_that_the_share_coordinator_knows() -> None:
    known = TopicPartitionsInfo(TOPIC_ID, "orders", [0, 2])
    begun = TopicPartitionsInfo(TOPIC_ID, "orders", [1])
    message = ShareGroupStatePartitionMetadataValue([begun], [known], [])
    row = told(RecordType.SHARE_GROUP_STATE_PARTITION_METADATA, message)
    assert row["modern"]["assigned"] == [{"topic_id": TOPIC, "partitions": [0, 2], "epochs": None}]


BATCHES = st.lists(
    st.builds(
        lambda first, size, state, count: Batch(first, first + size, state, count),
        st.integers(0, 30),
        st.integers(-1, 8),
        st.sampled_from((0, 2, 3, 4)),
        st.integers(1, 5),
    ),
    max_size=8,
)


@given(BATCHES, st.integers(-1, 20))
def test_of_each_offset_what_was_delivered_most_often(batches: list[Batch], start: int) -> None:
    """Model: offset by offset."""
    wanted: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            wanted[offset] = max(wanted.get(offset, (-1, -1)), (count, state))
    found = combined(batches, start)
    one_by_one = {
        offset: (one.delivery_count, one.delivery_state)
        for one in found
        for offset in range(one.first_offset, one.last_offset + 1)
    }
    assert one_by_one == wanted
    assert all(
        one.last_offset + 1 < two.first_offset or one[2:] != two[2:]
        for one, two in zip(found, found[1:], strict=False)  # noqa: RUF007
    )


SNAPSHOT, UPDATE = i16(0), i16(1)


def snapshot(*batches: Batch, start: int = 10, complete: int = 0) -> bytes:
    made = [share_snapshot_value.StateBatch(*one) for one in batches]
    return value(ShareSnapshotValue(3, 2, 1, start, complete, 0, 0, made))


def update(*batches: Batch, start: int = -1, complete: int = 0) -> bytes:
    made = [share_update_value.StateBatch(*one) for one in batches]
    return value(ShareUpdateValue(3, -1, start, complete, made))


def test_an_update_changes_what_it_names() -> None:
    known = SharePartition()
    known.take(SNAPSHOT, snapshot(Batch(10, 19, 0, 1)))
    known.take(UPDATE, update(Batch(10, 14, 2, 1), Batch(17, 17, 4, 2), start=15, complete=1))
    row = known.row()
    assert (row["start_offset"], row["delivery_complete_count"], row["last_offset"]) == (15, 1, 19)
    assert (row["available"], row["acknowledged"], row["archived"], row["archiving"]) == (4, 0, 1, 0)
    assert (row["state_epoch"], row["leader_epoch"], row["max_delivery_count"]) == (2, 1, 2)


def test_what_is_behind_the_start_offset_still_counts() -> None:
    """A record that was given up, or came more than once, is counted once, wherever the group is by now."""
    known = SharePartition()
    known.take(SNAPSHOT, snapshot(Batch(10, 12, 0, 1)))
    known.take(UPDATE, update(Batch(10, 10, 4, 3), Batch(11, 11, 2, 2), Batch(12, 13, 0, 2)))
    assert (known.row()["archived"], known.row()["given_up"], known.row()["redelivered"]) == (1, 1, 4)
    known.take(UPDATE, update(Batch(12, 12, 4, 3), start=12))
    assert (known.row()["archived"], known.row()["given_up"], known.row()["redelivered"]) == (1, 2, 4)
    state = ShareSnapshotValue(4, 2, 1, 13, 0, 0, 0, [share_snapshot_value.StateBatch(13, 13, 0, 2)])
    known.take(SNAPSHOT, value(state))
    known.take(UPDATE, update(Batch(10, 13, 4, 2)))  # what is behind already does not count again
    assert (known.row()["archived"], known.row()["given_up"], known.row()["redelivered"]) == (1, 3, 4)


def test_a_snapshot_replaces_and_a_tombstone_ends() -> None:
    known = SharePartition()
    known.take(SNAPSHOT, snapshot(Batch(10, 19, 0, 1)))
    known.take(SNAPSHOT, snapshot(start=-1, complete=-1))
    assert known.row()["start_offset"] is None
    assert known.row()["delivery_complete_count"] is None
    assert known.row()["available"] == 0
    known.take(UPDATE, None)
    assert known.snapshot_epoch == 3
    known.take(SNAPSHOT, None)
    assert known.snapshot_epoch is None


@pytest.mark.parametrize("damaged", [b"", b"\0", i16(1), i16(0), i16(0) + b"\x7f" * 9])
def test_what_cannot_be_decoded_is_counted(damaged: bytes) -> None:
    known = SharePartition()
    known.take(SNAPSHOT, snapshot(Batch(10, 19, 0, 1)))
    known.take(UPDATE, damaged)
    assert (known.row()["undecoded"], known.row()["available"]) == (1, 10)
    known.take(SNAPSHOT, snapshot())
    assert known.row()["undecoded"] == 0


def test_damaged_keys_are_left_out(spark: SparkSession) -> None:
    from kafkastub_pipeline.decode.shares import share_partitions_of

    good = SNAPSHOT + encode(ShareSnapshotKey("g", TOPIC_ID, 1), 0)
    keys = [None, b"", b"\0", i16(7) + i32(3), good[:9], good]
    rows = [(key, snapshot(), 0, at, at) for at, key in enumerate(keys)]
    raw = spark.createDataFrame(rows, "key binary, value binary, log_partition int, log_offset bigint, log_ms bigint")
    (row,) = share_partitions_of(raw).collect()
    assert (row.group_id, row.topic_id, row.partition, row.log_offset) == ("g", TOPIC, 1, 5)


class Member:
    """The one member of a share group, by the protocol."""

    def __init__(self, stub: KafkaStub, group: str, topic: str) -> None:
        host, port = stub.bootstrap_servers.split(":")
        self.connection = Connection(host, int(port))
        self.group, self.member, self.topic_id, self.epoch = group, str(uuid.uuid4()), b"", -1
        self.heartbeat_epoch = 0
        self.topic = topic
        until(self._is_assigned, "an assignment")

    def _is_assigned(self) -> bool:
        names = [self.topic] if self.heartbeat_epoch == 0 else None
        answer = self.connection.ask(
            ShareGroupHeartbeatRequest(self.group, self.member, self.heartbeat_epoch, None, names)
        )
        if answer.error_code:
            return False
        self.heartbeat_epoch = answer.member_epoch
        if answer.assignment is None or not answer.assignment.topic_partitions:
            return False
        self.topic_id = bytes(answer.assignment.topic_partitions[0].topic_id)
        return True

    def fetch(self, wanted: int) -> int:
        """Acquire until there are so many records."""
        found = 0
        deadline = time.monotonic() + 60
        while found < wanted and time.monotonic() < deadline:
            self.epoch += 1
            topics = [fetching.FetchTopic(self.topic_id, [fetching.FetchPartition(0)])]
            request = fetching.ShareFetchRequest(
                self.group, self.member, self.epoch, 100, 1, 1 << 20, 500, 500, topics=topics
            )
            answer = self.connection.ask(request)
            assert answer.error_code == 0
            for topic in answer.responses:
                for partition in topic.partitions:
                    found += sum(one.last_offset - one.first_offset + 1 for one in partition.acquired_records)
        return found

    def acknowledge(self, first: int, last: int, types: list[int]) -> None:
        self.epoch += 1
        batch = acknowledging.AcknowledgementBatch(first, last, types)
        topics = [acknowledging.AcknowledgeTopic(self.topic_id, [acknowledging.AcknowledgePartition(0, [batch])])]
        answer = self.connection.ask(
            acknowledging.ShareAcknowledgeRequest(self.group, self.member, self.epoch, topics=topics)
        )
        assert answer.responses[0].partitions[0].error_code == 0


def member_from_the_beginning(stub: KafkaStub, group: str, topic: str) -> Member:
    """The first member of a share group that begins with what is there."""
    host, port = stub.bootstrap_servers.split(":")
    earliest = AlterableConfig("share.auto.offset.reset", SET, "earliest")
    resource = AlterConfigsResource(GROUP_CONFIG, group, [earliest])
    Connection(host, int(port)).ask(IncrementalAlterConfigsRequest([resource]))
    return Member(stub, group, topic)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Path]:
    """The tables of a stub with a share group that has done with some records, and not with others."""
    from kafkastub_pipeline.run import Settings, run

    folder = tmp_path_factory.mktemp("shares")
    held = {f"group.share.{name}record.lock.duration.ms": 3_600_000 for name in ("max.", "")}
    with KafkaStub(topics={"orders": 1}, config=held) as stub:  # Spark may take its time
        for number in range(12):
            stub.produce("orders", b"%d" % number)
        worker = member_from_the_beginning(stub, "workers", "orders")
        assert worker.fetch(12) == 12
        worker.acknowledge(0, 3, [ACCEPT])
        worker.acknowledge(6, 9, [REJECT, ACCEPT, RELEASE, RELEASE])
        run(spark, Settings(out=str(folder), bootstrap_servers=stub.bootstrap_servers, probes=0))
        yield folder


def test_a_share_partition_in_the_table(out: Path, spark: SparkSession) -> None:
    (row,) = spark.read.parquet(str(out / "share_partitions")).collect()
    assert (row.group_id, row.topic, row.partition) == ("workers", "orders", 0)
    assert (row.start_offset, row.last_offset, row.delivery_complete_count) == (4, 9, 2)
    assert (row.available, row.acknowledged, row.archived, row.max_delivery_count) == (2, 1, 1, 1)
    assert (row.redelivered, row.given_up) == (0, 1)
    assert row.lag_records == 12 - 4 - 2


def test_a_share_group_in_the_other_tables(out: Path, spark: SparkSession) -> None:
    events = spark.read.parquet(str(out / "group_events")).where("group_id = 'workers'").collect()
    assert {row.group_type for row in events} == {"share"}
    states = [row for row in events if row.event == "SHARE_GROUP_STATE_PARTITION_METADATA"]
    assert [one.partitions for one in states[-1].assigned] == [[0]]
    timeline = spark.read.parquet(str(out / "group_timeline")).where("group_id = 'workers'")
    joined, *_ = timeline.orderBy("log_offset").collect()
    assert (joined.state, joined.cause, joined.protocol_type, joined.members) == (
        "Stable",
        "members joined",
        "share",
        1,
    )
