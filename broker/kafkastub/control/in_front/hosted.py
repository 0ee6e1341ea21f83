"""The proxy behind the control port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from kafkastub.client import BrokerError, Client, ClientError
from kafkastub.config import BrokerConfig, Profile
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.threads import OneAtATime
from kafkastub.server.watching.metrics import Metrics
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.control.parts import Chaos, Faults
    from kafkastub.journal import Ring
    from kafkastub.proxy.proxy import Proxy
    from kafkastub.server.broker import Broker

T = TypeVar("T")
_NOT_THERE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.GROUP_ID_NOT_FOUND})
_CONFLICTS: Final = frozenset({ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.NON_EMPTY_GROUP})
_ASKED_SECONDS: Final = 10


class HostedProxy(Hosted):
    """One proxy. Everything here belongs to the thread of its loop, but for what is asked of the cluster."""

    def __init__(self, proxy: Proxy, *, faults: Faults, chaos: Chaos, ring: Ring | None) -> None:
        super().__init__(
            BrokerConfig({}, Profile.named("kips")),
            {},
            clock=lambda _: cast(Any, None),
            faults=lambda _: faults,
            chaos=lambda _: chaos,
            ring=ring,
        )
        self.proxy = proxy
        self.looks = _LOOKS
        self._thread = OneAtATime()

    def opened(self, broker: Broker | None = None) -> None:
        """The proxy is up: watch it."""
        # What the routes that a proxy has as well ask of a broker, it can answer.
        self._broker = cast("Broker", self.proxy)
        if self.proxy.observer.metrics is None:
            self.proxy.observer.set_metrics(Metrics())

    async def ask(self, what: Callable[[Client], T], about: str = "the cluster") -> T:
        """What the cluster says, asked in a thread. Raises Problem."""
        if not self.proxy.cluster.may_ask:
            raise Problem(503, "the cluster authenticates clients: give the proxy its own login (command-config)")

        def work() -> T:
            with self.proxy.cluster.client(_ASKED_SECONDS) as client:
                return what(client)

        try:
            return await self._thread.run(work)
        except BrokerError as error:
            if error.code in _NOT_THERE:
                raise Problem(404, f"{about} does not exist", error.code.name) from None
            status = 409 if error.code in _CONFLICTS else 400
            raise Problem(status, f"{about}: {error.message}", error.code.name) from None
        except (ClientError, OSError) as error:
            raise Problem(503, f"the cluster does not answer: {error}") from None

    async def until(self, look: Callable[[Client], tuple[T, str]], seconds: float, about: str) -> T:
        """Ask until there is nothing missing: `look` gives what there is, and what it lacks. Raises Problem."""
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + seconds, 0.02
        while True:
            found, missing = await self.ask(look, about)
            if not missing:
                return found
            left = deadline - loop.time()
            if left <= 0:
                raise Problem(408, f"{about} {missing} after {seconds:g} s")
            await self.wait(asyncio.ensure_future(asyncio.sleep(min(pause, left))), None)
            pause = min(pause * 1.5, 0.25)


def _journal(hosted: Hosted, broker: Broker) -> Any:
    ring, metrics = broker.observer.ring, broker.observer.metrics
    return ring and (ring.total, ring.first), metrics and metrics.bytes_out, broker.connections


def _faults(hosted: Hosted, broker: Broker) -> Any:
    return [(fault.id, fault.hits, fault.matched, len(fault.held)) for fault in hosted.faults]


def _chaos(hosted: Hosted, broker: Broker) -> Any:
    return hosted.chaos.running, hosted.chaos.seed, hosted.chaos.level, len(hosted.chaos.acts)


def _requests(hosted: Hosted, broker: Broker) -> Any:
    """What the cluster has changes by requests, as far as they pass here."""
    metrics = broker.observer.metrics
    return broker.connections, metrics and (metrics.bytes_in, metrics.bytes_out)


_LOOKS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        (
            "topics", "groups", "share-groups", "streams-groups", "transactions", "nodes", "clock", "snapshots",
            "quotas", "acls", "config", "metrics",
        ),
        _requests,
    ),
    "journal": _journal,
    "faults": _faults,
    "chaos": _chaos,
}  # fmt: skip
