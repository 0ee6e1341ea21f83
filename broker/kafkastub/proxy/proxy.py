"""A proxy put together: places, connections, and what watches them. What `kafkastub proxy` and `KafkaProxy` both run.

It has what the parts of a stub ask of a broker that knows no state: `observer`, `clock`, `keep_journal`, `set_chaos`,
`plan_for`, `name_of` (`kafkastub.server.broker.Broker`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from kafkastub.config import BrokerConfig, ConfigError, Listener, Listeners, Profile
from kafkastub.proxy import naming
from kafkastub.proxy.cluster import ClientError, Cluster
from kafkastub.proxy.naming import Address
from kafkastub.proxy.pair import ClientSide
from kafkastub.proxy.places import Place, Places, Unanswered, address_text
from kafkastub.proxy.room import MOST, Room
from kafkastub.proxy.routes import Route
from kafkastub.proxy.upstream import Upstream
from kafkastub.proxy.watching import Watching
from kafkastub.server.clock import Clock
from kafkastub.server.node_listener import ListenError
from kafkastub.state.rate_limiter import RateLimiter
from kafkawire.api import ApiKey
from kafkawire.codec import decode_from
from kafkawire.messages import RESPONSES

if TYPE_CHECKING:
    from kafkastub.faults import Chaos, Plan
    from kafkastub.journal.disk import DiskJournal
    from kafkastub.journal.ring import Ring
    from kafkastub.proxy.answers import BrokerSide
    from kafkastub.proxy.chaos import Mover
    from kafkastub.proxy.cluster import Pick
    from kafkastub.proxy.under_way import Acting, Pending
    from kafkastub.security.tls import Tls
    from kafkastub.server.watching.faults import Arrive

_MOST_ROUTES: Final = 4096
"""Versions of APIs that are remembered while nobody has them; those that there are, always."""
_GONE_SECONDS: Final = 1
"""For which a proxy that is closed waits for its last transports."""
_CONNECT_SECONDS: Final = 10
"""As Kafka's clients have it (socket.connection.setup.timeout.ms)."""
_LOOK_AGAIN: Final = 0.2
"""Seconds after which a cluster that does not answer yet is asked again."""
_LOOK_AT_MOST: Final = 2.0
"""Seconds between two looks for nodes that have gone."""
_LOOK_SECONDS: Final = 5
_MOST_LEARNT: Final = 4 << 20
"""Bytes of answers to Metadata that are kept until somebody asks for the name of a topic."""
_IDS_SINCE: Final = 10
"""The version of Metadata that has topics' ids."""
_MOST_NAMES: Final = 100_000


class UnreachableError(OSError):
    """Nobody answers at any of the addresses; the text is one sentence for a user."""


