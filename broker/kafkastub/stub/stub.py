"""`KafkaStub`: a broker inside a Python process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast
from weakref import WeakKeyDictionary

from kafkastub.config import BrokerConfig, Profile, plan_listeners
from kafkastub.server.broker import Broker
from kafkastub.server.logs import library_logger
from kafkastub.server.loops import new_event_loop
from kafkastub.state.topics import create_topic
from kafkastub.stub import arguments as stub_arguments
from kafkastub.stub.clock import StubClock
from kafkastub.stub.control import StubControl
from kafkastub.stub.nodes import StubNodes
from kafkastub.stub.observed import GroupTimeout, StubObserved
from kafkastub.stub.quotas import StubQuotas
from kafkastub.stub.tls import StubTls
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.stub.faults import StubFaults

T = TypeVar("T")

_CLOSED = "the stub was closed meanwhile"
RUNNING: Final = "the stub is running already: one that was started, or comes from a fixture, needs no start() or with"


STARTED: Final[WeakKeyDictionary[KafkaStub, None]] = WeakKeyDictionary()
"""Those that were started and are still known to somebody, in this order: a test that fails tells of them."""


class StubError(RuntimeError):
    """The stub was used before it was started or after it was closed."""


class TopicError(ValueError):
    """A topic that Kafka would refuse; `code` is the error code that a client would get."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class KafkaStub(StubNodes, StubTls, StubControl, StubObserved, StubQuotas):
    """A Kafka broker for a test, in a thread and on an event loop of its own.

        with KafkaStub(topics={"orders": 3}, config={"offsets.retention.minutes": 60}) as stub:
            producer = Producer({"bootstrap.servers": stub.bootstrap_servers})

    It serves blocking clients and clients on any event loop alike; `async with` works too. Any number of stubs live
    side by side. Closing leaves no thread, task or socket behind.

    Args:
        topics: name to number of partitions, or a list of names with one partition each; created before the stub
            answers.
        config: Kafka's broker configuration; `ConfigError` says what Kafka would refuse, and which name was mistyped.
        profile: "kips" (the KIPs to the letter) or "kafka" (released Apache Kafka 4.x to the letter).
        host: the address to listen on, 127.0.0.1 by default.
        port: the port to listen on, by default (and with 0) any free one. Kafka's `listeners` in `config` is the way
            to have several.
        advertised: "HOST:PORT" that clients are told, where it is not the address listened on; Kafka's notation
            "NAME://HOST:PORT,…" too.
        data_dir: where everything is kept for the next stub that is given it: topics, records, groups, offsets and the
            clock. One stub at a time. `topics` that are there already are left as they are.
        nodes: how many nodes the cluster has; `stub.nodes` stops and starts them.
        racks: their racks, dealt out in turn; no more than there are nodes.
        as_version: an Apache Kafka release from "2.1" to "4.4": only its APIs and versions are advertised and accepted.
        journal: whether requests and answers are kept, the newest of them, to be read from `stub.journal`; a new
            directory: there all of them are kept, too (docs/journal.md).
        control_port: the port of the HTTP control port, 0 for any free one; without it there is none. `control_host` is
            where it listens, `control_allowed_hosts` are names that it may be asked by (docs/control.md).
        users: who may come in, with their passwords, by SASL (PLAIN and SCRAM, security.protocol SASL_PLAINTEXT); see
            docs/security.md.
        process: whether it runs in a process of its own, for tests that keep the interpreter busy (docs/faults.md).
    """

    def __new__(cls, *args: Any, process: bool = False, **named: Any) -> Self:
        if process and cls is KafkaStub:
            from kafkastub.stub.process import ProcessStub

            return cast("Self", object.__new__(ProcessStub))
        return super().__new__(cls)

    def __init__(
        self,
        topics: Mapping[str, int] | Iterable[str] | None = None,
        config: Mapping[str, object] | None = None,
        profile: str = "kips",
        host: str | None = None,
        port: int | None = None,
        advertised: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        as_version: str | None = None,
        journal: bool | str | os.PathLike[str] = True,
        nodes: int = 1,
        racks: Sequence[str] = (),
        control_port: int | None = None,
        control_host: str = "127.0.0.1",
        process: bool = False,
        users: Mapping[str, str] | None = None,
        control_allowed_hosts: Sequence[str] = (),
    ) -> None:
        self._topics = stub_arguments.topics(topics)
        stub_arguments.configs(config, "config")
        stub_arguments.text(advertised, "advertised")
        stub_arguments.data_dir(data_dir)
        if as_version is not None:
            config = {**(config or {}), "kafkastub.as.version": as_version}
        stub_arguments.address("127.0.0.1" if host is None else host, port or 0)
        if users is not None:
            config, host, port = stub_arguments.with_users(users, config or {}, host, port), None, None
        self._config = BrokerConfig(config, Profile.named(profile))
        stub_arguments.mistyped(self._config.unknown)
        self._listeners = plan_listeners(self._config, host, port, advertised)
        self._nodes = stub_arguments.nodes(nodes, racks)
        self._data_dir = data_dir
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._broker: Broker | None = None
        self._stop: asyncio.Event | None = None
        self.was_at = ""
        """`HOST:PORT` of the last time that it ran, for those who tell of it afterwards."""
        self._calls: set[concurrent.futures.Future[Any]] = set()
        """Handed to the stub's thread and not done yet."""
        self._plan_control(control_host, control_port, control_allowed_hosts)
        self._keep_journal(journal)
        self.clock = StubClock(self._running, self._call)
        """Broker time, to be frozen, set and advanced."""

    @cached_property
    def faults(self) -> StubFaults:
        """What goes wrong, and when: `with stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=3):`."""
        from kafkastub.stub.faults import StubFaults

        return StubFaults(self._running, self._call)

    @property
    def bootstrap_servers(self) -> str:
        """`HOST:PORT`, for a client's `bootstrap.servers`."""
        return self._running().bootstrap_servers

    @property
    def host(self) -> str:
        """The address listened on."""
        return self._running().host

    @property
    def port(self) -> int:
        """The port listened on."""
        return self._running().port

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic; clients see it at once. Raises TopicError for what Kafka would refuse."""
        stub_arguments.topic(name, partitions)
        stub_arguments.configs(configs, "configs")
        broker = self._running()

        def create() -> None:
            create_topic(broker.state, name, partitions, configs=configs)

        try:
            self._call(create)
        except KafkaError as error:
            raise TopicError(error.code, stub_arguments.named(error, name, configs or ())) from None

    def expire_offsets_now(self) -> None:
        """Sweep for expired offsets now, without waiting for `offsets.retention.check.interval.ms`."""
        broker = self._running()

        def sweep() -> None:
            broker.finish_loading()
            broker.state.expire_offsets(broker.clock.broker_ms())

        self._call(sweep)

    def reload_coordinator(self) -> None:
        """Let the group coordinator move away and come back: what is not in `__consumer_offsets` is gone.

        Members whose join or sync is under way are told NOT_COORDINATOR; the others do not notice.
        """
        with self.coordinator_loading():
            pass

    @contextmanager
    def coordinator_loading(self) -> Iterator[None]:
        """Meanwhile the group coordinator is loading: it answers COORDINATOR_LOAD_IN_PROGRESS. Then it is reloaded."""
        broker = self._running()
        self._call(broker.hold_loading)
        try:
            yield
        finally:
            self._call(broker.finish_loading)

    def metrics(self) -> dict[str, int]:
        """The meters of KIP-496 since the start, counted per offset and not per request.

        Keys: offset-commits, offset-expirations, offset-deletions, group-completed-rebalances.
        """
        broker = self._running()
        return self._call(broker.state.meters)

    def start(self) -> Self:
        """Start and wait until clients can connect.

        Raises ListenError (the port is taken), DataDirError (the directory cannot be used), TopicError, StubError.
        """
        if self._thread is not None:
            raise StubError(RUNNING)
        self._load_control()
        started: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="kafkastub", daemon=True)
        self._thread.start()
        try:
            started.result()
        except BaseException as error:
            self._thread.join()
            self._thread = None
            if isinstance(error, KafkaError):
                raise TopicError(error.code, error.message or error.code.name) from None
            raise
        self.was_at = self.bootstrap_servers
        STARTED[self] = None
        return self

    def close(self) -> None:
        """Stop; returns when thread, loop and sockets are gone. Closing twice does no harm."""
        thread, loop, stop = self._thread, self._loop, self._stop
        if thread is None or loop is None or stop is None:
            return
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        self._thread = self._loop = self._broker = self._stop = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        # Milliseconds, and no thread of an executor is left on the test's own loop, whichever kind of loop that is.
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> Broker:
        if self._broker is None:
            raise StubError("the stub is not running: use it as a context manager, or call start()")
        return self._broker

    def _call(self, work: Callable[[], T]) -> T:
        """Run `work` in the stub's thread, between two requests, and wait until what it changed is on the disk.

        Raises StubError, also where the disk takes no more, or what it raises.
        """
        self._running()
        loop = self._loop
        if loop is None:
            raise StubError(_CLOSED)
        if threading.current_thread() is self._thread:
            return work()
        result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._calls.add(result)

        def run() -> None:
            try:
                found = work()
            except BaseException as error:
                result.set_exception(error)
            if self._broker is not None:
                self._broker.rearm()
                if not result.done():
                    self._broker.when_kept(lambda failure: kept(found, failure))
            elif not result.done():
                result.set_result(found)

        def kept(found: T, failure: str | None) -> None:
            if result.done():
                return
            if failure is None:
                result.set_result(found)
            else:
                result.set_exception(StubError(failure))

        try:
            loop.call_soon_threadsafe(run)
            return result.result()
        except RuntimeError:
            if result.done():
                raise
            raise StubError(_CLOSED) from None
        finally:
            self._calls.discard(result)

    def _run(self, started: concurrent.futures.Future[None]) -> None:
        loop = new_event_loop()
        try:
            loop.run_until_complete(self._serve(loop, started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)  # whatever it was: who started the stub must not wait for ever
        finally:
            loop.close()
            for call in list(self._calls):
                if not call.done():
                    call.set_exception(StubError(_CLOSED))

    async def _serve(self, loop: asyncio.AbstractEventLoop, started: concurrent.futures.Future[None]) -> None:
        stop = asyncio.Event()
        log = library_logger()
        broker = Broker(self._config, log, data_dir=self._data_dir)
        try:
            await broker.start(self._listeners, self._topics, *self._nodes)
        except BaseException as error:
            started.set_exception(error)
            return
        try:
            self._observe(broker)
            self._loop, self._broker, self._stop = loop, broker, stop
            await self._open_control(broker, log)
        except BaseException as error:
            self._loop = self._broker = self._stop = None
            await broker.stop()
            started.set_exception(error)
            return
        started.set_result(None)
        await stop.wait()
        await self._close_control()
        await self._running().stop()  # a reset may have put another in its place

    def __repr__(self) -> str:
        if self._broker is not None:
            return f"<KafkaStub {self._broker.bootstrap_servers}>"
        return f"<KafkaStub not running{self.was_at and ', it was ' + self.was_at}>"


__all__: list[Any] = ["STARTED", "GroupTimeout", "KafkaStub", "StubError", "TopicError"]
