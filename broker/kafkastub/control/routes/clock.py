"""/v1/clock: broker time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictBool, WithJsonSchema

from kafkastub.config.durations import milliseconds
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, named
from kafkastub.control.routes.shapes import Body, Text, body_example, example, iso

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class ClockState(BaseModel):
    """Broker time after the request."""

    model_config = example(now="2026-03-01T12:00:00.000Z", now_ms=1772366400000, frozen=True)

    now: str = Field(description="broker time, ISO 8601 in UTC")
    now_ms: int = Field(description="the same in Unix milliseconds")
    frozen: bool = Field(description="whether broker time stands still until it is moved")


class SetClock(Body):
    """A point in time."""

    model_config = body_example(to="2026-03-01T12:00:00Z")

    to: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}]})] = Field(
        description="ISO 8601 with a time zone, or Unix milliseconds"
    )


class Advance(Body):
    """A step forward; durations add up."""

    model_config = body_example(by="7d")

    by: Text | None = Field(None, description="a duration such as 7d, 90m or 1h30m")
    days: Number = 0
    hours: Number = 0
    minutes: Number = 0
    seconds: Number = 0
    milliseconds: Number = 0
    timers: StrictBool = Field(
        False, description="whether session timeouts, rebalances and long polls advance by the same time"
    )


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/clock", tags=["clock"])

    def state() -> ClockState:
        clock = hosted.running().clock
        now = clock.broker_ms()
        return ClockState(now=iso(now), now_ms=now, frozen=clock.frozen)

    @router.get("", summary="Return broker time")
    async def show() -> ClockState:
        return state()

    @router.post("/freeze", summary="Stop broker time")
    async def freeze() -> ClockState:
        hosted.clock.freeze()
        return state()

    @router.post("/unfreeze", summary="Let broker time run again from where it stopped")
    async def unfreeze() -> ClockState:
        hosted.clock.unfreeze()
        return state()

    @router.post("/set", summary="Set broker time; it can go back only on a broker without groups and records")
    async def set_clock(body: SetClock) -> ClockState:
        try:
            hosted.clock.set(_moment(body.to))
        except ValueError as error:
            raise Problem(400, f"to={named(body.to)} is refused: {error}") from None
        await hosted.kept()
        return state()

    @router.post("/advance", summary="Move broker time forward, and do everything that becomes due")
    async def advance(body: Advance) -> ClockState:
        try:
            by = None if body.by is None else timedelta(milliseconds=milliseconds(body.by))
        except OverflowError:
            raise Problem(400, f"by={body.by!r} is refused: broker time ends with the year 9999, in UTC") from None
        except ValueError as error:
            raise Problem(400, f"by={body.by!r} is refused: {error}") from None
        units = {name: getattr(body, name) for name in ("days", "hours", "minutes", "seconds", "milliseconds")}
        given = [name for name in body.model_fields_set if name != "timers"]
        if not given:
            raise Problem(400, 'by is missing: expected a duration such as "7d", or days, hours, minutes …')
        try:
            hosted.clock.advance(by, timers=body.timers, **units)
        except ValueError as error:
            raise Problem(400, f"{', '.join(sorted(given))}: {error}") from None
        await hosted.kept()
        return state()

    return router


def _moment(to: object) -> datetime | int:
    """Raises ValueError."""
    if isinstance(to, int) and not isinstance(to, bool):
        return to
    try:
        moment = datetime.fromisoformat(to)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError("expected a time in ISO 8601, or Unix milliseconds") from None
    if moment.tzinfo is None:
        raise ValueError("it has no time zone: Z at the end makes it UTC")
    return moment
