"""/v1/clock/forecast: what would be gone if broker time went on, before it does."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.config.durations import LAST_MS, milliseconds
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.expiry_rules import why
from kafkastub.control.routes.of_groups import loaded
from kafkastub.control.routes.shapes import Body, Limit, example, iso
from kafkastub.control.walks import Walks
from kafkastub.findings.finding import many

if TYPE_CHECKING:
    from kafkastub.views.forecast import Due

_MOST_HORIZONS: Final = 10


class DueInfo(BaseModel):
    """What expires, and when."""

    model_config = example(
        at="2026-03-08T12:00:00.000Z", at_ms=1772971200000, in_ms=604800000, kind="offsets", count=2,
        what="2 committed offsets of group 'shipping' on orders-0, orders-1", group="shipping", topic="orders",
        partitions=[0, 1], rule="group_empty",
        why="the group has no members: its offsets are kept for offsets.retention.minutes (10,080) from then on",
    )  # fmt: skip

    at: str = Field(description="broker time")
    at_ms: int = Field(description="the same in Unix milliseconds")
    in_ms: int = Field(description="milliseconds from now; negative if it is due and is deleted in the next sweep")
    kind: str = Field(description="offsets, group, transactional_id, producer, records or delegation_token")
    count: int = Field(description="number of offsets or records; otherwise 1")
    what: str = Field(description="what expires, in words")
    why: str = Field(description="the rule, in words")
    rule: str | None = Field(None, description="for offsets: own_retention, group_empty, not_subscribed or simple")
    group: str | None = None
    topic: str | None = None
    partitions: list[int] = Field(description="the partitions; only some of them if there are many")
    transactional_id: str | None = None
    producer_id: int | None = None
    token_id: str | None = None
    first_offset: int | None = Field(None, description="of records")
    last_offset: int | None = Field(None, description="of records")
    last_at: str | None = Field(None, description="when the last of the records expires; `at` is for the first")


class Horizon(BaseModel):
    """How much has expired by then."""

    within: str
    until: str
    until_ms: int
    counts: dict[str, int] = Field(description="number of items by kind; each offset and each record counts")


class Forecast(BaseModel):
    """What expires if only broker time moves on, the earliest first."""

    now: str
    now_ms: int
    horizons: list[Horizon] = Field(description="one item for each `within`, in the same order")
    due: list[DueInfo] = Field(description="at most `limit` items, up to the last horizon")
    total: int = Field(description="total number, listed or not")
    sweep_in_ms: int | None = Field(
        description="milliseconds until the next sweep for offsets; null if nothing is due now"
    )
    clean_in_ms: int | None = Field(
        description="milliseconds until the next cleaning of logs; null if nothing is due now"
    )
    offsets_retention_minutes: int = Field(description="the configured value; negative: offsets are kept for ever")


class ForecastQuery(Body):
    """How far, and how much."""

    within: list[str] = Field(
        ["7d"],
        min_length=1,
        max_length=_MOST_HORIZONS,
        description="a duration such as 7d, 90m or 1h30m; may be given several times",
    )
    kind: list[str] = Field([], max_length=10, description="only this kind; may be given several times")
    group: str | None = Field(None, description="only of this group")
    limit: Limit = 100


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/clock", tags=["clock"])
    walks = Walks()

    @router.get("/forecast", summary="List what expires if broker time moves forward, the earliest first")
    async def forecast(query: Annotated[ForecastQuery, Query()]) -> Forecast:
        from kafkastub.views.forecast import KINDS, due

        broker, state = hosted.running(), loaded(hosted)
        for kind in query.kind:
            if kind not in KINDS:
                raise Problem(400, f"kind={kind[:100]!r} is refused: {', '.join(KINDS)} are known")
        now = broker.clock.broker_ms()
        horizons = [(text, _until(now, text)) for text in query.within]
        collected = _Collected([until for _, until in horizons], query.limit, dict.fromkeys(KINDS, 0))
        async for one in walks.through(due(state, now, collected.horizons)):
            if (not query.kind or one.kind in query.kind) and query.group in (None, one.group):
                collected.add(one)
        minutes = state.config["offsets.retention.minutes"]
        first = collected.earliest()
        sweep, clean = None, None
        if first and first[0].at <= now:
            sweep, clean = state.until_rounds(broker.clock.timer_ms())
        return Forecast(
            now=iso(now),
            now_ms=now,
            horizons=[
                Horizon(within=text, until=iso(until), until_ms=until, counts=counts)
                for (text, until), counts in zip(horizons, collected.counts, strict=True)
            ],
            due=[one async for one in walks.through(_info(each, now, minutes) for each in first)],
            total=collected.total,
            sweep_in_ms=sweep,
            clean_in_ms=clean,
            offsets_retention_minutes=minutes,
        )

    return router


class _Collected:
    """The earliest so many of what comes in no order, and how many there are."""

    def __init__(self, horizons: list[int], most: int, none: dict[str, int]) -> None:
        self.counts = [dict(none) for _ in horizons]
        self.total = 0
        self.horizons = horizons
        self._most = most
        self._latest_first: list[tuple[int, int, Due]] = []
        self._serial = count()

    def add(self, one: Due) -> None:
        self.total += 1
        for number, counts in enumerate(self.counts):
            if one.at <= self.horizons[number]:
                counts[one.kind] += one.by[number] if one.by else one.many
        item = (-one.at, -next(self._serial), one)
        if len(self._latest_first) < self._most:
            heapq.heappush(self._latest_first, item)
        else:
            heapq.heappushpop(self._latest_first, item)

    def earliest(self) -> list[Due]:
        return [one for _, _, one in sorted(self._latest_first, reverse=True)]


def _until(now: int, text: str) -> int:
    """Raises Problem."""
    try:
        until = now + milliseconds(text)
    except (ValueError, OverflowError) as error:
        raise Problem(400, f"within={text[:100]!r} is refused: {error}") from None
    if not now <= until <= LAST_MS:
        raise Problem(400, f"within={text[:100]!r} is refused: no date is as late as that, or it is in the past")
    return until


def _info(one: Due, now: int, minutes: int) -> DueInfo:
    values: dict[str, Any] = one._asdict()
    for name in ("at", "many", "rule", "last_at", "partitions", "by"):
        del values[name]
    return DueInfo(
        **values,
        at=iso(one.at),
        at_ms=one.at,
        in_ms=one.at - now,
        count=one.many,
        what=_what(one),
        why=why(one.rule, minutes) if one.rule is not None else _WHY[one.kind],
        rule=one.rule,
        partitions=list(one.partitions),
        last_at=None if one.last_at is None else iso(one.last_at),
    )


def _what(one: Due) -> str:
    """In words."""
    places = ", ".join(f"{one.topic}-{index}" for index in one.partitions)
    if one.kind == "offsets":
        more = one.many - len(one.partitions)
        rest = f" and {more} more" if more else ""
        return f"{many(one.many, 'committed offset')} of group {one.group!r} on {places}{rest}"
    if one.kind == "records":
        return f"{many(one.many, 'record')} of {places}, offsets {one.first_offset} to {one.last_offset}"
    return {
        "group": f"group {one.group!r} itself",
        "transactional_id": f"transactional id {one.transactional_id!r}",
        "producer": f"what {places} knows of producer {one.producer_id}",
    }.get(one.kind, f"delegation token {one.token_id}")


_WHY: Final = {
    "group": "it has no members, and with the last of its offsets nothing is left of it",
    "transactional_id": "it had no open transaction for transactional.id.expiration.ms",
    "producer": "it has written nothing there for producer.id.expiration.ms",
    "records": "they are older than the topic's retention.ms",
    "delegation_token": "its time is over",
}
