"""The application of the control port: its routes, its errors, its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from kafkastub.control.endpoints import Application, Endpoints, Part, Serving, Shared
from kafkastub.control.hosted import Hosted
from kafkastub.control.keys import Keys
from kafkastub.control.problems import OUR_FAULT, Problem, of_kafka, of_validation
from kafkastub.control.routes import (
    acls,
    broker,
    causes,
    chaos,
    check,
    clock,
    configs,
    events,
    faults,
    findings,
    forecast,
    group_lists,
    group_partitions,
    group_waits,
    groups,
    health,
    holds,
    index,
    journal,
    nodes,
    page,
    protocol,
    quiet,
    quotas,
    record_views,
    records,
    share_groups,
    snapshots,
    streams_groups,
    summary,
    topic_waits,
    topics,
    transactions,
)
from kafkastub.version import __version__
from kafkawire.errors import KafkaError

_ABOUT: Final = """Controls a Kafka broker for tests: clock, faults, journal, topics, groups, transactions and more.

An error is returned as `{"error": "one sentence"}`. Each call happens between two requests of Kafka's clients. When it
has returned, they see its effects. docs/control.md is the guide."""


class Error(BaseModel):
    """The body of every answer with a status of 400 or more."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "topic 'orders' does not exist"}]})

    error: str = Field(description="one sentence: what is wrong, and where")
    code: str | None = Field(None, description="name of Kafka's error code, if the refusal is Kafka's")


FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": Error, "description": "The request was refused"},
    "5XX": {"model": Error, "description": "The request cannot be served now"},
}


def make_app(hosted: Hosted, keys: Keys | None = None) -> Serving:
    """The application that serves one hosted broker."""
    subjects = (
        clock, forecast, faults, holds, chaos, check, causes, snapshots, journal, quiet, topics, topic_waits, records,
        record_views,
        group_waits, group_lists, group_partitions, findings, groups, share_groups, streams_groups, transactions,
        quotas, acls, nodes, broker, configs, protocol, summary, events,
    )  # fmt: skip
    return _OF_BROKERS.serving(
        parts(hosted, keys, [subject.routes(hosted) for subject in subjects], health.routes(hosted))
    )


def parts(hosted: Hosted, keys: Keys | None, subjects: Sequence[Endpoints], of_health: Endpoints) -> list[Part]:
    """The page, and these endpoints, those of `subjects` below /v1."""
    shown = page.Page(Keys() if keys is None else keys)
    return [
        # FastAPI makes a route ready when a request is first compared with it: the page comes before all the others.
        Part(page.routes(shown), {}),
        Part(index.routes(hosted, shown), {}),
        *(Part(subject, {"prefix": "/v1", "responses": FAILURES}) for subject in subjects),
        Part(of_health, {}),
    ]


def application(
    found: Sequence[Part], title: str = "kafkastub control port", about: str = _ABOUT, guide: str = "/docs"
) -> Application:
    """An application of these endpoints, with errors as ours are told; `guide` is what they point to."""
    app = Application(
        found,
        title=title,
        version=__version__,
        description=about,
        redirect_slashes=False,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.guide = guide
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(KafkaError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_exception_handler(Exception, _not_foreseen)
    return app


async def _problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return JSONResponse(error.body(), error.status)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """What nobody expected to be refused there: the disk takes no more."""
    assert isinstance(error, KafkaError)
    return await _problem(request, of_kafka(error, "the request"))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return await _problem(request, of_validation(error.errors()))


async def _not_served(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    guide = request.app.state.guide
    if error.status_code == 404:
        return JSONResponse({"error": f"there is nothing at {request.url.path}: see {guide}"}, 404)
    if error.status_code == 405:
        sentence = f"{request.url.path} cannot be asked with {request.method}: see {guide}"
        return JSONResponse({"error": sentence}, 405, headers=error.headers)
    sentence = str(error.detail)
    if error.status_code == 400:  # FastAPI's own word for what Python's parser cannot bear
        sentence = "the body cannot be read as JSON"
    return JSONResponse({"error": sentence}, error.status_code, headers=error.headers)


async def _not_foreseen(request: Request, error: Exception) -> JSONResponse:
    """Goes on to the guard, which logs it."""
    return await _problem(request, OUR_FAULT)


_OF_BROKERS: Final = Shared(application)
