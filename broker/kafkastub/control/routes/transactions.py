"""/v1/transactions and /v1/hanging-transactions: what `stub.transactions` is in Python (docs/transactions.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeVar

from fastapi import Query, Request
from pydantic import BaseModel, Field, StrictInt

from kafkastub.config.durations import LAST_MS
from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.groups import TopicPartition
from kafkastub.control.routes.shapes import MOST_LISTED, Body, Limit, Offset, Text, body_example, example, iso
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.control.walks import Walks
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.transaction_coordinator.runtime import TransactionRuntime
    from kafkastub.views.transactions import HangingTransaction, TransactionView

T = TypeVar("T")

_COORDINATOR: Final = "the transaction coordinator"
_State = Literal[
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Dead"
]
_DEAD: Final = "Dead"
_PLACE = {"topic": "orders", "partition": 0}


class TransactionInfo(BaseModel):
    """A transactional id."""

    model_config = example(
        transactional_id="shop", state="PrepareCommit", producer_id=4, producer_epoch=2, timeout_ms=60000,
        start="2026-03-01T12:00:00.123Z", partitions=[_PLACE], pending_markers=[_PLACE], held=True,
    )  # fmt: skip

    transactional_id: str
    state: str = Field(
        description="Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit or CompleteAbort; Dead in the "
        "answer to a wait"
    )
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start: str | None = Field(description="broker time at which its transaction began; null before the first one")
    partitions: list[TopicPartition] = Field(description="partitions in its transaction that have no marker yet")
    pending_markers: list[TopicPartition] = Field(description="partitions to which a marker is being written")
    held: bool = Field(description="whether the markers of its transaction are held")


class TransactionList(BaseModel):
    """Transactional ids in the order of their first use."""

    transactions: list[TransactionInfo]
    total: int = Field(description="number of matches, listed or not")


class TransactionsQuery(Body):
    """Which, and how many."""

    state: list[_State] = Field([], description="only those in this state; may be given several times")
    producer_id: list[int] = Field([], description="only those of this producer; may be given several times")
    search: str | None = Field(None, description="only those whose name contains this text; case does not matter")
    offset: Offset = 0
    limit: Limit = 1000


class ShowQuery(Body):
    """What is waited for, and how long."""

    state: _State | None = Field(
        None, description="wait until it is in this state, Dead for an id that does not exist; 408 after the timeout"
    )
    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class MarkerHold(BaseModel):
    """The transactional id, and whether its markers are held."""

    model_config = example(held=["shop"])

    held: list[str]


class HangingInfo(BaseModel):
    """A transaction that no coordinator will end."""

    model_config = example(
        topic="orders", partition=0, producer_id=9, producer_epoch=0, start_offset=17,
        last_timestamp="2026-03-01T12:00:00.123Z",
    )  # fmt: skip

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    start_offset: int = Field(description="its first offset; readers with read_committed stop there")
    last_timestamp: str | None = Field(description="timestamp of its producer's last record")


class HangingList(BaseModel):
    """Hanging transactions, sorted by topic, partition and offset."""

    hanging: list[HangingInfo]


class NewHanging(Body):
    """Where to create a hanging transaction."""

    model_config = body_example(topic="orders", partition=0)

    topic: Text
    partition: StrictInt = 0
    value: Text = Field("hanging", description="value of its record")


class HangingEnd(Body):
    """Which hanging transaction to abort."""

    model_config = body_example(topic="orders", partition=0, start_offset=0)

    topic: Text
    partition: StrictInt
    start_offset: StrictInt


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(tags=["transactions"])
    _add_ids(router, hosted)
    _add_ends(router, hosted)
    _add_hanging(router, hosted)
    return router


def _known(state: BrokerState) -> TransactionRuntime | None:
    """None where there never was a transaction. Raises Problem while they are being loaded."""
    if not state.has_transactions:
        return None
    if state.transactions.loading is not None:
        raise of_kafka(KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), _COORDINATOR)
    return state.transactions


def _show(state: BrokerState, transactional_id: str) -> TransactionInfo:
    """Raises Problem."""
    from kafkastub.views.transactions import view

    transactions = _known(state)
    found = None if transactions is None else view(transactions, transactional_id)
    if found is None:
        code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.name
        raise Problem(404, f"there is no transactional id {transactional_id!r}", code)
    return _info(found)


def _add_ids(router: Endpoints, hosted: Hosted) -> None:
    @router.get("/transactions", summary="List transactional ids")
    async def list_transactions(query: Annotated[TransactionsQuery, Query()]) -> TransactionList:
        from kafkastub.views.transactions import view

        transactions = _known(hosted.running().state)
        if transactions is None:
            return TransactionList(transactions=[], total=0)
        wanted = (query.search or "").lower()
        fitting = [
            transactional_id
            for transactional_id, one in transactions.coordinator.transactions.items()
            if wanted in transactional_id.lower()
            and (not query.state or one.metadata.state.camel in query.state)
            and (not query.producer_id or one.metadata.producer_id in query.producer_id)
        ]
        page = fitting[query.offset : query.offset + query.limit]
        views = (view(transactions, transactional_id) for transactional_id in page)
        return TransactionList(transactions=[_info(one) for one in views if one is not None], total=len(fitting))

    waiting = Places(MOST_WAITING, "requests are waiting")

    @router.get(
        "/transactions/{transactional_id:path}",
        summary="Return a transactional id; with `state`, wait until it is in that state",
    )
    async def show(transactional_id: str, query: Annotated[ShowQuery, Query()], request: Request) -> TransactionInfo:
        if query.state is None:
            return _show(hosted.running().state, transactional_id)
        waiting.take(request.state.connection)
        return await while_there(request, _wait(hosted, transactional_id, query.state, query.timeout))


async def _wait(hosted: Hosted, transactional_id: str, state: str, seconds: float) -> TransactionInfo:
    """Raises Problem."""
    from kafkastub.views.transactions import view

    watchers = hosted.running().state.transactions.watchers
    found: asyncio.Future[TransactionInfo] = asyncio.get_running_loop().create_future()

    def look() -> None:
        transactions = hosted.running().state.transactions  # another one after a restore
        if found.done() or transactions.loading is not None:
            return
        now = view(transactions, transactional_id)
        if (_DEAD if now is None else now.state) == state:
            found.set_result(_nobody(transactional_id) if now is None else _info(now))

    look()
    watchers.append(look)
    try:
        return await hosted.wait(found, seconds)
    except TimeoutError:
        now = view(hosted.running().state.transactions, transactional_id)
        said = _DEAD if now is None else now.state
        why = f"transactional id {transactional_id!r} is {said} after {seconds:g} s, {state} was waited for"
        raise Problem(408, why) from None
    finally:
        watchers.remove(look)


def _add_ends(router: Endpoints, hosted: Hosted) -> None:
    @router.post(
        "/transactions/{transactional_id:path}/abort", summary="Abort an open transaction, as its timeout would"
    )
    async def abort(transactional_id: str) -> TransactionInfo:
        from kafkastub.views.transactions import abort

        broker = hosted.running()
        _show(broker.state, transactional_id)
        _done(
            hosted,
            lambda: abort(broker.state.transactions, transactional_id, *broker.clock.both()),
            f"transactional id {transactional_id!r}",
        )
        return _show(broker.state, transactional_id)

    @router.post(
        "/transactions/{transactional_id:path}/hold", summary="Hold the markers of a transactional id from now on"
    )
    async def hold(transactional_id: str) -> MarkerHold:
        if not transactional_id:
            raise Problem(400, "transactional_id='' is refused: use /v1/transactions/TRANSACTIONAL_ID/hold")
        transactions = hosted.running().state.transactions
        if len(transactions.held) >= MOST_LISTED:
            raise Problem(409, f"the markers of {MOST_LISTED} transactional ids are held already: release some")
        hosted.call(lambda: transactions.hold_markers(transactional_id))
        return MarkerHold(held=sorted(transactions.held))

    @router.post(
        "/transactions/{transactional_id:path}/release",
        summary="Write the held markers of a transactional id, and hold no more",
    )
    async def release(transactional_id: str) -> MarkerHold:
        broker = hosted.running()
        if not broker.state.has_transactions:
            return MarkerHold(held=[])
        transactions = broker.state.transactions
        _done(
            hosted,
            lambda: transactions.release_markers(transactional_id, *broker.clock.both()),
            f"transactional id {transactional_id!r}",
        )
        return MarkerHold(held=sorted(transactions.held))


def _add_hanging(router: Endpoints, hosted: Hosted) -> None:
    walks = Walks()

    @router.get("/hanging-transactions", summary="List open transactions that no coordinator will end")
    async def list_hanging() -> HangingList:
        from kafkastub.views.transactions import each_hanging, every_place

        state = hosted.running().state
        found = walks.through(each_hanging(state, _known(state), every_place(state)))
        try:
            return HangingList(hanging=[_hanging(one) async for one in found])
        except KafkaError as error:
            raise of_kafka(error, _COORDINATOR) from None

    @router.post(
        "/hanging-transactions",
        status_code=201,
        summary="Create a hanging transaction: a record of a producer that no coordinator knows",
    )
    async def hang(body: NewHanging) -> HangingInfo:
        from kafkastub.views.transactions import hang

        broker = hosted.running()
        where = f"partition {body.partition} of topic {body.topic!r}"
        now = broker.clock.broker_ms()
        return _hanging(
            _done(hosted, lambda: hang(broker.state, body.topic, body.partition, body.value.encode(), now), where)
        )

    @router.post(
        "/hanging-transactions/abort",
        summary="Abort a hanging transaction by writing an abort marker, as an administrator does",
    )
    async def end(body: HangingEnd) -> HangingInfo:
        from kafkastub.views.transactions import end_hanging, hanging

        broker = hosted.running()
        where = f"partition {body.partition} of topic {body.topic!r}"
        found = hanging(broker.state, _known(broker.state), [(body.topic, body.partition)])
        one = next((each for each in found if each.start_offset == body.start_offset), None)
        if one is None:
            raise Problem(404, f"{where} has no hanging transaction that begins at offset {body.start_offset}")
        _done(hosted, lambda: end_hanging(broker.state, one, broker.clock.broker_ms()), where)
        return _hanging(one)


def _done(hosted: Hosted, work: Callable[[], T], subject: str) -> T:
    """Raises Problem for what Kafka refuses."""
    try:
        return hosted.call(work)
    except KafkaError as error:
        raise of_kafka(error, subject) from None


def _info(one: TransactionView) -> TransactionInfo:
    return TransactionInfo(
        transactional_id=one.transactional_id,
        state=one.state,
        producer_id=one.producer_id,
        producer_epoch=one.producer_epoch,
        timeout_ms=one.timeout_ms,
        start=None if one.start_ms is None else iso(one.start_ms),
        partitions=[TopicPartition(topic=topic, partition=index) for topic, index in one.partitions],
        pending_markers=[TopicPartition(topic=topic, partition=index) for topic, index in one.pending_markers],
        held=one.held,
    )


def _nobody(transactional_id: str) -> TransactionInfo:
    """One that is not there."""
    return TransactionInfo(
        transactional_id=transactional_id,
        state=_DEAD,
        producer_id=-1,
        producer_epoch=-1,
        timeout_ms=0,
        start=None,
        partitions=[],
        pending_markers=[],
        held=False,
    )


def _hanging(one: HangingTransaction) -> HangingInfo:
    last = one.last_timestamp_ms
    return HangingInfo(
        topic=one.topic,
        partition=one.partition,
        producer_id=one.producer_id,
        producer_epoch=one.producer_epoch,
        start_offset=one.start_offset,
        last_timestamp=iso(last) if 0 <= last <= LAST_MS else None,
    )
