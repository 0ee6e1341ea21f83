"""How a transaction is joined by those who write in it: what is asked, and how the answer is called.

Kafka: AddPartitionsToTxnManager (TransactionSupportedOperation).
"""

from __future__ import annotations

from typing import Final

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

_ADDS_FROM: Final = {ApiKey.PRODUCE: 12, ApiKey.TXN_OFFSET_COMMIT: 5}
"""From these versions on, partitions are added to the transaction by writing (KIP-890, part 2)."""
_KNOWS_ABORTABLE_FROM: Final = {ApiKey.PRODUCE: 11, ApiKey.TXN_OFFSET_COMMIT: 4}
"""From these on, the client knows TRANSACTION_ABORTABLE."""


def adds(api_key: ApiKey, api_version: int) -> bool:
    """Whether who writes so adds partitions to the transaction; below, it is verified that they were added."""
    return api_version >= _ADDS_FROM[api_key]


def called(code: ErrorCode, api_key: ApiKey, api_version: int) -> ErrorCode:
    """What the leader is told where the coordinator has said `code`; Produce calls some of it its own way still."""
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and api_version < _KNOWS_ABORTABLE_FROM[api_key]:
        return ErrorCode.INVALID_TXN_STATE
    return code
