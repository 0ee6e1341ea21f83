"""What the tests of the fast paths compare with: a dispatcher that has none."""

from __future__ import annotations

from typing import Any

from kafkastub.server.dispatch import Dispatcher, Route


class CarefulDispatcher(Dispatcher):
    """Goes by every step."""

    def _compile(self, api: Any, version: int) -> Route:
        route = super()._compile(api, version)
        route.fast_path = None
        return route
