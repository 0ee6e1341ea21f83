"""Quotas come and go: requests are measured while users or client ids have any, and only then."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import Outcome
from kafkastub.server.clock import Clock
from kafkastub.server.dispatch import Dispatcher
from kafkastub.state.quota_usage import MutedChannels, Throttle, Usage
from kafkawire.codec import Parts

if TYPE_CHECKING:
    from kafkastub.server.routes import Exchange

    Serve = Callable[[bytes, int, int, ConnectionInfo, int, int, Parts], tuple[Exchange, Outcome] | None]


def switch_measuring(dispatcher: Dispatcher, clock: Clock) -> None:
    """Take the measuring into the way of requests, or out of it, as there are quotas now or none.

    Connections that have to wait wait to the end.
    """
    state, own = dispatcher.state, vars(dispatcher)
    if state.quotas.of_clients == (state.throttle is not None):
        return

    def nanos() -> int:
        """The time that a request takes, without what others are served in meanwhile."""
        return perf_counter_ns() - state.slept_ns

    if state.throttle is None:
        if state.muted is None:
            state.muted = MutedChannels(state.mark_dirty)
        state.throttle = Throttle(state.quotas, state.config, state.muted, clock.timer_ms, nanos)
        own["serve"] = _measured(dispatcher)
    else:
        state.throttle = None
        del own["serve"]
    dispatcher.forget_routes()


def _measured(dispatcher: Dispatcher) -> Serve:
    """The dispatcher's `serve`, which tells handlers how large requests are."""

    def serve(
        data: bytes, start: int, end: int, info: ConnectionInfo, broker_ms: int, timer_ms: int, out: Parts
    ) -> tuple[Exchange, Outcome] | None:
        if info.usage is None:
            info.usage = Usage()
        info.usage.size = end - start
        return Dispatcher.serve(dispatcher, data, start, end, info, broker_ms, timer_ms, out)

    return serve
