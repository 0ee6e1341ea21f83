"""/health and /metrics, where orchestrators and Prometheus look for them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.metrics import CONTENT_TYPE, exposition
from kafkastub.control.routes.shapes import Body, example
from kafkastub.version import __version__


class Health(BaseModel):
    """Whether the broker is ready for clients."""

    model_config = example(status="healthy", missing=[], bootstrap_servers="127.0.0.1:9092", version="1.0.0")

    status: str = Field(description="healthy or unhealthy")
    missing: list[str] = Field(description="what is missing, one sentence each")
    bootstrap_servers: str | None
    version: str


class HealthQuery(Body):
    """What has to be there beside the topics that were asked for at the start."""

    topic: list[str] = Field(
        default_factory=list, max_length=1000, description="a topic that must exist; may be given several times"
    )


_UNHEALTHY: dict[int | str, dict[str, Any]] = {
    503: {
        "model": Health,
        "description": "Something is missing",
        "content": {
            "application/json": {
                "example": {
                    "status": "unhealthy",
                    "missing": ["topic 'orders' does not exist"],
                    "bootstrap_servers": "127.0.0.1:9092",
                    "version": __version__,
                }
            }
        },
    }
}


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(tags=["health"])

    @router.get(
        "/health",
        summary="Report 200 when the broker serves and the given topics exist",
        response_model=Health,
        responses=_UNHEALTHY,
    )
    async def health(query: Annotated[HealthQuery, Query()]) -> JSONResponse:
        missing = _missing(hosted, query.topic)
        broker = hosted.broker
        told = Health(
            status="unhealthy" if missing else "healthy",
            missing=missing,
            bootstrap_servers=None if broker is None else broker.bootstrap_servers,
            version=__version__,
        )
        return JSONResponse(told.model_dump(), 503 if missing else 200)

    @router.get(
        "/metrics",
        summary="Return the metrics in Prometheus' text format",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}},
    )
    async def metrics() -> Response:
        return Response(exposition(hosted.running()), media_type=CONTENT_TYPE)

    return router


def _missing(hosted: Hosted, topics: list[str]) -> list[str]:
    broker = hosted.broker
    if broker is None:
        return ["the broker is not up yet"]
    wanted = dict.fromkeys([*hosted.topics, *topics])
    missing = [f"topic {name!r} does not exist" for name in wanted if broker.state.cluster.topic(name) is None]
    if not broker.is_open:
        missing.append("no node is running")
    if broker.state.groups.loading is not None:
        missing.append("the group coordinator is being loaded")
    return missing
