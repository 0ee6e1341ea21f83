"""Which producer id a transactional id has: written at the same cost however many there are, and lost by nobody."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from kafkastub import DataDirError, KafkaStub
from kafkastub.storage.disk import DataDirectory
from kafkastub.storage.disk.partition_files import OpenFiles
from kafkastub.storage.disk.transactional_ids import TransactionalIds
from kafkastub.storage.producer_ids import Kept
from kafkawire.records import NewRecord, build_batch
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.persistence.test_flush import Rig
from tests.process.serving import Serving

SEGMENT = ".transactional-ids/00000000000000000000.log"


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


def test_those_that_an_older_version_wrote_down_stay(tmp_path: Path):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("new")
    (tmp_path / SEGMENT).unlink()
    path = tmp_path / "kafkastub.json"
    state = json.loads(path.read_text())
    state["producer_ids"] = {
        "next": 2000,
        "transactional": {f"old-{number}": [number, 3, -1] for number in range(1500)},
    }
    path.write_text(json.dumps(state))
    for epoch in (4, 5):
        with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
            assert speaker.producer_id("old-0") == (0, epoch)
            assert speaker.producer_id("old-1499") == (1499, epoch)
        assert "transactional" not in json.loads(path.read_text())["producer_ids"]


def test_an_id_of_one_that_was_never_answered_is_nobody_elses(tmp_path: Path):
    """Killed when the id was in the log of transactional ids, and the block it is of not yet in kafkastub.json."""
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("first")
    value = Kept(5000, 0, -1)
    record = NewRecord(b"second", value.producer_id.to_bytes(8, "big") + b"\0\0\xff\xff", 0)
    with (tmp_path / SEGMENT).open("ab") as file:
        file.write(build_batch([record], base_offset=1))
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id()[0] == 5001
        assert speaker.producer_id("second") == (5000, 1)


def test_killed_before_anything_else_was_written(tmp_path: Path):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        told = speaker.producer_id("first")
    (tmp_path / "kafkastub.json").unlink()
    for epoch in (1, 2):
        with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
            assert speaker.producer_id("first") == (told[0], epoch)


def test_a_torn_tail_is_cut(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        producer_id, _ = speaker.producer_id("first")
        speaker.producer_id("first")
    segment = tmp_path / SEGMENT
    segment.write_bytes(segment.read_bytes()[:-3])
    with caplog.at_level(logging.WARNING), _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.producer_id("first") == (producer_id, 1)
    assert "is cut at byte" in caplog.text


@pytest.mark.parametrize(("key", "value"), [(b"a", b"short"), (b"a", None), (b"\xff", bytes(12))])
def test_what_is_no_transactional_id_is_refused(tmp_path: Path, key: bytes, value: bytes | None):
    with _stub(tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.producer_id("first")
    (tmp_path / SEGMENT).write_bytes(build_batch([NewRecord(key, value, 0)]))
    with pytest.raises(DataDirError, match=r"000\.log is damaged: no transactional ids"):
        _stub(tmp_path).start()


def test_the_log_is_cleaned(tmp_path: Path):
    """So that it does not grow with what becomes of a few ids."""
    rig = Rig(tmp_path, "never")
    ids = TransactionalIds(rig.disk, OpenFiles(), segment_bytes=2000)
    wanted = {}
    for epoch in range(200):
        for name in ("a", "b", "c"):
            wanted[name] = Kept(7, epoch, -1)
            ids.append({name: wanted[name]})
            while rig.runner.jobs:
                rig.runner.sync()
    size = sum(path.stat().st_size for path in (tmp_path / ".transactional-ids").iterdir())
    assert size < 10_000 < 600 * 70
    assert TransactionalIds(rig.disk, OpenFiles()).read() == wanted
