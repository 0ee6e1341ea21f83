"""What `KafkaStub` and its parts raise."""

from __future__ import annotations

from typing import Final

from kafkawire.errors import ErrorCode

RUNNING: Final = "the stub is running already: one that was started, or comes from a fixture, needs no start() or with"
NOT_RUNNING: Final = "the stub is not running: use it as a context manager, or call start()"
CLOSED: Final = "the stub was closed meanwhile"


class StubError(RuntimeError):
    """The stub was used before it was started or after it was closed, or asked for what is being loaded."""


class TopicError(ValueError):
    """A topic that Kafka would refuse; `code` is the error code that a client would get."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class GroupTimeout(AssertionError):
    """A group has not become what was waited for; the text says what it is."""


class FaultTimeout(TimeoutError, AssertionError):
    """A fault was not met so often, or does not hold so many, as was waited for; the text says how it is."""


class RecordsTimeout(AssertionError):
    """A topic does not have the records that were waited for; the text says what it has."""


class TransactionTimeout(AssertionError):
    """A transactional id has not become what was waited for; the text says what it is."""


class TopicTimeout(AssertionError):
    """A topic has not become what was waited for; the text says what it is."""
