"""What a run of the suite knows of the broker, and what it has made there."""

from __future__ import annotations

import contextlib
import time
import uuid
from dataclasses import dataclass
from typing import Any

from kafkastub.client import ClientError
from kafkastub_conformance.expecting import Answer
from kafkastub_conformance.link import Link, remembered
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import Clock, Skipped
from kafkastub_conformance.release import checked_release, measured_by
from kafkawire.errors import ErrorCode
from kafkawire.messages import REQUESTS

READY_SECONDS = 20.0
POLL_SECONDS = 0.02
PROBE_SECONDS = 5.0
TRIES = 400
"""So many names are tried to find a group whose coordinator is the broker under test."""

BROKER = 4
"""The type of a broker's configuration."""

TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
_BY_KEY = {int(key): name for name, key in KEYS.items()}


class NotReady(Exception):
    """The broker does not do what every case needs; the message says what."""


@dataclass(frozen=True)
class Topic:
    """A topic of the suite's."""

    name: str
    id: bytes
    partitions: int


class Cluster:
    """The broker under test. One broker of the cluster is asked everything: groups that it coordinates, topics that it
    leads.

    Args:
        timeout: seconds that one answer may take.
        release: of Apache Kafka, that it is measured by; "" is the one whose versions it has.
        clock: its time, where that can be moved.

    Raises ValueError for a release that there is none of.
    """

    def __init__(
        self,
        host: str,
        port: int,
        profile: str,
        timeout: float = 10.0,
        release: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.profile = profile
        self.timeout = timeout
        self.release = checked_release(release) if release else ""
        self.clock = clock
        self.prefix = f"conform-{uuid.uuid4().hex[:8]}"
        self.advertised: dict[str, tuple[int, int]] = {}
        self.served: dict[str, tuple[int, int]] = {}
        """What is advertised, and what is answered all the same."""
        self.strange: dict[int, tuple[int, int]] = {}
        """What is advertised of which we know no more than the key."""
        self.node_id = -1
        self.nodes = 1
        self.groups: set[str] = set()
        self.topics: set[str] = set()
        self.users: set[str] = set()
        self.quotas: list[dict[str, str | None]] = []
        """Entities, each as type to name, that may have quotas."""
        self.principal = f"User:{self.prefix}"
        self.has_acls = False
        """Whether there may be entries for `principal`."""
        self.resources: set[tuple[int, str]] = set()
        """Configuration resources other than topics: (type, name)."""
        self._shared: dict[str, Topic] = {}
        self._settings: dict[str, str] | None = None
        self.sweeps = True
        """Whether the deletion of a topic reaches the groups, as far as is known."""
        self._coordinated: set[int] = set()
        self._names = 0
        self._admin: Link | None = None

    def prepare(self) -> None:
        """Learn what the broker has; wait for its coordinators. Raises ClientError, NotReady."""
        found = self.admin().negotiate()
        self.strange = {key: between for key, between in found.items() if key not in _BY_KEY}
        self.advertised = {_BY_KEY[key]: between for key, between in found.items() if key in _BY_KEY}
        self.served = dict(self.advertised)
        self.release = self.release or measured_by(self.advertised)
        if TELEMETRY[0] not in self.advertised and self._answers_telemetry():
            self.served |= dict.fromkeys(TELEMETRY, (0, 0))
        answer = self.ask("Metadata", topics=[])
        nodes = {broker.node_id: (broker.host, broker.port) for broker in answer.brokers}
        if not nodes:
            raise NotReady("the broker's metadata names no broker")
        self.nodes = len(nodes)
        mine = [number for number, address in nodes.items() if address[1] == self.port]
        self.node_id = mine[0] if mine else next(iter(nodes))
        if len(nodes) > 1 and not mine:
            self.host, self.port = nodes[self.node_id]
            self.forget_admin()
        self._await_coordinator(0)
        self._await_producer_ids()

    def admin(self) -> Link:
        """The connection that makes and removes what cases need."""
        if self._admin is None:
            self._admin = self.link("conform-admin", time.monotonic() + 86400)
        return self._admin

    def link(self, client: str, until: float) -> Link:
        """A new connection. Raises ClientError."""
        return Link(self.host, self.port, self.timeout, client, until, remembered())

    def forget_admin(self) -> None:
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def alive(self, seconds: float) -> bool:
        """Whether the broker answers ApiVersions."""
        until = time.monotonic() + seconds
        try:
            with Link(self.host, self.port, seconds, "conform-alive", until, remembered()) as link:
                link.request("ApiVersions", 0, {}).answer()
        except ClientError:
            return False
        return True

    def newest(self, api: str, most: int | None = None) -> int:
        """The highest version that the broker and we have, `most` at most. Raises Skipped."""
        if api not in self.served:
            raise Skipped(f"the broker does not have {api}")
        ours, theirs = REQUESTS[KEYS[api]][2], self.served[api]
        version = min(ours[1], theirs[1], ours[1] if most is None else most)
        if version < max(ours[0], theirs[0]):
            raise Skipped(f"the broker has {api} {theirs[0]} to {theirs[1]}")
        return version

    def ask(self, api: str, **body: Any) -> Answer:
        """One request of the suite's own."""
        try:
            return self.admin().request(api, self.newest(api), body).answer()
        except ClientError:
            self.forget_admin()
            raise

    def setting(self, name: str) -> str:
        """What the broker says that a setting of its own is, "" where it does not say."""
        if self._settings is None:
            self._settings = {}
            row = {"resource_type": BROKER, "resource_name": str(self.node_id), "configuration_keys": None}
            with contextlib.suppress(ClientError, Skipped):
                found = self.ask("DescribeConfigs", resources=[row]).results
                self._settings = {one.name: one.value or "" for result in found for one in result.configs}
        return self._settings.get(name, "")

    def number(self, name: str, otherwise: int) -> int:
        """The same as a number; `otherwise` is Kafka's default."""
        text = self.setting(name)
        return int(text) if text.lstrip("-").isdigit() else otherwise

    def _answers_telemetry(self) -> bool:
        """Whether the API is answered, as Kafka does without a receiver for it, though it is not advertised."""
        try:
            with self.link("conform-telemetry", time.monotonic() + self.timeout) as link:
                asked = link.request(TELEMETRY[0], 0, {"client_instance_id": uuid.uuid4().bytes})
                asked.answer(min(self.timeout, PROBE_SECONDS))
        except ClientError:
            return False
        return True

    def name(self) -> str:
        """A name that nobody has."""
        self._names += 1
        return f"{self.prefix}-{self._names}"

    def group(self, ending: str = "") -> str:
        """A group id that nobody uses, coordinated by the broker under test; it ends as wanted."""
        for _ in range(TRIES):
            name = self.name() + ending
            if self.nodes == 1 or self._coordinator(name) == self.node_id:
                self.groups.add(name)
                return name
        raise NotReady(f"broker {self.node_id} coordinates no group")

    def transactional_id(self) -> str:
        """A transactional id that nobody uses, coordinated by the broker under test. It stays: nothing removes one."""
        self._await_coordinator(1)
        for _ in range(TRIES):
            name = self.name()
            if self.nodes == 1 or self._coordinator(name, 1) == self.node_id:
                return name
        raise NotReady(f"broker {self.node_id} coordinates no transactional id")

    def topic(self, partitions: int = 1, **configs: str) -> Topic:
        """A new topic that the broker under test leads, ready to be used."""
        name = self.name()
        self.topics.add(name)
        wanted: dict[str, Any] = {"name": name, "num_partitions": partitions, "replication_factor": 1}
        if self.nodes > 1:
            rows = [{"partition_index": index, "broker_ids": [self.node_id]} for index in range(partitions)]
            wanted |= {"num_partitions": -1, "replication_factor": -1, "assignments": rows}
        wanted["configs"] = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
        result = self.ask("CreateTopics", topics=[wanted], timeout_ms=int(self.timeout * 1000)).topics[0]
        if result.error_code:
            raise NotReady(f"no topic could be made: error {result.error_code} {result.error_message or ''}".rstrip())
        return self.await_topic(name, partitions)

    def shared(self, partitions: int = 3) -> Topic:
        """A topic that many cases use only the name of."""
        found = self._shared.get("offsets")
        if found is None:
            found = self._shared["offsets"] = self.topic(partitions)
        return found

    def await_topic(self, name: str, partitions: int, *, led_here: bool = True) -> Topic:
        """The topic once all its partitions have a leader, which is the broker under test. Raises NotReady."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            body = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
            found = self.ask("Metadata", **body).topics[0]
            led = not found.error_code and sum(row.leader_id >= 0 for row in found.partitions) == partitions
            if led and (not led_here or self._serves(name, partitions)):
                return Topic(name, bytes(found.topic_id), partitions)
            if time.monotonic() > deadline:
                raise NotReady(f"the topic that was made has no leaders after {READY_SECONDS:g} s")
            time.sleep(POLL_SECONDS)

    def _serves(self, name: str, partitions: int) -> bool:
        """Whether the leader knows that it leads: Kafka's metadata is a moment ahead of its logs."""
        if "ListOffsets" not in self.advertised:
            return True
        rows = [{"partition_index": index, "timestamp": -1} for index in range(partitions)]
        answer = self.ask("ListOffsets", replica_id=-1, topics=[{"name": name, "partitions": rows}])
        return not any(row.error_code for topic in answer.topics for row in topic.partitions)

    def take_stock(self) -> None:
        """After an interruption: what was just being made is not in our books, and is known by its name."""
        self.forget_admin()
        with contextlib.suppress(ClientError, Skipped):
            found = self.ask("Metadata", topics=None, allow_auto_topic_creation=False).topics
            self.topics |= {topic.name for topic in found if topic.name.startswith(self.prefix)}
            groups = self.ask("ListGroups").groups
            self.groups |= {group.group_id for group in groups if group.group_id.startswith(self.prefix)}

    @property
    def shared_topics(self) -> set[str]:
        """The names of the topics that cases share."""
        return {topic.name for topic in self._shared.values()}

    def _coordinator(self, key: str, key_type: int = 0) -> int:
        """The coordinator's node id, -1 while there is none."""
        version = self.newest("FindCoordinator")
        answer = self.ask("FindCoordinator", key=key, key_type=key_type, coordinator_keys=[key])
        found = answer.coordinators[0] if version >= 4 else answer
        return -1 if found.error_code else int(found.node_id)

    def _await_producer_ids(self) -> None:
        """Kafka's first answers to InitProducerId are that it has no ids yet."""
        deadline = time.monotonic() + READY_SECONDS
        while "InitProducerId" in self.advertised and time.monotonic() < deadline:
            answer = self.ask("InitProducerId", transactional_id=None, transaction_timeout_ms=60000)
            if answer.error_code not in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE):
                return
            time.sleep(POLL_SECONDS)

    def _await_coordinator(self, key_type: int) -> None:
        """Kafka makes __consumer_offsets and __transaction_state when first asked for them, and loads them then."""
        if "FindCoordinator" not in self.advertised or "Heartbeat" not in self.advertised:
            return
        if key_type in self._coordinated:
            return
        deadline = time.monotonic() + READY_SECONDS
        while True:
            key = self.name()
            if self._coordinator(key, key_type) >= 0:
                self._coordinated.add(key_type)
                if key_type:
                    return
                heartbeat = self.ask("Heartbeat", group_id=key, member_id="nobody", generation_id=1)
                if heartbeat.error_code not in (
                    ErrorCode.COORDINATOR_NOT_AVAILABLE,
                    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                ):
                    return
            if time.monotonic() > deadline:
                raise NotReady(f"there is no group coordinator after {READY_SECONDS:g} s")
            time.sleep(POLL_SECONDS)


def address(text: str) -> tuple[str, int]:
    """HOST:PORT, taken apart. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not an address of a broker: expected HOST:PORT, for example localhost:9092")
    return host.strip("[]"), int(port)
