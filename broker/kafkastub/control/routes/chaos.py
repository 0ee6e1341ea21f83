"""/v1/chaos: trouble that every correct client survives, by a seed or act by act (docs/chaos.md)."""

from __future__ import annotations

from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, body_example, example
from kafkastub.faults import ChaosAct, FaultError
from kafkastub.faults.acts import MOST_ACTS

_SHOWN = 100


class ActBody(Body):
    """One act of chaos: `api`, `nth`, one of error, delay_ms, drop, behind and moves, and where it applies."""

    model_config = body_example(api="OffsetCommit", nth=3, error="NOT_COORDINATOR")

    api: str
    nth: StrictInt = Field(1, description="which request of that API is affected, counted from 1")
    error: str | None = None
    delay_ms: StrictInt | None = None
    drop: str | None = Field(None, description="close the connection before or after the broker has done the work")
    behind: str | None = Field(None, description="the API after whose next request this one is delivered")
    moves: str | None = Field(None, description="session, leader, coordinators, stop, start or connections")
    group: str | None = None
    member: StrictInt | None = None
    topic: str | None = None
    partition: StrictInt | None = None
    node: StrictInt | None = None
    client_id: str | None = None
    transactional_id: str | None = None
    committed: bool | None = Field(None, description="of EndTxn: only commits (true) or only aborts (false)")


class WantedChaos(Body):
    """A seed and its level, a scenario, or a list of acts."""

    model_config = body_example(seed=7, level=2)

    seed: StrictInt | None = Field(None, ge=0, lt=1 << 63)
    level: StrictInt = Field(
        1, ge=1, le=3, description="1: errors and late answers; 2: also lost answers and moves; 3: also nodes that stop"
    )
    acts: list[ActBody] | None = Field(
        None, max_length=MOST_ACTS, description="instead of a seed: acts to do, each once"
    )
    scenario: str | None = Field(None, description="instead of a seed: name of a scenario (docs/chaos.md)")


class ActInfo(BaseModel):
    """An act that chaos has done."""

    number: int
    what: str
    again: dict[str, str | int | bool] | None = Field(
        description="the same thing as an element of `acts`, to repeat it"
    )


class ChaosInfo(BaseModel):
    """The state of chaos."""

    model_config = example(
        running=True, seed=7, level=2, played=None, left=0,
        acts=[{"number": 1, "what": "OffsetCommit #3: NOT_COORDINATOR",
               "again": {"api": "OffsetCommit", "nth": 3, "error": "NOT_COORDINATOR"}}],
    )  # fmt: skip

    running: bool = Field(description="whether chaos is on")
    seed: int | None = Field(description="the seed, after a stop the last one; null if there never was one")
    level: int | None
    played: int | None = Field(description="number of acts in the list; null with a seed")
    left: int = Field(description="how many acts of the list are still to come")
    acts: list[ActInfo] = Field(description=f"the last {_SHOWN} things that it has done, oldest first")


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/chaos", tags=["chaos"])

    def info() -> ChaosInfo:
        chaos = hosted.chaos
        acts = [
            ActInfo(number=act.number, what=act.what, again=None if act.again is None else act.again.to_dict())
            for act in chaos.acts[-_SHOWN:]
        ]
        played = None if chaos.played is None else len(chaos.played)
        return ChaosInfo(
            running=chaos.running, seed=chaos.seed, level=chaos.level, played=played, left=chaos.left, acts=acts
        )

    @router.get("", summary="Return the seed, and what chaos has done")
    async def show() -> ChaosInfo:
        return info()

    @router.put("", summary="Start chaos from a seed, a scenario or a list of acts; it replaces the previous one")
    async def start(wanted: WantedChaos) -> ChaosInfo:
        hosted.running()
        if sum(one is not None for one in (wanted.seed, wanted.acts, wanted.scenario)) != 1:
            raise Problem(400, "give one of seed, acts and scenario")
        try:
            if wanted.acts is not None:
                hosted.chaos.play([ChaosAct.from_dict(act.model_dump(exclude_none=True)) for act in wanted.acts])
            elif wanted.scenario is not None:
                hosted.chaos.scenario(wanted.scenario)
            elif wanted.seed is not None:
                hosted.chaos.start(wanted.seed, wanted.level)
        except FaultError as error:
            raise Problem(400, str(error)) from None
        return info()

    @router.delete("", summary="Stop chaos and start the nodes that it stopped")
    async def stop() -> ChaosInfo:
        hosted.running()
        hosted.chaos.stop()
        return info()

    return router
