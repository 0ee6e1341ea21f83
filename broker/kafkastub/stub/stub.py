"""`KafkaStub`: a broker inside a Python process."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from kafkastub.config import BrokerConfig, Profile, plan_listeners
from kafkastub.journal.ring import DEFAULT_ENTRIES
from kafkastub.server.broker import Broker
from kafkastub.server.logs import library_logger
from kafkastub.state.topics import create_topic
from kafkastub.stub import arguments as stub_arguments
from kafkastub.stub.clock import StubClock
from kafkastub.stub.control import StubControl
from kafkastub.stub.errors import RUNNING, StubError, TopicError
from kafkastub.stub.journal import KeptJournal
from kafkastub.stub.nodes import StubNode, StubNodes
from kafkastub.stub.started import BEFORE_CLOSE, STARTED
from kafkastub.stub.thread import BrokerThread
from kafkastub.stub.waits import StubWaits
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.faults import ChaosAct
    from kafkastub.journal import Journal
    from kafkastub.registry.entities import Schema
    from kafkastub.security.tls import ClientCertificate
    from kafkastub.stub.aio import AsyncWaits
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.check import StubCheck
    from kafkastub.stub.faults import StubFaults
    from kafkastub.stub.groups import StubGroups
    from kafkastub.stub.inventory import Inventory
    from kafkastub.stub.offsets import StubOffsets
    from kafkastub.stub.quotas import StubQuotas
    from kafkastub.stub.records import Headers, Produced, StubRecords
    from kafkastub.stub.registry import StubRegistry
    from kafkastub.stub.share_groups import StubShareGroups
    from kafkastub.stub.snapshots import Snapshot
    from kafkastub.stub.streams_groups import StubStreamsGroups
    from kafkastub.stub.tls import StubTls
    from kafkastub.stub.transactions import StubTransactions

T = TypeVar("T")


class KafkaStub:
    """A Kafka broker for a test, in a separate thread and on a separate event loop.

        with KafkaStub(topics={"orders": 3}, config={"offsets.retention.minutes": 60}) as stub:
            producer = Producer({"bootstrap.servers": stub.bootstrap_servers})

    It serves blocking clients and clients on any event loop. `async with` works, too. Any number of stubs can run at
    the same time. Closing a stub leaves no thread, task or socket behind.

    Args:
        topics: names with numbers of partitions, or a list of names with one partition each. They are created before
            the stub answers.
        config: Kafka's broker configuration. Raises `ConfigError` for what Kafka would refuse and for a mistyped name.
        profile: "kips" (exactly as the KIPs say) or "kafka" (exactly as released Apache Kafka 4.x).
        host: the address to listen on, 127.0.0.1 by default.
        port: the port to listen on. By default, and with 0, any free port. For several listeners, use Kafka's
            `listeners` in `config`.
        advertised: the address that clients connect to, "HOST:PORT", if it is not the address listened on. Kafka's
            notation "NAME://HOST:PORT,…" is allowed, too.
        data_dir: the directory that keeps topics, records, groups, offsets and the clock for the next stub. Only one
            stub can use it at a time. `topics` that already exist are left unchanged.
        nodes: the number of nodes of the cluster. `stub.nodes` stops and starts them.
        racks: the racks of the nodes, assigned in turn; no more racks than nodes.
        as_version: an Apache Kafka release from "2.1" to "4.4". The stub advertises and accepts only the APIs and
            versions of that release.
        journal: whether the newest requests and answers are kept for `stub.journal`. A path is a new directory, to
            which all of them are written as well (docs/journal.md). `journal_entries` is the number of the newest that
            are kept.
        control_port: the port of the HTTP control port, 0 for any free port. Without it there is no control port.
            `control_host` is the address that it listens on. `control_allowed_hosts` are the host names that requests
            to it may use. `control_token` is the token that clients need to change anything (docs/control.md).
        users: names with passwords of the users that may log in with SASL (PLAIN and SCRAM, security.protocol
            SASL_PLAINTEXT); see docs/security.md.
        chaos: a seed for random faults that every correct client survives, at the level `chaos_level` (1, 2 or 3); or a
            list of `ChaosAct`, or the name of a scenario (docs/chaos.md).
        snapshot: the state to start from: the result of `stub.snapshot()`, or the path of its file
            (docs/without-sleeps.md). `topics` that already exist, and a `data_dir` that already has data, are left
            unchanged.
        check: whether guarantees are checked from the start, for `stub.check()` (docs/guarantees.md).
        registry: whether the stub has a schema registry, `stub.registry` (docs/registry.md). It listens on
            `registry_host` and `registry_port`, by default any free port. `control_allowed_hosts` applies to it, too.
        process: whether the broker runs in a separate process, for tests that keep the interpreter busy. A string or a
            path is the command of kafkastub that runs there, for example the packaged one (docs/faults.md).
    """

    def __new__(cls, *args: Any, process: bool | str | os.PathLike[str] = False, **named: Any) -> Self:
        if process not in (False, None) and cls is KafkaStub:
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
        process: bool | str | os.PathLike[str] = False,
        users: Mapping[str, str] | None = None,
        control_allowed_hosts: Sequence[str] = (),
        chaos: int | str | Sequence[ChaosAct] | None = None,
        chaos_level: int = 1,
        snapshot: Snapshot | str | os.PathLike[str] | None = None,
        control_token: str | None = None,
        journal_entries: int = DEFAULT_ENTRIES,
        check: bool = False,
        registry: bool = False,
        registry_port: int | None = None,
        registry_host: str = "127.0.0.1",
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
        self._snapshot = None
        if snapshot is not None:
            from kafkastub.stub.snapshots import configured, given

            self._snapshot = given(snapshot)
            self._config = configured(self._snapshot, config, self._config)
        self._listeners = plan_listeners(self._config, host, port, advertised)
        self._nodes_and_racks = stub_arguments.nodes(nodes, racks)
        self._data_dir = data_dir
        self._control = StubControl(control_host, control_port, control_allowed_hosts, control_token)
        self._registry_at = stub_arguments.registry(registry, registry_host, registry_port)
        self._names = stub_arguments.names(control_allowed_hosts, "control_allowed_hosts")
        self._thread = BrokerThread(self._start_broker, self._opened, self._closing)
        self._chaos = None if chaos is None else stub_arguments.chaos(chaos, chaos_level)
        self._journal = KeptJournal(self._thread, journal, journal_entries, stub_arguments.flag(check, "check"))
        self.was_at = ""
        """The address of the last run, `HOST:PORT`, for reports after the end."""
        self.clock = StubClock(self._thread)
        """The clock: freeze, set and advance broker time."""
        self.nodes = StubNodes(self._thread)
        """The nodes by id: stop and start them, move leaders and coordinators."""
        self.waits = StubWaits(self._thread, lambda: self.journal)
        """The waits for topics, groups and quiet. `wait_topic` and others are short for them."""

    @cached_property
    def aio(self) -> AsyncWaits:
        """The waits as coroutines: `await stub.aio.wait_group("worker", members=2)`."""
        from kafkastub.stub.aio import AsyncWaits

        groups = self.share_groups, self.streams_groups
        return AsyncWaits(self.waits, self.records, self.offsets, self.transactions, *groups)

    @cached_property
    def chaos(self) -> StubChaos:
        """Random faults that every correct client survives: start and stop them, and see what they have done."""
        from kafkastub.stub.chaos import StubChaos

        return StubChaos(self._thread)

    @cached_property
    def check(self) -> StubCheck:
        """The check of what the application did to its records: `verdict = stub.check()`."""
        from kafkastub.stub.check import StubCheck

        return StubCheck(self._journal, lambda: self.records, self._now_ms)

    @cached_property
    def faults(self) -> StubFaults:
        """The fault rules: `with stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=3):`."""
        from kafkastub.stub.faults import StubFaults

        return StubFaults(self._thread)

    @property
    def journal(self) -> Journal:
        """The newest requests with their answers, 10,000 or 8 MiB of them.

        You can still read it when the stub is closed. Raises RuntimeError if the stub keeps no journal.
        """
        return self._journal.reader

    @cached_property
    def groups(self) -> StubGroups:
        """The groups: assignments and targets. A test can set targets and hold revocations."""
        from kafkastub.stub.groups import StubGroups

        return StubGroups(self._thread)

    @cached_property
    def share_groups(self) -> StubShareGroups:
        """The share groups: each record with its owner, lock and delivery count. A test can hold acknowledgements."""
        from kafkastub.stub.share_groups import StubShareGroups

        return StubShareGroups(self._thread)

    @cached_property
    def streams_groups(self) -> StubStreamsGroups:
        """The groups of Kafka Streams: their topologies, missing topics and tasks."""
        from kafkastub.stub.streams_groups import StubStreamsGroups

        return StubStreamsGroups(self._thread)

    @cached_property
    def quotas(self) -> StubQuotas:
        """The client quotas."""
        from kafkastub.stub.quotas import StubQuotas

        return StubQuotas(self._thread)

    @cached_property
    def records(self) -> StubRecords:
        """The records of topics: `stub.records("orders")`, `stub.records.wait("orders", 3)`."""
        from kafkastub.stub.records import StubRecords

        return StubRecords(self._thread, lambda: self.registry)

    @cached_property
    def offsets(self) -> StubOffsets:
        """The committed offsets of groups, and their lag."""
        from kafkastub.stub.offsets import StubOffsets

        return StubOffsets(self._thread)

    @cached_property
    def transactions(self) -> StubTransactions:
        """The transactional ids and their states. A test can abort transactions and hold their markers."""
        from kafkastub.stub.transactions import StubTransactions

        return StubTransactions(self._thread)

    @cached_property
    def registry(self) -> StubRegistry:
        """The schema registry: its `url` for clients, its schemas and their compatibility.

        Raises RuntimeError if the stub was made without a registry.
        """
        if self._registry_at is None:
            raise RuntimeError("this stub has no schema registry: start it with registry=True")
        from kafkastub.stub.registry import StubRegistry

        return StubRegistry(self._thread, *self._registry_at, self._names)

    @cached_property
    def tls(self) -> StubTls:
        """The TLS certificates of clients and of the stub."""
        from kafkastub.stub.tls import StubTls

        return StubTls(self._thread)

    # -- where it is -----------------------------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """The address for a client's `bootstrap.servers`, `HOST:PORT`."""
        return self._running().bootstrap_servers

    @property
    def host(self) -> str:
        """The address that the stub listens on."""
        return self._running().host

    @property
    def port(self) -> int:
        """The port that the stub listens on."""
        return self._running().port

    @property
    def ports(self) -> list[int]:
        """The ports that the stub listens on: one for each listener, in the configuration's order, node by node."""
        return self._running().ports

    def bootstrap_servers_of(self, listener: str) -> str:
        """Return `HOST:PORT` for clients of a listener. Raises KeyError for a listener that is not advertised."""
        return self._running().bootstrap_servers_of(listener)

    def advertise(self, address: str, node: int | None = None) -> None:
        """Change the address that clients receive, for example to the port that a container is published on.

        `address` is "HOST:PORT", or "NAME://HOST:PORT,…" with several listeners. `node` is the id of a node of several.
        Raises ConfigError.
        """
        broker = self._running()
        self._call(lambda: broker.advertise(address, node))

    @property
    def control_url(self) -> str:
        """The URL of the control port, `http://HOST:PORT` (docs/control.md).

        Raises RuntimeError without a control port.
        """
        self._running()
        return self._control.url

    # -- topics and groups -----------------------------------------------------------------------------------------

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic. Clients see it at once. Raises TopicError for a topic that Kafka would refuse."""
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
        """Remove expired offsets now, without waiting for `offsets.retention.check.interval.ms`."""
        broker = self._running()

        def sweep() -> None:
            broker.finish_loading()
            broker.state.expire_offsets(broker.clock.broker_ms())

        self._call(sweep)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of all state that clients can see. It takes milliseconds, however many records there are.

        Raises SnapshotError while a coordinator is loading.
        """
        from kafkastub.stub.snapshots import take

        return take(self._thread)

    def restore(self, snapshot: Snapshot | str | os.PathLike[str]) -> None:
        """Restore the state of a snapshot, or of the file of one. The stub keeps its addresses.

        Clients are disconnected and reconnect by themselves. Faults, journal and metrics are left unchanged. Raises
        SnapshotError, TypeError, OSError; DataDirError if a data directory cannot take the state.
        """
        from kafkastub.stub.snapshots import restore

        restore(self._thread, snapshot)

    @contextmanager
    def rolled_back(self) -> Iterator[Snapshot]:
        """Take a snapshot, and restore it at the end of the `with` block."""
        from kafkastub.stub.snapshots import is_running

        saved = self.snapshot()
        try:
            yield saved
        finally:
            if is_running(self._thread):
                self.restore(saved)

    def reload_coordinator(self) -> None:
        """Reload the group coordinator, as after a move and back: state that is not in `__consumer_offsets` is lost.

        Members with a join or sync under way get NOT_COORDINATOR. The others do not notice.
        """
        with self.coordinator_loading():
            pass

    @contextmanager
    def coordinator_loading(self) -> Iterator[None]:
        """Keep the group coordinator loading within the `with` block, and reload it at the end.

        It answers COORDINATOR_LOAD_IN_PROGRESS while it loads.
        """
        broker = self._running()
        self._call(broker.hold_loading)
        try:
            yield
        finally:
            self._call(broker.finish_loading)

    def metrics(self) -> dict[str, int]:
        """Return the counters since the start: offsets (KIP-496), rebalances, transactions.

        Offsets are counted one by one. Keys: offset-commits, offset-expirations, offset-deletions,
        group-completed-rebalances, consumer-group-rebalances, share-group-rebalances, streams-group-rebalances,
        transactions-committed, transactions-aborted (timeouts included), and transactions-timed-out.
        """
        state = self._running().state

        def counted() -> dict[str, int]:
            ended = state.transactions.coordinator.meters if state.has_transactions else None
            return {
                **state.meters(),
                "transactions-committed": 0 if ended is None else ended.committed,
                "transactions-aborted": 0 if ended is None else ended.aborted,
                "transactions-timed-out": 0 if ended is None else ended.timed_out,
            }

        return self._call(counted)

    # -- what its parts have as well -------------------------------------------------------------------------------

    def produce(
        self,
        topic: str,
        value: Any = None,
        *,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        schema: str | Schema | None = None,
        key_schema: str | Schema | None = None,
    ) -> Produced:
        """Write a record and return its place. Short for `records.produce`.

        Raises KeyError, TopicError, TypeError; with a schema ValueError, RegistryError.
        """
        return self.records.produce(
            topic,
            value,
            key=key,
            headers=headers,
            partition=partition,
            timestamp=timestamp,
            schema=schema,
            key_schema=key_schema,
        )

    def commit(self, group: str, offsets: Mapping[tuple[str, int], int], metadata: str = "") -> None:
        """Commit offsets of a group without members.

        Short for `offsets.commit`. Raises KeyError, ValueError, TypeError.
        """
        self.offsets.commit(group, offsets, metadata)

    def lag(self, group: str) -> dict[tuple[str, int], int]:
        """Return the lag of a group in records, by partition. Short for `offsets.lag`. Raises KeyError."""
        return self.offsets.lag(group)

    def wait_topic(self, topic: str, *, partitions: int | None = None, timeout: float = 5) -> None:
        """Wait until a topic exists, with at least `partitions`. Short for `waits.topic`. Raises TopicTimeout."""
        self.waits.topic(topic, partitions=partitions, timeout=timeout)

    def wait_group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait until a group is in `state` and has `members`. Short for `waits.group`. Raises GroupTimeout."""
        self.waits.group(group, state=state, members=members, timeout=timeout)

    def wait_assigned(
        self, group: str, assignment: Mapping[str, Iterable[tuple[str, int]]], timeout: float = 5
    ) -> None:
        """Wait until members have exactly these partitions. Short for `waits.assigned`. Raises GroupTimeout."""
        self.waits.assigned(group, assignment, timeout)

    def wait_quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] | None = None, timeout: float = 5) -> None:
        """Wait until no request has come for `seconds`. Short for `waits.quiet`. Raises JournalTimeout."""
        self.waits.quiet(seconds, ignoring=ignoring, timeout=timeout)

    def add_node(self, rack: str | None = None) -> StubNode:
        """Add a node with the next id. Short for `nodes.add`."""
        return self.nodes.add(rack)

    def remove_node(self, node: int) -> None:
        """Remove a node from the cluster for good. Short for `nodes.remove`."""
        self.nodes.remove(node)

    def leader_of(self, topic: str, partition: int) -> int:
        """Return the id of the leader of a partition, -1 without one. Short for `nodes.leader_of`. Raises KeyError."""
        return self.nodes.leader_of(topic, partition)

    def coordinator_of(self, group: str) -> int:
        """Return the id of the coordinator of a group, -1 without one. Short for `nodes.coordinator_of`."""
        return self.nodes.coordinator_of(group)

    def move_leader(self, topic: str, partition: int, node: int) -> None:
        """Make a running node the leader of a partition. Short for `nodes.move_leader`. Raises KeyError, ValueError."""
        self.nodes.move_leader(topic, partition, node)

    def move_coordinator(self, group: str, node: int) -> None:
        """Make a running node the coordinator of a group. Short for `nodes.move_coordinator`. Raises ValueError."""
        self.nodes.move_coordinator(group, node)

    def elect_leaders(self, topics: Sequence[str] | None = None, *, unclean: bool = False) -> None:
        """Elect the preferred leaders where they run. Short for `nodes.elect_leaders`. Raises TypeError, KeyError."""
        self.nodes.elect_leaders(topics, unclean=unclean)

    def set_quota(
        self,
        *,
        user: str | None = None,
        client_id: str | None = None,
        ip: str | None = None,
        **quotas: float | None,
    ) -> None:
        """Set a client quota: `set_quota(client_id="loader", producer_byte_rate=1_000_000)`. Short for `quotas.set`.

        `quotas.set` lists the quotas and their units. Raises ValueError for what Kafka would refuse, TypeError.
        """
        self.quotas.set(user=user, client_id=client_id, ip=ip, **quotas)

    @property
    def ca_file(self) -> str:
        """The path of the PEM file that clients trust. Short for `tls.ca_file`. Raises RuntimeError without one."""
        return self.tls.ca_file

    def client_certificate(
        self, subject: str = "CN=client", *, expired: bool = False, other_ca: bool = False
    ) -> ClientCertificate:
        """Return a certificate for a client. Short for `tls.client_certificate`. Raises ValueError, RuntimeError."""
        return self.tls.client_certificate(subject, expired=expired, other_ca=other_ca)

    def show_certificate(
        self, *, expired: bool = False, other_ca: bool = False, hosts: Sequence[str] | None = None
    ) -> None:
        """Use another server certificate for new connections. Short for `tls.show_certificate`. Raises RuntimeError."""
        self.tls.show_certificate(expired=expired, other_ca=other_ca, hosts=hosts)

    def with_registry(self) -> StubRegistry:
        """Return the registry, and start it first if the stub runs without one. Raises MissingExtra, StubError."""
        self._running()
        if self._registry_at is None:
            self._registry_at = "127.0.0.1", 0
            self.registry._load()
            self._thread.call_async(self._open_registry)
        return self.registry

    # -- its start and its end -------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start the stub and wait until clients can connect.

        Raises ListenError (the port is taken), DataDirError (the directory cannot be used), TopicError, StubError.
        """
        if self._thread.is_started:
            raise StubError(RUNNING)
        if self._control.is_wanted:
            self._control.load()
        if self._registry_at is not None:
            self.registry._load()
        try:
            self._thread.start()
        except KafkaError as error:
            raise TopicError(error.code, error.message or error.code.name) from None
        self.was_at = self.bootstrap_servers
        STARTED[self] = datetime.now(UTC)
        return self

    def close(self) -> None:
        """Stop the stub. When this returns, its thread, loop and sockets are gone. A second call has no effect."""
        self._tell_of_the_end()
        self._thread.stop()

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

    def _tell_of_the_end(self) -> None:
        if BEFORE_CLOSE and self._is_up():
            for tell in tuple(BEFORE_CLOSE):
                tell(self)

    def _is_up(self) -> bool:
        return self._thread.broker is not None

    def _inventory(self, began: datetime) -> Inventory:
        """All that it has now, and what it was asked since then; it may have to wait for the stub."""
        from kafkastub.stub.inventory import taken

        parts = vars(self)  # what nobody has asked for has nothing to tell
        return taken(self._thread, self._journal, parts.get("faults"), parts.get("chaos"), began)

    def _journal_alone(self, began: datetime) -> Inventory:
        """The same of one that does not answer: what is in this process."""
        from kafkastub.stub.inventory import journal_alone

        return journal_alone(self._journal, began, "its journal is all that can be read")

    def _now_ms(self) -> int:
        from kafkastub.stub.check import wall_ms

        broker = self._thread.broker
        return wall_ms() if broker is None else broker.clock.broker_ms()

    def _running(self) -> Broker:
        return self._thread.running()

    def _call(self, work: Callable[[], T]) -> T:
        return self._thread.call(work)

    async def _start_broker(self) -> Broker:
        broker = Broker(self._config, library_logger(), data_dir=self._data_dir)
        await broker.start(self._listeners, self._topics, *self._nodes_and_racks, snapshot=self._snapshot)
        return broker

    async def _opened(self, broker: Broker) -> None:
        self._journal.keep(broker)
        self._begin_chaos(broker)
        if self._control.is_wanted:
            await self._control.open(
                broker,
                self._config,
                self._topics,
                faults=self.faults,
                chaos=self.chaos,
                ring=self._journal.ring,
                replaced=self._replaced,
            )
        if self._registry_at is not None:
            await self._open_registry(broker)

    async def _open_registry(self, broker: Broker) -> None:
        await self.registry._open(broker)
        self._control.show_by(self.registry._known)

    async def _closing(self) -> None:
        await self._control.close()
        if self._registry_at is not None:
            await self.registry._close()

    def _replaced(self, broker: Broker) -> None:
        self._thread.broker = broker
        self._journal.keep(broker)
        self._begin_chaos(broker)

    def _begin_chaos(self, broker: Broker) -> None:
        if self._chaos is not None:
            self.chaos.begin(broker, self._chaos())

    def __repr__(self) -> str:
        if self._thread.broker is not None:
            return f"<KafkaStub {self._thread.broker.bootstrap_servers}>"
        return f"<KafkaStub not running{self.was_at and ', it was ' + self.was_at}>"


