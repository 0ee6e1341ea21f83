"""A broker put together: configuration, state, server. What `kafkastub serve` and `KafkaStub` both run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import BrokerConfig, Listeners, misleading, plan_listeners
from kafkastub.config.connection_limits import letting_nobody_in
from kafkastub.metadata import Node
from kafkastub.server import collector
from kafkastub.server.clock import Clock
from kafkastub.server.in_turns import in_turns
from kafkastub.server.loading import LoadedLater, load_all
from kafkastub.server.nodes import Nodes
from kafkastub.server.server import Server
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.leadership import node_added, node_started, node_stopped, settle_leaders
from kafkastub.state.loading import load, unload
from kafkastub.state.topics import create_topic, topic_with
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.journal.disk import DiskJournal
    from kafkastub.journal.ring import Ring
    from kafkastub.security.tls import Tls
    from kafkastub.server.data_directory import BrokerDirectory
    from kafkastub.server.watching.chaos import Chaos, Mover
    from kafkastub.server.watching.observer import Observer
    from kafkastub.state.snapshots.saved import SavedState
    from kafkastub.state.snapshots.taking import CopiedPartitions


_COPIED_AT_ONCE: Final = 4_000
"""Partitions: two milliseconds."""
_MOST_MISSING: Final = 20
"""What a snapshot lacks, in so many lines."""


class Broker:
    """One broker on the running loop."""

    def __init__(
        self,
        config: BrokerConfig,
        log: Any,
        clock: Clock | None = None,
        data_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """`data_dir`: where the state is kept for the next run; without it nothing is."""
        self.config = config
        self.log = log
        self.clock = clock or Clock()
        self._data_dir = data_dir
        self._directory: BrokerDirectory | None = None
        self._journal: DiskJournal | None = None
        self._mover: Mover | None = None
        self._loading: LoadedLater | None = None
        self._restoring = asyncio.Lock()
        self.state: BrokerState
        self._server: Server
        self._nodes: Nodes

    async def start(
        self,
        listeners: Listeners | None = None,
        topics: Mapping[str, int] | None = None,
        nodes: int = 1,
        racks: Sequence[str] = (),
        snapshot: SavedState | None = None,
        loads_later: bool = False,
    ) -> None:
        """Listen and answer; without `listeners` as the configuration says, else on a free port of 127.0.0.1.

        With a `snapshot` it is that, unless there is a data directory with something in it; topics are those that it
        has not. With `loads_later` a handler is loaded with the first request that needs it, and `load_rest` loads all
        others. Raises ListenError, DataDirError, ConfigError, SnapshotError, or KafkaError for a refused topic.
        """
        if loads_later:
            self._loading = LoadedLater()
        else:
            load_all()
        self._nodes = Nodes(self.config, listeners or plan_listeners(self.config), nodes, racks)
        try:
            await self._start(topics or {} if snapshot is None else {})
        except BaseException:
            self._nodes.close()
            raise
        try:
            if snapshot is not None:
                await self._begin_with(snapshot, topics or {})
            self._log_what_is_not_done()
        except BaseException:  # somebody's log handler: the loop cannot end while the listener is open
            await self.stop()
            raise

    async def _start(self, topics: Mapping[str, int]) -> None:
        self._make_state(self._nodes.described())
        try:
            self.state.start_sweeping(self.clock.timer_ms())
            for name, partitions in topics.items():
                if self._directory is None or self.state.cluster.topic(name) is None:
                    self._create_topic(name, partitions)
            if self._directory is not None:
                self._directory.keep()
            self._server = Server(self.state, self.clock, asyncio.get_running_loop(), self._loading)
            try:
                await self._nodes.open(self._server)
            except BaseException:
                await self._server.close()
                raise
        except BaseException:
            if self._directory is not None:
                await self._directory.close()
            raise
        if self._directory is not None:
            self._directory.go_on_loading(self.rearm)

    async def _begin_with(self, snapshot: SavedState, topics: Mapping[str, int]) -> None:
        if self._directory is None or self._directory.was_new:
            await self.restore(snapshot)
            for what, why in snapshot.missing[:_MOST_MISSING]:
                self.log.warning("the snapshot lacks something of its cluster", what=what, why=why)
        else:
            self.log.info("the snapshot is left alone: the data directory has what the last run left")
        for name, partitions in topics.items():
            if self.state.cluster.topic(name) is None:
                self._create_topic(name, partitions)

    @property
    def tls(self) -> Tls | None:
        """The certificates of the listeners with TLS; None where there is none."""
        return self._nodes.tls

    def _log_what_is_not_done(self) -> None:
        if self.tls is not None and self.tls.makes_certificates:
            self.log.info("certificates made for TLS: clients trust the CA file", ca_file=self.tls.ca_file)
        if self.config.unknown:
            from kafkastub.config.mistyped import question

            for name in self.config.unknown:
                meant = question(name)
                self.log.warning(f"configuration ignored: Kafka has no such name{meant and '; ' + meant}", key=name)
        for name, instead in misleading(self.config):
            self.log.info(f"configuration without effect: {instead}", key=name)
        for name in letting_nobody_in(self.config, {one.name: None for one in self._nodes.listeners()}):
            self.log.warning(f"{name}=0 lets nobody in: raise it, or leave it out")
        if release := self.config["kafkastub.as.version"]:
            from kafkastub.handlers.release import gaps_in_words

            self.log.info(f"serving as Apache Kafka {release}", not_served=gaps_in_words(release))

    def _create_topic(self, name: str, partitions: int) -> None:
        """Raises KafkaError with a text that names the topic."""
        try:
            create_topic(self.state, name, partitions)
        except KafkaError as error:
            reason = error.message or error.code.name
            if not name or name not in reason:
                reason = f"topic {name!r} is refused: {reason}"
            raise KafkaError(error.code, reason) from None

    def _make_state(self, nodes: list[Node]) -> None:
        if self._data_dir is None:
            self.state = BrokerState(self.config, nodes, self.log, wall_ms=self.clock.wall_ms)
            self.state.make_topic = partial(topic_with, self.state)
            return
        from kafkastub.server.data_directory import BrokerDirectory

        self._directory = BrokerDirectory(self._data_dir, self.config, self.log, self.clock)
        self.state = self._directory.restored(nodes)
        self.state.make_topic = partial(topic_with, self.state)
        settle_leaders(self.state, self.clock.both())

    def load_rest(self) -> None:
        """Load the handlers that are not there yet, each when nobody else has anything to do."""
        if self._loading is None:
            return
        if self._loading.load_next():
            self._loading = None
            collector.spare_what_is_loaded()
        else:
            asyncio.get_running_loop().call_soon(self.load_rest)

    async def stop(self) -> None:
        """Close every socket; no task, timer or connection is left, and what was written is on the disk."""
        await self._server.close()
        self._nodes.close()
        if self._loading is not None:
            self._loading.close()
            self._loading = None
        with suppress(KafkaError):  # a disk that takes no more
            self.state.groups.finish(*self.clock.both())
        if self._journal is not None:
            self._journal.close()
        if self._directory is not None:
            await self._directory.close()

    async def renewed(self, config: BrokerConfig, topics: Mapping[str, int]) -> Broker:
        """A fresh broker in this one's place, which is over: the nodes, ports and addresses of the start, nothing else.

        Every connection is closed. Raises KafkaError for a refused topic, ListenError for a port that is taken by now.
        """
        fresh = Broker(config, self.log)
        await self._nodes.restore(self._server)
        fresh._nodes, fresh._server = self._nodes, self._server
        fresh._make_state(fresh._nodes.described())
        fresh.state.start_sweeping(fresh.clock.timer_ms())
        for name, partitions in topics.items():
            fresh._create_topic(name, partitions)
        await self._server.renew(fresh.state, fresh.clock)
        return fresh

    def snapshot(self, ahead: CopiedPartitions | None = None) -> SavedState:
        """Everything that clients can see, as it is now. Raises SnapshotError.

        Args:
            ahead: the result of `copied_ahead`.
        """
        from kafkastub.state.snapshots.taking import take

        load(self.state, self.clock.both)
        self.state.groups.finish(*self.clock.both())
        return take(self.state, self.clock, ahead)

    async def copied_ahead(self) -> CopiedPartitions | None:
        """Copy what takes the longest for a snapshot that is taken next, while others are served."""
        from kafkastub.state.snapshots.taking import copied

        collector.rest()  # the copies are hundreds of thousands of objects, and none of them is garbage
        try:
            return await in_turns(copied(self.state), _COPIED_AT_ONCE)
        finally:
            collector.resume()

    async def restore(self, saved: SavedState) -> None:
        """Be what was saved, of this broker or another one, at these addresses; whoever is connected is not any more.

        Journal, metrics and faults stay. Raises SnapshotError, ListenError, DataDirError; then all is as it was.
        """
        from kafkastub.server.restoring import Restoring
        from kafkastub.state.snapshots.putting_back import follow

        async with self._restoring:
            parts = Restoring(self._server, self._nodes, self._directory, self.clock, self.config, self.log)
            state, nodes = await parts.prepare(saved)
            before, self.state = self.state, state
            state.make_topic = partial(topic_with, state)
            state.start_sweeping(self.clock.timer_ms())
            self._server.serve_instead(state, self.clock)
            observer: Observer | None = vars(self).get("observer")
            if observer is not None:
                observer.follow(self._server.dispatcher)
            follow(state, before)
            await self._nodes.become(self._server, nodes)
            await self._server.drop_all()

    async def stop_node(self, node_id: int) -> None:
        """Stop one node: others lead what it led, its connections end, nobody gets in until `start_node`."""
        if self.state.cluster.nodes[node_id].alive or self._nodes[node_id].is_open:
            await self._server.shut_node(node_id)
            node_stopped(self.state, node_id, self.clock.both())
            self.rearm()
            await self._server.drop_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """Let a stopped node come back, on the same ports; an unregistered one stops before. Raises ListenError."""
        if not self.state.cluster.nodes[node_id].alive:
            await self.stop_node(node_id)
            await self._nodes.reopen(self._server, node_id)
            node_started(self.state, node_id, self.clock.both())
            self.rearm()

    async def add_node(self, rack: str | None = None) -> int:
        """One more node, without any replicas; gives its id. Raises ConfigError, ListenError."""
        node = await self._nodes.add(self._server, rack)
        node_added(self.state, node)
        self._server.dispatcher.forget_routes()
        return node.node_id

    async def remove_node(self, node_id: int) -> None:
        """Stop a node for good; what only it had a replica of has no leader any more."""
        await self.stop_node(node_id)
        await self._nodes.remove(self._server, node_id)
        self.state.cluster.remove_node(node_id)

    @property
    def is_blank(self) -> bool:
        """Whether nothing carries a timestamp yet: no group, no record."""
        load(self.state, self.clock.both)
        return not self.state.coordinator.groups and self.state.logs.is_empty

    @property
    def kept(self) -> str | None:
        """What stays of it on disk, for people; None where nothing does."""
        if self._data_dir is not None:
            return "a data directory"
        return None if self._journal is None else "a journal on disk"

    @property
    def is_open(self) -> bool:
        """Whether clients can connect to any node."""
        return any(one.is_open for one in self._nodes.listeners())

    @property
    def connections(self) -> tuple[int, int]:
        """How many clients are connected, and how many ever were."""
        return self._server.connected

    @property
    def bootstrap_servers(self) -> str:
        """What clients are told to connect to, on the first listener that is advertised."""
        return self._nodes.bootstrap_servers()

    def bootstrap_servers_of(self, listener: str) -> str:
        """The same on another listener. Raises KeyError where no node has such an address."""
        return self._nodes.bootstrap_servers(listener)

    @property
    def host(self) -> str:
        """The address that the first listener is bound to."""
        return self._nodes.first_listener.host

    @property
    def port(self) -> int:
        """The port that the first listener is bound to."""
        return self._nodes.first_listener.port

    @property
    def ports(self) -> list[int]:
        """The ports that are bound, one for each listener, node by node."""
        return [one.port for one in self._nodes.listeners()]

    @property
    def bound(self) -> str:
        """Where it listens, for people: `HOST:PORT`, of several listeners or nodes all of them."""
        return self._nodes.bound()

    def advertise(self, text: str, node_id: int | None = None) -> None:
        """Tell clients other addresses from now on: `HOST:PORT` or `NAME://HOST:PORT`. Raises ConfigError."""
        self._nodes.advertise(text, node_id)

    @cached_property
    def observer(self) -> Observer:
        """What the journal, the metrics and the faults see requests through; costs nothing until one of them is on."""
        from kafkastub.server.watching.observer import Observer

        return Observer(self._server.dispatcher, self.clock, self._server.loop, self.rearm)

    def keep_journal(self, ring: Ring, directory: str | os.PathLike[str] | None = None) -> None:
        """Note down every request there, and in a new directory where one is named. Raises JournalDirError."""
        if directory is not None:
            from kafkastub.journal.disk import DiskJournal

            def failed(error: OSError) -> None:
                self.log.error("the journal on disk has ended", why=error.strerror or str(error))

            self._journal = DiskJournal(directory, ring, self.name_of, failed)
        self.observer.set_journal(ring)

    def name_of(self, topic_id: bytes) -> str | None:
        """Of the topic that has, or had, this id."""
        return self.state.cluster.name_of(topic_id)

    def set_chaos(self, chaos: Chaos | None) -> None:
        """Requests meet this from now on, or none any more: then nodes that it has stopped come back."""
        from kafkastub.server.watching.chaos import Mover

        if self._mover is not None:
            self._mover.end()
        self._mover = None if chaos is None else Mover(self, self._server.loop, chaos)
        if chaos is not None and self._mover is not None:
            chaos.moves_by(self._mover.move)
        self.observer.set_chaos(chaos)

    def note_clock(self, how: str) -> None:
        """The clock was moved by hand: for the journal."""
        observer: Observer | None = vars(self).get("observer")
        if observer is not None:
            observer.clock_moved(how)

    def hold_loading(self) -> None:
        """Unload the coordinators; they are loading until `finish_loading`."""
        load(self.state, self.clock.both)
        unload(self.state, *self.clock.both())

    def finish_loading(self) -> None:
        """Load the coordinators to the end."""
        load(self.state, self.clock.both)

    def advance(self, ms: int, timers: bool = False) -> None:
        """Move broker time forward through everything that falls due on the way, each at its own time.

        With `timers`, sessions, rebalances and long polls get as much older; otherwise live members do not notice. Then
        a group of the consumer protocol that loses its last member on the way, and has no offsets, is there for as long
        as Kafka would have it at most: a member that comes back finds it.
        """
        clock, state = self.clock, self.state
        load(state, clock.both)
        if timers:
            state.coordinator.spare(state.config["offsets.retention.check.interval.ms"], clock.broker_ms())
        try:
            self._move(ms, timers)
        finally:
            state.coordinator.spare(0, clock.broker_ms())
        # What is left of a log depends on the time alone: looking at the end is as good as at each deadline on the way.
        state.logs.clean(clock.broker_ms())
        state.expire_delegation_tokens(clock.broker_ms())
        self.note_clock("advance timers" if timers else "advance")
        self.rearm()

    def _move(self, ms: int, timers: bool) -> None:
        """Step by step."""
        clock, state = self.clock, self.state
        left = ms
        while True:
            broker_ms, timer_ms = clock.both()
            expiry = state.next_expiry()
            steps = [left]
            if expiry is not None:
                steps.append(max(expiry - broker_ms, 0))
            # Not the regular rounds: what they would find by its own time is stepped to by that.
            deadline = state.next_event() if timers else None
            if deadline is not None:
                steps.append(max(deadline - timer_ms, 0))
            step = min(steps)
            left -= step
            clock.set(broker_ms + step)
            if timers:
                clock.skip_timers(step)
                state.expire(*clock.both())
            state.expire_offsets(broker_ms + step)
            state.expire_transactional_ids(broker_ms + step)
            deadline = state.next_event() if timers else None
            if left <= 0 and (deadline is None or deadline > clock.both()[1]):
                break  # of much that is due at once, a part happens at a time

    def when_kept(self, done: Callable[[str | None], None]) -> None:
        """Call when all that was changed until now is on the disk; with a sentence where it cannot be.

        Transactions that were decided have their markers then, but for those that wait for something else.
        """
        state = self.state
        if state.persistence is None:
            done(None)
            return
        disk = state.persistence.disk
        left = state.transactions.going() if state.has_transactions else set()

        def look(failure: str | None = None) -> None:
            if left and failure is None:
                state.transactions.go_on(*self.clock.both())
                left.intersection_update(state.transactions.going())
            if not left or failure is not None:
                done(failure)
            elif not disk.wait(look):
                disk.runner.soon(look)

        if not disk.wait(look):
            look()

    def when_much_is_freed(self, call: Callable[[], None]) -> None:
        """Have `call` called behind unfinished requests that have taken a lot of memory, and are gone."""
        self._server.unfinished.much_is_freed = call

    def rearm(self) -> None:
        """After a change from outside a request: deadlines may have moved, or the clock itself."""
        self._server.rearm()
        if self.state.persistence is not None:
            self.state.persistence.look_at_clock()
