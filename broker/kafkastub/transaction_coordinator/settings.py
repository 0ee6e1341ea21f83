"""The configuration that the coordinator goes by, typed, out of Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass

from kafkastub.config import BrokerConfig


@dataclass(slots=True)
class TransactionSettings:
    """Times are milliseconds.

    Attributes:
        max_timeout_ms: `transaction.max.timeout.ms`: the longest timeout that a producer may ask for.
        id_expiration_ms: `transactional.id.expiration.ms`: how long an id is kept without a transaction.
        transaction_version: the level of the feature `transaction.version` that is finalised, 0 to 2. From 1 on values
            are written in version 1; it counts for transactions that the coordinator ends of itself.
    """

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 604_800_000
    transaction_version: int = 2

    @staticmethod
    def of(values: BrokerConfig) -> TransactionSettings:
        """From the broker's configuration; the transaction version is a feature and no part of it."""
        return TransactionSettings(
            max_timeout_ms=values["transaction.max.timeout.ms"],
            id_expiration_ms=values["transactional.id.expiration.ms"],
        )
