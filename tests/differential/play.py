"""Playing a scenario on a broker: step by step, one connection a simulated client, many requests in flight.

Order without waiting. A broker in one thread (the stub; Kafka with one network, one I/O and one coordinator thread,
`brokers.CONFIGS`) handles requests in the order in which they arrive on its sockets. So after each step the *watcher*,
a connection of its own, describes the groups; its answer proves that the step has been handled, all it released is on
its way, and what did not come is parked. Twice, because two answers written in one round may arrive in either order.
Only one thing happens behind that: the first join of an empty group completes by a timer (of 0 ms). It is awaited.
"""

from __future__ import annotations

import itertools
import select
import struct
import time
import uuid
from collections.abc import Callable
from types import TracebackType
from typing import Self

from kafkawire.codec import decode_from, encode
from kafkawire.errors import MalformedMessage
from kafkawire.schema import ZERO_UUID, Message
from tests.differential.bodies import Json, build, describe
from tests.differential.brokers import SETTLED, Broker
from tests.differential.names import Names, normalise, topic_name
from tests.differential.names_data import learn_numbers, normalise_data
from tests.differential.scenario import CLOSED, SILENT, Answers, Scenario, Step
from tests.differential.wire import Closed, Connection, Frame, NoAnswer, request_class, response_class

ANSWER_SECONDS = 10.0
GRACE_SECONDS = 0.04
"""While a scenario is made, what seems parked gets so much longer: a busy machine may deliver two sockets' data in
another order than it was written."""

PARKING = ("JoinGroup", "SyncGroup", "Fetch")
"""The requests that a broker may hold back; a Fetch for PARKED_MS or longer."""

PARKED_MS = 10000

RELEASING = (*PARKING, "LeaveGroup", "Produce", "DeleteTopics")
"""The requests that may let others go."""

SETTLING_SECONDS = 0.2

INSTANCES = 4
"""So many telemetry instance ids a play has, `<instance 1>` and so on."""

TOPIC = 2
"""The type of a topic as a resource that has a configuration."""

_plays = itertools.count(1)
_changes = itertools.count(1)


