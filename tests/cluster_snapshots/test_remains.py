"""What is left of a coordinator's topic leads to the same state as all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from kafkastub.cluster_snapshots.remains import Remains
from kafkawire.records import (
    NewRecord,
    build_batch,
    build_marker,
    iterate_records,
    parse_header,
    read_batch,
    read_marker,
    split_batches,
)
from kafkawire.records.batch import HEADER_SIZE

KEYS, PRODUCERS = [b"a", b"b", b"c", b"d"], [1, 2]
_TRANSACTIONAL = 0x10

keys = some.lists(some.sampled_from(KEYS), min_size=1, max_size=3)
steps = some.one_of(
    some.tuples(some.just("write"), keys, some.booleans()),
    some.tuples(some.just("pending"), keys, some.sampled_from(PRODUCERS)),
    some.tuples(some.just("end"), some.booleans(), some.sampled_from(PRODUCERS)),
)


def log_of(played: Iterable[Any]) -> list[bytes]:
    """A batch for each step; values are the offsets, so that they tell where they were written."""
    offset, batches = 0, []
    for what, about, how in played:
        if what == "end":
            batches.append(build_marker(how, 0, about, 0, offset, base_offset=offset))
            offset += 1
            continue
        deleted = what == "write" and how
        records = [NewRecord(key, None if deleted else b"%d" % (offset + at), 0) for at, key in enumerate(about)]
        more = {"producer_id": how, "producer_epoch": 0, "attributes": _TRANSACTIONAL} if what == "pending" else {}
        batches.append(build_batch(records, base_offset=offset, compression=offset % 2, **more))
        offset += len(records)
    return batches


def state_of(batches: Iterable[bytes]) -> Any:
    """What a coordinator knows that has read them: by key offset and value, and the same of open transactions."""
    known: dict[bytes | None, tuple[int, bytes | None]] = {}
    pending: dict[int, dict[bytes | None, tuple[int, bytes | None]]] = {}
    for batch in batches:
        header = parse_header(batch)
        if header.control:
            end = next(read_marker(one) for one in iterate_records(memoryview(batch)[HEADER_SIZE:], header))
            assert end is not None
            for key, found in pending.pop(header.producer_id, {}).items():
                if end.commit and found[0] > known.get(key, (-1, None))[0]:
                    known[key] = found
            continue
        into = pending.setdefault(header.producer_id, {}) if header.transactional else known
        for record in read_batch(batch):
            into[record.key] = record.offset, record.value
    return {key: one for key, one in known.items() if one[1] is not None}, {k: v for k, v in pending.items() if v}


def left_of(batches: Iterable[bytes]) -> list[bytes]:
    remains = Remains()
    for batch in batches:
        remains.add(parse_header(batch), memoryview(batch))
    return list(remains.batches())


@given(some.lists(steps, max_size=40))
def test_the_state_is_the_same(played: list[Any]) -> None:
    whole = log_of(played)
    left = left_of(whole)
    assert state_of(left) == state_of(whole)
    assert left[-1:] == whole[-1:]
    offsets = [parse_header(one).base_offset for one in left]
    assert offsets == sorted(set(offsets))


@given(some.lists(steps, max_size=40))
def test_nothing_more_goes_the_second_time(played: list[Any]) -> None:
    left = left_of(log_of(played))
    assert left_of(left) == left


def test_a_topic_of_one_key_stays_small() -> None:
    remains = Remains()
    for offset in range(10_000):
        batch = build_batch([NewRecord(b"key", b"value", 0)], base_offset=offset)
        remains.add(parse_header(batch), memoryview(batch))
    assert len(list(remains.batches())) == len(remains._held) == 1


def test_what_transactions_wrote_stays_small() -> None:
    played = [step for _ in range(2000) for step in (("pending", [b"a", b"b"], 1), ("end", True, 1))]
    left = left_of(log_of(played))
    assert len(left) <= 4
    assert sum(1 for one in left for _ in split_batches(one)) == len(left)
