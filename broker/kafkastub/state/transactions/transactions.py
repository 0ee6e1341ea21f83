"""The transaction coordinator in its broker: what it decides is written, and its markers are sent.

Kafka: TransactionCoordinator, TransactionStateManager, TransactionMarkerChannelManager, AddPartitionsToTxnManager.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.transactions.coordinator import TransactionCoordinator
    from kafkastub.transactions.turn import Turn


class Transactions:
    """One broker's transactions.

    Attributes:
        coordinator: of all transactional ids.
    """

    coordinator: TransactionCoordinator

    def serving(self) -> TransactionCoordinator:
        """The coordinator, for a request: the first that needs it brings `__transaction_state` into being.

        KafkaError COORDINATOR_LOAD_IN_PROGRESS while it is loading, NOT_COORDINATOR where the asked node is another,
        COORDINATOR_NOT_AVAILABLE where the topic cannot be made.
        """
        raise NotImplementedError

    def settle(self, turn: Turn) -> Turn:
        """Everything that the coordinator decided goes on from here.

        Its records are written to `__transaction_state`, parked requests get their answers, and its markers are sent:
        at once, or with a data directory when the records are as safe there as an acknowledged one. What the markers
        that are written lead to (the transaction is complete) is settled with them. KAFKA_STORAGE_ERROR.
        """
        raise NotImplementedError

    def join(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[tuple[str, int]],
        *,
        api_key: ApiKey,
        api_version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> dict[tuple[str, int], ErrorCode]:
        """Ask whether a producer may write to partitions in which it has no open transaction.

        Kafka: ReplicaManager.maybeSendPartitionsToTransactionCoordinator, AddPartitionsToTxnManager. Produce from
        version 12 and TxnOffsetCommit from version 5 on add the partitions to the transaction (KIP-890); below, it is
        verified that they were added, unless `transaction.partition.verification.enable` is off.

        Args:
            partitions: (topic, partition); those of `__consumer_offsets` too.
            api_key: PRODUCE or TXN_OFFSET_COMMIT.
            api_version: of that request: it decides what is asked, and how an error is called.

        Returns:
            NONE, or what that API answers, for each of the partitions.
        """
        raise NotImplementedError

    def hold_markers(self, transactional_id: str) -> None:
        """From now on its transactions stay in PrepareCommit or PrepareAbort, until `release_markers`."""
        raise NotImplementedError

    def release_markers(self, transactional_id: str, broker_ms: int, timer_ms: int) -> None:
        """Send what was held, and hold no more of it. Nothing happens where nothing is held."""
        raise NotImplementedError

    @property
    def held(self) -> frozenset[str]:
        """The transactional ids whose markers are held."""
        raise NotImplementedError

    @property
    def under_way(self) -> dict[str, list[tuple[str, int]]]:
        """By transactional id: the partitions that a marker has yet to be written to."""
        raise NotImplementedError