class Stage:
    """One play's connections to one broker, its names, and the frames that went over (`frames`, in order)."""

    def __init__(self, broker: Broker, groups: list[str]) -> None:
        self.broker = broker
        self.groups = groups
        self.names = Names(f"p{next(_plays):05d}-")
        for topic, topic_id in broker.topic_ids.items():
            self.names.add(topic_name(topic), topic_id.hex())
        for number in range(1, INSTANCES + 1):
            self.names.add(f"instance {number}", uuid.uuid4().hex)
        self.frames: list[Frame] = []
        self._connections: dict[str, Connection] = {}
        self._requests: dict[int, dict[str, Json]] = {}
        self._watcher = Connection(broker.host, broker.port, "watcher")

    def __enter__(self) -> Self:
        # The empty group id has no prefix: what another play left there must go.
        self._watcher.send("DeleteGroups", 2, encode(build(request_class("DeleteGroups"), {"groups_names": [""]}), 2))
        self._watcher.receive(ANSWER_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in (self._watcher, *self._connections.values()):
            connection.close()

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
        frame = connection.send(step.api, step.version, body + bytes.fromhex(step.after))
        if step.api == "Produce" and step.raw is None and step.body.get("acks") == 0:
            connection.waiting.pop()
        frame.broken = step.raw is not None
        self._requests[id(frame)] = step.body
        self.frames.append(frame)

    def any_waits(self) -> bool:
        """Whether any request has no answer yet."""
        return any(connection.waiting for connection in self._connections.values())

    def waits(self, on: str) -> bool:
        """Whether a request of this connection has no answer yet."""
        return on in self._connections and bool(self._connections[on].waiting)

    def next_answer(self, on: str, timeout: float = ANSWER_SECONDS) -> Json:
        """The next answer on a connection, in stable names; CLOSED or SILENT where that is what happened."""
        if on not in self._connections:
            return CLOSED
        try:
            return self._shown(self._connections[on].receive(timeout))
        except Closed:
            self._drop(on)
            return CLOSED
        except NoAnswer:
            return SILENT

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
        waiting = [one for one in self._connections.values() if one.waiting]
        return bool(waiting) and bool(select.select(waiting, [], [], seconds)[0])

    def look(self, times: int = 1) -> dict[str, Json]:
        """Describe the watched groups: {group: description}. A barrier, see the module."""
        for _ in range(times):
            shown = self._watch("DescribeGroups", 6, {"groups": self.groups})
        return {group.pop("group_id", ""): group for group in shown.get("groups", ())}

    def settle(self) -> None:
        """Wait until the broker does as it was told. Kafka's controller answers first, and tells the broker then.

        Changes come through in their order, each seen while it is acted on: when a second one behind it is seen, all
        that belongs to the first has been done.
        """
        for _ in range(2):
            value = str(next(_changes))
            config = {"name": "index.interval.bytes", "value": value}
            asked = {"resources": [{"resource_type": TOPIC, "resource_name": SETTLED, "configs": [config]}]}
            self._watch("IncrementalAlterConfigs", 1, asked)
            keys = [config["name"]]
            described = {"resource_type": TOPIC, "resource_name": SETTLED, "configuration_keys": keys}
            deadline = time.monotonic() + ANSWER_SECONDS
            while True:
                seen = self._watch("DescribeConfigs", 4, {"resources": [described]})["results"][0]["configs"][0]
                if seen["value"] == value:
                    break
                assert time.monotonic() < deadline, f"{SETTLED} does not become {value}: {seen}"

    def _watch(self, api: str, version: int, body: dict[str, Json]) -> Json:
        """Ask on the watcher's connection."""
        self._watcher.send(api, version, encode(build(request_class(api), body, self.names.real), version))
        return self._decoded(self._watcher.receive(ANSWER_SECONDS), body)

    def _connected(self, client_id: str) -> Connection:
        """A new connection, one answer old: before that the broker may accept it later than it reads others."""
        connection = Connection(self.broker.host, self.broker.port, client_id)
        connection.send("ApiVersions", 0, b"")
        connection.receive(ANSWER_SECONDS)
        return connection

    def _encoded(self, step: Step) -> bytes:
        return encode(build(request_class(step.api), step.body, self.names.real), step.version)

    def _drop(self, on: str) -> None:
        connection = self._connections.pop(on, None)
        if connection is not None:
            connection.close()

    def _shown(self, frame: Frame) -> Json:
        return self._decoded(frame, self._requests.pop(id(frame), {}))

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
        answer = normalise(frame.api, request, describe(message, version, self.names.stable))
        answer = normalise_data(self.names, frame.api, answer)
        if end != len(data):
            answer["trailing bytes"] = data[end:].hex()
        return answer

    def _learn_topics(self, message: Message) -> None:
        if type(message).__name__ in ("CreateTopicsResponse", "MetadataResponse"):
            for topic in getattr(message, "topics", ()):
                if topic.name and bytes(topic.topic_id) != ZERO_UUID:
                    self.names.add(topic_name(self.names.stable(topic.name)), bytes(topic.topic_id).hex())


def pieces(raw: list[Json], text: Callable[[str], str]) -> bytes:
    """Bytes from pieces: ["i8" | "i16" | "i32" | "i64", number], ["str" | "cstr" | "text", text], ["hex", …].

    Texts are written with a length before them, a compact one ("cstr"), or as they are.
    """
    formats = {"i8": ">b", "i16": ">h", "i32": ">i", "i64": ">q"}
    out = b""
    for kind, value in raw:
        if kind in formats:
            out += struct.pack(formats[kind], value)
        elif kind == "str":
            data = text(value).encode()
            out += struct.pack(">h", len(data)) + data
        elif kind == "cstr":
            data = text(value).encode()
            assert len(data) < 127
            out += bytes([len(data) + 1]) + data
        elif kind == "text":
            out += text(value).encode()
        else:
            out += bytes.fromhex(value)
    return out


class Play:
    """A scenario while it is made: the script asks, the broker (Apache Kafka) answers, the steps are recorded."""

    def __init__(self, stage: Stage, scenario: Scenario) -> None:
        self.stage = stage
        self.scenario = scenario
        self.state: dict[str, Json] = {}

    def ask(
        self,
        on: str,
        api: str,
        version: int,
        body: dict[str, Json] | None = None,
        *,
        raw: list[Json] | None = None,
        after: str = "",
        settle: bool = False,
    ) -> Json:
        """One request on connection `on`. Returns its answer, or None where it is parked (`answers` gets it later)."""
        step = Step(on=on, api=api, version=version, body=body or {}, raw=raw, after=after)
        queued = self.stage.waits(on)
        was_alive = self._alive(step.body.get("group_id"))
        self.stage.send(step)
        silent = api == "Produce" and step.body.get("acks") == 0
        if not queued and not silent and (not _may_park(step) or raw is not None):
            step.answers.append((on, self.stage.next_answer(on)))
        step.settle = settle and not all(map(_has_failed, step.answers))
        if step.settle:
            self.stage.settle()
        looked = self.stage.look(2 if self.stage.any_waits() else 1)
        step.answers += self.stage.answers_now(GRACE_SECONDS if api in RELEASING else 0.0)
        first = api == "JoinGroup" and not was_alive and self.scenario.config != "delayed"
        if first and not queued and self.stage.waits(on):
            step.answers.append((on, self.stage.next_answer(on)))
        looked = self._release(step) or looked
        self._record(step, looked)
        return next((answer for who, answer in step.answers if who == on), None)

    def poll(self, on: str, api: str, version: int, body: dict[str, Json], until: Callable[[Json], bool]) -> Json:
        """One request again and again, until its answer satisfies `until` or the deadline has passed."""
        step = Step(on=on, api=api, version=version, body=body, poll=True)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            self.stage.send(step)
            answer = self.stage.next_answer(on)
            if until(answer) or time.monotonic() > deadline:
                step.answers.append((on, answer))
                self._record(step, self.stage.look())
                return answer

    def close(self, on: str) -> None:
        """Close a connection; using it again opens another one."""
        step = Step(close=on)
        self.stage.send(step)
        self._record(step, self.stage.look(2))

    def until(self, group: str, state: str) -> Answers:
        """Wait until a group is in a state, and return the answers that came meanwhile."""
        step = Step(until={group: state})
        looked = await_state(self.stage, step.until)
        step.answers += self.stage.answers_now(GRACE_SECONDS)
        self._record(step, self._release(step) or looked)
        return step.answers

    @property
    def answers(self) -> Answers:
        """What came because of the last step."""
        return self.scenario.steps[-1].answers

    def _alive(self, group: str | None) -> bool:
        """Whether the group had members or a rebalance before this step."""
        return self.state.get(group or "", {}).get("group_state", "Dead") not in ("Dead", "Empty", "")

    def _release(self, step: Step) -> dict[str, Json] | None:
        """An answer lets a connection's next request through, and others may follow it: look until no more come."""
        looked, seen = None, 0
        while len(step.answers) > seen and (self.stage.any_waits() or step.api == "JoinGroup"):
            seen = len(step.answers)
            looked = self.stage.look(2)
            step.answers += self.stage.answers_now(GRACE_SECONDS)
        return looked

    def _settled(self, looked: dict[str, Json]) -> dict[str, Json]:
        """What is seen once a rebalance that has just lost its last member has ended.

        Where a member id is still out, that is done by a timer of 0 ms, or by one that has long to go.
        """
        deadline = time.monotonic() + SETTLING_SECONDS
        while any(map(self._has_just_emptied, looked, looked.values())) and time.monotonic() < deadline:
            looked = self.stage.look()
        return looked

    def _has_just_emptied(self, group: str, shown: Json) -> bool:
        rebalancing = shown.get("group_state") == "PreparingRebalance"
        return rebalancing and "members" not in shown and self.state.get(group) != shown

    def _record(self, step: Step, looked: dict[str, Json]) -> None:
        looked = self._settled(looked)
        step.answers.sort(key=lambda answer: answer[0])
        step.state = {group: shown for group, shown in looked.items() if self.state.get(group) != shown}
        self.state = looked
        self.scenario.steps.append(step)


def _has_failed(answer: tuple[str, Json]) -> bool:
    """Whether a request that changes the cluster has changed nothing: everything in the answer is an error."""
    parts = [part for value in answer[1].values() if isinstance(value, list) for part in value]
    return all(part.get("error_code") for part in parts)


def _may_park(step: Step) -> bool:
    return step.api in PARKING and (step.api != "Fetch" or step.body.get("max_wait_ms", 0) >= PARKED_MS)


def await_state(stage: Stage, wanted: dict[str, str]) -> dict[str, Json]:
    """Look until every group of `wanted` is in its state, or the deadline has passed; what was seen last."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        looked = stage.look(2)
        reached = all(looked.get(group, {}).get("group_state") == state for group, state in wanted.items())
        if reached or time.monotonic() > deadline:
            return looked
