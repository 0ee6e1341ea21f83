"""What is found at the start and is not as it was left: cut, put aside, or refused in one sentence."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from kafkastub import DataDirError, KafkaStub
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving, refused

SEGMENT = "orders-0/00000000000000000000.log"


def _stub(directory: Path, **options: object) -> KafkaStub:
    return KafkaStub(config={**CONFIG, **options}, data_dir=directory)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A directory with five records in `orders` and a committed offset of 4."""
    directory = tmp_path / "data"
    with _stub(directory) as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders")
        for number in range(5):
            speaker.produce("orders", 0, b"%d" % number)
        for offset in range(5):
            speaker.commit("group", "orders", {0: offset})
    return directory


def _offsets_segment(directory: Path) -> Path:
    (segment,) = directory.glob("__consumer_offsets-*/*.log")
    return segment


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("lost", [1, 11, 61, 62, 68])
def test_a_torn_tail_is_cut_and_logged(written: Path, lost: int, caplog: pytest.LogCaptureFixture):
    segment = written / SEGMENT
    whole = segment.read_bytes()
    assert len(whole) % 5 == 0
    segment.write_bytes(whole[:-lost])
    with caplog.at_level(logging.WARNING), _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.values("orders", 0) == [b"0", b"1", b"2", b"3"]
        assert speaker.produce("orders", 0, b"again") == (0, 4)
    assert f"{segment} is cut at byte {len(whole) * 4 // 5}" in caplog.text
    with _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.values("orders", 0) == [b"0", b"1", b"2", b"3", b"again"]


def test_a_torn_commit_is_cut(written: Path, caplog: pytest.LogCaptureFixture):
    segment = _offsets_segment(written)
    segment.write_bytes(segment.read_bytes()[:-7])
    with caplog.at_level(logging.WARNING), _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.committed("group", "orders", [0]) == [3]
        assert speaker.commit("group", "orders", {0: 9}) == [0]
    assert "is cut at byte" in caplog.text
    with _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.committed("group", "orders", [0]) == [9]


@pytest.mark.parametrize("position", [3, 8, 11, 16, 17, 40, 67])
def test_from_a_flipped_bit_on_the_last_segment_is_cut(written: Path, position: int, caplog: pytest.LogCaptureFixture):
    segment = written / SEGMENT
    batch = segment.stat().st_size // 5
    _flip(segment, 2 * batch + position)
    with caplog.at_level(logging.WARNING), _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        found = speaker.values("orders", 0)
    assert found == [b"0", b"1"]
    assert f"is cut at byte {2 * batch}" in caplog.text
    assert "from offset 2 on" in caplog.text


def test_a_flipped_bit_in_an_older_segment_is_refused(tmp_path: Path):
    directory = tmp_path / "data"
    with _stub(directory) as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders", 1, {"segment.bytes": "1048576"})
        for _ in range(4):
            speaker.produce("orders", 0, b"x" * 600_000)
    _flip(directory / SEGMENT, 1000)
    with pytest.raises(DataDirError, match=r"000\.log is damaged at byte 0 \(a batch that does not match its CRC\)"):
        _stub(directory).start()


def test_cleanings_that_were_interrupted_are_finished(written: Path, caplog: pytest.LogCaptureFixture):
    segment = written / SEGMENT
    data = segment.read_bytes()
    batch = len(data) // 5
    (written / "orders-0" / "00000000000000000000.cleaned").write_bytes(b"half of it")
    (written / "orders-0" / "00000000000000000003.log").write_bytes(data[3 * batch :])
    with _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.values("orders", 0) == [b"0", b"1", b"2", b"3", b"4"]
    assert sorted(path.name for path in (written / "orders-0").glob("*[!d]")) == ["00000000000000000000.log"]


