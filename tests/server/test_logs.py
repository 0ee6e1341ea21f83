"""Log lines for humans."""

from __future__ import annotations

import logging

import pytest

from kafkastub.server.logs import Logger, library_logger, process_logger


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
