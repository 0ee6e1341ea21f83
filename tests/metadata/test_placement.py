"""Where replicas are placed: over racks, over nodes, living ones first."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kafkastub.metadata.placement import Candidate, place

PLAIN = [Candidate(node_id, None, True) for node_id in range(6)]
RACKS = [Candidate(node_id, "abc"[node_id % 3], True) for node_id in range(6)]
SEEDS = pytest.mark.parametrize("seed", range(20))


@SEEDS
@pytest.mark.parametrize("nodes", [PLAIN, RACKS], ids=["no racks", "racks"])
def test_every_node_leads_and_holds_as_much_as_the_others(nodes: list[Candidate], seed: int):
    placed = place(nodes, 12, 3, random.Random(seed))
    assert all(len(set(replicas)) == 3 for replicas in placed)
    assert set(Counter(replicas[0] for replicas in placed[:6]).values()) == {1}
    assert max(Counter(node_id for replicas in placed for node_id in replicas).values()) <= 8


@SEEDS
def test_each_rack_has_one_replica_before_any_has_two(seed: int):
    for replicas in place(RACKS, 12, 3, random.Random(seed)):
        assert {node_id % 3 for node_id in replicas} == {0, 1, 2}
    for replicas in place(RACKS, 6, 4, random.Random(seed)):
        assert sorted(Counter(node_id % 3 for node_id in replicas).values()) == [1, 1, 2]


@SEEDS
def test_a_node_that_does_not_live_leads_nothing(seed: int):
    nodes = [Candidate(1, None, True), Candidate(2, None, False), Candidate(3, None, True)]
    for replicas in place(nodes, 6, 3, random.Random(seed)):
        assert replicas[0] in (1, 3)
        assert replicas[2] == 2
    assert all(2 not in replicas for replicas in place(nodes, 6, 2, random.Random(seed)))


def test_one_node_has_everything_and_no_randomness_is_used():
    source = random.Random(1)
    state = source.getstate()
    assert place(PLAIN[:1], 3, 1, source) == [[0]] * 3
    assert source.getstate() == state
