"""Two brokers, one with its fast paths and one without, while all changes that their answers hang on.

Who may do what, quotas, configurations of topics, groups and the broker, features, topics, and sessions. Both are asked
the same, in frames, and have to answer with the same bytes.
"""

from __future__ import annotations

import importlib
import random
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.outcome import Deferred
from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.server.dispatch import Dispatcher, Refused
from kafkastub.server.routes import Route
from kafkastub.server.throttling import switch_measuring
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.codec import Parts, decode_from, encode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header, response_header_size
from kafkawire.messages import RESPONSES
from kafkawire.schema import Message
from tests.handlers.share_desk import ShareDesk
from tests.server.careful import CarefulDispatcher, append_with_care

ADMIN: Final = "User:admin"
USERS: Final = ("User:a", "User:b")
TOPICS: Final = ("orders", "other")
AUTHORIZER: Final[dict[str, object]] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": ADMIN,
    "allow.everyone.if.no.acl.found": "true",
}
CLIENT_IDS: Final = ("test", "test", "test", "other", None)
_MOST_PARTS: Final = 20
"""Of the work on one request."""
CONFIG: Final[dict[str, object]] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.consumer.assignment.interval.ms": 0,
    "offsets.topic.num.partitions": 2,
}


class CountingDispatcher(Dispatcher):
    """Counts the requests that take a fast path."""

    def __init__(self, state: BrokerState) -> None:
        super().__init__(state)
        self.straight = Counter[ApiKey]()

    def _compile(self, *made_of: Any) -> Route:
        route = super()._compile(*made_of)
        path, straight = route.fast_path, self.straight
        if path is None:
            return route

        def counted(*asked: Any) -> bytes | None:
            found: bytes | None = path(*asked)
            straight[route.key] += found is not None
            return found

        route.fast_path = counted
        return route


class Broker:
    """Spoken to in frames, on a connection a user."""

    def __init__(self, careful: bool, config: dict[str, object]) -> None:
        self.desk = ShareDesk({**CONFIG, **config}, partitions=2)
        self.state = self.desk.state
        if careful:
            append_with_care(self.state)
        self.desk.topic("other")
        self.desk.know("g", self.state.cluster.topics["other"])
        self.counting = CountingDispatcher(self.state)
        self.dispatcher: Dispatcher = CarefulDispatcher(self.state) if careful else self.counting
        self.put_off: list[tuple[Deferred, Any]] = []
        self.state.quotas_changed = self._quotas_changed
        self.state.timer_ms = lambda: self.desk.timer_ms

    def _quotas_changed(self) -> None:
        clock: Any = SimpleNamespace(timer_ms=lambda: self.desk.timer_ms)
        switch_measuring(self.dispatcher, clock)

    def on(self, user: str) -> ConnectionInfo:
        info = self.desk.on(user)
        info.principal = user
        return info

    def say(self, user: str, whole: bytes) -> tuple[bytes, str]:
        """The bytes of the answer to a frame, and what else became of it."""
        out: Parts = []
        desk = self.desk
        try:
            left = self.dispatcher.serve(whole, 4, len(whole), self.on(user), desk.broker_ms, desk.timer_ms, out)
        except Refused as refused:
            return b"", str(refused)
        if left is None:
            return b"".join(bytes(part) for part in out), ""
        if not isinstance(left[1], Deferred):
            return b"", repr(left[1])
        for _ in range(_MOST_PARTS):
            if left[1].reply is not None:
                break
            self.state.expire(desk.broker_ms, desk.timer_ms)
        self.put_off.append((left[1], left[0].route))
        return self.replied(*self.put_off[-1]), "put off"

    def replied(self, deferred: Deferred, route: Any) -> bytes:
        """The answer that has come by now."""
        return b"" if deferred.reply is None else b"".join(map(bytes, route.encode(deferred.reply)))

    def pass_time(self, ms: int) -> None:
        """Of both clocks."""
        self.desk.broker_ms += ms
        self.desk.wait_until(self.desk.timer_ms + ms)

    def hang_up(self, user: str) -> None:
        """The user's connection goes, if there is one."""
        if user in self.desk.connections:
            self.desk.hang_up(user)

    def kept(self) -> Any:
        """All that is in logs, groups, transactions and share partitions."""
        state = self.state
        logs: dict[tuple[str, int], Any] = {}
        for name in (*TOPICS, TRANSACTION_STATE):
            topic = state.cluster.topic(name)
            for partition in () if topic is None else topic.partitions:
                log = None if topic is None else state.logs.log(topic.topic_id, partition.index)
                if log is not None:
                    batches = [(one.head, bytes(one.payload or b""), one.size) for one in log.batches_from(0)]
                    ends = log.log_start_offset, log.last_stable_offset, log.log_end_offset
                    logs[name, partition.index] = batches, ends
        transactions = {
            name: (one.metadata, list(one.partitions), one.deadline.at)
            for name, one in state.transactions.coordinator.transactions.items()
        } if state.has_transactions else {}  # fmt: skip
        offsets = {
            group: {topic: list(columns.items()) for topic, columns in state.coordinator.offsets.topics(group).items()}
            for group in state.coordinator.offsets.group_ids()
        }
        sharing = state.share_partitions
        sessions = [(s.group_id, s.member_id, s.epoch, [*s.partitions.items()]) for s in sharing.sessions_of(1)]
        lives = [
            (live.topic_id, live.index, live.partition.start_offset, live.partition.end_offset,
             [*live.partition.view()], live.partition.next_fetch_offset())
            for live in sharing.of_group("g")
        ]  # fmt: skip
        later = [self.replied(*one) for one in self.put_off]
        return logs, transactions, offsets, sessions, lives, later


