"""The data plane through real clients: bytes, batches, codecs, headers, tombstones, seeks and pauses.

Each body runs on the stub and on Apache Kafka.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkawire.records import Compression
from tests.clients.adapters import DATA_NAMES
from tests.clients.client import Refused
from tests.clients.conftest import DataClients
from tests.clients.data import ONE_RECORD, Broker, DataClient, Entry, Sending, contents, drain

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LONG_AGO = 1_700_000_000_000
"""Unix ms."""
GREETING = "Grüße ".encode()
LIMIT = 1_048_588
"""Kafka's default message.max.bytes, of a batch with its headers."""

COMPRESSING = tuple(zip(DATA_NAMES, ("gzip", "snappy", "lz4", "zstd", "gzip"), strict=True))
"""Each client with one codec."""

Unique = Callable[[str], str]


def entries(count: int, size: int, partition: int = 0) -> list[Entry]:
    """Each of its own content, and so alike that every codec makes it smaller."""
    return [
        Entry(f"value {number} ".encode() + GREETING * (size // 8), f"key {number % 7}".encode(), partition=partition)
        for number in range(count)
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_batches_from_one_record_to_a_megabyte_arrive_as_they_were_sent(
    writer: DataClient, data_clients: DataClients, broker: Broker, unique: Unique, codec: str
) -> None:
    single, full = broker.create(unique("single")), broker.create(unique("full"))
    few, many = entries(40, 400), entries(1500, 800)

    offsets = writer.send(single, few, Sending(codec, batch_bytes=ONE_RECORD, idempotent=False))
    assert offsets in ([], list(range(len(few))))
    offsets = writer.send(full, many, Sending(codec, batch_bytes=1_000_000, idempotent=codec in ("none", "zstd")))
    assert offsets in ([], list(range(len(many))))

    for topic, sent in ((single, few), (full, many)):
        assert contents(drain(writer.reader(topic), len(sent))) == sent
    headers = {topic: broker.batches(topic) for topic in (single, full)}
    assert {one.compression for found in headers.values() for one in found} == {Compression[codec.upper()]}
    assert [one.record_count for one in headers[single]] == [1] * len(few)
    assert max(one.record_count for one in headers[full]) > 100


def test_what_one_client_writes_all_others_read(data_clients: DataClients, broker: Broker, unique: Unique) -> None:
    topic = broker.create(unique("babel"))
    sent: list[Entry] = []
    for name, codec in zip(DATA_NAMES, CODECS, strict=True):
        written = [one._replace(headers=(("writer", name.encode()),)) for one in entries(30, 200)]
        data_clients(name).send(topic, written, Sending(codec, idempotent=False))
        sent += written

    read = {name: contents(drain(data_clients(name).reader(topic), len(sent))) for name in DATA_NAMES}
    assert read == dict.fromkeys(DATA_NAMES, sent)


def record_size(value: int) -> int:
    """Bytes of a batch with one record, whose value of so many (a megabyte or so) stands alone."""
    header, lengths, rest = 61, 3 + 3, 5  # attributes, deltas of time and offset, no key, no header: a byte each
    return header + lengths + rest + value


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_batch_of_the_limits_size_is_taken_and_one_byte_more_is_not(
    writer: DataClient, broker: Broker, unique: Unique, idempotent: bool
) -> None:
    topic = broker.create(unique("large"))
    fits = b"x" * (LIMIT - record_size(0))
    sending = Sending(batch_bytes=ONE_RECORD, idempotent=idempotent)

    writer.send(topic, [Entry(fits)], sending)
    with pytest.raises(Refused) as refused:
        writer.send(topic, [Entry(fits + b"x")], sending)
    assert refused.value.code == "MESSAGE_TOO_LARGE"

    assert contents(drain(writer.reader(topic), 1)) == [Entry(fits)]
    assert [one.size for one in broker.batches(topic)] == [LIMIT]


@pytest.mark.parametrize(("name", "codec"), COMPRESSING)
def test_the_limit_is_that_of_what_is_sent_not_of_what_it_unpacks_to(
    data_clients: DataClients, broker: Broker, unique: Unique, name: str, codec: str
) -> None:
    client = data_clients(name)
    topic = broker.create(unique("small"), max_message_bytes="90000")
    sent = [Entry(b"so much of the same " * 5000), Entry(b"more of it " * 9000)]
    client.send(topic, sent, Sending(codec, batch_bytes=500_000, idempotent=False))
    assert contents(drain(client.reader(topic), len(sent))) == sent


def test_java_splits_a_batch_that_the_broker_finds_too_large(
    data_clients: DataClients, broker: Broker, unique: Unique
) -> None:
    topic = broker.create(unique("split"), max_message_bytes="20000")
    sent = [Entry(f"{number} ".encode() + b"x" * 900) for number in range(300)]
    offsets = data_clients("java").send(topic, sent, Sending(batch_bytes=250_000))
    assert offsets == list(range(len(sent)))
    assert contents(drain(data_clients("java").reader(topic), len(sent))) == sent
    assert max(one.size for one in broker.batches(topic)) <= 20_000


HEADERS = (
    (),
    (("one", b"1"),),
    (("twice", b"first"), ("other", b"between"), ("twice", b"second")),
    (("empty", b""), ("null", None), ("Grüße", "Grüße".encode())),
)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_headers_arrive_in_their_order_empty_null_and_twice(
    writer: DataClient, data_clients: DataClients, broker: Broker, unique: Unique, codec: str
) -> None:
    topic = broker.create(unique("headers"))
    possible = [tuple(one for one in headers if one[1] is not None or writer.null_headers) for headers in HEADERS]
    sent = [Entry(f"value {number}".encode(), b"key", headers) for number, headers in enumerate(possible)]
    writer.send(topic, sent, Sending(codec, idempotent=False))
    assert contents(drain(data_clients("java").reader(topic), len(sent))) == sent
    assert contents(drain(writer.reader(topic), len(sent))) == sent


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_tombstones_empty_values_and_missing_keys_stay_apart(
    library: DataClient, broker: Broker, unique: Unique, codec: str
) -> None:
    topic = broker.create(unique("nulls"))
    some = (None, b"", bytes(range(256)))
    sent = [Entry(value, key) for value in some for key in some]
    if not library.empty_records:
        sent.remove(Entry(None, None))
    library.send(topic, sent, Sending(codec, idempotent=False))
    assert contents(drain(library.reader(topic), len(sent))) == sent


def test_kcat_writes_tombstones_and_records_without_a_key(
    data_clients: DataClients, broker: Broker, unique: Unique
) -> None:
    topic = broker.create(unique("nulls"))
    sent = [Entry(b"value", b"key"), Entry(None, b"key"), Entry(b"value", None), Entry(b"value", b"key")]
    data_clients("kcat").send(topic, sent)
    for name in DATA_NAMES:
        assert contents(drain(data_clients(name).reader(topic), len(sent))) == sent, name


def test_a_compacted_topic_takes_tombstones_and_refuses_what_has_no_key(
    library: DataClient, broker: Broker, unique: Unique
) -> None:
    topic = broker.create(unique("compacted"), cleanup_policy="compact")
    sent = [Entry(b"value", b"key"), Entry(None, b"key"), Entry(b"", b"")]
    library.send(topic, sent, Sending(idempotent=False))
    with pytest.raises(Refused) as refused:
        library.send(topic, [Entry(b"value", None)], Sending(idempotent=False))
    assert refused.value.code == ("INVALID_RECORD" if library.knows_invalid_record else "UNKNOWN_SERVER_ERROR")
    assert contents(drain(library.reader(topic), len(sent))) == sent


def test_a_reader_seeks_to_offsets_times_beginning_and_end(
    reading: DataClient, data_clients: DataClients, broker: Broker, unique: Unique
) -> None:
    topic = broker.create(unique("seeks"))
    sent = [one._replace(timestamp=LONG_AGO + 1000 * number) for number, one in enumerate(entries(200, 100))]
    source = data_clients("aiokafka")
    source.send(topic, sent, Sending("gzip", batch_bytes=2000, idempotent=False))
    batches = broker.batches(topic)
    inside = batches[2].base_offset + 2  # in the middle of a batch: what stands before it is not shown
    assert inside < batches[2].last_offset

    reader = reading.reader(topic)
    found = drain(reader, 200)
    assert [one.entry for one in found] == sent
    for seek, first in (
        (lambda: reader.seek(0, 57), 57),
        (lambda: reader.seek(0, inside), inside),
        (lambda: reader.seek_to_beginning(0), 0),
        (lambda: reader.seek_to_time(0, LONG_AGO + 123_000), 123),
        (lambda: reader.seek_to_time(0, LONG_AGO + 123_001), 124),
        (lambda: reader.seek_to_time(0, 0), 0),
        (lambda: reader.seek(0, 199), 199),
    ):
        seek()
        assert [one.offset for one in drain(reader, 200 - first)] == list(range(first, 200))
    reader.seek_to_end(0)
    source.send(topic, [Entry(b"later")], Sending(idempotent=False))
    assert [one.entry.value for one in drain(reader, 1)] == [b"later"]


def test_a_paused_partition_gives_nothing_until_it_is_resumed(
    library: DataClient, broker: Broker, unique: Unique
) -> None:
    topic = broker.create(unique("pauses"), partitions=2)
    reader = library.reader(topic, [0, 1])
    library.send(topic, entries(10, 100, 0) + entries(10, 100, 1), Sending(idempotent=False))
    drain(reader, 20)

    reader.pause(0)
    library.send(topic, entries(10, 100, 0) + entries(10, 100, 1), Sending(idempotent=False))
    found = drain(reader, 10)
    assert {one.entry.partition for one in found} == {1}
    assert reader.poll(0.2) == []

    reader.resume(0)
    found = drain(reader, 10)
    assert [(one.entry.partition, one.offset) for one in found] == [(0, offset) for offset in range(10, 20)]

    reader.pause(0)
    reader.pause(1)
    library.send(topic, [Entry(b"last", partition=1)], Sending(idempotent=False))
    assert reader.poll(0.2) == []
    reader.seek(0, 19)
    reader.resume(0)
    reader.resume(1)
    assert sorted((one.entry.partition, one.offset) for one in drain(reader, 2)) == [(0, 19), (1, 20)]
