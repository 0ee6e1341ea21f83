"""A log of `__consumer_offsets` as Parquet of raw records, for bench/pipeline.py.

Bytes are those of kafkawire's own encoders: each shape of a record is encoded once, and its numbers are then written
into as many copies as are wanted. Files of a million records each, in the order of time; the first million is a prefix
of the first five, so that a longer history of the same groups differs by its length alone.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kafkawire.codec import encode
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafkawire.offsets_topic import encode_value, group_key, offset_key, offset_value

GROUPS = 20_000
PARTITIONS = 10
"""Of the topic that a group consumes."""
TOPICS = 500
LOG_PARTITIONS = 50
FILE = 1_000_000
STEP_MS = 20
START_MS = 1_767_225_600_000
SKEWED_GROUPS = 10_000
SKEW = 1 / 3
"""The part of one group's records in a skewed log."""
FORMAT = 1
"""Changes with what is generated, so that a cached log of old is not taken for one of these."""

METADATA = ("", "host-17.example", "{" + "x" * 198 + "}")
EXPIRY_MS = 7 * 86_400_000
SHAPES = ((3, 0, 0.62), (3, 1, 0.20), (3, 2, 0.03), (4, 0, 0.08), (1, 1, 0.02), (0, 1, 0.01), (2, 0, 0.01))
"""Schema version, which metadata, and the part of the records; the rest are tombstones and groups."""
TOMBSTONES = 0.02
_MARKS = (0x1122334455667788, 0x2233445566778811, 0x3344556677881122)

Numbers = npt.NDArray[np.int64]


def log_of(cache: Path, records: int, bad: float = 0.0, skewed: bool = False) -> Path:
    """A directory of Parquet with so many records, made where it is not there.

    Args:
        bad: the part that is damaged.
        skewed: of `SKEWED_GROUPS` groups, of which one has `SKEW` of all records.
    """
    root = cache / f"v{FORMAT}-{records}-{'skewed' if skewed else f'{bad:g}'}"
    if (root / "_SUCCESS").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    writer = _Log(SKEW if skewed else 0.0, SKEWED_GROUPS if skewed else GROUPS)
    for number, first in enumerate(range(0, records, FILE)):
        table = writer.next(min(FILE, records - first), np.random.default_rng(number), bad)
        pq.write_table(table, root / f"part-{number:05}.parquet", row_group_size=250_000)
    (root / "_SUCCESS").touch()
    return root


class _Log:
    def __init__(self, skew: float, count: int) -> None:
        self._skew, self._count = skew, count
        groups = [f"group-{number:05}" for number in range(GROUPS)]
        self._keys = pa.array(
            [
                offset_key(group, f"topic-{n % TOPICS:03}", p)
                for n, group in enumerate(groups)
                for p in range(PARTITIONS)
            ],
            pa.binary(),
        )
        self._group_keys = pa.array([group_key(group) for group in groups], pa.binary())
        self._groups = pa.array([_group(n, full) for full in (True, False) for n in range(GROUPS)], pa.binary())
        self._next = np.zeros(LOG_PARTITIONS, np.int64)
        self._written = 0

    def next(self, count: int, random: np.random.Generator, bad: float) -> pa.Table:
        group = random.integers(0, self._count, count)
        if self._skew:
            group[random.random(count) < self._skew] = 0
        place = group * PARTITIONS + random.integers(0, PARTITIONS, count)
        times = START_MS + STEP_MS * (self._written + np.arange(count, dtype=np.int64))
        committed = self._written + np.arange(count, dtype=np.int64)
        kind = random.choice(len(SHAPES) + 2, count, p=_parts())
        about_group = kind == len(SHAPES) + 1
        keys = _chosen([self._keys, self._group_keys], about_group.astype(np.int64), [place, group])
        shaped: list[pa.Array] = []
        index = np.zeros(count, np.int64)
        for number, (version, text, _) in enumerate(SHAPES):
            rows = np.flatnonzero(kind == number)
            shaped.append(_values(version, METADATA[text], committed[rows], times[rows]))
            index[rows] = np.arange(len(rows))
        shaped.append(pa.array([None], pa.binary()))  # tombstones
        index[kind == len(SHAPES)] = 0
        shaped.append(self._groups)
        index[about_group] = group[about_group] + GROUPS * random.integers(0, 2, int(about_group.sum()))
        values = _chosen(shaped, kind, [index] * len(shaped))
        if bad:
            keys, values = _damaged(keys, values, random.random(count) < bad)
        partition = (group % LOG_PARTITIONS).astype(np.int32)
        table = pa.table(
            {
                "key": keys,
                "value": values,
                "partition": partition,
                "offset": self._offsets(partition),
                "timestamp": pa.array(times, pa.timestamp("ms", tz="UTC")),
            }
        )
        self._written += count
        return table

    def _offsets(self, partition: npt.NDArray[np.int32]) -> Numbers:
        """Each partition counts its own records."""
        found = np.zeros(len(partition), np.int64)
        for number in range(LOG_PARTITIONS):
            rows = np.flatnonzero(partition == number)
            found[rows] = self._next[number] + np.arange(len(rows))
            self._next[number] += len(rows)
        return found