class Proxy:
    """One proxy on the running loop."""

    def __init__(
        self,
        to: Sequence[Address],
        log: Any,
        upstream: Upstream,
        *,
        tls: bool = False,
        config: BrokerConfig | None = None,
        drain_seconds: float = 0.5,
        keep_bytes: int = MOST,
    ) -> None:
        """`tls`: whether clients speak it, with what the configuration says of certificates; `keep_bytes`: of requests
        and answers that rules, holds and chaos keep at a time.

        Raises ConfigError.
        """
        self.to = list(to)
        self.log = log
        self.clock = Clock()
        self.upstream = upstream
        self.config = BrokerConfig({}, Profile.named("kips")) if config is None else config
        self.cluster = Cluster(self.to, upstream)
        self.loop: asyncio.AbstractEventLoop
        self.watch: Watching | None = None
        self.clients: set[ClientSide] = set()
        self.brokers: set[BrokerSide] = set()
        """Their connections to the cluster."""
        self.room = Room(keep_bytes, lambda ms, call: self.loop.call_later(ms / 1000, call))
        self.is_open = self.is_closing = False
        self.journal_bytes: int | None = None
        """Of a journal on disk, at most."""
        self.hides_records = False
        """Whether the journal is to be without what is in records."""
        self._tls_wanted = tls
        self._tls: Tls | None = None
        self._drain_seconds = drain_seconds
        self._places: Places
        self._routes: dict[bytes, Route] = {}
        self._served: dict[int, tuple[int, int]] = {}
        self._connections = 0
        self._limiter = RateLimiter()
        self._journal: DiskJournal | None = None
        self._mover: Mover | None = None
        self._names: OrderedDict[bytes, str] = OrderedDict()
        self._learnt: deque[tuple[int, bytes]] = deque()
        self._learnt_bytes = 0
        self._last_learnt = b""
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_look = 0.0
        self.observer = Watching(
            self._routes.values, self.clock.broker_ms, self._watched_by, self._learn, upstream.has_sasl
        )

    # --- its life

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, advertised: Address | None = None, wait_seconds: float = 0
    ) -> None:
        """Ask the cluster for its nodes, listen and pass on; `wait_seconds` it may take until it answers.

        Raises ListenError, ConfigError, UnreachableError.
        """
        self.loop = loop = asyncio.get_running_loop()
        protocol = "SSL" if self._tls_wanted else "PLAINTEXT"
        if self.upstream.has_sasl:
            protocol = f"SASL_{protocol}"
        factory = self._factory(protocol, host, advertised)
        self._places = Places(
            loop, host, port, advertised, protocol, factory, self.log, self.upstream.reached, self._look_again
        )
        try:
            for broker in await self._first_look(wait_seconds):
                self._places.advertised(*broker)
            if not list(self._places):
                for address in self.to:
                    self._places.open_at(*address)
        except BaseException:
            self._places.close()
            if self._tls is not None:
                self._tls.close()
            raise
        self.is_open = True

    async def _first_look(self, wait_seconds: float) -> list[naming.Broker]:
        """The nodes, as far as the cluster tells the proxy itself."""
        if not self.cluster.may_ask:
            return []
        deadline = self.loop.time() + wait_seconds
        while True:
            try:
                found, self._served = await asyncio.to_thread(self.cluster.brokers)
            except (ClientError, OSError) as error:
                if self.loop.time() >= deadline:
                    shown = ", ".join(address_text(*one) for one in self.to)
                    raise UnreachableError(f"the cluster at {shown} does not answer: {error}") from None
                await asyncio.sleep(_LOOK_AGAIN)
            else:
                if found or self.loop.time() >= deadline:
                    return found
                await asyncio.sleep(_LOOK_AGAIN)  # a node that has just begun knows nobody

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let it run until it ends, or the proxy is closed."""
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _look_again(self) -> None:
        """Ask the cluster soon where its nodes are, and not too often."""
        if self.cluster.may_ask and self.loop.time() >= self._next_look:
            self._next_look = self.loop.time() + _LOOK_AT_MOST
            self.spawn(self._nodes_again())

    async def _nodes_again(self) -> None:
        with contextlib.suppress(ClientError, OSError):
            found, _ = await asyncio.to_thread(self.cluster.brokers, _LOOK_SECONDS)
            for broker in found if self.is_open else ():
                self.advertised(*broker)

    def _factory(self, protocol: str, host: str, advertised: Address | None) -> Callable[[Place], asyncio.Protocol]:
        """Raises ConfigError."""
        if not self._tls_wanted:
            if self.upstream.shows_certificate:
                raise ConfigError(
                    "the proxy sends the cluster its certificate, which would identify every client there: "
                    "have clients show one here as well (--tls, and ssl.client.auth=required)"
                )
            return lambda place: ClientSide(self, place)
        if self.upstream.shows_certificate and self.upstream.has_sasl:
            raise ConfigError("a client certificate for a cluster with SASL is refused: the login identifies a client")
        if self.upstream.shows_certificate and self.config["ssl.client.auth"] != "required":
            raise ConfigError(
                "the proxy sends the cluster its certificate, which would identify every client there: "
                "set ssl.client.auth=required here"
            )
        from kafkastub.security.tls import Tls
        from kafkastub.server.tls import behind_tls

        listener = Listener(protocol, host, 0, protocol)
        told = {} if advertised is None else {protocol: _told(*advertised)}
        self._tls = Tls(self.config, Listeners((listener,), told), host)
        tls = self._tls.of(protocol)
        assert tls is not None

        def make(place: Place) -> asyncio.Protocol:
            made = behind_tls(tls, lambda _: cast(Any, ClientSide(self, place)), self.clock.timer_ms, self.log)
            return made(cast(Any, None))

        return make

    async def stop(self) -> None:
        """Let nobody in any more, wait a moment for what is under way, and close every connection."""
        self.is_open, self.is_closing = False, True
        self._places.close()
        clients = list(self.clients)
        deadline = self.loop.time() + self._drain_seconds
        for client in clients:
            client.close_behind()
        if clients:
            await asyncio.wait([client.ended for client in clients], timeout=max(0, deadline - self.loop.time()))
        for client in list(self.clients):
            client.transport.abort()
        await self._all_gone()
        if self._journal is not None:
            self._journal.close()
        if self._tls is not None:
            self._tls.close()

    async def _all_gone(self) -> None:
        """Return when no transport is left: uvloop's `close` may wait forever for one that is being opened."""
        deadline = self.loop.time() + _GONE_SECONDS
        for task in self._tasks:
            task.cancel()
        while (self.clients or self.brokers or self._tasks) and self.loop.time() < deadline:
            for client in list(self.clients):
                client.transport.abort()
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    # --- where it is

    @property
    def bootstrap_servers(self) -> str:
        """What clients are to connect to: every node that is known."""
        return ",".join(address_text(*place.advertised) for place in self._places)

    @property
    def host(self) -> str:
        """The address that the first place is bound to."""
        return next(iter(self._places)).bound[0]

    @property
    def port(self) -> int:
        """Its port."""
        return next(iter(self._places)).bound[1]

    @property
    def ports(self) -> list[int]:
        """Of all places."""
        return [place.bound[1] for place in self._places]

    @property
    def bound(self) -> str:
        """For people."""
        return ",".join(address_text(*place.bound) for place in self._places)

    @property
    def places(self) -> list[Place]:
        """In the order in which they were made."""
        return list(self._places)

    @property
    def tls(self) -> Tls | None:
        """The certificates that clients are shown."""
        return self._tls

    @property
    def connections(self) -> tuple[int, int]:
        """How many clients are connected, and how many ever were."""
        return len(self.clients), self._connections

    @property
    def kept(self) -> str | None:
        """What stays of it on disk, for people."""
        return None if self._journal is None else "a journal on disk"

    # --- what the parts of a stub ask

    def rearm(self) -> None:
        """Nothing falls due."""

    def when_kept(self, done: Callable[[str | None], None]) -> None:
        """Nothing has to be on the disk."""
        done(None)

    def keep_journal(self, ring: Ring, directory: str | os.PathLike[str] | None = None) -> None:
        """Note down every request there, and in a new directory where one is named. Raises JournalDirError."""
        if self.hides_records:
            self.observer.hide_records()
        if directory is not None:
            from kafkastub.journal.disk import FILE_BYTES, MOST_FILES, DiskJournal

            def failed(error: OSError) -> None:
                self.log.error("the journal on disk has ended", why=error.strerror or str(error))

            size = FILE_BYTES if self.journal_bytes is None else max(1, self.journal_bytes // MOST_FILES)
            self._journal = DiskJournal(directory, ring, self.name_of, failed, size, once=True)
        self.observer.set_journal(ring)

    def set_chaos(self, chaos: Chaos | None) -> None:
        """Requests meet this from now on, or none any more."""
        from kafkastub.proxy.chaos import Mover

        if self._mover is not None:
            self._mover.end()
        self._mover = None if chaos is None else Mover(self, self.loop, chaos)
        if chaos is not None and self._mover is not None:
            chaos.moves_by(self._mover.move)
        self.observer.set_chaos(chaos)

    def plan_for(self, fired: Callable[[], None]) -> Plan:
        """An empty plan of the APIs that the cluster serves."""
        from kafkastub.faults import Plan
        from kafkastub.handlers.registry import registrations

        served = {}
        for key, api in registrations().items():
            theirs = self._served.get(key, (api.first, api.last))
            first, last = max(api.first, theirs[0]), min(api.last, theirs[1])
            if first <= last and (not self._served or key in self._served):
                served[key] = first, last
        return Plan(served, self.name_of, self._in_session, fired)

    def _in_session(self, context: Any, request: Any) -> Iterator[tuple[str, bytes, int]]:
        for name, topic_id, index in self.observer.sessions.of(context.node_id, request):
            known = name or self.name_of(topic_id)
            if known is not None:
                yield known, topic_id, index

    def name_of(self, topic_id: bytes) -> str | None:
        """Of the topic that has, or had, this id, as far as an answer has said it."""
        while self._learnt:
            version, frame = self._learnt.popleft()
            self._learnt_bytes -= len(frame)
            self._read_names(version, frame)
        return self._names.get(topic_id)

    def learn_names(self, names: dict[bytes, str]) -> None:
        """These are the topics by id."""
        self._names.update(names)
        while len(self._names) > _MOST_NAMES:
            self._names.popitem(last=False)

    def refresh_names(self) -> None:
        """Ask the cluster for the topics by id, soon: a rule is to be about one."""
        if self.cluster.may_ask:
            self.spawn(self._refresh_names())

    async def _refresh_names(self) -> None:
        try:
            self.learn_names(await asyncio.to_thread(self.cluster.topic_names))
        except (ClientError, OSError) as error:
            self.log.warning("the cluster does not tell its topics", why=str(error))

    def _learn(self, route: Route, frame: bytes) -> None:
        """An answer to Metadata has passed: its names are read when somebody asks for one. Most are told again and
        again; of more than we keep, the oldest goes, and the cluster is asked when a rule is about a topic.
        """
        said = frame[8:]
        if route.version < _IDS_SINCE or said == self._last_learnt:
            return
        self._last_learnt = said
        self._learnt.append((route.version, frame))
        self._learnt_bytes += len(frame)
        while self._learnt_bytes > _MOST_LEARNT:
            self._learnt_bytes -= len(self._learnt.popleft()[1])

    def _read_names(self, version: int, frame: bytes) -> None:
        from kafkawire.catalogue import response_class

        try:
            answer: Any = decode_from(response_class(ApiKey.METADATA), version, frame, 9)[0]
        except ValueError:
            return
        self.learn_names({topic.topic_id: topic.name for topic in answer.topics if topic.name})

    # --- what connections ask

    @property
    def has_sasl(self) -> bool:
        return self.upstream.has_sasl

    @property
    def addresses(self) -> int:
        return self._places.changes

    def next_connection_id(self) -> int:
        self._connections += 1
        return self._connections

    def now(self) -> tuple[int, int]:
        return self.clock.both()

    def route(self, name: bytes) -> Route:
        """By the bytes of key and version."""
        found = self._routes.get(name)
        return self._new_route(name) if found is None else found

    def _new_route(self, name: bytes) -> Route:
        route = Route(int.from_bytes(name[:2], signed=True), int.from_bytes(name[2:4], signed=True))
        self.observer.new_route(route)
        if route.known or len(self._routes) < _MOST_ROUTES:
            self._routes[name] = route
        return route

    def advertised(self, node_id: int, host: str, port: int) -> Address:
        """What clients are told of a node."""
        try:
            return self._places.advertised(node_id, host, port)
        except ListenError as error:
            self.warn(f"node {node_id} has no place here: {error}", "")
            return host, port

    def seen(self, brokers: Iterable[naming.Broker]) -> None:
        """These are all nodes that the cluster has now."""
        self._places.seen(brokers)

    def versions(self) -> dict[int, tuple[int, int]]:
        """What the proxy understands of the APIs that it has to."""
        return _UNDERSTOOD

    def match(self, client: ClientSide, pending: Pending, frame: bytes) -> Acting | None:
        """What happens to a request."""
        return None if self.watch is None else self.watch.match(client, pending, frame)

    async def connect(self, place: Place, make: Callable[[], asyncio.Protocol]) -> None:
        """Raises OSError."""
        context = self.upstream.context
        secured: dict[str, Any] = {} if context is None else {"ssl": context, "server_hostname": place.host}
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self.loop.create_connection(make, *self.upstream.reached(place.host, place.port), **secured)
        except socket.gaierror as error:
            why = f"{error.strerror or error}; if it is elsewhere, --reach {place.address}=HOST:PORT says where"
            raise OSError(error.errno, why) from None
        except TimeoutError:
            raise Unanswered(f"no connection within {_CONNECT_SECONDS} s") from None

    def warn(self, why: str, peer: str) -> None:
        """Once in a while."""
        if self._limiter.allows(why, self.clock.timer_ms()):
            self.log.warning("connection closed", peer=peer, why=why)

    def gone(self, client: ClientSide) -> None:
        """A connection has ended."""

    def _watched_by(self, watch: Watching | None) -> None:
        self.watch = watch

    # --- what moves

    def nodes_connected(self) -> Iterator[int]:
        """The nodes that clients are connected to."""
        return (client.place.node_id for client in self.clients)

    def drop_connections(self, node_id: int) -> int:
        """End all to one node; gives how many."""
        there = [client for client in self.clients if client.place.node_id == node_id]
        for client in there:
            client.transport.abort()
        return len(there)

    def arriving(self, node_id: int, frame: bytes) -> Arrive:
        """What sends a frame, its size included, to a node, over a connection of its own."""

        def arrive(done: Callable[[], None]) -> None:
            self.spawn(self._arrive(node_id, frame, done))

        return arrive

    async def _arrive(self, node_id: int, frame: bytes, done: Callable[[], None]) -> None:
        place = next((one for one in self._places if one.node_id == node_id), None)
        if place is None or not self.cluster.may_ask:
            return
        try:
            await asyncio.to_thread(self.cluster.send, place.host, place.port, frame)
            done()
        except OSError as error:
            self.log.warning("a request that came late has not arrived", node=node_id, why=str(error))

    async def end_a_session(self, pick: Pick) -> tuple[str, str, int] | None:
        """Throw a member out of its group; in words, its group and which one, None where there is none, or the cluster
        does not let us."""
        if not self.cluster.may_ask:
            return None
        try:
            return await asyncio.to_thread(self.cluster.end_a_session, pick)
        except (ClientError, OSError):
            return None


def _told(host: str, port: int) -> Any:
    from kafkastub.config import Address as Configured

    return Configured(host, port)


_UNDERSTOOD: Final = {int(key): RESPONSES[key][2] for key in naming.REWRITTEN}


def addresses(given: str | Sequence[str]) -> list[tuple[str, int]]:
    """HOST:PORT texts, several with commas. Raises ValueError, TypeError."""
    if not isinstance(given, str) and not (isinstance(given, Sequence) and all(isinstance(one, str) for one in given)):
        raise TypeError(f"{given!r} is not an address: expected HOST:PORT, several with commas")
    texts = given.split(",") if isinstance(given, str) else given
    found = []
    for text in texts:
        host, colon, port = text.strip().rpartition(":")
        if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"{text.strip()!r} is not an address: expected HOST:PORT, for example localhost:9092")
        found.append((host.strip("[]"), int(port)))
    return found


def reach(given: Mapping[str, str] | None) -> dict[Address, Address]:
    """HOST:PORT by HOST:PORT. Raises ValueError, TypeError."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(
            f'reach={given!r} is refused: expected a mapping, for example {{"kafka:9092": "localhost:32768"}}'
        )
    return {addresses([said])[0]: addresses([found])[0] for said, found in (given or {}).items()}
