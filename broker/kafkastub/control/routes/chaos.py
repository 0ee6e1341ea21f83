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
    """One thing for chaos to do: `api`, `nth`, one of error, delay_ms, drop, behind and moves, and where."""

    model_config = body_example(api="OffsetCommit", nth=3, error="NOT_COORDINATOR")

    api: str
    nth: StrictInt = Field(1, description="which request of that API meets it")
    error: str | None = None
    delay_ms: StrictInt | None = None
    drop: str | None = Field(None, description="before or after the work")
    behind: str | None = Field(None, description="the API behind whose next request it arrives")
    moves: str | None = Field(None, description="session, leader, coordinators, stop, start or connections")
    group: str | None = None
    member: StrictInt | None = None
    topic: str | None = None
    partition: StrictInt | None = None
    node: StrictInt | None = None
    client_id: str | None = None
    transactional_id: str | None = None
    committed: bool | None = Field(None, description="of EndTxn: those alone that commit, or that abort")


class WantedChaos(Body):
    """A seed and how much of it; or the acts themselves."""

    model_config = body_example(seed=7, level=2)

    seed: StrictInt | None = Field(None, ge=0, lt=1 << 63)
    level: StrictInt = Field(
        1, ge=1, le=3, description="1: errors and late answers; 2: lost ones, moves; 3: nodes, too"
    )
    acts: list[ActBody] | None = Field(None, max_length=MOST_ACTS, description="in the place of a seed: each once")
    scenario: str | None = Field(None, description="in the place of a seed: a name (docs/chaos.md)")


class ActInfo(BaseModel):
    """One thing that was done."""

    number: int
    what: str
    again: dict[str, str | int | bool] | None = Field(description="as one of `acts`, to be played again")


class ChaosInfo(BaseModel):
    """What there is."""

    model_config = example(
        running=True, seed=7, level=2, played=None, left=0,
        acts=[{"number": 1, "what": "OffsetCommit #3: NOT_COORDINATOR",
               "again": {"api": "OffsetCommit", "nth": 3, "error": "NOT_COORDINATOR"}}],
    )  # fmt: skip

    running: bool = Field(description="whether requests meet it")
    seed: int | None = Field(description="null where there never was any; that of the last one where it was stopped")
    level: int | None
    played: int | None = Field(description="how many acts the list has that is played; null where a seed decides")
    left: int = Field(description="those of them that are still to come")
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

    @router.get("", summary="The seed, and what it has done")
    async def show() -> ChaosInfo:
        return info()

    @router.put("", summary="From now on requests meet what the seed decides, or the acts; another one is over")
    async def start(wanted: WantedChaos) -> ChaosInfo:
        hosted.running()
        if sum(one is not None for one in (wanted.seed, wanted.acts, wanted.scenario)) != 1:
            raise Problem(400, "one of seed, acts and scenario is wanted")
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

    @router.delete("", summary="From now on requests meet nothing of it; nodes that it has stopped come back")
    async def stop() -> ChaosInfo:
        hosted.running()
        hosted.chaos.stop()
        return info()

    return router