def _parts() -> list[float]:
    parts = [part for _, _, part in SHAPES] + [TOMBSTONES]
    return [*parts, 1 - sum(parts)]


def _chosen(columns: list[pa.Array], which: Numbers, at: list[Numbers]) -> pa.Array:
    """Row by row the entry `at[k]` of column k = `which`."""
    starts = np.cumsum([0, *(len(column) for column in columns)])
    index = np.zeros(len(which), np.int64)
    for number, rows in enumerate(at):
        index = np.where(which == number, starts[number] + rows, index)
    return pa.concat_arrays(columns).take(pa.array(index))


def _values(version: int, metadata: str, committed: Numbers, times: Numbers) -> pa.Array:
    """Values of one shape: encoded once, its numbers replaced."""
    template = offset_value(version, _MARKS[0], 5, metadata, _MARKS[1], _MARKS[2], bytes(15) + b"\x07")
    rows = np.tile(np.frombuffer(template, np.uint8), (len(committed), 1))
    for mark, numbers in zip(_MARKS, (committed, times, times + EXPIRY_MS), strict=True):
        where = template.find(mark.to_bytes(8, "big"))
        if where >= 0:
            rows[:, where : where + 8] = numbers.astype(">i8").view(np.uint8).reshape(-1, 8)
    edges = np.arange(len(committed) + 1, dtype=np.int32) * len(template)
    buffers: list[Any] = [None, pa.py_buffer(edges), pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.BinaryArray.from_buffers(pa.binary(), len(committed), buffers)


def _group(number: int, full: bool) -> bytes:
    """A generation of two members, or none."""
    subscription = ConsumerProtocolSubscription(topics=[f"topic-{number % TOPICS:03}"], user_data=b"")
    metadata = b"\x00\x01" + bytes(encode(subscription, 1))
    members = [
        MemberMetadata(
            f"consumer-{i}-{number:036}", None, f"consumer-{i}", "/10.0.0.7", 300_000, 45_000, metadata, bytes(60)
        )
        for i in range(2)
    ]
    state = GroupMetadataValue("consumer", 7, "range", members[0].member_id, START_MS, members if full else [])
    return encode_value(state, 3)


def _damaged(keys: pa.Array, values: pa.Array, rows: npt.NDArray[np.bool_]) -> tuple[pa.Array, pa.Array]:
    """Some records cut short, of unknown versions or types, or with bytes that are no text."""
    wrong_keys = pa.array(
        [None, b"\x00", b"\x03\xe7whatever", offset_key("group-00000", "topic-000", 0)[:-3]], pa.binary()
    )
    wrong_values = pa.array(
        [b"", b"\x00\x63" + bytes(20), b"\x00\x03" + bytes(9), offset_value(3, 1, 1, "ab", 1, 1, bytes(16))[:-7]],
        pa.binary(),
    )
    at = np.flatnonzero(rows)
    in_key, in_value = at[at % 4 == 0], at[at % 4 != 0]
    return _spoilt(keys, wrong_keys, in_key), _spoilt(values, wrong_values, in_value)


def _spoilt(column: pa.Array, wrong: pa.Array, at: Numbers) -> pa.Array:
    index = np.arange(len(column))
    index[at] = len(column) + (at // 4) % len(wrong)
    return pa.concat_arrays([column, wrong]).take(pa.array(index))
