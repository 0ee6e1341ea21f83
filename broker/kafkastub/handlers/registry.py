"""The one place that says which APIs exist.

`@handles(ApiKey.X, first, last, error_response=…)` registers a handler for a range of versions. Dispatch and the
coverage document are derived from what is registered here; the answer to ApiVersions from `offers`, which says the same
before any handler is loaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.offers import OFFERS
from kafkastub.handlers.outcome import Outcome
from kafkawire import catalogue
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages import REQUESTS
from kafkawire.schema import Message

Handler = Callable[[RequestContext, Any], Outcome]
ErrorResponse = Callable[[Any, ErrorCode, int], Message]
"""(request, code, version) -> the answer with that code at the level where the API has one."""


@dataclass(frozen=True)
class Registration:
    """One API as it is served."""

    key: ApiKey
    first: int
    last: int
    handler: Handler
    error_response: ErrorResponse
    advertised_first: int
    """What ApiVersions says; below `first` the connection is closed (Kafka advertises Produce from 0, KAFKA-18659)."""
    advertised: bool
    """Whether ApiVersions lists it; a client that asks nevertheless is answered."""

    @property
    def module(self) -> str:
        return self.handler.__module__

    def request_class(self) -> type[Message]:
        return catalogue.request_class(self.key)

    def response_class(self) -> type[Message]:
        return catalogue.response_class(self.key)


_registered: dict[ApiKey, Registration] = {}

F = TypeVar("F", bound=Callable[..., Outcome])


def handles(
    key: ApiKey,
    first: int,
    last: int,
    *,
    error_response: ErrorResponse,
    advertised_first: int | None = None,
    advertised: bool = True,
) -> Callable[[F], F]:
    """Register the decorated `(ctx, request) -> Outcome` for versions `first` to `last`, both included.

    Raises ValueError at import for an API that has a handler already, or versions that its messages do not have.
    """
    known_first, known_last = REQUESTS[key][2]
    if not known_first <= first <= last <= known_last:
        raise ValueError(f"{key.name} has versions {known_first}-{known_last}, not {first}-{last}")

    def register(handler: F) -> F:
        if key in _registered:
            raise ValueError(f"{key.name} is handled by {_registered[key].module} already")
        lowest = first if advertised_first is None else advertised_first
        _registered[key] = Registration(
            key,
            first,
            last,
            cast(Handler, handler),
            error_response,
            lowest,
            advertised,
        )
        return handler

    return register


def registration(key: ApiKey) -> Registration:
    """One API; imports its module (`k08_offset_commit` …) at the first call. Raises KeyError where there is none."""
    found = _registered.get(key)
    if found is None:
        importlib.import_module(f"kafkastub.handlers.{OFFERS[key].module}")
        found = _registered[key]
    return found


def is_loaded(key: ApiKey) -> bool:
    """Whether the API's handler is there already."""
    return key in _registered


@lru_cache(maxsize=1)
def registrations() -> dict[ApiKey, Registration]:
    """Every API that is served, by key, with all of their modules."""
    return {key: registration(key) for key in OFFERS}
