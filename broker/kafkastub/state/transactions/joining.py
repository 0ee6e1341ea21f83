"""How a transaction is joined by those who write in it: what is asked, and how the answer is called.

Kafka: AddPartitionsToTxnManager (TransactionSupportedOperation), ReplicaManager.handleProduceAppend.
"""

from __future__ import annotations

from typing import Final

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

_ADDS_FROM: Final = {ApiKey.PRODUCE: 12, ApiKey.TXN_OFFSET_COMMIT: 5}
"""From these versions on, partitions are added to the transaction by writing (KIP-890, part 2)."""
_KNOWS_ABORTABLE_FROM: Final = {ApiKey.PRODUCE: 11, ApiKey.TXN_OFFSET_COMMIT: 4}
"""From these on, the client knows TRANSACTION_ABORTABLE."""

_RETRIED: Final = frozenset(
    (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    )
)
"""In Produce these are NOT_ENOUGH_REPLICAS, which every producer tries again after."""


def adds(api_key: ApiKey, api_version: int) -> bool:
    """Whether who writes so adds partitions to the transaction; below, it is verified that they were added."""
    return api_version >= _ADDS_FROM[api_key]


def called(code: ErrorCode, api_key: ApiKey, api_version: int) -> ErrorCode:
    """What the API answers where the coordinator has said `code`."""
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and api_version < _KNOWS_ABORTABLE_FROM[api_key]:
        return ErrorCode.INVALID_TXN_STATE
    if api_key == ApiKey.PRODUCE and code in _RETRIED:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return code
