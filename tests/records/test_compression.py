"""What is unpacked, as far as which damage, and how much of it; the streams' fates are those of Apache Kafka 4.4.0."""

from __future__ import annotations

import gzip
import tracemalloc

import cramjam
import pytest

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import compress, compression, decompress
from kafkawire.records.compression import Compression

PLAIN = b"".join(b"record %d, " % number for number in range(5000))
CODECS = [codec for codec in Compression if codec]


def refused(codec: int, data: bytes) -> str:
    with pytest.raises(KafkaError) as caught:
        decompress(codec, data)
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE
    return caught.value.message or ""


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("plain", [b"", b"x", PLAIN, bytes(40_000_000)], ids=["nothing", "a byte", "text", "zeros"])
def test_what_was_packed_is_unpacked(codec: int, plain: bytes) -> None:
    assert decompress(codec, compress(codec, plain)) == plain


@pytest.mark.parametrize("codec", CODECS)
def test_a_little_that_stands_for_more_than_may_be_is_refused(codec: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MOST_UNPACKED", 1_000_000)
    assert len(decompress(codec, compress(codec, bytes(1_000_000)))) == 1_000_000
    packed = compress(codec, bytes(100_000_000))
    tracemalloc.start()
    try:
        told = refused(codec, packed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert told.endswith("it has more than 1000000 bytes")
    assert peak < 20_000_000  # snappy's own stream is 5 MB


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_that_is_cut_in_its_middle_is_refused(codec: int) -> None:
    assert refused(codec, compress(codec, PLAIN)[:-40]).startswith("Failed to decompress record stream: ")


def test_nothing_is_no_stream_but_for_zstd() -> None:
    assert decompress(Compression.ZSTD, b"") == b""
    for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4):
        refused(codec, b"")


def test_gzip_goes_on_with_another_member_and_leaves_what_is_none() -> None:
    one, two = gzip.compress(b"one, "), gzip.compress(b"two")
    assert decompress(Compression.GZIP, one + two) == b"one, two"
    for tail in (b"\0", b"\xff" * 20, two[:9]):
        assert decompress(Compression.GZIP, one + tail) == b"one, "
    refused(Compression.GZIP, one + two[:-1])
    many = gzip.compress(b"x") * 5000
    assert decompress(Compression.GZIP, many) == b"x" * 5000


def test_snappys_frames_may_be_several_streams_and_end_within_a_size() -> None:
    framed = compress(Compression.SNAPPY, b"one")
    assert decompress(Compression.SNAPPY, framed + compress(Compression.SNAPPY, b"two")) == b"onetwo"
    for tail in (b"\0", b"\xff\xff\xff"):
        assert decompress(Compression.SNAPPY, framed + tail) == b"one"
    assert decompress(Compression.SNAPPY, framed[:16]) == b""
    refused(Compression.SNAPPY, framed[:15])
    refused(Compression.SNAPPY, framed[:-1])


def test_snappy_may_be_one_block_without_a_frame() -> None:
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(PLAIN))) == PLAIN
