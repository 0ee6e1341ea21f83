"""Arrays that are read or written by columns are, to everybody else, arrays like others."""

from __future__ import annotations

import struct
from array import array
from typing import Any

import pytest

from kafkawire import codec
from kafkawire.codec.varint import uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkawire.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafkawire.rows import Rows, Run

SIZES = [1, 2, 7, 8, 9, 63, 64, 65, 300]
EDGES = [0, 1, -1, 2**63 - 1, -(2**63), 258, -(2**40)]


def commit(size: int, version: int, metadata: str | None = "", described: int = -1) -> OffsetCommitRequest:
    """A commit with edge values; one partition may have metadata of its own."""
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=3 * i - 2,
            committed_offset=EDGES[i % len(EDGES)],
            committed_leader_epoch=i - 5 if version >= 6 else -1,
            committed_metadata=metadata if i == described else "",
        )
        for i in range(size)
    ]
    topic = OffsetCommitRequestTopic("t" if version < 10 else "", partitions=partitions)
    return OffsetCommitRequest("g", 1, "m", topics=[topic, topic])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", range(2, 11))
def test_a_commit_is_read_as_it_was_written(size: int, version: int):
    request = commit(size, version)
    data = codec.encode(request, version)
    read = codec.decode(OffsetCommitRequest, version, data)
    assert read == request
    assert read == codec.read_reference(OffsetCommitRequest, version, data)[0]
    assert repr(read.topics[0].partitions[size - 1]) == repr(request.topics[0].partitions[size - 1])
    assert list(read.topics[1].partitions) == list(request.topics[1].partitions)
    assert codec.encode(read, version) == data


@pytest.mark.parametrize("first", [0, 5, 300, 2**31 - 257])
@pytest.mark.parametrize("size", [1, 2, 63, 64, 255, 256, 257])
@pytest.mark.parametrize("version", [2, 5, 6, 7, 8, 9, 10])
def test_neighbours_without_metadata_are_a_run(version: int, size: int, first: int):
    request = commit(size, version)
    for i, partition in enumerate(request.topics[0].partitions):
        partition.partition_index = first + i
    data = codec.encode(request, version)
    read = codec.decode(OffsetCommitRequest, version, data)
    run = read.topics[0].partitions
    assert isinstance(run, Run) == (size <= 256)
    assert read == request
    assert codec.encode(read, version) == data
    assert run[size - 1] == request.topics[0].partitions[size - 1]
    if isinstance(run, Run):
        assert (run.first, run.size, list(run.column("partition_index"))) == (
            first,
            size,
            list(run.columns["partition_index"]),
        )


@pytest.mark.parametrize(
    "indexes",
    [[-1, 0, 1], [-2], [2**31 - 1, -(2**31)], [3, 4, 6], [4, 3], [7, 7], [*range(9), 8], [0, 256, 512]],
)
@pytest.mark.parametrize("version", [5, 8])
def test_others_are_no_run(version: int, indexes: list[int]):
    request = commit(len(indexes), version)
    for index, partition in zip(indexes, request.topics[0].partitions, strict=True):
        partition.partition_index = index
    read = codec.decode(OffsetCommitRequest, version, codec.encode(request, version))
    assert not isinstance(read.topics[0].partitions, Run)
    assert read == request


@pytest.mark.parametrize("metadata", [None, "x", "x" * 127, "é" * 300])
@pytest.mark.parametrize("described", [0, 5, 99])
@pytest.mark.parametrize("version", [2, 6, 8, 10])
def test_one_partition_with_metadata_is_enough_to_read_them_all_one_by_one(
    version: int, described: int, metadata: str | None
):
    request = commit(100, version, metadata, described)
    data = codec.encode(request, version)
    assert codec.decode(OffsetCommitRequest, version, data) == request
    assert codec.encode(codec.decode(OffsetCommitRequest, version, data), version) == data


@pytest.mark.parametrize("count", [9, 2**16, 2**28, 2**31 - 2])
@pytest.mark.parametrize("version", [7, 8])
def test_a_count_beyond_the_bytes_is_refused(version: int, count: int):
    data = codec.encode(commit(8, version), version)
    at = data.index(b"t") + 1
    if version == 7:
        hostile = data[:at] + struct.pack(">i", count) + data[at + 4 : at + 100]
    else:
        hostile = data[:at] + uvarint(count + 1) + data[at + 1 : at + 100]
    with pytest.raises(MalformedMessage):
        codec.decode(OffsetCommitRequest, version, hostile)


@pytest.mark.parametrize("size", [8, 64, 100])
def test_every_cut_off_commit_is_refused(size: int):
    data = codec.encode(commit(size, 8), 8)
    for end in range(len(data)):
        with pytest.raises(MalformedMessage):
            codec.decode(OffsetCommitRequest, 8, data[:end])


def commit_answer(rows: Any) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", partitions=rows)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", range(2, 10))
def test_an_answer_in_columns_has_the_bytes_of_one_in_structs(size: int, version: int):
    for indexes in (range(size), array("i", range(5, size + 5)), tuple(range(size))):
        rows = Rows(OffsetCommitResponsePartition, size, {"partition_index": indexes}, {"error_code": 25})
        assert codec.encode(commit_answer(rows), version) == codec.encode(commit_answer(list(rows)), version)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("version", range(1, 8))
def test_offsets_in_columns_have_the_bytes_of_offsets_in_structs(size: int, version: int):
    columns: dict[str, Any] = {
        "partition_index": range(size),
        "committed_offset": array("q", [EDGES[i % len(EDGES)] for i in range(size)]),
        "committed_leader_epoch": array("i", range(-1, size - 1)),
    }
    for metadata in ("", None, "constant", ["", *("x" * i for i in range(size - 1))]):
        constants: dict[str, Any] = {"error_code": 0}
        if isinstance(metadata, list):
            columns["metadata"] = metadata
        else:
            constants["metadata"] = metadata
        rows = Rows(OffsetFetchResponsePartition, size, columns, constants)
        by_columns = OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", rows)])
        by_structs = OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", list(rows))])
        assert codec.encode(by_columns, version) == codec.encode(by_structs, version)


@pytest.mark.parametrize("size", [3, 100])
def test_a_value_that_does_not_fit_is_an_error(size: int):
    for indexes in ([2**31] * size, ["x"] * size):
        rows = Rows(OffsetCommitResponsePartition, size, {"partition_index": indexes}, {})
        with pytest.raises(ValueError, match="cannot be encoded"):
            codec.encode(commit_answer(rows), 8)


def test_rows_are_a_sequence_of_structs():
    rows = Rows(OffsetCommitResponsePartition, 3, {"partition_index": (4, 5, 6)}, {"error_code": 25})
    structs = [OffsetCommitResponsePartition(i, 25) for i in (4, 5, 6)]
    assert (len(rows), rows[1], rows[-1], list(rows[1:])) == (3, structs[1], structs[2], structs[1:])
    assert rows == structs
    assert rows == tuple(structs)
    assert rows != structs[:2]
    assert commit_answer(rows) == commit_answer(structs)
    assert (list(rows.column("partition_index")), list(rows.column("error_code"))) == ([4, 5, 6], [25, 25, 25])
    assert repr(rows) == repr(tuple(structs))
    with pytest.raises(IndexError):
        rows[3]
