"""A snapshot of saved records of `__consumer_offsets`: the groups and offsets that they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client, groups
from kafkawire.records import iterate_records, parse_header
from kafkawire.records.batch import HEADER_SIZE
from tests.cli.kafkas_tools import run
from tests.cluster_snapshots.answers import committed, differences
from tests.offsets_topic import history
from tests.offsets_topic.history import Player

COLUMNS = ("key", "value", "partition", "offset", "timestamp")


def save(rows: list[tuple[Any, ...]], folder: Path) -> None:
    """As Spark's Kafka source has them, in more than one file and in no order."""
    folder.mkdir()
    schema = pa.schema(
        {
            "key": pa.binary(),
            "value": pa.binary(),
            "partition": pa.int32(),
            "offset": pa.int64(),
            "timestamp": pa.timestamp("us", tz="UTC"),
        }
    )
    for number in range(2):
        some = rows[number::2][::-1]
        columns = {name: [row[at] for row in some] for at, name in enumerate(COLUMNS)}
        parquet.write_table(pa.table(columns, schema=schema), folder / f"part-{number}.parquet")


def rows_of(on: Player) -> list[tuple[Any, ...]]:
    return [
        (record.key, record.value, partition, record.offset, record.timestamp * 1000)
        for partition in range(history.PARTITIONS)
        for batch in on.batches(partition)
        for record in iterate_records(memoryview(batch)[HEADER_SIZE:], parse_header(batch))
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[KafkaStub, list[tuple[Any, ...]]]]:
    with KafkaStub(config=history.CONFIG) as stub:
        on = history.play(stub.bootstrap_servers)
        rows = rows_of(on)
        on.close()
        yield stub, rows


def test_groups_and_offsets_are_those_of_the_cluster(
    cluster: tuple[KafkaStub, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    there, rows = cluster
    save(rows, tmp_path / "raw")
    saved = Snapshot.from_raw(tmp_path / "raw")
    assert saved.topics == {"orders": 3, "wide": 40}
    with (
        KafkaStub(snapshot=saved) as stub,
        Client(stub.bootstrap_servers) as here,
        Client(there.bootstrap_servers) as original,
    ):
        found = sorted(groups.list_groups(here), key=lambda one: one.group_id)
        assert found == sorted(groups.list_groups(original), key=lambda one: one.group_id)
        for group in ("simple", "workers", "h", "ключ: a,b"):
            assert differences(committed(original, group), committed(here, group)) == []
        assert stub.lag("h") == {("orders", 0): 9, ("orders", 2): 2**62 - 3}
        stub.clock.advance(days=8)
        assert {place for place, _ in groups.offsets(here, "h").items()} == set()


def test_the_command(cluster: tuple[KafkaStub, list[tuple[Any, ...]]], tmp_path: Path) -> None:
    save(cluster[1], tmp_path / "raw")
    file = tmp_path / "incident.kafkastub"
    done = run("snapshot", "take", str(file), "--from-raw", str(tmp_path / "raw"))
    assert (done.status, done.out.partition(",")[0]) == (0, f"Written to {file}: 2 topics with 43 partitions")
    assert "saved records have groups and offsets" in done.err
    with KafkaStub(snapshot=file) as stub, Client(stub.bootstrap_servers) as client:
        assert groups.offsets(client, "simple")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"key": [b"x"]}, "the column value is not there"),
        ({"key": [1], "value": [b""], "partition": ["a"], "offset": [0], "timestamp": [0]}, "no saved records"),
    ],
)
def test_other_files_are_refused(columns: dict[str, list[Any]], why: str, tmp_path: Path) -> None:
    parquet.write_table(pa.table(columns), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=why):
        Snapshot.from_raw(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = run("snapshot", "take", str(tmp_path / "file"), "--from-raw", str(tmp_path / "nowhere"))
    assert done.status == 2
    assert "there is no such folder" in done.err
