"""`KafkaProxy`: a proxy in front of a real cluster, inside a Python process."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from kafkastub.config import BrokerConfig, Profile
from kafkastub.journal.ring import DEFAULT_ENTRIES
from kafkastub.proxy.proxy import Proxy, addresses
from kafkastub.proxy.proxy import reach as reached
from kafkastub.proxy.room import MOST
from kafkastub.proxy.upstream import Upstream
from kafkastub.server.logs import library_logger
from kafkastub.stub import arguments as stub_arguments
from kafkastub.stub.errors import RUNNING, StubError
from kafkastub.stub.in_front.asking import Asked, AskedOffsets, AskedRecords, AskedTopics, AskedWaits
from kafkastub.stub.in_front.refusing import REASONS, NotInFront
from kafkastub.stub.journal import KeptJournal
from kafkastub.stub.started import STARTED
from kafkastub.stub.thread import BrokerThread

if TYPE_CHECKING:
    from kafkastub.client import Client
    from kafkastub.faults import ChaosAct
    from kafkastub.journal import Journal
    from kafkastub.server.broker import Broker
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.check import StubCheck
    from kafkastub.stub.faults import StubFaults
    from kafkastub.stub.inventory import Inventory
    from kafkastub.stub.records import Content, Headers, Produced

T = TypeVar("T")


class KafkaProxy:
    """A proxy in front of a real cluster, with a stub's faults, holds, chaos and journal (docs/proxy.md).

        with KafkaProxy(to="localhost:9092") as proxy:
            producer = Producer({"bootstrap.servers": proxy.bootstrap_servers})
            with proxy.faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1):

    Each node of the cluster has a port here, which clients connect to. Functions that need a stub's own state (clock,
    snapshots …) raise `NotInFront`.

    Args:
        to: the address of the cluster, "HOST:PORT"; several as a list or separated by commas.
        command_config: the path or the contents of a properties file of a Kafka client, for TLS to the cluster and for
            the proxy's own requests.
        reach: addresses to use in place of the "HOST:PORT" that a node advertises, for example for a broker in a
            container that advertises a name that only other containers can resolve.
        tls: whether clients use TLS. The certificate is generated, or set by Kafka's `ssl.…` in `config`.
        host: the address to listen on.
        port: the port of the first node; the other nodes get the next ports. By default any free ports.
        advertised: the address of the first node that clients receive, "HOST:PORT", if it is another one.
        journal: as in `KafkaStub`, and so are `journal_entries`, `control_port`, `control_host`,
            `control_allowed_hosts`, `control_token`, `chaos` and `chaos_level`.
        journal_bytes: the size limit of the journal in a directory, about 1 GiB by default.
        hide_records: whether the journal contains only the number of records, without keys, values and headers.
        keep_bytes: the memory limit for large requests and answers that faults, holds and chaos keep, 512 MiB by
            default. Above the limit, a connection is not read until there is room.
        drain: seconds that requests under way have at the end.
        check: as in `KafkaStub`.
    """

    def __init__(
        self,
        to: str | Sequence[str],
        *,
        reach: Mapping[str, str] | None = None,
        command_config: str | os.PathLike[str] | Mapping[str, str] | None = None,
        tls: bool = False,
        config: Mapping[str, object] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        advertised: str | None = None,
        journal: bool | str | os.PathLike[str] = True,
        journal_entries: int = DEFAULT_ENTRIES,
        journal_bytes: int | None = None,
        hide_records: bool = False,
        control_port: int | None = None,
        control_host: str = "127.0.0.1",
        control_allowed_hosts: Sequence[str] = (),
        control_token: str | None = None,
        chaos: int | str | Sequence[ChaosAct] | None = None,
        chaos_level: int = 1,
        keep_bytes: int = MOST,
        drain: float = 0.5,
        check: bool = False,
    ) -> None:
        self._to = addresses(to)
        stub_arguments.configs(config, "config")
        self._config = BrokerConfig(config, Profile.named("kips"))
        self._upstream = Upstream.of(command_config, reached(reach))
        self._at = stub_arguments.address(host, port)
        self._advertised = None if advertised is None else addresses(advertised)[0]
        self._tls = tls
        self._drain = drain
        if type(keep_bytes) is not int or keep_bytes < 1:
            raise ValueError(f"keep_bytes={keep_bytes!r} is refused: expected a number of bytes, 1 or more")
        self._keep_bytes = keep_bytes
        self._journal_bytes, self._hides_records = journal_bytes, hide_records
        self._chaos = None if chaos is None else stub_arguments.chaos(chaos, chaos_level)
        from kafkastub.stub.in_front.control import ProxyControl

        self._control = ProxyControl(control_host, control_port, control_allowed_hosts, control_token)
        # What the parts that a proxy has as well ask of a broker, it can answer.
        self._thread = BrokerThread(cast(Any, self._start_proxy), cast(Any, self._opened), self._control.close)
        self._journal = KeptJournal(self._thread, journal, journal_entries, stub_arguments.flag(check, "check"))
        self._asked = Asked(self._client)
        self.records = AskedRecords(self._asked)
        """The records of topics: `proxy.records("orders")`, `proxy.records.wait("orders", 3)`."""
        self.offsets = AskedOffsets(self._asked)
        """The committed offsets of groups, and their lag."""
        self.waits = AskedWaits(self._asked, lambda: self.journal)
        """The waits for topics, groups and quiet."""
        self.was_at = ""

    @cached_property
    def chaos(self) -> StubChaos:
        """Random faults that every correct client survives, from a seed."""
        from kafkastub.stub.chaos import StubChaos

        return StubChaos(self._thread)

    @cached_property
    def check(self) -> StubCheck:
        """The check of what the application did to its records: `verdict = proxy.check()`."""
        from kafkastub.stub.check import StubCheck, wall_ms

        return StubCheck(self._journal, lambda: self.records, wall_ms)

    @cached_property
    def faults(self) -> StubFaults:
        """The fault rules: `with proxy.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=3):`."""
        from kafkastub.stub.in_front.faults import ProxyFaults

        return ProxyFaults(self._thread, self._names)

    @property
    def journal(self) -> Journal:
        """The newest requests with their answers. Raises RuntimeError if the proxy keeps no journal."""
        return self._journal.reader

    # -- where it is -----------------------------------------------------------------------------------------------

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all nodes for a client's `bootstrap.servers`, `HOST:PORT,…`."""
        return self._proxy().bootstrap_servers

    @property
    def host(self) -> str:
        """The address that the proxy listens on."""
        return self._proxy().host

    @property
    def port(self) -> int:
        """The port of the first node."""
        return self._proxy().port

    @property
    def ports(self) -> list[int]:
        """The ports that the proxy listens on, one for each node."""
        return self._proxy().ports

    @property
    def control_url(self) -> str:
        """The URL of the control port, `http://HOST:PORT`. Raises RuntimeError without a control port."""
        self._proxy()
        return self._control.url

    @property
    def ca_file(self) -> str:
        """The path of the PEM file that clients with TLS trust. Raises RuntimeError without one."""
        found = self._proxy().tls
        if found is None:
            raise RuntimeError("this proxy speaks no TLS to clients: start it with tls=True")
        return found.ca_file

    # -- topics, records and groups: the cluster is asked ------------------------------------------------------------

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic, and wait until it has its leaders. Raises TopicError for a topic that the cluster refuses."""
        stub_arguments.topic(name, partitions)
        AskedTopics(self._asked).create(name, partitions, configs)

    def delete_topics(self, names: Iterable[str]) -> None:
        """Delete the topics that exist."""
        AskedTopics(self._asked).delete(names)

    def produce(
        self,
        topic: str,
        value: Content = None,
        *,
        key: Content = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> Produced:
        """Write a record and return its place. Short for `records.produce`. Raises KeyError, TopicError, TypeError."""
        return self.records.produce(topic, value, key=key, headers=headers, partition=partition, timestamp=timestamp)

    def commit(self, group: str, offsets: Mapping[tuple[str, int], int], metadata: str = "") -> None:
        """Commit offsets of a group without members. Short for `offsets.commit`. Raises KeyError, ValueError."""
        self.offsets.commit(group, offsets, metadata)

    def lag(self, group: str) -> dict[tuple[str, int], int]:
        """Return the lag of a group in records, by partition. Short for `offsets.lag`. Raises KeyError."""
        return self.offsets.lag(group)

    def leader_of(self, topic: str, partition: int) -> int:
        """Return the id of the node that leads a partition, -1 without one. Raises KeyError."""
        from kafkastub.client import records

        with self._asked.client(f"topic {topic!r}") as client:
            leader = records.partitions(client, topic)[partition]
        return -1 if leader is None else leader.id

    def coordinator_of(self, group: str) -> int:
        """Return the id of the node that coordinates a group."""
        with self._asked.client(f"group {group!r}") as client:
            return client.coordinator(group).id

    def wait_topic(self, topic: str, *, partitions: int | None = None, timeout: float = 5) -> None:
        """Wait for a topic. Short for `waits.topic`. Raises TopicTimeout."""
        self.waits.topic(topic, partitions=partitions, timeout=timeout)

    def wait_group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait for a group. Short for `waits.group`. Raises GroupTimeout."""
        self.waits.group(group, state=state, members=members, timeout=timeout)

    def wait_assigned(
        self, group: str, assignment: Mapping[str, Iterable[tuple[str, int]]], timeout: float = 5
    ) -> None:
        """Wait for an assignment. Short for `waits.assigned`. Raises GroupTimeout."""
        self.waits.assigned(group, assignment, timeout)

    def wait_quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] | None = None, timeout: float = 5) -> None:
        """Wait until no requests come. Short for `waits.quiet`. Raises JournalTimeout."""
        self.waits.quiet(seconds, ignoring=ignoring, timeout=timeout)

    def __getattr__(self, name: str) -> Any:
        if name in REASONS:
            raise NotInFront(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # -- its start and its end -------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start the proxy and wait until clients can connect.

        Raises ListenError (a port is taken), UnreachableError (the cluster does not answer), ConfigError, StubError.
        """
        if self._thread.is_started:
            raise StubError(RUNNING)
        if self._control.is_wanted:
            self._control.load()
        self._thread.start()
        self.was_at = self.bootstrap_servers
        STARTED[self] = datetime.now(UTC)
        return self

    def close(self) -> None:
        """Stop the proxy. When this returns, its thread, loop and sockets are gone. A second call has no effect."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        # As a stub's: no thread of an executor is left on the test's own loop, whichever kind of loop that is.
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _proxy(self) -> Proxy:
        return cast(Proxy, self._thread.running())

    def _client(self) -> Client:
        return self._proxy().cluster.client()

    def _names(self) -> None:
        """Let the proxy know the topics by their ids: a rule is to be about one."""
        proxy = self._proxy()
        if self._thread.is_here:
            proxy.refresh_names()
        elif proxy.cluster.may_ask:
            names = proxy.cluster.topic_names()
            self._thread.call(lambda: proxy.learn_names(names))

    async def _start_proxy(self) -> Proxy:
        proxy = Proxy(
            self._to,
            library_logger(),
            self._upstream,
            tls=self._tls,
            config=self._config,
            drain_seconds=self._drain,
            keep_bytes=self._keep_bytes,
        )
        proxy.journal_bytes, proxy.hides_records = self._journal_bytes, self._hides_records
        await proxy.start(*self._at, self._advertised)
        return proxy

    async def _opened(self, proxy: Proxy) -> None:
        broker = cast("Broker", proxy)
        self._journal.keep(broker)
        if self._chaos is not None:
            self.chaos.begin(broker, self._chaos())
        if self._control.is_wanted:
            await self._control.open(proxy, faults=self.faults, chaos=self.chaos, ring=self._journal.ring)

    def _inventory(self, began: datetime) -> Inventory:
        """For a failed test's report: what the cluster has is the cluster's."""
        return self._journal_alone(began)

    def _journal_alone(self, began: datetime) -> Inventory:
        from kafkastub.stub.inventory import journal_alone

        return journal_alone(self._journal, began, "it is a proxy in front of a cluster: its journal is what it has")

    def __repr__(self) -> str:
        if self._thread.broker is not None:
            return f"<KafkaProxy {self.bootstrap_servers}>"
        return f"<KafkaProxy not running{self.was_at and ', it was ' + self.was_at}>"


__all__ = ["KafkaProxy", "NotInFront"]
