"""A batch of the next transaction comes while the one before it is being ended."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse
from tests.handlers.desk import Desk, answered, batch, produce_request
from tests.transactions.desk import TRANSACTIONAL, Writer, committed

LONGEST_MS = 100


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic(partitions=2)
    return desk


@pytest.fixture
def writer(desk: Desk) -> Writer:
    """Its transaction is decided, and its markers are held."""
    writer = Writer(desk)
    assert writer.write(b"before") == ErrorCode.NONE
    writer.hold()
    writer.ends()
    return writer


def asked(writer: Writer, version: int = 12, **request: Any) -> Outcome:
    """What comes of the first batch of its next transaction."""
    records = batch(
        b"next", producer_id=writer.id, producer_epoch=writer.epoch, base_sequence=0, attributes=TRANSACTIONAL
    )
    message = produce_request(records, transactional_id=writer.name, **request)
    return writer.desk.outcome(ApiKey.PRODUCE, version, message)


def told(outcome: Outcome, version: int = 12) -> PartitionProduceResponse | None:
    answer = answered(outcome, version, ProduceResponse)
    return None if answer is None else answer.responses[0].partition_responses[0]


@pytest.mark.behaviour("PR-31")
@pytest.mark.parametrize("version", [12])
def test_it_is_written_once_the_markers_are(desk: Desk, writer: Writer, version: int):
    outcome = asked(writer, version)
    desk.wait_until(LONGEST_MS - 1)
    assert told(outcome, version) is None
    writer.release()
    desk.wait_until(desk.timer_ms)  # its turn
    answer = told(outcome, version)
    assert answer is not None
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 2)
    assert writer.told.transaction_state == "Ongoing"
    assert desk.state.transactions.watchers == []
    desk.wait_until(10 * LONGEST_MS)  # nothing more comes of it
    writer.ends()
    assert committed(desk) == [b"before", b"next"]


@pytest.mark.behaviour("PR-31")
def test_it_is_told_after_a_tenth_of_a_second(desk: Desk, writer: Writer):
    outcome = asked(writer)
    desk.wait_until(LONGEST_MS)
    answer = told(outcome)
    assert answer is not None
    assert answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    writer.release()
    assert desk.state.transactions.watchers == []
    assert committed(desk) == [b"before"]


@pytest.mark.behaviour("PR-31")
def test_a_client_that_has_gone_writes_nothing(desk: Desk, writer: Writer):
    outcome = asked(writer)
    assert isinstance(outcome, Deferred)
    outcome.abandon()
    writer.release()
    desk.wait_until(LONGEST_MS)
    assert writer.told.transaction_state == "CompleteCommit"
    assert committed(desk) == [b"before"]


@pytest.mark.behaviour("PR-31")
@pytest.mark.parametrize("longest", [0, 1])
def test_how_long_is_configured(longest: int):
    desk = Desk({"add.partitions.to.txn.retry.backoff.max.ms": longest})
    desk.topic()
    writer = Writer(desk)
    writer.write(b"before")
    writer.hold()
    writer.ends()
    outcome = asked(writer)
    desk.wait_until(longest)
    reply = outcome.reply if isinstance(outcome, Deferred) else outcome
    assert isinstance(reply, ProduceResponse)
    assert reply.responses[0].partition_responses[0].error_code == ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.behaviour("PR-31")
def test_who_wants_no_answer_waits_for_nothing(writer: Writer):
    assert asked(writer, acks=0) is CLOSE
