"""A disk that takes no more: KAFKA_STORAGE_ERROR for who writes, answers for who reads; none of it is there later."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving

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
