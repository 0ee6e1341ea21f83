"""What the tests of the fast paths compare with: a dispatcher that has none."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.routes import Route
from kafkastub.state.broker_state import BrokerState
from kafkastub.storage import PartitionLog
from kafkawire.codec import Parts
from kafkawire.schema import Message

CLIENT: Final = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")
"""Who asks, where it does not matter who: on the listener PLAINTEXT of node 1."""


class CarefulDispatcher(Dispatcher):
    """Goes by every step: every request is decoded anew, and every answer encoded anew."""

    def _compile(self, *made_of: Any) -> Route:
        route = super()._compile(*made_of)
        route.fast_path, route.memory, route.repeated = None, None, False
        return route

    def reply(self, route: Route, correlation_id: int, response: Message, out: Parts) -> None:
        route.answer = None
        super().reply(route, correlation_id, response, out)


class CarefulLog(PartitionLog):
    """Looks at every batch with care."""

    def append_ordinary(self, *where: Any) -> int | None:
        return None


def append_with_care(state: BrokerState) -> None:
    """Make the logs that nobody has asked for yet such ones."""
    state.logs._new_log = lambda name, settings, epoch: CarefulLog(name, settings, epoch)  # type: ignore[method-assign, assignment]
