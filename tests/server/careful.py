"""What the tests of the fast paths compare with: a dispatcher that has none."""

from __future__ import annotations

from typing import Any

from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.routes import Route


class CarefulDispatcher(Dispatcher):
    """Goes by every step."""

    def _compile(self, *made_of: Any) -> Route:
        route = super()._compile(*made_of)
        route.fast_path = None
        return route
