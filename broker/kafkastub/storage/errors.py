"""Why an append was refused, with all that a Produce answer says about it; why a data directory cannot be used."""

from __future__ import annotations

from typing import NamedTuple

from kafkawire.errors import ErrorCode, KafkaError


class DataDirError(Exception):
    """The data directory cannot be used; the text is one sentence for a user."""


class RecordError(NamedTuple):
    """One refused record (KIP-467): its index in the batch, and why."""

    batch_index: int
    message: str


class AppendError(KafkaError):
    """A refused append. Nothing of the batch was stored.

    `tells_log_start`: whether the answer carries the log start offset; Kafka leaves it out for what it holds
    for everyday errors (ReplicaManager.appendToLocalLog). `message` is for the log; `record_errors` with it
    are for the client, and only where there are any.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        tells_log_start: bool = True,
        record_errors: tuple[RecordError, ...] = (),
    ) -> None:
        super().__init__(code, message)
        self.tells_log_start = tells_log_start
        self.record_errors = record_errors


class TooMuchToUnpack(AppendError):
    """A limit of the stub's own, whose text is for the client: Kafka has no such limit."""
