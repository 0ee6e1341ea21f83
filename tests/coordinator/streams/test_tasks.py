"""Tasks, and the orders in which they show."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kafkastub.coordinator.streams.tasks import (
    EMPTY,
    EMPTY_WITH_EPOCHS,
    TasksTuple,
    TasksTupleWithEpochs,
    epochs_of,
    in_map_order,
    tasks_of,
    with_new_in_front,
    written,
    written_epochs,
)


@dataclass
class Told:
    subtopology_id: str
    partitions: list[int]


def parts(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


def test_a_mapping_iterates_as_a_java_map():
    assert list(tasks_of([Told("b", [2]), Told("aZ", [1]), Told("0", [0, 0])])) == ["0", "b", "aZ"]
    assert list(in_map_order({"11": 1, "0": 2})) == ["11", "0"]
    assert list(in_map_order({"0": 1, "11": 2})) == ["0", "11"]
    assert list(with_new_in_front({"0": 1}, {"11": 2})) == ["11", "0"]


def test_a_subtopology_is_told_once():
    with pytest.raises(ValueError, match="Duplicate key b"):
        tasks_of([Told("b", [2]), Told("b", [1])])


def test_tasks_without_an_epoch_have_the_members():
    raw = [(Told("a", [1, 2]), [5, 6]), (Told("b", [1, 2]), [5]), (Told("c", [3]), None)]
    assert epochs_of(raw, 9) == {"a": {1: 5, 2: 6}, "b": {1: 9, 2: 9}, "c": {3: 9}}


def test_records_are_in_order():
    assert written({"b": parts(10, 2), "a": parts(3)}) == [("a", [3]), ("b", [2, 10])]
    assert written_epochs({"b": {10: 1, 2: 7}}) == [("b", [2, 10], [7, 1])]


def test_same_tasks_and_shared_ones():
    has = TasksTupleWithEpochs({"a": {1: 7, 2: 8}}, {"b": parts(1)})
    assert TasksTuple({"a": parts(1, 2)}, {"b": parts(1)}).same_tasks(has)
    assert has.without_epochs().same_tasks(has)
    assert not TasksTuple({"a": parts(1)}, {"b": parts(1)}).same_tasks(has)
    assert not TasksTuple({"b": parts(1)}, {"b": parts(1)}).same_tasks(has)
    assert not TasksTuple({"a": parts(1, 2)}).same_tasks(has)
    assert TasksTuple({"a": parts(2, 3)}).contains_any(has)
    assert TasksTuple(standby={"b": parts(1)}).contains_any(has)
    assert not TasksTuple({"b": parts(1)}, {"a": parts(1)}, {"b": parts(1)}).contains_any(has)


def test_merging():
    one = TasksTupleWithEpochs({"a": {1: 7}}, {"b": parts(1)})
    other = TasksTupleWithEpochs({"a": {2: 8}}, {"b": parts(2)}, {"c": parts(0)})
    both = one.merge(other)
    assert both == ({"a": {1: 7, 2: 8}}, {"b": parts(1, 2)}, {"c": parts(0)})
    assert both.with_epochs_of_zero().active == {"a": {1: 0, 2: 0}}
    assert EMPTY.is_empty
    assert EMPTY_WITH_EPOCHS.is_empty
    assert not one.is_empty
    assert not both.without_epochs().is_empty


def test_as_kafka_logs_them():
    has = TasksTupleWithEpochs({"a": {10: 7, 2: 8}}, {"b": parts(1)})
    assert str(has) == "(active=[a-2@8, a-10@7], standby=[b-1], warmup=[])"
    assert str(has.without_epochs()) == "(active=[a-2, a-10], standby=[b-1], warmup=[])"
