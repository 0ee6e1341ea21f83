"""`stub.aio`: the waits of a stub as coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from kafkastub.stub.faults import Fault
    from kafkastub.stub.offsets import StubOffsets
    from kafkastub.stub.records import StubRecords
    from kafkastub.stub.share_groups import StubShareGroups
    from kafkastub.stub.streams_groups import StubStreamsGroups
    from kafkastub.stub.transactions import StubTransactions
    from kafkastub.stub.waits import StubWaits

P = ParamSpec("P")
T = TypeVar("T")


class AsyncWaits:
    """The waits of the same names, with their arguments and errors. They do not block the event loop.

    `await stub.aio.wait_group("worker", members=2)`. A wait that is cancelled ends at once for its coroutine, and for
    the stub at the end of its `timeout`.
    """

    def __init__(
        self,
        waits: StubWaits,
        records: StubRecords,
        offsets: StubOffsets,
        transactions: StubTransactions,
        share_groups: StubShareGroups,
        streams_groups: StubStreamsGroups,
    ) -> None:
        self.wait_topic = awaited(waits.topic)
        self.wait_group = awaited(waits.group)
        self.wait_assigned = awaited(waits.assigned)
        self.wait_quiet = awaited(waits.quiet)
        self.wait_request = awaited(waits.request)
        """`stub.journal.wait_for`"""
        self.wait_records = awaited(records.wait)
        """`stub.records.wait`"""
        self.wait_lag = awaited(offsets.wait_lag)
        """`stub.offsets.wait_lag`"""
        self.wait_transaction = awaited(transactions.wait)
        """`stub.transactions.wait`"""
        self.wait_share_group = awaited(share_groups.wait)
        """`stub.share_groups.wait`"""
        self.wait_streams_group = awaited(streams_groups.wait)
        """`stub.streams_groups.wait`"""
        self.wait_fault = awaited(_wait_fault)
        """`fault.wait` of the fault that you pass: `await stub.aio.wait_fault(fault, held=1)`"""

    def __repr__(self) -> str:
        return "<waits for coroutines>"


def _wait_fault(fault: Fault, hits: int | None = None, timeout: float = 5, *, held: int | None = None) -> None:
    fault.wait(hits, timeout, held=held)


def awaited(wait: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the function as a coroutine.

    Each call has a separate thread, because calls in a pool would wait for each other.
    """

    async def waited(*args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def tell(result: T | None, error: BaseException | None) -> None:
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(result)  # type: ignore[arg-type]

        def work() -> None:
            result: T | None = None
            failure: BaseException | None = None
            try:
                result = wait(*args, **kwargs)
            except BaseException as error:
                failure = error
            try:
                loop.call_soon_threadsafe(tell, result, failure)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

        threading.Thread(target=work, name="kafkastub wait", daemon=True).start()
        return await done

    return waited
