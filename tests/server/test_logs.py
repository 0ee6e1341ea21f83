"""Log lines for humans, and what a client can make of them."""

from __future__ import annotations

import logging

import pytest

from kafkastub import KafkaStub
from kafkastub.printable import LONGEST, printable
from kafkastub.server.logs import Logger, library_logger, process_logger
from kafkastub.state.rate_limiter import RateLimiter
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.rawclient import RawClient


def fail(log: Logger) -> None:
    secret = "a local variable"
    try:
        raise ValueError(f"no {secret}")
    except ValueError:
        log.exception("handler failed", api="Fetch")


def check(text: str) -> None:
    """An event with Python's own traceback, whatever else is installed that could draw it."""
    first, second, *_, last = text.strip().splitlines()
    assert "handler failed" in first
    assert "Fetch" in first
    assert second == "Traceback (most recent call last):"
    assert last == "ValueError: no a local variable"


def test_a_stub_in_a_test_process_logs_plain_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "kafkastub"):
        fail(library_logger())
    (record,) = caplog.records
    check(record.getMessage())


def test_a_broker_process_logs_plain_tracebacks(capsys: pytest.CaptureFixture[str]) -> None:
    fail(process_logger("console", "info"))
    check(capsys.readouterr().err)


def test_a_client_id_is_shown_in_part_and_without_codes_of_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="kafkastub")
    name = "\x1b[2Jbilling\nWARNING all is well " + "x" * 30_000
    topic = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])
    with KafkaStub(topics={"orders": 1}) as stub, RawClient(stub.bootstrap_servers) as client:
        client.send(ApiKey.OFFSET_COMMIT, 2, encode(OffsetCommitRequest("", topics=[topic]), 2), client_id=name)
        assert client.receive() is not None
    [line] = [record.getMessage() for record in caplog.records if "empty group id" in record.getMessage()]
    assert "billing" in line
    assert "(30032 characters)" in line
    assert len(line) < 2 * LONGEST
    assert line.isprintable()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("as it is, ü", "as it is, ü"), ("a\nb", "a\\nb"), ("\ud800", "\\ud800"), ("\x1b[2J", "\\x1b[2J"), ("\\", "\\")],
)
def test_what_cannot_be_printed_is_escaped(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_keys_of_a_rate_limiter_are_not_kept() -> None:
    limiter, key = RateLimiter(), ("x" * 100_000, 1)
    assert limiter.allows(key, 0)
    assert not limiter.allows(("x" * 100_000, 1), 59_999)
    assert limiter.allows(("x" * 100_000, 2), 0)
    assert not any(isinstance(one, (str, tuple)) for one in limiter._passed)
    assert limiter.allows(key, 60_000)
