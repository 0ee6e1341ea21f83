"""Commits and fetches of many partitions take a shorter way where the partitions are neighbours: nobody must notice."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from tests.coordinator.context import CoordinatorTestContext

SHAPES = {
    "neighbours": list(range(100)),
    "neighbours, not from the start": list(range(30, 130)),
    "a few neighbours": list(range(3, 11)),
    "backwards": list(range(99, -1, -1)),
    "every other": list(range(0, 200, 2)),
    "one missing in between": [i for i in range(100) if i != 50],
    "two in the wrong order": [*range(40), 41, 40, *range(42, 80)],
}
NOTHING = (-1, -1, "")


@pytest.fixture
def context() -> CoordinatorTestContext:
    context = CoordinatorTestContext()
    create_topic(context.state, "many", 200, 1)
    return context


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("version", [2, 6, 8, 9, 10])
def test_what_is_committed_is_fetched(context: CoordinatorTestContext, shape: str, version: int):
    indexes = SHAPES[shape]
    expected = {}
    for base in (1000, 2000):
        codes = context.commit("g", {"many": {i: base + i for i in indexes}}, version=version)
        assert list(codes) == [("many", i) for i in dict.fromkeys(indexes)]
        assert set(codes.values()) == {ErrorCode.NONE}
        expected = {("many", i): (base + i, -1, "") for i in indexes}
    assert context.fetch() == expected
    for wanted in (indexes, list(range(200)), sorted(set(indexes)), [150, *indexes]):
        for fetched_by in (5, 7, 8, 10):
            found = context.fetch("g", {"many": wanted}, version=fetched_by)
            assert found == {("many", i): expected.get(("many", i), NOTHING) for i in wanted}
            assert [index for _, index in found] == list(dict.fromkeys(wanted))


@pytest.mark.parametrize("metadata", ["", "kept", None])
def test_metadata_and_epochs_of_neighbours_are_kept(context: CoordinatorTestContext, metadata: str | None):
    context.commit("g", {"many": dict.fromkeys(range(70), 5)}, metadata=metadata, epoch=3)
    expected = {("many", i): (5, 3, metadata or "") for i in range(70)}
    assert context.fetch() == expected
    context.commit("g", {"many": dict.fromkeys(range(20, 40), 6)})
    expected |= {("many", i): (6, -1, "") for i in range(20, 40)}
    assert context.fetch("g", {"many": range(70)}, version=7) == expected


def test_partitions_beyond_the_topic_are_refused_and_the_others_committed(context: CoordinatorTestContext):
    codes = context.commit("g", {"many": dict.fromkeys(range(190, 210), 1)})
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {("many", i): unknown if i >= 200 else ErrorCode.NONE for i in range(190, 210)}
    assert context.fetch() == {("many", i): (1, -1, "") for i in range(190, 200)}


def test_neighbours_of_a_topic_that_is_not_there_are_refused(context: CoordinatorTestContext):
    codes = context.commit("g", {"absent": dict.fromkeys(range(100), 1)})
    assert set(codes.values()) == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(codes) == 100
    assert context.fetch() == {}
