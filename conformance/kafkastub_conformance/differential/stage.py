"""One play's connections to one broker: steps go out, answers come in, in stable names."""

from __future__ import annotations

import itertools
import math
import re
import select
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from threading import Event
from types import TracebackType
from typing import Self

from kafkastub.client import ClientError, ConnectionClosed, NotABroker, TimedOut
from kafkastub_conformance.differential.bodies import Json, build, describe, pieces
from kafkastub_conformance.differential.broker import SETTLED, Broker, Lost
from kafkastub_conformance.differential.ignoring import without
from kafkastub_conformance.differential.names import TOPICS, Names, normalise, topic_name
from kafkastub_conformance.differential.names_data import learn_numbers, normalise_data
from kafkastub_conformance.differential.scenario import CLOSED, NO_CLIENT_ID, SILENT, Answers, Scenario, Step
from kafkastub_conformance.differential.share_looks import find_share_coordinator, looks_of_share_groups
from kafkastub_conformance.differential.streams_looks import (
    InternalTopics,
    looks_of_streams_groups,
    normalise_streams,
)
from kafkastub_conformance.link import Link, remembered
from kafkastub_conformance.messages import request_class, response_class
from kafkastub_conformance.model import Frame
from kafkawire.codec import decode_from, encode
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.schema import ZERO_UUID, Message

INSTANCES = 4
"""So many telemetry instance ids a play has, `<instance 1>` and so on."""

TOPIC, GROUP = 2, 32
"""The types of a topic and of a group as resources that have a configuration."""

GROUPS_USED = ("g1", "g2", "g3", "none", "none2", "simple")
"""How the names of groups end that scenarios use; where it matters that they have one coordinator."""

TRANSACTION, COORDINATOR_OF_ONE = 1, 3
"""The type of a key of FindCoordinator, and a version in which it is about one."""

UNREADY = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)

MARKERS_LOOKED_FOR_EVERY = 0.001
"""Seconds."""

UUID_TEXT = re.compile(r"[A-Za-z0-9_-]{22}")
"""A uuid as Kafka writes it: base64 without padding."""

_plays = itertools.count(1)
_changes = itertools.count(1)


