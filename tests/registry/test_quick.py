"""What is read in one look is what reading the careful way gives; what only looks like it is left to that."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafkastub.registry.entities import Schema
from kafkastub.registry.quick import find_version
from kafkastub.registry.records import schema_key, schema_record
from kafkastub.registry.store import Store
from kafkawire.records import NewRecord, build_batch

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3000)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def state(store: Store) -> Any:
    entries = [store.versions(subject) for subject in store.subjects()]
    return [
        (one.subject, one.version, one.id, one.deleted, one.ts, one.schema, one.content)
        for each in entries
        for one in each
    ]


@given(NAMES, TEXTS, st.booleans(), st.integers(1, 2**31 - 1), st.integers(0, 2**62))
def test_it_is_what_the_careful_way_reads(subject: str, text: str, deleted: bool, number: int, ts: int) -> None:
    key, value = schema_record(Schema(subject, text, version=3, id=number), deleted=deleted)
    carefully, quickly = Store(), Store()
    carefully.apply(key, value, ts)
    found = find_version(build_batch([NewRecord(key, value, ts)]))
    if found is None:  # a name with escaped characters
        assert "\\" in key.decode()
        return
    quickly.take(*found)
    assert state(quickly) == state(carefully)


@given(st.data())
def test_a_batch_of_anything_else_is_left_to_the_careful_way(data: st.DataObject) -> None:
    key, value = schema_record(Schema("orders", '"string"', version=1, id=7), deleted=False)
    assert value is not None
    batch = build_batch([NewRecord(key, value, 5)])
    at = data.draw(st.integers(61, len(batch) - 1))
    changed = bytearray(batch)
    changed[at] ^= data.draw(st.integers(1, 255))
    found = find_version(bytes(changed))
    if found is not None:  # only what stands in the texts may differ
        assert len(found[-1]) == len(value)
    for records in (
        [NewRecord(key, None, 5)],
        2 * [NewRecord(key, value, 5)],
        [NewRecord(key, value, 5, ((b"a", b"b"),))],
    ):
        assert find_version(build_batch(records)) is None


def test_a_record_whose_lengths_say_otherwise() -> None:
    key, value = schema_record(Schema("orders", '"string"', version=1, id=7), deleted=False)
    assert value is not None
    longer = build_batch([NewRecord(key + b"\x02" + value, b"x", 5)])
    assert find_version(longer) is None
    assert find_version(build_batch([NewRecord(schema_key("orders", 1), value[:-1], 5)])) is None
