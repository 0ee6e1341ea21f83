"""A disk that takes no more: KAFKA_STORAGE_ERROR for who writes, answers for who reads; none of it is there later."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.waiting import until

ERROR = ErrorCode.KAFKA_STORAGE_ERROR
LIMIT = 20_000


def _limit_files(process: Serving, size: int) -> None:
    """From now on the process can make no file larger than that: its writes fail as on a full disk (EFBIG)."""
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("flush", ["message", "1000ms", "never"])
def test_a_full_disk_under_a_producer(tmp_path: Path, flush: str):
    options = ["--data-dir", str(tmp_path), "--config", f"kafkastub.flush={flush}", "--topic", "orders:1"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.commit("group", "orders", {0: 3}) == [0]
        _limit_files(process, LIMIT)
        written = []
        for number in range(100):
            value = b"%d" % number + b"x" * 1000
            code, _ = speaker.produce("orders", 0, value)
            if code:
                break
            written.append(value)
        assert code == ERROR
        assert 0 < len(written) < 20
        assert speaker.values("orders", 0) == written
        assert speaker.produce("orders", 0, b"small") == (ERROR, -1)
        assert speaker.commit("group", "orders", {0: 4}) == [ERROR]
        assert speaker.committed("group", "orders", [0]) == [3]
        assert speaker.create_topic("new") == ERROR
        assert "takes no more writes: writing failed: File too large" in process.stderr
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.values("orders", 0) == written
        assert speaker.committed("group", "orders", [0]) == [3]
        assert speaker.produce("orders", 0, b"after") == (0, len(written))


def test_a_full_disk_under_a_group(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        for offset in range(40):
            assert speaker.commit("group", "orders", {0: offset}) == [0]
        (segment,) = tmp_path.glob("__consumer_offsets-*/*.log")
        _limit_files(process, segment.stat().st_size + 10)
        assert speaker.commit("group", "orders", {0: 40}) == [ERROR]
        assert speaker.committed("group", "orders", [0]) == [39]
        join = JoinGroupRequest(
            group_id="group",
            session_timeout_ms=30_000,
            rebalance_timeout_ms=30_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", b"")],
        )
        assert speaker.ask(join, 5).error_code == ERROR
        assert speaker.ask(HeartbeatRequest(group_id="group", generation_id=1, member_id="x"), 3).error_code == ERROR
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.committed("group", "orders", [0]) == [39]
        assert [one.value for one in speaker.records("__consumer_offsets", _partition(segment))][-1] is not None
        assert len(speaker.records("__consumer_offsets", _partition(segment))) == 40


def _beat(speaker: Speaker, member_id: str, epoch: int, **fields: Any) -> Any:
    request = ConsumerGroupHeartbeatRequest("group", member_id, epoch, rebalance_timeout_ms=60_000, **fields)
    return speaker.ask(request, 1)


def _members(speaker: Speaker) -> list[tuple[str, int, list[int]]]:
    """Of the consumer group: member id, epoch and partitions."""
    (group,) = speaker.ask(ConsumerGroupDescribeRequest(["group"]), 1).groups
    return [
        (one.member_id, one.member_epoch, [p for topic in one.assignment.topic_partitions for p in topic.partitions])
        for one in group.members
    ]


def test_a_full_disk_under_a_consumer_group(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2"]
    join: dict[str, Any] = {"subscribed_topic_names": ["orders"], "topic_partitions": []}
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        for offset in range(40):
            assert speaker.commit("group", "orders", {0: offset}) == [0]
        assert _beat(speaker, "one", 0, **join).error_code == 0
        before = _members(speaker)
        assert [(member_id, partitions) for member_id, _, partitions in before] == [("one", [0, 1])]
        (segment,) = tmp_path.glob("__consumer_offsets-*/*.log")
        _limit_files(process, segment.stat().st_size + 10)
        assert _beat(speaker, "two", 0, **join).error_code == ERROR
        assert _members(speaker) == before
        assert _beat(speaker, "one", -1).error_code == ERROR
        assert _members(speaker) == before
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert _members(speaker) == before
        ((_, epoch, _),) = before
        assert _beat(speaker, "one", epoch).member_epoch == epoch
        assert _beat(speaker, "two", 0, **join).error_code == 0


def test_a_full_disk_under_a_group_of_the_consumer_protocol(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2"]

    def beat(speaker: Speaker, member: str, epoch: int = 0, **more: Any) -> Any:
        joining = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
        request = ConsumerGroupHeartbeatRequest("group", member, epoch, **({} if epoch else joining), **more)
        return speaker.ask_loaded(request, 1)

    def members(speaker: Speaker) -> dict[str, int]:
        (group,) = speaker.ask(ConsumerGroupDescribeRequest(["group"]), 1).groups
        return {member.member_id: member.member_epoch for member in group.members}

    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert beat(speaker, "one").member_epoch == 2
        (segment,) = tmp_path.glob("__consumer_offsets-*/*.log")
        _limit_files(process, segment.stat().st_size + 10)
        assert beat(speaker, "two").error_code == ERROR
        assert beat(speaker, "one", 2).error_code == ERROR
        assert members(speaker) == {"one": 2}
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert beat(speaker, "one", 2).member_epoch == 2
        assert members(speaker) == {"one": 2}


def _commit_in_transaction(speaker: Speaker, producer: tuple[int, int], offset: int) -> int:
    asked = TxnOffsetCommitRequestTopic("orders", partitions=[TxnOffsetCommitRequestPartition(0, offset)])
    request = TxnOffsetCommitRequest("t", "group", *producer, topics=[asked])
    code: int = speaker.ask(request, 5).topics[0].partitions[0].error_code
    return code


def _stable(speaker: Speaker) -> tuple[int, int]:
    """(offset, error code) for who waits for transactions."""
    asked = OffsetFetchRequestGroup("group", topics=[OffsetFetchRequestTopics("orders", partition_indexes=[0])])
    (answer,) = speaker.ask(OffsetFetchRequest(groups=[asked], require_stable=True), 8).groups
    (found,) = answer.topics[0].partitions
    return found.committed_offset, found.error_code


def _begin(speaker: Speaker) -> tuple[int, int]:
    for offset in range(40):
        assert speaker.commit("group", "orders", {0: offset}) == [0]
    answer = speaker.ask(InitProducerIdRequest("t", 600_000), 4)
    return answer.producer_id, answer.producer_epoch


def test_a_full_disk_under_a_transactional_commit(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        producer = _begin(speaker)
        (segment,) = tmp_path.glob("__consumer_offsets-*/*.log")
        _limit_files(process, segment.stat().st_size + 10)
        assert _commit_in_transaction(speaker, producer, 77) == ERROR
        assert _stable(speaker) == (39, 0), "nothing is pending"
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert _stable(speaker) == (39, 0)
        assert _commit_in_transaction(speaker, producer, 77) == 0
        assert _stable(speaker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)


def test_a_full_disk_between_the_end_of_a_transaction_and_its_marker(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        producer = _begin(speaker)
        assert _commit_in_transaction(speaker, producer, 77) == 0
        (segment,) = tmp_path.glob("__consumer_offsets-*/*.log")
        _limit_files(process, segment.stat().st_size + 10)
        speaker.ask(EndTxnRequest("t", *producer, True), 3)
        assert _stable(speaker) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        assert speaker.committed("group", "orders", [0]) == [39]
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        until(lambda: _stable(speaker) == (77, 0), "the marker, which is sent again")


def test_a_full_disk_under_an_administrator(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.create_topic("first") == 0
        _limit_files(process, 100)
        assert speaker.create_topic("second") == ERROR
        assert speaker.produce("first", 0, b"") == (ERROR, -1)
    with Serving(*options) as process:
        assert [topic.name for topic in process.metadata().topics] == ["orders", "first"]


def _partition(segment: Path) -> int:
    return int(segment.parent.name.rpartition("-")[2])
