"""A fast path asks whatever the careful path asks: random histories, each answer of both compared."""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest

from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from tests.server.changing import Both
from tests.server.changing_play import Play

STEPS = 250
HOUR = 3600.0
REFUSALS = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


REFUSES_NOBODY = {ApiKey.API_VERSIONS, ApiKey.DESCRIBE_CLUSTER}


def played(seed: int, *, guarded: bool) -> Both:
    both = Both(seed, guarded=guarded)
    Play(both).run(STEPS)
    return both


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("guarded", [False, True])
def test_answers_are_the_same_with_fast_paths_and_without(seed: int, guarded: bool):
    assert played(seed, guarded=guarded).told


def test_each_fast_path_is_taken_in_them():
    straight = Counter[ApiKey]()
    for seed in range(6, 12):
        straight += played(seed, guarded=False).straight.counting.straight
    assert straight.keys() == FAST_PATHS.keys()


def test_of_each_api_with_a_fast_path_some_requests_are_served_and_some_refused_in_them():
    told = Counter[tuple[ApiKey, int]]()
    for seed in range(6, 12):
        told += played(seed, guarded=True).told
    for key in FAST_PATHS.keys() - REFUSES_NOBODY:
        codes = {code for one, code in told if one == key}
        assert 0 in codes, key
        assert codes & REFUSALS, key


@pytest.mark.soak
def test_for_as_long_as_there_is_time():
    """KAFKASTUB_SOAK_SECONDS, an hour by default. Each round has a new seed, which a failure tells."""
    end = time.monotonic() + float(os.environ.get("KAFKASTUB_SOAK_SECONDS", HOUR))
    seed = int(time.time())
    while time.monotonic() < end:
        seed += 1
        for guarded in (False, True):
            try:
                played(seed, guarded=guarded)
            except Exception as failed:
                raise AssertionError(f"seed {seed}, {guarded=}") from failed
