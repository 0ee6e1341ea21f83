"""/v1/protocol: the names that other requests take: APIs with the versions that are served, and errors."""

from __future__ import annotations

from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.shapes import example
from kafkastub.handlers.release import served_apis
from kafkawire.errors import ErrorCode


class ApiInfo(BaseModel):
    """An API that is served."""

    key: int
    name: str
    first: int = Field(description="version of the API")
    last: int = Field(description="version of the API")


class ErrorInfo(BaseModel):
    """An error code."""

    code: int
    name: str


class Protocol(BaseModel):
    """The APIs and error codes."""

    model_config = example(
        apis=[{"key": 8, "name": "OffsetCommit", "first": 2, "last": 10}],
        errors=[{"code": 16, "name": "NOT_COORDINATOR"}],
    )

    apis: list[ApiInfo]
    errors: list[ErrorInfo]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/protocol", tags=["journal"])

    @router.get("", summary="List the APIs that are served, and Kafka's error codes")
    async def protocol() -> Protocol:
        served = served_apis(hosted.running().config["kafkastub.as.version"])
        return Protocol(
            apis=[
                ApiInfo(key=key, name=key.camel, first=one.first, last=one.last) for key, one in sorted(served.items())
            ],
            errors=[ErrorInfo(code=code, name=code.name) for code in ErrorCode],
        )

    return router
