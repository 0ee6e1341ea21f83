"""Cases about guarantees: the histories of docs/guarantees.md, played against a broker.

A broker allows a client to break some of them, and forbids others. That depends on what the client has set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkastub_conformance.model import Anomaly
from kafkastub_conformance.registry import Function, case
from kafkawire.records import parse_header, read_batch, split_batches

NO_IDEMPOTENCE = "no idempotence"
IDEMPOTENCE = "idempotence"
TRANSACTIONS = "transactional.id"
UNCOMMITTED = "isolation.level=read_uncommitted"
COMMITTED = "isolation.level=read_committed"
COMMITTED_ONLY = 1
"""The isolation level read_committed, as Fetch and ListOffsets have it."""


def allowed(guarantee: str, setting: str, api: str, shows: str, **more: Any) -> Callable[[Function], Function]:
    """Enter a case in which Kafka lets a client break a guarantee."""
    return _case(Anomaly(guarantee, setting, True), api, shows, more)


def forbidden(guarantee: str, setting: str, api: str, shows: str, **more: Any) -> Callable[[Function], Function]:
    """Enter a case in which Kafka does not let a client break a guarantee."""
    return _case(Anomaly(guarantee, setting, False), api, shows, more)


def _case(anomaly: Anomaly, api: str, shows: str, more: dict[str, Any]) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        name = f"guarantee_{function.__name__}"
        return case(api, shows, anomaly=anomaly, name=name, **more)(function)

    return enter


def read(row: Any, committed: bool = False) -> list[bytes]:
    """The values that a reader takes from a partition in an answer to Fetch.

    Args:
        committed: whether the reader drops records of aborted transactions, as KIP-98 has it: from the first offset
            that the answer names for a producer to that producer's marker.
    """
    aborted = sorted(((one.first_offset, one.producer_id) for one in row.aborted_transactions or ()), reverse=True)
    dropping: set[int] = set()
    found: list[bytes] = []
    for _, data in split_batches(bytes(row.records or b"")):
        records = list(read_batch(data))
        header = parse_header(data)
        while committed and aborted and aborted[-1][0] <= header.last_offset:
            dropping.add(aborted.pop()[1])
        if header.control:
            dropping.discard(header.producer_id)
        elif not (header.transactional and header.producer_id in dropping):
            found += [bytes(record.value or b"") for record in records]
    return found
