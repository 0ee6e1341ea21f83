"""/: what a browser or curl comes to first."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.shapes import example
from kafkastub.version import __version__


class Index(BaseModel):
    """What there is."""

    model_config = example(
        version="0.1.0",
        bootstrap_servers="127.0.0.1:9092",
        description="/docs",
        requests={"GET /health": "200 once the port answers and the topics that were asked for are there"},
    )

    version: str = Field(description="of kafkastub")
    bootstrap_servers: str | None = Field(description="what Kafka's clients are given; null before it is up")
    description: str = Field(description="where requests and answers are described, for a browser")
    requests: dict[str, str] = Field(description="what can be asked, and what it is for")


def routes(hosted: Hosted) -> APIRouter:
    """The endpoint."""
    router = APIRouter(tags=["health"])

    @router.get("/", summary="What there is")
    async def index(request: Request) -> Index:
        paths = request.app.openapi()["paths"]
        return Index(
            version=__version__,
            bootstrap_servers=None if hosted.broker is None else hosted.broker.bootstrap_servers,
            description="/docs",
            requests={
                f"{method.upper()} {path}": operation["summary"]
                for path, operations in paths.items()
                for method, operation in operations.items()
            },
        )

    return router