_HERE: Final = frozenset({"start", "close", "coordinator_loading", "rolled_back", "was_at"})
"""What of a stub in another process is not asked for there."""


class ProcessStub(KafkaStub):
    """The result of `KafkaStub(process=…)`: the stub itself runs in a child process."""

    def __init__(self, *args: Any, **named: Any) -> None:
        from kafkastub.stub.command import given
        from kafkastub.stub.process import ChildProcess

        command = given(named.pop("process", True))
        super().__init__(*args, **named)  # refuses here what it would refuse there
        self._child = ChildProcess(partial(KafkaStub, *args, **named), command)

    def start(self) -> Self:
        self._child.start()
        atexit.register(self.close)
        STARTED[self] = datetime.now(UTC)
        self.was_at = self.bootstrap_servers
        return self

    def close(self) -> None:
        self._tell_of_the_end()
        atexit.unregister(self.close)
        self._child.close()

    def _is_up(self) -> bool:
        return self._child.pid is not None

    def _inventory(self, began: datetime) -> Inventory:
        found: Inventory = self._child.ask_stub("call", "_inventory", began)
        return found

    @contextmanager
    def coordinator_loading(self) -> Iterator[None]:
        with self._child.context_of("coordinator_loading"):
            yield

    @contextmanager
    def rolled_back(self) -> Iterator[Snapshot]:
        with self._child.context_of("rolled_back") as saved:
            yield saved

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name in _HERE:
            return super().__getattribute__(name)
        return self._child.ask_stub("get", name)

    def __repr__(self) -> str:
        return repr(self._child)
