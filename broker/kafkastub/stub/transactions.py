"""`stub.transactions`: transactional ids as the coordinator sees them, and controls for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Self, TypeVar

from kafkastub.stub.errors import StubError, TransactionTimeout
from kafkastub.stub.waiting import wait_until
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.server.broker import Broker
    from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
    from kafkastub.stub.runner import Runner
    from kafkastub.views.transactions import HangingTransaction, TransactionView

T = TypeVar("T")

STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Dead",
)  # fmt: skip
_DEAD: Final = "Dead"


class Hold:
    """A transactional id whose markers are held. As a context manager it releases them at the end."""

    def __init__(self, transactions: StubTransactions, transactional_id: str) -> None:
        self._transactions = transactions
        self.transactional_id = transactional_id

    def release(self) -> None:
        """Release the markers of this transactional id. A second call has no effect."""
        self._transactions.release_markers(self.transactional_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<hold of the markers of {self.transactional_id!r}>"


class StubTransactions(Mapping[str, "TransactionView"]):
    """The transactional ids: `stub.transactions["orders-1"].state == "Ongoing"` (docs/transactions.md).

    Iterating returns the transactional ids, in the order of their creation. Raises StubError while the coordinator is
    loading.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __getitem__(self, transactional_id: str) -> TransactionView:
        found = self._call(lambda broker: _view(broker, transactional_id))
        if found is None:
            raise KeyError(f"there is no transactional id {transactional_id!r}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._call(_ids))

    def __len__(self) -> int:
        return len(self._call(_ids))

    def abort(self, what: str | HangingTransaction) -> None:
        """Abort an open transaction by its transactional id, or a hanging one.

        An open transaction is aborted and its producer is fenced, as by its timeout. A hanging transaction gets an
        abort marker, as an administrator writes it.

        Raises KeyError for an id that does not exist, ValueError if no transaction is open, TypeError.
        """
        from kafkastub.views.transactions import HangingTransaction

        if isinstance(what, str):
            self._call(lambda broker: _abort(broker, what))
        elif isinstance(what, HangingTransaction):
            self._call(lambda broker: _end(broker, what))
        else:
            raise TypeError(f"{what!r} cannot be aborted: expected a transactional id or an element of find_hanging()")

    def hold_markers(self, transactional_id: str) -> Hold:
        """Hold the markers of a transactional id: its transactions stay in PrepareCommit or PrepareAbort.

        Return the hold. The id may not exist yet. The hold ends with `release_markers`, or at the end of its `with`
        block.
        """
        _check_id(transactional_id)
        self._call(lambda broker: broker.state.transactions.hold_markers(transactional_id))
        return Hold(self, transactional_id)

    def release_markers(self, transactional_id: str) -> None:
        """Write the held markers of a transactional id, and end the hold. Without a hold it has no effect."""
        _check_id(transactional_id)

        def release(broker: Broker) -> None:
            if broker.state.has_transactions:
                broker.state.transactions.release_markers(transactional_id, *broker.clock.both())

        self._call(release)

    def hang(self, topic: str, partition: int = 0, value: bytes = b"hanging") -> HangingTransaction:
        """Create a hanging transaction: write a record of a producer that no coordinator knows. Return the transaction.

        Consumers of committed records stop there in the partition until `abort`. Raises KeyError, ValueError,
        TypeError.
        """
        _check(
            topic=(topic, str, "a string"),
            partition=(partition, int, "a whole number"),
            value=(value, bytes, "bytes"),
        )
        return self._call(lambda broker: _hang(broker, topic, partition, value))

    def find_hanging(self) -> list[HangingTransaction]:
        """Return the transactions that are open in a partition and that no coordinator will end."""
        return self._call(_hanging)

    def coordinator_of(self, transactional_id: str) -> int:
        """Return the id of the node that coordinates a transactional id, -1 without one."""

        def leader(broker: Broker) -> int:
            if not broker.state.cluster.has_living_node:
                return -1
            topic, index = _coordinated(broker, transactional_id)
            return topic.partitions[index].leader

        return self._call(leader)

    def move_coordinator(self, transactional_id: str, node: int) -> None:
        """Make a running node the coordinator of a transactional id, and of all ids in the same partition of
        `__transaction_state`.

        Raises ValueError.
        """
        from kafkastub.state.leadership import move_leader

        def move(broker: Broker) -> None:
            if not broker.state.cluster.has_living_node:
                raise ValueError("no node is running, and so nobody can coordinate transactions: start one first")
            move_leader(broker.state, *_coordinated(broker, transactional_id), node, broker.clock.both())

        self._call(move)

    def wait(self, transactional_id: str, *, state: str, timeout: float = 5) -> TransactionView | None:
        """Wait until a transactional id is in `state`, and return its view.

        `state` is one of Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort and Dead. An id
        that does not exist is Dead, and the result is None. Raises TransactionTimeout after `timeout` seconds,
        ValueError, TypeError.
        """
        _check_id(transactional_id)
        _check(state=(state, str, "a string"))
        known = {each.lower(): each for each in STATES}
        if state.lower() not in known:
            raise ValueError(f"state={state!r} is refused: expected one of {', '.join(STATES)}")
        return _wait(self._runner, transactional_id, known[state.lower()], timeout)

    def _call(self, work: Callable[[Broker], T]) -> T:
        broker = self._runner.running()
        return self._runner.call(lambda: work(broker))

    def __repr__(self) -> str:
        return f"<{len(self)} transactional ids>"


def _check_id(transactional_id: object) -> None:
    if not isinstance(transactional_id, str) or not transactional_id:
        raise TypeError(f"transactional_id={transactional_id!r} is refused: expected a string")


def _check(**given: tuple[object, type, str]) -> None:
    """TypeError names the first argument that is not of its type."""
    for name, (value, kind, wanted) in given.items():
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"{name}={value!r} is refused: expected {wanted}")


