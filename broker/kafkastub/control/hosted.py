"""The broker behind the control port, and how it was started: what a reset makes again."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafkastub.control.problems import Problem
from kafkastub.journal import Ring
from kafkastub.server.watching.metrics import Metrics
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig
    from kafkastub.control.parts import Chaos, Clock, Faults, Schemas
    from kafkastub.faults import FaultRule
    from kafkastub.guarantees.following import Follower
    from kafkastub.server.broker import Broker
    from kafkastub.state.snapshots.saved import SavedState

T = TypeVar("T")


class Hosted:
    """One broker, and the one that takes its place. Everything here belongs to the thread of the broker's loop.

    Attributes:
        topics: what was asked for at the start, name to number of partitions.
        clock, faults, chaos: the faces that a test in Python has as well.
        ended: whether the control port is being closed.
        changes: how many requests to the control port could change something.
        looks: what a page looks at to see whether a subject has changed, where that is not what a broker has.
        schemas: the schema registry beside the broker; None without one.
    """

    looks: Mapping[str, Callable[..., Any]] | None = None
    schemas: Schemas | None = None

    def __init__(
        self,
        config: BrokerConfig,
        topics: Mapping[str, int],
        *,
        clock: Callable[[Hosted], Clock],
        faults: Callable[[Hosted], Faults],
        chaos: Callable[[Hosted], Chaos],
        rules: Sequence[FaultRule] = (),
        seed: tuple[int, int] | None = None,
        ring: Ring | None = None,
        replaced: Callable[[Broker], None] = lambda broker: None,
    ) -> None:
        """`clock` and `faults` give the parts of that name; `rules` are the faults from the start, `seed`
        and level the chaos, `ring` is the journal.

        `replaced` is told the broker that a reset has made.
        """
        self._config = copy.deepcopy(config)
        """As it was at the start: clients may change it."""
        self._rules = tuple(rules)
        self._replaced = replaced
        self._ring = ring
        self.changing = asyncio.Lock()
        """Held while nodes come, go or are made again: that takes several turns of the loop."""
        self.snapshots: dict[str, SavedState] = {}
        """What is kept for those who ask over HTTP, by id; a reset leaves them."""
        self._waiting: set[asyncio.Future[Any]] = set()
        self._broker: Broker | None = None
        self.ended = False
        self.changes = 0
        self.topics = dict(topics)
        self.clock = clock(self)
        self.faults = faults(self)
        self.chaos = chaos(self)
        self._seed = seed

    # -- the broker ----------------------------------------------------------------------------------------------

    @property
    def broker(self) -> Broker | None:
        """None before it is up."""
        return self._broker

    def running(self) -> Broker:
        """The broker. Raises Problem before it is up."""
        if self._broker is None:
            raise Problem(503, "the broker is not up yet")
        return self._broker

    def call(self, work: Callable[[], T]) -> T:
        """Run what changes something between two requests: this is the thread for it."""
        try:
            return work()
        finally:
            self.running().rearm()

    def changed(self) -> None:
        """A request to the control port may have changed something."""
        self.changes += 1

    async def kept(self) -> None:
        """All that was changed is on the disk, and what waited for that has happened. Raises Problem."""
        kept: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.running().when_kept(lambda failure: None if kept.done() else kept.set_result(failure))
        failure = await self.wait(kept, None)
        if failure is not None:
            raise Problem(503, failure, ErrorCode.KAFKA_STORAGE_ERROR.name)

    def opened(self, broker: Broker) -> None:
        """The broker is up: watch it. Raises FaultError for a rule that can never match."""
        self._broker = broker
        observer = broker.observer
        if observer.metrics is None:
            observer.set_metrics(Metrics())
        if self._ring is not None and observer.ring is None:
            broker.keep_journal(self._ring)
        for rule in self._rules:
            self.faults.add(rule)
        if self._seed is not None:
            self.chaos.start(*self._seed)

    async def reset(self) -> Broker:
        """A fresh broker at the same addresses. Raises Problem."""
        async with self.changing:
            old = self.running()
            if old.kept is not None:
                raise Problem(409, f"a broker with {old.kept} cannot be reset: stop it and start it with another one")
            fresh = await old.renewed(copy.deepcopy(self._config), self.topics)
            if self._ring is not None:
                self._ring.clear()
            self._replaced(fresh)
            self.opened(fresh)
            return fresh

    async def restore(self, saved: SavedState) -> None:
        """Be what was saved. Raises SnapshotError, ListenError, DataDirError."""
        async with self.changing:
            await self.running().restore(saved)

    def follower(self) -> Follower:
        """Checks what the journal has, and what comes. Raises Problem."""
        ring = self.running().observer.ring
        if ring is None:
            raise Problem(409, "this broker keeps no journal, which a check needs")
        from kafkastub.guarantees.following import follower_of

        return follower_of(ring, lambda topic_id: self.running().name_of(topic_id))

    # -- those who wait ------------------------------------------------------------------------------------------

    async def wait(self, future: asyncio.Future[T], seconds: float | None) -> T:
        """What comes of a future. Raises TimeoutError, Problem where the broker ends."""
        self._waiting.add(future)
        try:
            return await asyncio.wait_for(future, seconds)
        except asyncio.CancelledError:
            if self.ended:
                raise Problem(503, "the broker is being stopped") from None
            raise
        finally:
            self._waiting.discard(future)

    def let_go(self) -> None:
        """The end: nobody waits any longer."""
        self.ended = True
        for future in self._waiting:
            future.cancel()
