"""The exceptions of `KafkaStub` and its parts."""

from __future__ import annotations

from typing import Final

from kafkawire.errors import ErrorCode

RUNNING: Final = "the stub is running already: one that was started, or comes from a fixture, needs no start() or with"
NOT_RUNNING: Final = "the stub is not running: use it as a context manager, or call start()"
CLOSED: Final = "the stub was closed meanwhile"


class StubError(RuntimeError):
    """The stub was used before its start or after its end, or while the state that was asked for is loading."""


class TopicError(ValueError):
    """Kafka would refuse the topic. `code` is the error code that a client would get."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class GroupTimeout(AssertionError):
    """A group did not reach the state that was waited for. The text says which state it has."""


class FaultTimeout(TimeoutError, AssertionError):
    """A fault did not act on, or hold, the expected number of requests. The text says how many it did."""


class RecordsTimeout(AssertionError):
    """A topic does not have the records that were expected. The text says which records it has."""


class TransactionTimeout(AssertionError):
    """A transactional id did not reach the state that was waited for. The text says which state it has."""


class TopicTimeout(AssertionError):
    """A topic did not reach the state that was waited for. The text says which state it has."""