def framed(request: Message, version: int, client_id: str | None = "test") -> bytes:
    kind = type(request)
    header = request_header(kind.API_KEY, version, 7, client_id, is_flexible(kind, version))
    return bytes(frame(header, encode(request, version)))


class Both:
    """The two."""

    def __init__(self, seed: int, *, guarded: bool, config: dict[str, object] | None = None) -> None:
        settings = {**(AUTHORIZER if guarded else {}), **(config or {})}
        self.straight, self.careful = Broker(False, settings), Broker(True, settings)
        self.brokers = self.straight, self.careful
        self.random = random.Random(seed)
        self.told = Counter[tuple[ApiKey, int]]()
        """API and error code: how often."""
        self.spoils = 0.01
        """How often a bit of a request is another one."""
        assert len({one.desk.orders.topic_id for one in self.brokers}) == 1, "both have the same topics"

    def topic_id(self, name: str) -> bytes:
        topic = self.straight.state.cluster.topic(name)
        return bytes(16) if topic is None else topic.topic_id

    def ask(self, user: str, request: Message, version: int, client_ids: Sequence[str | None] = CLIENT_IDS) -> Any:
        """The answer, as a client reads it; None where there is none, or none yet."""
        chance = self.random
        whole = framed(request, version, chance.choice(client_ids))
        if chance.random() < self.spoils:
            spoilt = bytearray(whole)
            spoilt[chance.randrange(12, len(spoilt))] ^= 1 << chance.randrange(8)
            whole = bytes(spoilt)
        answers = [broker.say(user, whole) for broker in self.brokers]
        assert answers[0] == answers[1], (user, request, version)
        answer, became = answers[0]
        if not answer:
            return None
        key = ApiKey(request.API_KEY)
        module, name, _ = RESPONSES[key]
        kind = getattr(importlib.import_module(module), name)
        at = 0 if became else 4 + response_header_size(key, is_flexible(kind, version))
        found, _ = decode_from(kind, version, answer, at)
        self.told.update((key, code) for code in codes_in(found))
        return found

    def compare(self) -> None:
        """What both have by now."""
        kept = [broker.kept() for broker in self.brokers]
        assert kept[0] == kept[1]


def codes_in(value: Any) -> set[int]:
    """Every error code in an answer."""
    codes = set[int]()
    if hasattr(value, "FIELDS"):
        for name, *_ in value.FIELDS:
            one = getattr(value, name)
            if name in ("error_code", "partition_error_code", "acknowledge_error_code"):
                codes.add(int(one))
            else:
                codes |= codes_in(one)
    elif not isinstance(value, (str, bytes, memoryview, bytearray)) and hasattr(value, "__iter__"):
        for one in value:
            codes |= codes_in(one)
    return codes