def _loaded(broker: Broker) -> TransactionRuntime | None:
    """None where there never was a transaction. Raises StubError while the coordinator is being loaded."""
    if not broker.state.has_transactions:
        return None
    if broker.state.transactions.loading is not None:
        raise StubError("the transaction coordinator is being loaded: it cannot answer now")
    return broker.state.transactions


def _ids(broker: Broker) -> list[str]:
    transactions = _loaded(broker)
    return [] if transactions is None else list(transactions.coordinator.transactions)


def _view(broker: Broker, transactional_id: str) -> TransactionView | None:
    from kafkastub.views.transactions import view

    transactions = _loaded(broker)
    return None if transactions is None else view(transactions, transactional_id)


def _abort(broker: Broker, transactional_id: str) -> None:
    from kafkastub.views.transactions import abort

    transactions = _loaded(broker)
    if transactions is None:
        raise KeyError(f"there is no transactional id {transactional_id!r}")
    try:
        abort(transactions, transactional_id, *broker.clock.both())
    except KafkaError as error:
        if error.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            raise KeyError(f"there is no transactional id {transactional_id!r}") from None
        raise ValueError(f"{transactional_id!r} cannot be aborted: {error.message or error.code.name}") from None


def _end(broker: Broker, one: HangingTransaction) -> None:
    from kafkastub.views.transactions import end_hanging

    if one not in _hanging(broker, [(one.topic, one.partition)]):
        raise ValueError(
            f"{one.topic}-{one.partition} has no hanging transaction of producer {one.producer_id} any more"
        )
    try:
        end_hanging(broker.state, one, broker.clock.broker_ms())
    except KafkaError as error:
        raise ValueError(f"{one.topic}-{one.partition} takes no marker: {error.message or error.code.name}") from None


def _hang(broker: Broker, topic: str, partition: int, value: bytes) -> HangingTransaction:
    from kafkastub.views.transactions import hang

    try:
        return hang(broker.state, topic, partition, value, broker.clock.broker_ms())
    except KafkaError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise KeyError(f"there is no partition {partition} of a topic {topic!r}") from None
        raise ValueError(f"no transaction can hang there: {error.message or error.code.name}") from None


def _hanging(broker: Broker, places: Iterable[tuple[str, int]] | None = None) -> list[HangingTransaction]:
    from kafkastub.views.transactions import hanging

    return hanging(broker.state, _loaded(broker), places)


def _coordinated(broker: Broker, transactional_id: str) -> tuple[Topic, int]:
    from kafkastub.coordinator import partition_for
    from kafkastub.state.transactional_ids import ensure_transactions_topic

    _check_id(transactional_id)
    topic = ensure_transactions_topic(broker.state)
    return topic, partition_for(transactional_id, len(topic.partitions))


def _wait(runner: Runner, transactional_id: str, state: str, timeout: float) -> TransactionView | None:
    found: list[TransactionView | None] = []

    def reached(broker: Broker) -> bool:
        if broker.state.transactions.loading is not None:
            return False
        now = _view(broker, transactional_id)
        if (_DEAD if now is None else now.state) != state:
            return False
        found.append(now)
        return True

    def describe(broker: Broker) -> str:
        if broker.state.transactions.loading is not None:
            said = "is being loaded"
        else:
            now = _view(broker, transactional_id)
            said = "is not there (Dead)" if now is None or now.state == _DEAD else f"is {now.state}"
        return f"transactional id {transactional_id!r} {said} after {timeout:g} s, {state} was waited for"

    wait_until(
        runner, reached, describe, timeout, lambda broker: (broker.state.transactions.watchers,), TransactionTimeout
    )
    return found[0]
