"""FrameSplitter: the same frames whatever pieces the stream comes in."""

from __future__ import annotations

import itertools
import random
import struct
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.errors import MalformedMessage
from kafkawire.framing import FrameSplitter, frame

LIMIT = 1000

contents = st.lists(st.binary(max_size=40), max_size=12)


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


def feed(splitter: FrameSplitter, parts: Iterable[bytes]) -> list[bytes]:
    return [buffer[start:end] for part in parts for buffer, start, end in splitter.feed(part)]


@given(frames=contents, cuts=st.lists(st.integers(0, 10_000), max_size=20))
def test_any_cuts_give_the_frames(frames: list[bytes], cuts: list[int]):
    data = b"".join(map(frame, frames))
    splitter = FrameSplitter(LIMIT)
    assert feed(splitter, pieces(data, cuts)) == frames
    assert splitter.pending == 0


@given(frames=contents)
def test_byte_by_byte(frames: list[bytes]):
    data = b"".join(map(frame, frames))
    splitter = FrameSplitter(LIMIT)
    assert feed(splitter, (data[i : i + 1] for i in range(len(data)))) == frames


@given(frames=contents, missing=st.integers(1, 20), cuts=st.lists(st.integers(0, 10_000), max_size=20))
def test_what_is_incomplete_is_held_back_and_counted(frames: list[bytes], missing: int, cuts: list[int]):
    last = frame(b"x" * 30)
    data = b"".join(map(frame, frames)) + last[:-missing]
    splitter = FrameSplitter(LIMIT)
    assert feed(splitter, pieces(data, cuts)) == frames
    assert splitter.pending == len(last) - missing
    assert feed(splitter, [last[-missing:]]) == [b"x" * 30]
    assert splitter.pending == 0


@pytest.mark.parametrize("size", [-1, -(2**31), LIMIT + 1, 2**31 - 1])
@given(frames=contents, cuts=st.lists(st.integers(0, 10_000), max_size=20))
def test_a_size_that_is_none_ends_the_stream_behind_the_good_frames(size: int, frames: list[bytes], cuts: list[int]):
    data = b"".join(map(frame, frames)) + struct.pack(">i", size) + b"whatever follows"
    splitter, found = FrameSplitter(LIMIT), []

    def run() -> None:
        for part in pieces(data, cuts):
            found.extend(buffer[start:end] for buffer, start, end in splitter.feed(part))

    with pytest.raises(MalformedMessage, match=f"^frame: size at byte 0: {size} is not within 0 to {LIMIT}$"):
        run()
    assert found == frames


def test_the_limit_itself_and_nothing_are_sizes():
    splitter = FrameSplitter(LIMIT)
    assert feed(splitter, [frame(b""), frame(b"x" * LIMIT)]) == [b"", b"x" * LIMIT]


def test_whole_frames_are_not_copied():
    data = frame(b"abc") + frame(b"de")
    assert [buffer is data for buffer, _, _ in FrameSplitter(LIMIT).feed(data)] == [True, True]


def test_a_frame_in_tiny_pieces_costs_little_more_than_its_bytes():
    size = 200_000
    splitter = FrameSplitter(size)
    data = frame(random.Random(1).randbytes(size))[:-1]
    tracemalloc.start()
    try:
        for i in range(0, len(data), 2):
            assert not list(splitter.feed(data[i : i + 2]))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert splitter.pending == len(data)
    assert held < 2 * size
