"""Records of `__transaction_state`, byte for byte as Apache Kafka 4.4.0 wrote them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.transaction_coordinator import (
    TransactionCodec,
    TransactionMetadata,
    TransactionState,
    TransactionTombstone,
)
from kafkastub.transaction_coordinator.records import by_topic, kafka_order
from kafkawire.errors import MalformedMessage

CODEC = TransactionCodec()

PARTITIONS = [("zz", 1), ("topic-one", 1), ("abc", 0), ("y", 0), ("q", 1), ("q", 0), ("other", 0), ("x", 1)]


def metadata(**changes: object) -> TransactionMetadata:
    record = TransactionMetadata("tx", 9, 9, -1, 4, -1, 60_000, TransactionState.ONGOING, (), 1_000, 2_000, 2)
    return TransactionMetadata(**(record._asdict() | changes))


def test_partitions_are_grouped_in_the_order_of_java_maps() -> None:
    """As a live node had them in a record and told them in DescribeTransactions."""
    assert list(by_topic(PARTITIONS).items()) == [
        ("zz", [1]),
        ("q", [1, 0]),
        ("other", [0]),
        ("abc", [0]),
        ("x", [1]),
        ("y", [0]),
        ("topic-one", [1]),
    ]
    topics = list(dict.fromkeys(topic for topic, _ in kafka_order(PARTITIONS)))
    assert topics == ["zz", "q", "abc", "other", "x", "y", "topic-one"]


def test_very_many_partitions_stay_in_their_order() -> None:
    many = [(f"t{number}", number) for number in range(2_000)]
    assert kafka_order(many) == many
    assert list(by_topic(many).items()) == [(topic, [index]) for topic, index in many]


WRITTEN = [
    (
        metadata(
            transactional_id="h5117",
            producer_epoch=0,
            partitions=tuple(PARTITIONS),
            client_transaction_version=0,
            start_timestamp=1795355120040,
            last_update_timestamp=1795355120040,
        ),
        b"\0\1\0\0\0\0\0\0\0\t\0\0\0\0\xea`\1\x08\3zz\2\0\0\0\1\0\2q\3\0\0\0\1\0\0\0\0\0\6other\2\0\0\0\0\0\4abc\2\0\0\0\0\0"
        b"\2x\2\0\0\0\1\0\2y\2\0\0\0\0\0\ntopic-one\2\0\0\0\1\0\0\0\1\xa2\3\x81\x11\xa8\0\0\1\xa2\3\x81\x11\xa8"
        b"\1\0\x08\0\0\0\0\0\0\0\t",
    ),
    (
        metadata(
            transactional_id="h5117",
            producer_epoch=1,
            state=TransactionState.COMPLETE_ABORT,
            start_timestamp=1795355120040,
            last_update_timestamp=1795355180049,
        ),
        b"\0\1\0\0\0\0\0\0\0\t\0\1\0\0\xea`\5\1\0\0\1\xa2\3\x81\xfc\x11\0\0\1\xa2\3\x81\x11\xa8"
        b"\2\0\x08\0\0\0\0\0\0\0\t\2\2\0\2",
    ),
    (
        metadata(
            transactional_id="h5117",
            producer_epoch=0,
            state=TransactionState.EMPTY,
            client_transaction_version=0,
            start_timestamp=-1,
            last_update_timestamp=1795355119516,
        ),
        b"\0\1\0\0\0\0\0\0\0\t\0\0\0\0\xea`\0\0\0\0\1\xa2\3\x81\x0f\x9c" + b"\xff" * 8 + b"\1\0\x08\0\0\0\0\0\0\0\t",
    ),
]


@pytest.mark.parametrize(("record", "value"), WRITTEN)
def test_a_record_has_the_bytes_that_kafka_wrote(record: TransactionMetadata, value: bytes) -> None:
    assert CODEC.encode(record) == (b"\0\0\0\5h5117", value)


partitions = st.lists(st.tuples(st.text(max_size=4), st.integers(0, 2**31 - 1)), max_size=20, unique=True).map(tuple)
records = st.builds(
    TransactionMetadata,
    transactional_id=st.text(min_size=1, max_size=8),
    producer_id=st.integers(0, 2**63 - 1),
    previous_producer_id=st.integers(-1, 2**63 - 1),
    next_producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    last_producer_epoch=st.just(-1),
    timeout_ms=st.integers(0, 2**31 - 1),
    state=st.sampled_from(TransactionState).filter(lambda state: state is not TransactionState.EMPTY),
    partitions=partitions,
    start_timestamp=st.integers(-1, 2**62),
    last_update_timestamp=st.integers(0, 2**62),
    client_transaction_version=st.integers(0, 2),
)


@given(records)
def test_a_record_is_read_as_it_was_written(record: TransactionMetadata) -> None:
    read = CODEC.decode(*CODEC.encode(record))
    assert isinstance(read, TransactionMetadata)
    assert set(read.partitions) == set(record.partitions)
    assert read._replace(partitions=()) == record._replace(partitions=())


@given(records)
def test_version_0_has_no_producer_ids_but_the_current_one(record: TransactionMetadata) -> None:
    codec = TransactionCodec(0)
    read = codec.decode(*codec.encode(record))
    assert isinstance(read, TransactionMetadata)
    blank = {"previous_producer_id": -1, "next_producer_id": -1, "client_transaction_version": 0, "partitions": ()}
    assert read._asdict() | {"partitions": ()} == record._asdict() | blank


def test_a_tombstone_is_read_as_it_was_written() -> None:
    key, value = CODEC.encode(TransactionTombstone("tx"))
    assert value is None
    assert CODEC.decode(key, value) == TransactionTombstone("tx")


def test_the_epoch_before_is_not_written() -> None:
    read = CODEC.decode(*CODEC.encode(metadata(last_producer_epoch=3)))
    assert read == metadata()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"\0\1"),
        (b"", b"\0\1"),
        (b"\0\7\0\2tx", None),
        (b"\0\0\0\5tx", None),
        (b"\0\0\0\2tx", b""),
        (b"\0\0\0\2tx", b"\0\2"),
        (b"\0\0\0\2tx", b"\0\1\0"),
        (b"\0\0\0\2tx", b"\0\0" + bytes(8) + bytes(2) + bytes(4) + b"\x63" + b"\xff\xff\xff\xff" + bytes(16)),
    ],
)
def test_what_is_no_record_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(MalformedMessage):
        CODEC.decode(key, value)
