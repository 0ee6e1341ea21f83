"""/v1/chaos: trouble that every correct client survives, by a seed (docs/chaos.md)."""

from __future__ import annotations

from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, body_example, example
from kafkastub.faults import FaultError

_SHOWN = 100


class Wanted(Body):
    """A seed and how much of it."""

    model_config = body_example(seed=7, level=2)

    seed: StrictInt = Field(ge=0, lt=1 << 63)
    level: StrictInt = Field(
        1, ge=1, le=3, description="1: errors and late answers; 2: lost ones, moves; 3: nodes, too"
    )


class ActInfo(BaseModel):
    """One thing that was done."""

    number: int
    what: str


class ChaosInfo(BaseModel):
    """What there is."""

    model_config = example(
        running=True, seed=7, level=2, acts=[{"number": 1, "what": "OffsetCommit #3: NOT_COORDINATOR"}]
    )

    running: bool = Field(description="whether requests meet it")
    seed: int | None = Field(description="null where there never was any; that of the last one where it was stopped")
    level: int | None
    acts: list[ActInfo] = Field(description=f"the last {_SHOWN} things that it has done, oldest first")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/chaos", tags=["chaos"])

    def info() -> ChaosInfo:
        chaos = hosted.chaos
        acts = [ActInfo(number=act.number, what=act.what) for act in chaos.acts[-_SHOWN:]]
        return ChaosInfo(running=chaos.running, seed=chaos.seed, level=chaos.level, acts=acts)

    @router.get("", summary="The seed, and what it has done")
    async def show() -> ChaosInfo:
        return info()

    @router.put("", summary="From now on requests meet what the seed decides; another one is over")
    async def start(wanted: Wanted) -> ChaosInfo:
        hosted.running()
        try:
            hosted.chaos.start(wanted.seed, wanted.level)
        except FaultError as error:
            raise Problem(400, str(error)) from None
        return info()

    @router.delete("", summary="From now on requests meet nothing of it; nodes that it has stopped come back")
    async def stop() -> ChaosInfo:
        hosted.running()
        hosted.chaos.stop()
        return info()

    return router