def test_partitions_that_no_topic_has_are_put_aside(written: Path, caplog: pytest.LogCaptureFixture):
    (written / "strange-0").mkdir()
    (written / "strange-0" / "00000000000000000000.log").write_bytes(b"something")
    with caplog.at_level(logging.WARNING), _stub(written) as stub:
        stub.create_topic("strange")
        with Speaker(stub.bootstrap_servers) as speaker:
            assert speaker.values("strange", 0) == []
    assert "partition put aside: no topic has it" in caplog.text
    assert "partition=strange-0" in caplog.text
    assert (written / ".stray" / "strange-0" / "00000000000000000000.log").read_bytes() == b"something"


def test_a_deletion_that_was_not_acknowledged_is_taken_back(written: Path):
    state = json.loads((written / "kafkastub.json").read_text())
    topic_id = next(topic["id"] for topic in state["topics"] if topic["name"] == "orders")
    from kafkastub.metadata.ids import uuid_bytes

    deleted = written / ".deleted" / f"{uuid_bytes(topic_id).hex()}-0"
    deleted.parent.mkdir(exist_ok=True)
    (written / "orders-0").rename(deleted)
    with _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert len(speaker.values("orders", 0)) == 5


def test_a_newer_format_is_refused(written: Path):
    properties = written / "meta.properties"
    properties.write_text(properties.read_text().replace("kafkastub.format=1", "kafkastub.format=2"))
    with pytest.raises(DataDirError, match=r"has format 2, which is newer than this version of kafkastub knows"):
        _stub(written).start()
    assert refused("--port", "0", "--data-dir", str(written)) == (
        2,
        f"kafkastub: the data directory {written} has format 2, which is newer than this version of kafkastub knows "
        "(up to 1)\n",
    )


def test_a_directory_of_something_else_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(DataDirError, match=r"is refused as a data directory: .* holds 'thesis\.tex'"):
        _stub(tmp_path).start()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != ".lock") == ["thesis.tex"]


def test_a_directory_of_kafkas_own_is_refused(tmp_path: Path):
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=abc\nnode.id=1\n")
    with pytest.raises(DataDirError, match=r"is another program's: meta\.properties has no kafkastub\.format"):
        _stub(tmp_path).start()


def test_another_nodes_directory_is_refused(written: Path):
    with pytest.raises(DataDirError, match=r"belongs to node\.id=1, not 7"):
        _stub(written, **{"node.id": 7}).start()


def test_a_damaged_state_is_refused(written: Path):
    (written / "kafkastub.json").write_text('{"topics": [')
    with pytest.raises(DataDirError, match=r"is damaged: kafkastub\.json: "):
        _stub(written).start()


def test_a_file_is_no_directory(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirError, match=r"file cannot be used: File exists"):
        _stub(tmp_path / "file").start()


def test_a_refused_directory_can_be_used_again(written: Path):
    state = (written / "kafkastub.json").read_text()
    (written / "kafkastub.json").write_text("{")
    with pytest.raises(DataDirError):
        _stub(written).start()
    (written / "kafkastub.json").write_text(state)
    with _stub(written) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert len(speaker.values("orders", 0)) == 5


def test_a_directory_has_one_user_at_a_time(tmp_path: Path):
    sentence = f"the data directory {tmp_path} is in use by another process"
    with Serving("--data-dir", str(tmp_path)) as process:
        assert refused("--port", "0", "--data-dir", str(tmp_path)) == (2, f"kafkastub: {sentence}\n")
        with pytest.raises(DataDirError, match=sentence):
            _stub(tmp_path).start()
        process.process.kill()
        process.process.wait()
        with _stub(tmp_path), pytest.raises(DataDirError, match=sentence):
            _stub(tmp_path).start()


@pytest.mark.parametrize("value", ["always", "0ms", "-1ms", "5", "1s", ""])
def test_when_to_flush_is_checked(value: str):
    from kafkastub import ConfigError

    with pytest.raises(ConfigError, match=r"kafkastub\.flush=.* is refused: allowed is message, never or <N>ms"):
        KafkaStub(config={"kafkastub.flush": value})
