"""Every array of every request, filled up: no turn of the broker's loop gets long.

The requests are made from the schemas, so an API, or an array of one, that is new is among them by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from kafkastub.handlers.offers import OFFERS
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class
from kafkawire.header import is_flexible
from tests.hostile.filled import filled
from tests.hostile.many import TOPICS, Many
from tests.hostile.test_hostile import linux
from tests.hostile.turns import Measured
from tests.rawclient import RawClient

SIZE: Final = 200_000
LIMIT: Final = 2_000_000
LONGEST_MS: Final = 30.0
"""Processor time of a turn, on a machine that is busy: there it is twice that of a quiet one, and more."""
TRIES: Final = 3
"""The first request of an API has its codec compiled."""
ANSWER_SECONDS: Final = 60
SELDOM_ANSWERED: Final = {(ApiKey.PRODUCE, "topic_data")}
"""With acks=0 nothing is."""


@pytest.fixture
def measured() -> Iterator[Measured]:
    with Measured("--topic", *TOPICS, "--config", "auto.create.topics.enable=false") as process:
        yield process


def longest_turn(measured: Measured, one: Many) -> float:
    """The longest turn meanwhile, of some tries the best."""
    turns: list[float] = []
    while len(turns) < TRIES and (not turns or turns[-1] > LONGEST_MS / 2):
        measured.longest_ms()
        with RawClient(measured.servers, ANSWER_SECONDS) as client:
            client.send(one.key, one.version, one.body, is_flexible(request_class(ApiKey(one.key)), one.version))
            if not _has_no_answer(one):
                client.drain()
        measured.metadata()
        turns.append(measured.longest_ms())
    return min(turns)


def _has_no_answer(one: Many) -> bool:
    return any(one.key == key and f", {array}," in one.name for key, array in SELDOM_ANSWERED)


def slow_ones(measured: Measured, size: int) -> dict[str, int]:
    found = {one.name: longest_turn(measured, one) for one in filled(size)}
    print({name: round(ms) for name, ms in found.items() if ms > LONGEST_MS / 2})
    return {name: round(ms) for name, ms in found.items() if ms > LONGEST_MS}


def test_there_are_requests_of_each_api_that_has_arrays() -> None:
    named = {ApiKey(one.key) for one in filled(SIZE)}
    without = {key for key in OFFERS if not any(row[1].startswith("[]") for row in request_class(key).FIELDS)}
    assert named | without >= OFFERS.keys()
    assert len(named) > 50


@linux
def test_no_array_of_any_request_makes_a_turn_long(measured: Measured) -> None:
    assert slow_ones(measured, SIZE) == {}


@linux
@pytest.mark.soak
def test_nor_at_ten_times_the_size(measured: Measured) -> None:
    assert slow_ones(measured, LIMIT) == {}
