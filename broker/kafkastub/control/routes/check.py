"""/v1/check: what the application did to its records (docs/guarantees.md)."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, example
from kafkastub.server.broker import Broker

_EXAMPLE = {
    "guarantee": "skipped",
    "cause": "worker-6f1e2a3b committed 10, past records that the group was never given",
    "broker_ms": 1767225600000,
    "entries": [14, 15],
    "topic": "orders",
    "partition": 0,
    "offsets": [{"first": 5, "last": 9}],
    "group": "billing",
    "members": ["worker-6f1e2a3b"],
    "timeline": [
        {"entry": 15, "broker_ms": 1767225600000, "what": "committed", "who": "worker", "first": 10, "last": None}
    ],
    "jepsen": "lost write, poll skip",
    "advice": {"java": "Commit …", "librdkafka": "Store …", "franz-go": "Use …"},
}


class Asked(Body):
    """Which guarantees."""

    guarantee: list[str] = Field([], description="guarantees to check; by default those that clients can keep")
    ignoring: list[str] = Field([], description="guarantees to leave out")


class Offsets(BaseModel):
    """A range of offsets."""

    first: int
    last: int


class StepInfo(BaseModel):
    """An event in the partition's history."""

    entry: int = Field(description="number of the journal's entry")
    broker_ms: int
    what: str = Field(description='"given", "given again", "committed", "owned by" …')
    who: str
    first: int | None = Field(description="first offset; for a commit the committed offset")
    last: int | None


class GuaranteeFinding(BaseModel):
    """A guarantee that was not kept."""

    model_config = example(**_EXAMPLE)

    guarantee: str
    cause: str = Field(description="one sentence")
    broker_ms: int
    entries: list[int] = Field(description="numbers of the journal's entries that show it")
    topic: str | None
    partition: int | None
    offsets: list[Offsets]
    group: str | None
    members: list[str]
    timeline: list[StepInfo]
    jepsen: str | None = Field(description="Jepsen's name for it")
    advice: dict[str, str] = Field(description="what to do about it, for each client: java, librdkafka, franz-go")


class VerdictInfo(BaseModel):
    """The result of the check."""

    model_config = example(
        ok=False, findings=[_EXAMPLE], notices=[], undecided=[], looked_at={"requests": 17, "commits": 2}
    )

    ok: bool = Field(description="true if there is no finding")
    findings: list[GuaranteeFinding]
    notices: list[GuaranteeFinding] = Field(description="what Kafka does not promise, or what may be intended")
    undecided: list[str] = Field(description="what cannot be decided, and why")
    looked_at: dict[str, int]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/check", tags=["check"])

    @router.get("", summary="Check guarantees: which records were lost, duplicated or reordered, as the journal shows")
    async def check(asked: Annotated[Asked, Query()]) -> VerdictInfo:
        broker = hosted.running()
        follower = hosted.follower()
        follower.catch_up()
        await asyncio.to_thread(follower.settle)
        try:
            verdict = follower.verdict(
                asked.guarantee or None,
                asked.ignoring,
                lambda partition, *ends: _look(broker, partition, *ends),
                lambda group: _limit(broker, group),
            )
        except ValueError as error:
            raise Problem(400, str(error)) from None
        return VerdictInfo.model_validate(verdict.to_json())

    return router


def _look(broker: Broker, partition: tuple[str, int], start: int, end: int) -> list[tuple[int, int]] | None:
    """Where a stub's log has records; a proxy has none."""
    state = getattr(broker, "state", None)
    if state is None:
        return None
    from kafkastub.views.records import offsets

    return offsets(state, *partition, start, end)


def _limit(broker: Broker, group: str) -> int | None:
    """How often a stub delivers a record to a share group; of a proxy's cluster nobody knows."""
    state = getattr(broker, "state", None)
    if state is None:
        return None
    from kafkastub.views.share_groups import delivery_limit

    return delivery_limit(state, group)
