"""What earlier versions have written is read by this one (docs/compatibility.md)."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from kafkastub import KafkaStub, Snapshot, replay
from tests.upgrades.state import DATA, HERE, JOURNAL, SNAPSHOT, look, write

VERSIONS = sorted(path.name.removesuffix(".tar.xz") for path in HERE.glob("*.tar.xz"))


@pytest.fixture(params=[*VERSIONS, "this one"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder that a version has written."""
    if request.param == "this one":
        write(tmp_path)
    else:
        with tarfile.open(HERE / f"{request.param}.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
    return tmp_path


def test_a_data_directory_is_read(written: Path) -> None:
    with KafkaStub(data_dir=written / DATA) as stub:
        look(stub)


def test_a_snapshot_is_read(written: Path) -> None:
    with KafkaStub() as stub:
        stub.restore(Snapshot.load(written / SNAPSHOT))
        look(stub)


def test_a_journal_is_replayed(written: Path) -> None:
    with KafkaStub(topics={"orders": 2, "bills": 1}) as stub:
        replayed = replay(written / JOURNAL, stub)
        assert replayed.differences == []
        assert stub.journal.requests(api="OffsetCommit")


def test_there_is_a_version_to_upgrade_from() -> None:
    assert VERSIONS
