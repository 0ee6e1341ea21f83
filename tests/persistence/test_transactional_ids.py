"""Which producer id a transactional id has: written at the same cost however many there are, and lost by nobody."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from kafkastub import DataDirError, KafkaStub
from kafkastub.coordinator import partition_for
from kafkastub.storage.disk import DataDirectory
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving

OLD_LOG = ".transactional-ids"


def _old_record(name: str, producer_id: int, epoch: int, last_epoch: int = -1) -> NewRecord:
    numbers = ((producer_id, 8), (epoch, 2), (last_epoch, 2))
    return NewRecord(name.encode(), b"".join(number.to_bytes(size, "big", signed=True) for number, size in numbers), 0)


def _made_old(directory: Path, *segments: bytes, state: dict[str, object] | None = None) -> None:
    """As a version without transactions left it: a log of its own, or a part of kafkastub.json."""
    for topic in directory.glob("__transaction_state-*"):
        shutil.rmtree(topic)
    path = directory / "kafkastub.json"
    whole = json.loads(path.read_text())
    whole["topics"] = [topic for topic in whole["topics"] if topic["name"] != "__transaction_state"]
    whole["producer_ids"] = state or whole["producer_ids"]
    path.write_text(json.dumps(whole))
    if segments:
        (directory / OLD_LOG).mkdir()
    at = 0
    for number, segment in enumerate(segments):
        (directory / OLD_LOG / f"{at:020d}.log").write_bytes(segment)
        at += number + 1


def _stub(directory: Path) -> KafkaStub:
    return KafkaStub(config=CONFIG, data_dir=directory)


def test_the_state_is_not_written_anew_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    times, replace_state = [], DataDirectory.replace_state

    def count(directory: DataDirectory, content: bytes, *, sync: bool) -> None:
        times.append(len(content))
        replace_state(directory, content, sync=sync)

    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("first")
        monkeypatch.setattr(DataDirectory, "replace_state", count)
        for number in range(200):
            assert speaker.producer_id(f"payments-{number}")[1] == 0
            assert speaker.producer_id(f"payments-{number}")[1] == 1
    assert times == []


def test_a_killed_broker_has_all_that_it_handed_out(tmp_path: Path):
    told = {}
    for run in range(3):
        with Serving("--data-dir", str(tmp_path)) as process, Speaker(process.servers) as speaker:
            for number in range(40 * run, 40 * run + 40):
                told[f"id-{number}"] = speaker.producer_id(f"id-{number}")
            for name, (producer_id, epoch) in told.items():
                assert speaker.producer_id(name) == (producer_id, epoch + 1)
                told[name] = (producer_id, epoch + 1)
            assert speaker.producer_id()[0] not in {producer_id for producer_id, _ in told.values()}
            process.process.kill()
            process.process.wait()
    assert len({producer_id for producer_id, _ in told.values()}) == len(told)


@pytest.mark.parametrize("kept_in", ["kafkastub.json", "a log"])
def test_those_that_an_older_version_wrote_down_stay(tmp_path: Path, kept_in: str):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("new")
    if kept_in == "a log":
        records = [_old_record(f"old-{number}", number, 3) for number in range(1500)]
        _made_old(tmp_path, build_batch([_old_record("old-0", 0, 1), *records]))
    else:
        kept = {f"old-{number}": [number, 3, -1] for number in range(1500)}
        _made_old(tmp_path, state={"next": 2000, "transactional": kept})
    for epoch in (4, 5):
        with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
            assert speaker.producer_id("old-0") == (0, epoch)
            assert speaker.producer_id("old-1499") == (1499, epoch)
            assert speaker.producer_id()[0] >= 1500
        assert "transactional" not in json.loads((tmp_path / "kafkastub.json").read_text())["producer_ids"]
        assert not (tmp_path / OLD_LOG).exists()


def test_an_id_of_one_that_was_never_answered_is_nobody_elses(tmp_path: Path):
    """Killed when the id was in `__transaction_state`, and the block it is of not yet in kafkastub.json."""
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        told = [speaker.producer_id(f"id-{number}")[0] for number in range(5)]
    path = tmp_path / "kafkastub.json"
    state = json.loads(path.read_text())
    state["producer_ids"] = {"next": 0}
    path.write_text(json.dumps(state))
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id()[0] == max(told) + 1


def test_killed_while_what_an_older_version_kept_was_taken_over(tmp_path: Path):
    """Some are in the topic, and the old log is still there: what the topic says counts."""
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        told = [speaker.producer_id("first") for _ in range(3)][-1]
    (tmp_path / OLD_LOG).mkdir()
    records = [_old_record("first", told[0], 0), _old_record("second", 500, 7)]
    (tmp_path / OLD_LOG / f"{0:020d}.log").write_bytes(build_batch(records))
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id("first") == (told[0], told[1] + 1)
        assert speaker.producer_id("second") == (500, 8)


def test_a_torn_tail_is_cut(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        producer_id, _ = speaker.producer_id("first")
        speaker.producer_id("first")
    segment = tmp_path / f"__transaction_state-{partition_for('first', 50)}" / f"{0:020d}.log"
    segment.write_bytes(segment.read_bytes()[:-3])
    with caplog.at_level(logging.WARNING), _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id("first") == (producer_id, 1)
    assert "is cut at byte" in caplog.text


@pytest.mark.parametrize(("key", "value"), [(b"a", b"short"), (b"a", None), (b"\xff", bytes(12))])
def test_what_is_no_transactional_id_is_refused(tmp_path: Path, key: bytes, value: bytes | None):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("first")
    _made_old(tmp_path, build_batch([NewRecord(key, value, 0)]))
    with pytest.raises(DataDirError, match=r"000\.log is damaged: no transactional ids"):
        _stub(tmp_path).start()
