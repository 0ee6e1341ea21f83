"""Endpoints of one broker, and the application that all brokers of a process have in common.

FastAPI takes a fifth of a second to make an application of them, and nothing that it makes belongs to a broker but the
functions. So the first broker's endpoints are described to it once, each by a stand-in of the same signature; the
stand-in calls the function of the broker that is asked, which the request's scope has (`Serving`). The application
keeps nothing of the broker that was the first, and may be asked in several threads.
"""

from __future__ import annotations

import inspect
import itertools
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, FastAPI
from starlette.requests import HTTPConnection

from kafkastub.control.guard import Receive, Scope, Send

Function = Callable[..., Awaitable[Any]]
F = TypeVar("F", bound=Function)

_FUNCTIONS: Final = "kafkastub.functions"
"""In a request's scope: what the broker's endpoints call, in the order of the application's stand-ins."""
_CONNECTION: Final = "kafkastub_connection"
"""The parameter by which a stand-in gets at the scope."""


MAKING: Final = threading.Lock()
"""Held while FastAPI makes something of endpoints: it changes what the process does about warnings meanwhile."""


class Endpoint(NamedTuple):
    """What answers requests to a path; `options` is what else FastAPI is given."""

    path: str
    methods: tuple[str, ...]
    function: Function
    options: dict[str, Any]


class Endpoints:
    """Those of one subject. Its decorators are FastAPI's, as far as they are used."""

    def __init__(self, **options: Any) -> None:
        """`options` is what FastAPI's router is given: `prefix`, `tags`, `include_in_schema`."""
        self.options = options
        self.checks: list[Function] = []
        """Called before each, and before what is asked has been found to be valid."""
        self.all: list[Endpoint] = []

    @property
    def functions(self) -> list[Function]:
        """All that belongs to the broker."""
        return [*self.checks, *(one.function for one in self.all)]

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """What is the same for each broker: as long as `functions`."""
        return [*(("", ()) for _ in self.checks), *((one.path, one.methods) for one in self.all)]

    def add_api_route(self, path: str, function: Function, *, methods: Sequence[str], **options: Any) -> None:
        self.all.append(Endpoint(path, tuple(methods), function, options))

    def api_route(self, path: str, *, methods: Sequence[str], **options: Any) -> Callable[[F], F]:
        def add(function: F) -> F:
            self.add_api_route(path, function, methods=methods, **options)
            return function

        return add

    def get(self, path: str, **options: Any) -> Callable[[F], F]:
        return self.api_route(path, methods=["GET"], **options)

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        return self.api_route(path, methods=["POST"], **options)

    def put(self, path: str, **options: Any) -> Callable[[F], F]:
        return self.api_route(path, methods=["PUT"], **options)

    def delete(self, path: str, **options: Any) -> Callable[[F], F]:
        return self.api_route(path, methods=["DELETE"], **options)


class Part(NamedTuple):
    """Endpoints, and what FastAPI is given where they are included: `prefix`, `responses`."""

    endpoints: Endpoints
    included: dict[str, Any]


class Application(FastAPI):
    """What is shared: routes, their checks and their description.

    Attributes:
        is_ready: whether all routes were made ready (`prepared`).
        described: the description as it is, and as JSON; None before `describe`.
    """

    def __init__(self, parts: Sequence[Part], **options: Any) -> None:
        super().__init__(**options)
        self.is_ready = False
        self.described: tuple[dict[str, Any], bytes] | None = None
        self._describing = threading.Lock()
        numbers = itertools.count()
        for part in parts:
            checks = [Depends(_stand_in(next(numbers), check)) for check in part.endpoints.checks]
            router = APIRouter(dependencies=checks, **part.endpoints.options)
            for one in part.endpoints.all:
                stand_in = _stand_in(next(numbers), one.function)
                prefix = part.included.get("prefix", "") + part.endpoints.options.get("prefix", "")
                name = _operation(prefix + one.path, one.function.__name__)
                router.add_api_route(one.path, stand_in, methods=list(one.methods), operation_id=name, **one.options)
            self.include_router(router, **part.included)

    def openapi(self) -> dict[str, Any]:
        """FastAPI's description, without the answer to what it finds invalid: ours is that of any refusal."""
        return self.describe()[0]

    def describe(self) -> tuple[dict[str, Any], bytes]:
        """The description as it is, and as JSON. Takes a third of a second, once."""
        with self._describing:
            if self.described is None:
                schema = super().openapi()
                for path in schema["paths"].values():
                    for operation in path.values():
                        operation["responses"].pop("422", None)
                for name in ("HTTPValidationError", "ValidationError"):
                    schema.get("components", {}).get("schemas", {}).pop(name, None)
                self.described = schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()
            return self.described


def _operation(path: str, function: str) -> str:
    """What generators of clients call it: the first word of the path below /v1, then what is done."""
    area = path.removeprefix("/v1").split("/")[1].replace("-", "_")
    if not area or area == function:
        return function
    first, _, last = function.partition("_")
    return f"{area}_{first if last in area.split('_') else function}"


class Shared:
    """One kind of application, made with the first broker that has these endpoints."""

    def __init__(self, make: Callable[[Sequence[Part]], Application]) -> None:
        self._make = make
        self._made: tuple[Application, list[list[tuple[str, tuple[str, ...]]]]] | None = None

    def serving(self, parts: Sequence[Part]) -> Serving:
        """The application with the functions of these endpoints. They have to be the same ones for each broker."""
        shape = [part.endpoints.shape for part in parts]
        with MAKING:
            if self._made is None:
                self._made = self._make(parts), shape
        application, first = self._made
        assert shape == first, "a broker has other endpoints than the first one of its kind"
        return Serving(application, [function for part in parts for function in part.endpoints.functions])


class Serving:
    """An ASGI application: the one that is shared, for one broker."""

    def __init__(self, application: Application, functions: Sequence[Function]) -> None:
        self.application = application
        self._functions = functions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.application({**scope, _FUNCTIONS: self._functions}, receive, send)


def _stand_in(number: int, function: Function) -> Function:
    """Has a function's signature, name and description, and nothing else of it."""

    async def stand_in(**given: Any) -> Any:
        functions: Sequence[Function] = given.pop(_CONNECTION).scope[_FUNCTIONS]
        return await functions[number](**given)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(stand_in, name, getattr(function, name))
    signature = inspect.signature(function, eval_str=True)
    connection = inspect.Parameter(_CONNECTION, inspect.Parameter.KEYWORD_ONLY, annotation=HTTPConnection)
    parameters = [*signature.parameters.values(), connection]
    stand_in.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return stand_in
