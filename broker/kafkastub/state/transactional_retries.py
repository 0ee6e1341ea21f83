"""Appends that wait a little: the transaction before theirs has yet to get its last markers.

A producer whose transaction has ended may write the next one at once, and would be told CONCURRENT_TRANSACTIONS. In
Kafka the leader asks the coordinator again, every `add.partitions.to.txn.retry.backoff.ms` for as long as
`add.partitions.to.txn.retry.backoff.max.ms`; here it is asked as soon as there is something else to hear.
Kafka: ReplicaManager.handleProduceAppend, maybeRetryOnConcurrentTransactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred
from kafkawire.schema import Message

_LONGEST = "add.partitions.to.txn.retry.backoff.max.ms"


class StillEnding(Exception):
    """The transaction before it is being ended, and nothing of the request has been done."""


def may_wait(state: BrokerState) -> bool:
    """Whether the configuration leaves any time for it."""
    longest: int = state.config[_LONGEST]
    return longest > 0


def once_ended(state: BrokerState, transactional_id: str, timer_ms: int, again: Callable[[], Message]) -> Deferred:
    """The reply that `again` gives, which is asked for once: when the id's markers are written, or the time is over."""
    transactions, purgatory = state.transactions, state.fetch_purgatory
    deferred = Deferred(lambda _: again())
    longest: int = min(state.config[_LONGEST], state.config["request.timeout.ms"])
    purgatory.park(deferred, (), timer_ms + longest, lambda: False)

    def look() -> None:
        if deferred.done or deferred.abandoned:
            transactions.watchers.remove(look)
        elif not transactions.is_ending(transactional_id):
            transactions.watchers.remove(look)
            transactions.turns.add(ask_again())

    def ask_again() -> Iterator[None]:
        if not deferred.done and not deferred.abandoned and deferred.on_abandon is not None:
            deferred.on_abandon()  # its time is of no interest any more
            deferred.complete()
        yield

    transactions.watchers.append(look)
    return deferred
