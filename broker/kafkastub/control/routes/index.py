"""/: what a program is told that comes there first; a browser gets the page."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.prepared import Description
from kafkastub.control.routes.page import Page, wants_page
from kafkastub.control.routes.shapes import example
from kafkastub.version import __version__


class Index(BaseModel):
    """The requests that this port serves."""

    model_config = example(
        version="1.0.0",
        bootstrap_servers="127.0.0.1:9092",
        description="/docs",
        requests={"GET /health": "Report 200 when the broker serves and the given topics exist"},
    )

    version: str = Field(description="version of kafkastub")
    bootstrap_servers: str | None = Field(description="bootstrap.servers for clients; null before the broker serves")
    description: str = Field(description="address of the API description, for a browser")
    requests: dict[str, str] = Field(description="requests with their summaries")


def routes(hosted: Hosted, page: Page) -> Endpoints:
    """The endpoint."""
    router = Endpoints(tags=["health"])
    description = Description()

    @router.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        return Response((await description.of(request.app))[1], media_type="application/json")

    @router.get("/", summary="List the requests; a browser gets the page", response_model=Index)
    async def index(request: Request, response: Response) -> Index | Response:
        if wants_page(request):
            return page.index(request)
        response.headers["vary"] = "Accept"
        paths = (await description.of(request.app))[0]["paths"]
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