class Stage:
    """Connections, names, and the frames that went over (`frames`, in order).

    `touched` are those that were sent or answered since it was last emptied.
    """

    def __init__(self, broker: Broker, scenario: Scenario) -> None:
        self.broker = broker
        self.groups = scenario.groups
        self.transactional_ids = scenario.transactional_ids
        self.consumer_groups = scenario.consumer_groups
        self.share_groups = scenario.share_groups
        self.streams_groups = scenario.streams_groups
        self._internal = InternalTopics()
        prefix = broker.prefix(next(_plays))
        self.names = Names(prefix, broker.topics | broker.placed(prefix, GROUPS_USED), broker.node)
        for topic, topic_id in broker.topic_ids.items():
            self.names.add(topic_name(topic), topic_id.hex())
        for number in range(1, INSTANCES + 1):
            self.names.add(f"instance {number}", uuid.uuid4().hex)
        self.frames: list[Frame] = []
        self.touched: list[Frame] = []
        self._connections: dict[str, Link] = {}
        self._requests: dict[int, dict[str, Json]] = {}
        self._topics: set[str] = set()
        self._lost = False
        self._watcher = self._connected("watcher")

    def __enter__(self) -> Self:
        if self.broker.alone:
            # The empty group id has no prefix: what another play left there must go.
            self._watch("DeleteGroups", {"groups_names": [""]})
        if self.transactional_ids:
            # A producer id of 0 would be left out where that is the default.
            self._init_producer_id(None)
            self._find_coordinators()
        if self.share_groups:
            find_share_coordinator(self._watch)
        if self.broker.emptied is not None:
            self.broker.emptied(self._watch)
            self.settle()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._lost and self.transactional_ids:
            with suppress(Lost):
                self._end_transactions()
        for connection in (self._watcher, *self._connections.values()):
            connection.close()
        topics = {self.names.real(topic) for topic in self._topics}
        groups = self.names.used - topics
        if self._lost:
            self.broker.owe(groups, topics)
        else:
            self.broker.tidy(groups, topics, self.names.members())

    def send(self, step: Step) -> None:
        """Do what the step says, without waiting for an answer."""
        if step.close:
            self._drop(step.close)
        if not step.api:
            return
        if step.on not in self._connections:
            self._connections[step.on] = self._connected(step.on)
        body = pieces(step.raw, self.names.real) if step.raw is not None else self._encoded(step)
        connection = self._connections[step.on]
        if step.api == "CreateTopics" and step.raw is None:
            self._topics |= {topic["name"] for topic in step.body.get("topics", ()) if topic["name"].startswith("<p>")}
        if step.api == "StreamsGroupHeartbeat" and step.raw is None:
            self._topics |= self._internal.note(step.body.get("topology"))
        if step.api == "IncrementalAlterConfigs" and step.raw is None and self.broker.cluster is not None:
            self.broker.cluster.resources |= {
                (GROUP, self.names.real(one["resource_name"]))
                for one in step.body.get("resources", ())
                if one.get("resource_type") == GROUP
            }
        try:
            connection.raw(step.api, step.version, body + bytes.fromhex(step.after))
        except (ConnectionClosed, TimedOut):
            self._drop(step.on)
        frame = connection.waiting[-1]
        if step.api == "Produce" and step.raw is None and step.body.get("acks") == 0:
            connection.silent()
        frame.broken = step.raw is not None
        self._requests[id(frame)] = step.body
        self.frames.append(frame)
        self.touched.append(frame)

    def any_waits(self) -> bool:
        """Whether any request has no answer yet."""
        return any(connection.waiting for connection in self._connections.values())

    def waits(self, on: str) -> bool:
        """Whether a request of this connection has no answer yet."""
        return on in self._connections and bool(self._connections[on].waiting)

    def next_answer(self, on: str, timeout: float | None = None) -> Json:
        """The next answer on a connection, in stable names; CLOSED or SILENT where that is what happened."""
        if on not in self._connections:
            return CLOSED
        try:
            frame = self._connections[on].next_answer(self.broker.answer_seconds if timeout is None else timeout)
        except ConnectionClosed:
            self._drop(on)
            return CLOSED
        except TimedOut:
            return SILENT
        except NotABroker as error:
            raise Lost(f"{self.broker.name}: {error}") from None
        if frame not in self.touched:
            self.touched.append(frame)
        return self._shown(frame)

    def answers_now(self, grace: float = 0.0) -> Answers:
        """All answers that are there or come within `grace` seconds, of all connections that wait for one."""
        found: Answers = []
        for on in sorted(self._connections):
            while self.waits(on):
                answer = self.next_answer(on, 0)
                if answer == SILENT:
                    break
                found.append((on, answer))
        if not found and grace and self._arrives(grace):
            return self.answers_now()
        return found

    def _arrives(self, seconds: float) -> bool:
        """Whether anything arrives on a connection that waits."""
        waiting = [one.stream for one in self._connections.values() if one.waiting]
        return bool(waiting) and bool(select.select(waiting, [], [], seconds)[0])

    def look(self, times: int = 1) -> dict[str, Json]:
        """Describe the watched groups: {group: description}. A barrier, see the module `play`."""
        for _ in range(times):
            shown = without(self._watch("DescribeGroups", {"groups": self.groups}), self.broker.ignore)
        looked = {group.pop("group_id", ""): group for group in shown.get("groups", ())}
        if self.consumer_groups:
            looked |= self._consumer_groups()
        if self.transactional_ids:
            looked |= self._transactions()
        if self.share_groups:  # behind the markers of transactions, which are records, too
            looked |= without(looks_of_share_groups(self._watch, self.share_groups, self.broker), self.broker.ignore)
        if self.streams_groups:
            told = looks_of_streams_groups(self._watch, self.streams_groups)
            looked |= without(told, self.broker.ignore) | self._internal.look(self._watch, self.settle)
        return looked

    def is_initialised(self, looked: Mapping[str, Json], group: Json) -> bool:
        """Whether all topics that a share group subscribes to, and that are there, are kept for it."""
        members = looked.get(f"share group {group}", {}).get("members", ())
        wanted = {name for member in members for name in member.get("subscribed_topic_names", ())}
        kept = {topic["topic_name"] for topic in looked.get(f"share state of {group}", {}).get("topics", ())}
        return wanted & {*self._topics, *TOPICS} <= kept

    def _consumer_groups(self) -> dict[str, Json]:
        shown = without(self._watch("ConsumerGroupDescribe", {"group_ids": self.consumer_groups}), self.broker.ignore)
        return {f"consumer group {one.pop('group_id', '')}": one for one in shown.get("groups", ())}

    def _transactions(self) -> dict[str, Json]:
        """Describe the watched transactional ids once none waits for its markers, which are written behind the answer.

        Raises Lost where they do not come.
        """
        deadline = time.monotonic() + self.broker.answer_seconds
        while True:
            shown = self._watch("DescribeTransactions", {"transactional_ids": self.transactional_ids})
            states = {one.pop("transactional_id", ""): one for one in shown.get("transaction_states", ())}
            waiting = [name for name, one in states.items() if _is_to_change(one)]
            if not waiting:
                return {f"transactional id {name}": one for name, one in states.items()}
            if time.monotonic() > deadline:
                self._lost = True
                raise Lost(f"{self.broker.name}: the markers of {', '.join(waiting)} are not written: {states}")
            Event().wait(MARKERS_LOOKED_FOR_EVERY)

    def _find_coordinators(self) -> None:
        """Who has never had a transaction makes a topic for them now."""
        for name in self.transactional_ids:
            self._watch("FindCoordinator", {"key": name, "key_type": TRANSACTION}, COORDINATOR_OF_ONE)

    def _end_transactions(self) -> None:
        """Abort what is open: what others write behind it could not be read by consumers of committed records."""
        for name in self.transactional_ids:
            for _ in range(2):  # the first is told that there is a transaction
                self._init_producer_id(name)
                self._transactions()

    def settle(self) -> None:
        """Wait until the broker does as it was told. Kafka's controller answers first, and tells the broker then.

        Changes come through in their order, each seen while it is acted on: when a second one behind it is seen, all
        that belongs to the first has been done.
        """
        for _ in range(2):
            value = str(next(_changes))
            config = {"name": "index.interval.bytes", "value": value}
            self._watch("IncrementalAlterConfigs", {"resources": [_settled(configs=[config])]})
            described = _settled(configuration_keys=[config["name"]])
            deadline = time.monotonic() + self.broker.answer_seconds
            while True:
                seen = self._watch("DescribeConfigs", {"resources": [described]})["results"][0]["configs"][0]
                if seen["value"] == value:
                    break
                if time.monotonic() > deadline:
                    self._lost = True
                    raise Lost(f"{self.broker.name}: the configuration of {SETTLED} does not become {value}: {seen}")

    def _init_producer_id(self, name: str | None) -> None:
        body = {"transactional_id": name, "transaction_timeout_ms": 1000}
        self._watch("InitProducerId", body, self.broker.versions("InitProducerId")[0])

    def _watch(self, api: str, body: dict[str, Json], version: int | None = None) -> Json:
        """Ask on the watcher's connection. Raises Lost."""
        if version is None:
            version = self.broker.newest(api)
        message = encode(build(request_class(api), body, self.names.sending), version)
        try:
            self._watcher.raw(api, version, message)
            return self._decoded(self._watcher.next_answer(self.broker.answer_seconds), body)
        except TimedOut:
            problem = f"gave no answer within {self.broker.answer_seconds:g} s to {api} v{version}"
        except ConnectionClosed:
            problem = f"closed the connection on which it was asked {api} v{version}"
        except NotABroker as error:
            problem = f"was asked {api} v{version}: {error}"
        self._lost = True
        raise Lost(f"{self.broker.name} {problem}")

    def _connected(self, client_id: str) -> Link:
        """A new connection, one answer old: before that the broker may accept it later than it reads others."""
        broker, client = self.broker, None if client_id == NO_CLIENT_ID else client_id
        door = broker.doors.get(client_id)
        problem = "does not accept a connection"
        try:
            port = broker.port if door is None else door.port
            link = Link(broker.host, port, broker.answer_seconds, client, math.inf, remembered())
            problem = "does not answer ApiVersions on a new connection"
            try:
                link.raw("ApiVersions", 0, b"")
                link.next_answer(broker.answer_seconds)
                if door is not None:
                    problem = f"does not let {client_id} in"
                    _sign_in(link, client_id, door.password)
            except ClientError:
                link.close()
                raise
        except ClientError as error:
            self._lost = True
            raise Lost(f"{broker.name} {problem}: {error}") from None
        return link

    def _encoded(self, step: Step) -> bytes:
        return encode(build(request_class(step.api), step.body, self.names.sending), step.version)

    def _drop(self, on: str) -> None:
        connection = self._connections.pop(on, None)
        if connection is not None:
            connection.close()

    def _shown(self, frame: Frame) -> Json:
        answer = self._decoded(frame, self._requests.pop(id(frame), {}))
        return without(answer, self.broker.ignore) if self.broker.ignore else answer

    def _decoded(self, frame: Frame, request: dict[str, Json]) -> Json:
        data = frame.body()
        # A broker that does not know the version of ApiVersions answers in version 0 (KIP-511).
        unknown = frame.api == "ApiVersions" and data[:2] == b"\x00\x23"
        version = 0 if unknown else frame.version
        try:
            message, end = decode_from(response_class(frame.api), version, data, 0)
        except (MalformedMessage, ValueError) as error:
            return {"malformed": str(error), "hex": data.hex()}
        self._learn_topics(message)
        learn_numbers(self.names, message)
        self._learn_member(request, message)
        answer = normalise(self.names, frame.api, request, describe(message, version, self.names.showing))
        answer = normalise_streams(frame.api, normalise_data(self.names, frame.api, request, answer))
        if not self.broker.alone:
            answer.pop("throttle_time_ms", None)
        if end != len(data):
            answer["trailing bytes"] = data[end:].hex()
        return answer

    def _learn_topics(self, message: Message) -> None:
        if type(message).__name__ in ("CreateTopicsResponse", "MetadataResponse"):
            for topic in getattr(message, "topics", ()):
                if topic.name and bytes(topic.topic_id) != ZERO_UUID:
                    self.names.add(topic_name(self.names.stable(topic.name)), bytes(topic.topic_id).hex())

    def _learn_member(self, request: Mapping[str, Json], message: Message) -> None:
        """A member id of the newer protocol that the broker made up is a uuid alone."""
        made = None if request.get("member_id") else getattr(message, "member_id", None)
        if made and UUID_TEXT.fullmatch(made):
            self.names.learn_uuid(made)


def _is_to_change(described: dict[str, Json]) -> bool:
    """Whether a transaction waits for its markers, or its coordinator is not there yet."""
    return str(described.get("transaction_state")).startswith("Prepare") or described.get("error_code") in UNREADY


def _sign_in(link: Link, user: str, password: str) -> None:
    """By PLAIN. Raises ClientError."""
    link.request("SaslHandshake", 1, {"mechanism": "PLAIN"}).answer()
    said = link.request("SaslAuthenticate", 2, {"auth_bytes": f"\0{user}\0{password}".encode()}).answer()
    if said.error_code:
        raise ClientError(f"error {said.error_code} {said.error_message}")


def _settled(**fields: Json) -> Json:
    return {"resource_type": TOPIC, "resource_name": SETTLED, **fields}
