"""Work on a request that goes on in parts: in the end somebody is answered, whatever happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkastub.state.deferred import Steps, in_parts
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.list_transactions_response import ListTransactionsResponse
from kafkawire.schema import Message

AT_ONCE = 10


def failed(code: ErrorCode) -> Message:
    return ListTransactionsResponse(error_code=code)


def steps(count: int, error: Exception | None = None) -> Steps:
    for _ in range(count):
        yield 1
    if error is not None:
        raise error
    return ListTransactionsResponse()


def served(work: Steps) -> tuple[Message | Deferred, list[Iterator[None]]]:
    """What comes of it, and what is left to be done."""
    left: list[Iterator[None]] = []
    return in_parts(work, AT_ONCE, left.append, failed), left


def test_little_work_is_done_at_once():
    assert served(steps(AT_ONCE - 1)) == (ListTransactionsResponse(), [])


def test_much_work_is_done_in_parts():
    deferred, (left,) = served(steps(3 * AT_ONCE))
    assert isinstance(deferred, Deferred)
    parts = 0
    while next(left, "over") is None:
        assert deferred.reply is None
        parts += 1
    assert (parts, deferred.reply) == (2, ListTransactionsResponse())


def test_an_error_at_once_is_raised():
    with pytest.raises(KafkaError):
        served(steps(1, KafkaError(ErrorCode.INVALID_REQUEST)))


def test_an_error_behind_the_first_part_is_the_answer():
    deferred, (left,) = served(steps(AT_ONCE, KafkaError(ErrorCode.INVALID_REQUEST)))
    assert list(left) == []
    assert isinstance(deferred, Deferred)
    assert deferred.reply == failed(ErrorCode.INVALID_REQUEST)


def test_an_error_that_nobody_foresaw_is_raised_and_answered():
    deferred, (left,) = served(steps(AT_ONCE, ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        next(left)
    assert isinstance(deferred, Deferred)
    assert deferred.reply == failed(ErrorCode.UNKNOWN_SERVER_ERROR)


@pytest.mark.parametrize("for_nobody", [True, False])
def test_only_what_changes_something_goes_on_when_the_client_has_gone(for_nobody: bool):
    left: list[Iterator[None]] = []
    done: list[int] = []

    def counted() -> Steps:
        for number in range(3):
            done.append(number)
            yield AT_ONCE
        return ListTransactionsResponse()

    deferred = in_parts(counted(), AT_ONCE, left.append, failed, for_nobody=for_nobody)
    assert isinstance(deferred, Deferred)
    deferred.abandon()
    assert list(left[0]) == [None] * (2 if for_nobody else 0)
    assert len(done) == (3 if for_nobody else 1)
