"""What a check keeps of batches that were refused or had no answer: those of which something may still be said."""

from __future__ import annotations

import pytest

from kafkastub.guarantees.checker import Checker
from kafkastub.guarantees.events import At, Batch, Client, Produced
from kafkawire.errors import ErrorCode

TOTAL = 10_000
OF_A_PARTITION = 1000
CLIENT = Client(1, "shop", "127.0.0.1", "User:ANONYMOUS")
REFUSED = ErrorCode.NOT_LEADER_OR_FOLLOWER


def sent(number: int, error: int | None, partition: int = 0, producer_id: int = 7) -> Produced:
    """The batch of this number, of a record of its own."""
    at = At(number, number, 2 * number, 2 * number + 1)
    batch = Batch(0, 1, producer_id, 0, number, number, False, False, None)
    base = number if error == 0 else -1
    return Produced(at, CLIENT, ("orders", partition), batch, None, -1, error, base, lambda: [number])


def forgotten(checker: Checker) -> list[str]:
    return [one for one in checker.verdict().undecided if "want of room" in one]


@pytest.mark.parametrize("failure", [REFUSED, None])
def test_nothing_is_kept_of_what_an_idempotent_producer_has_written_at_last(failure: int | None) -> None:
    checker = Checker()
    for number in range(2 * OF_A_PARTITION):
        checker.feed(sent(number, failure))
        checker.feed(sent(number, 0))
    assert forgotten(checker) == []


def test_what_is_written_with_another_batch_is_written_too() -> None:
    checker = Checker()
    for number in range(2 * OF_A_PARTITION):
        checker.feed(sent(number, REFUSED))
        checker.feed(sent(number, 0, partition=1, producer_id=8))
    assert forgotten(checker) == []


def test_all_partitions_together_have_a_limit() -> None:
    checker = Checker()
    partitions = 3 * TOTAL // OF_A_PARTITION
    for number in range(TOTAL):
        checker.feed(sent(number, None, number % partitions))
    assert forgotten(checker) == []
    for number in range(TOTAL, TOTAL + 5):
        checker.feed(sent(number, None, number % partitions))
    assert forgotten(checker) == ["batches that were refused or had no answer: 5 were forgotten for want of room"]
