"""What requests about transactions say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kafkastub.guarantees.events import At, Client, Ended, Event, ProducerGiven
from kafkawire.api import ApiKey


def _given(at: At, client: Client, request: Any, answer: Any, name_of: Callable[[Any], str | None]) -> Iterator[Event]:
    if answer is None:
        yield ProducerGiven(at, client, request.transactional_id, -1, -1)
    elif not answer.error_code:
        yield ProducerGiven(at, client, request.transactional_id, answer.producer_id, answer.producer_epoch)


def _ended(at: At, client: Client, request: Any, answer: Any, name_of: Callable[[Any], str | None]) -> Iterator[Event]:
    yield Ended(
        at, client, request.transactional_id, request.producer_id, request.producer_epoch, request.committed,
        None if answer is None else answer.error_code,
    )  # fmt: skip


TRANSACTIONS: Final = {ApiKey.INIT_PRODUCER_ID: _given, ApiKey.END_TXN: _ended}
