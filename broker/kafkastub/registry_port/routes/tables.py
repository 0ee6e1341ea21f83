"""A table of handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from kafkastub.registry.registry import Registry
from kafkastub.registry_port.requests import RegistryRequest

Handler = Callable[..., Any]
"""Is given the registry, the request, and the parts of the path that vary; gives what is told as JSON, or `Raw`."""


H = TypeVar("H", bound=Handler)


class Raw(NamedTuple):
    """A text that is told as it is."""

    text: str


class Route(NamedTuple):
    """A method and a path; "*" stands for a part that varies. `is_long` is a GET that may look at every schema."""

    method: str
    path: tuple[str, ...]
    handler: Handler
    is_long: bool = False


class Table:
    """Routes, as a decorator adds them."""

    def __init__(self) -> None:
        self.routes: list[Route] = []

    def at(self, method: str, path: str, *, is_long: bool = False) -> Callable[[H], H]:
        """For what is asked so."""

        def add(handler: H) -> H:
            self.routes.append(Route(method, tuple(filter(None, path.split("/"))), handler, is_long))
            return handler

        return add


__all__ = ["Raw", "Registry", "RegistryRequest", "Route", "Table"]
