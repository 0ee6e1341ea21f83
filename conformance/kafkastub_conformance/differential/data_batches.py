"""Random record batches for Produce: most of them good, some spoilt in one of the ways that a broker looks for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from kafkawire.records import HEADER_SIZE, NewRecord, build_batch, compress, compute_crc, parse_header

T0 = 1_700_000_000_000
"""Timestamps are around this one where nothing depends on the time of day."""

HOUR_MS = 3_600_000
CODECS = (0, 0, 0, 0, 1, 2, 3, 4)
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 8, 16, 32, 64

HEADER = {
    "last_offset_delta": (-1, 0, 7, 2**31 - 1),
    "record_count": (-1, 0, 1, 7),
    "base_offset": (1, 5, -1),
    "producer_id": (5_000_001,),
    "base_sequence": (3,),
    "max_timestamp": (-1, T0 - 5, T0 + 500_000),
    "length": (-1, 0, 20, 48, 1000),
    "leader_epoch": (0, 3, 99),
}
"""Header fields and what to put into them; the CRC is put right afterwards."""

PAYLOADS = ("", "00", "ff" * 9, "0e00000001026100", "0600000001", "10000000010261000000", "0c0000000102610002")
"""What is no record, or not quite."""


class Batches:
    """Makes batches; everything random comes from `source`."""

    def __init__(self, source: random.Random) -> None:
        self.random = source

    def records(self, most: int = 5) -> list[NewRecord]:
        """One to `most` records: keys, values, tombstones, headers, times that rise and fall."""
        chance = self.random.random
        start = T0 + self.random.randrange(0, 100_000, 1000)
        keyless = chance() < 0.2
        return [
            NewRecord(
                None if keyless and chance() < 0.6 else self._bytes((0, 1, 3, 8)),
                None if chance() < 0.15 else self._bytes((0, 1, 5, 20, 100, 300)),
                start + self.random.choice((0, 1, 5, -3, 1000)) * number,
                tuple(
                    (b"h%d" % n, None if chance() < 0.3 else b"x") for n in range(self.random.choice((0, 0, 0, 1, 2)))
                ),
            )
            for number in range(self.random.randint(1, most))
        ]

    def good(self) -> bytes:
        """A batch as clients send it."""
        return build_batch(self.records(), compression=self.random.choice(CODECS))

    def sized(self, size: int, codec: int = 0) -> bytes:
        """A batch of exactly `size` bytes (before compression); the least is some 70."""
        length = size - HEADER_SIZE - 7
        while True:
            batch = build_batch([NewRecord(b"k", b"v" * max(0, length), T0)], compression=codec)
            if codec or len(batch) <= size or length <= 0:
                return batch
            length -= 1

    def at_times(self, *distances_ms: int, codec: int = 0) -> bytes:
        """A batch whose records are so far from the wall clock's now."""
        now = int(time.time() * 1000)
        return build_batch([NewRecord(b"k", b"v", now + one) for one in distances_ms], compression=codec)

    def spoilt(self, *, unpacked: bool) -> bytes:
        """One way or the other not to be taken, or only just; `unpacked`: so also in what only unpacking shows.

        Kafka unpacks every compressed batch, the stub only where it must: see Produce in docs/coverage.md.
        """
        return self.random.choice(self._ways(unpacked))()

    def _ways(self, unpacked: bool) -> Sequence[Callable[[], bytes]]:
        return (
            self._header_changed,
            self._header_changed,
            self._header_changed,
            self._attributes_changed,
            self._payload_changed,
            *((self._compressed_payload_changed,) * 2 * unpacked),
            self._torn,
            self._byte_changed,
            self._byte_changed,
            self._magic_changed,
            lambda: b"",
            lambda: self.good() + self.good(),
            lambda: self.good() + self._torn(),
            lambda: bytes(self.random.choice((5, 12, 17, 40, 61, 80))),
        )

    def _header_changed(self) -> bytes:
        field = self.random.choice(list(HEADER))
        batch = build_batch(self.records()) if field == "max_timestamp" else self.good()
        return resealed(batch, **{field: self.random.choice(HEADER[field])})

    def _attributes_changed(self) -> bytes:
        batch = self.good()
        bits = self.random.choice((LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON, 128))
        return resealed(batch, attributes=parse_header(batch).attributes | bits)

    def _payload_changed(self) -> bytes:
        """Good header, another payload: not the records that the header counts."""
        batch = build_batch(self.records(2))
        payload = bytearray(batch[HEADER_SIZE:])
        if self.random.random() < 0.5:
            payload = bytearray(bytes.fromhex(self.random.choice(PAYLOADS)))
        elif self.random.random() < 0.5:
            payload[self.random.randrange(min(len(payload), 8))] ^= 1 << self.random.randrange(8)
        else:
            payload += bytes(self.random.choice((1, 7)))
        return with_payload(batch, bytes(payload))

    def _compressed_payload_changed(self) -> bytes:
        """A compressed batch whose payload does not unpack, or not into the records that the header counts."""
        codec = self.random.choice((1, 2, 3, 4))
        batch = build_batch(self.records(3), compression=codec)
        payload = batch[HEADER_SIZE:]
        how = self.random.randrange(4)
        if how == 0:
            payload = self.random.choice((b"", b"\0", b"garbage" * 5))
        elif how == 1:
            payload = payload[: self.random.randrange(len(payload))]
        elif how == 2:
            payload = compress(codec, bytes.fromhex(self.random.choice(PAYLOADS)))
        else:
            return resealed(batch, record_count=9, last_offset_delta=8)
        return with_payload(batch, payload)

    def _torn(self) -> bytes:
        batch = self.good()
        return batch[: self.random.choice((1, 11, 12, 16, 17, 30, len(batch) - 1))]

    def _byte_changed(self) -> bytes:
        batch = bytearray(self.good())
        batch[self.random.randrange(8, len(batch))] ^= 1 << self.random.randrange(8)
        return bytes(batch)

    def _magic_changed(self) -> bytes:
        batch = bytearray(self.good())
        batch[16] = self.random.choice((0, 1, 3, 127, 255))
        return bytes(batch)

    def _bytes(self, sizes: Sequence[int]) -> bytes:
        return self.random.choice((b"a", b"z", b"\0")) * self.random.choice(sizes)


def resealed(batch: bytes, **fields: int) -> bytes:
    """The batch with other header fields and a CRC that fits them."""
    changed = parse_header(batch)._replace(**fields).encode() + batch[HEADER_SIZE:]
    return parse_header(changed)._replace(crc=compute_crc(changed)).encode() + batch[HEADER_SIZE:]


def with_payload(batch: bytes, payload: bytes) -> bytes:
    """The batch with another payload, length and CRC right."""
    header = parse_header(batch)._replace(length=HEADER_SIZE - 12 + len(payload))
    return resealed(header.encode() + payload)
