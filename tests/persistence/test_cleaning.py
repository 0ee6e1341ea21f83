"""The directory does not grow for ever: files of compacted logs are rewritten while the broker runs."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub import KafkaStub
from kafkastub.state.internal_topics import durable_topic
from kafkastub.storage.disk.cleaning import last_committed_of_each_key, with_changes
from kafkawire.records import NewRecord, build_batch, read_batch, split_batches
from tests.persistence.speaker import Speaker

RECORD_BYTES = 100
"""At least, with its batch."""
KEYS = st.sampled_from([b"", b"a", b"b" * 63, b"c" * 64, b"d" * 300])
CONFIG: dict[str, object] = {"offsets.topic.num.partitions": 1, "kafkastub.offsets.history.records": 100}


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 10_000)
    return 10_000


def _size(directory: Path) -> int:
    total = 0
    for path in directory.glob("__consumer_offsets-0/*.log"):
        with suppress(FileNotFoundError):  # the cleaner has been there between the listing and the look
            total += path.stat().st_size
    return total


def test_commits_to_one_partition_do_not_fill_the_disk(tmp_path: Path, small_segments: int):
    committed, written = 0, 0
    deadline = time.monotonic() + 120
    stub = KafkaStub(topics={"orders": 1}, config=CONFIG, data_dir=tmp_path)
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        # The files are cleaned in a thread of their own: how soon is its business.
        while written < 20 * small_segments or _size(tmp_path) > 6 * small_segments:
            assert time.monotonic() < deadline
            for _ in range(50):
                committed += 1
                speaker.commit("group", "orders", {0: committed})
            written = committed * RECORD_BYTES
    stub = KafkaStub(config=CONFIG, data_dir=tmp_path)
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.committed("group", "orders", [0]) == [committed]
        records = speaker.records("__consumer_offsets", 0)
        assert records[-1].offset == committed - 1
        assert len(records) >= 100


def test_cleaned_files_have_the_same_offsets(tmp_path: Path, small_segments: int):
    random = Random(1)
    expected: dict[tuple[str, int], int] = {}
    for _ in range(3):
        stub = KafkaStub(topics={"orders": 50}, config=CONFIG, data_dir=tmp_path)
        with stub, Speaker(stub.bootstrap_servers) as speaker:
            for (group, partition), offset in expected.items():
                assert speaker.committed(group, "orders", [partition]) == [offset]
            for _ in range(1000):
                group, partition = f"group-{random.randrange(5)}", random.randrange(50)
                expected[group, partition] = random.randrange(1 << 40)
                speaker.commit(group, "orders", {partition: expected[group, partition]})
    assert len(list(tmp_path.glob("__consumer_offsets-0/*.log"))) < 20


def _segments(directory: Path, *segments: list[bytes]) -> list[Path]:
    paths = [directory / f"{number:020d}.log" for number in range(len(segments))]
    for path, batches in zip(paths, segments, strict=True):
        path.write_bytes(b"".join(batches))
    return paths


def _keys(path: Path) -> list[tuple[int, bytes | None]]:
    return [(r.offset, r.key) for _, batch in split_batches(path.read_bytes()) for r in read_batch(batch)]


def _batch(base_offset: int, *keys: bytes, value: bytes | None = b"v") -> bytes:
    return build_batch([NewRecord(key, value, 1) for key in keys], base_offset=base_offset)


def test_the_last_record_of_each_key_is_left_and_no_tombstone(tmp_path: Path):
    paths = _segments(
        tmp_path,
        [_batch(0, b"a", b"b", b"c"), _batch(3, b"a")],
        [_batch(4, b"b", value=None), _batch(5, b"d"), _batch(6, b"e", value=None)],
    )
    size = last_committed_of_each_key(())(paths)
    assert _keys(paths[0]) == [(2, b"c"), (3, b"a"), (5, b"d")]
    assert paths[0].stat().st_size == size
    assert [path.name for path in tmp_path.iterdir()] == [paths[0].name]


def test_what_a_cleaning_has_left_of_a_batch_is_not_lost_by_the_next(tmp_path: Path):
    paths = _segments(tmp_path, [_batch(0, b"a", b"b", b"c")], [_batch(3, b"a", b"c")])
    last_committed_of_each_key(())(paths)
    assert _keys(paths[0]) == [(1, b"b"), (3, b"a"), (4, b"c")]
    last_committed_of_each_key(())(paths[:1])
    assert _keys(paths[0]) == [(1, b"b"), (3, b"a"), (4, b"c")]


def test_other_batches_take_the_place_of_those_with_their_offsets(tmp_path: Path):
    paths = _segments(tmp_path, [_batch(0, b"a"), _batch(1, b"b"), _batch(2, b"c")])
    with_changes({0: None, 1: _batch(1, b"B")})(paths)
    assert _keys(paths[0]) == [(1, b"B"), (2, b"c")]


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(KEYS, st.booleans()), min_size=1, max_size=3), min_size=1, max_size=20))
def test_what_is_left_is_what_a_reader_of_everything_would_know(batches: list[list[tuple[bytes, bool]]]):
    expected: dict[bytes | None, int] = {}
    encoded, offset = [], 7
    for batch in batches:
        records = [NewRecord(key, b"v" if live else None, 1 << 40) for key, live in batch]
        encoded.append(build_batch(records, base_offset=offset))
        for key, live in batch:
            expected.pop(key, None)
            if live:
                expected[key] = offset
            offset += 1
    with TemporaryDirectory() as directory:
        paths = _segments(Path(directory), encoded[: len(encoded) // 2], encoded[len(encoded) // 2 :])
        last_committed_of_each_key(())(paths)
        assert sorted((at, key) for at, key in _keys(paths[0])) == sorted((at, key) for key, at in expected.items())
