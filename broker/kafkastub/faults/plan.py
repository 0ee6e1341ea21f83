"""The rules of a broker as it asks them for each request. No I/O, no clock, no randomness but a rule's own."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import partial
from typing import Any, Final, Literal

from kafkastub.faults.checks import Served, apis_of
from kafkastub.faults.holds import Holds
from kafkastub.faults.naming import Naming, has_field, index_of, naming, topic_of, topics_in
from kafkastub.faults.partial import WRITES, Part, TopicName, Wanted, put, split
from kafkastub.faults.rules import FaultError, FaultRule
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.errors import ErrorCode
from kafkawire.schema import Message

MOST_RULES: Final = 1000
_MOST_ROUTES: Final = 1000
_GROUP_KEY: Final = 0
_TRANSACTION_KEY: Final = 1
_ATOMIC_UPTO: Final = 3
"""Versions of AddPartitionsToTxn that name one transaction: all of its partitions are added, or none."""

InSession = Callable[[Any, Any], Iterable[tuple[str, bytes, int]]]
"""(context, Fetch request) -> (topic, its id, partition) for what its fetch session asks for without naming it."""


Arrive = Callable[[Callable[[], None]], None]
"""Lets a request arrive that was held back, and calls what it is given when its work is done."""


@dataclass(frozen=True, slots=True)
class Action:
    """What `server.watching.faults` carries out; the fields are explained there."""

    fault: str
    work: bool = True
    error: ErrorCode | None = None
    narrow: Callable[[Message], Message] | None = None
    rewrite: Callable[[Message], Message] | None = None
    throttle_ms: int | None = None
    before_ms: int = 0
    after_ms: int = 0
    ending: Literal["answer", "close", "cut", "silence"] = "answer"
    cut_at: int = 0
    hold: Literal["before", "after"] | None = None
    holds: Holds | None = None
    later: Callable[[Arrive], None] | None = None


class Armed:
    """A rule in a plan, with what has come of it."""

    def __init__(
        self, rule: FaultRule, id: str, apis: frozenset[ApiKey], now_ms: int, changed: Callable[[], None]
    ) -> None:
        self.rule = rule
        self.id = id
        self.apis = apis
        self.matched = 0
        """Requests that it matched, whether it was due or not."""
        self.hits = 0
        """Requests that met the fault."""
        until = rule.until_ms
        self.until_ms = None if until is None else until[0] + (now_ms if until[1] else 0)
        self.versions = rule.version_range or (0, 0x7FFF)
        self.client = None if rule.client_id is None else re.compile(translate(rule.client_id)).match
        self.wanted = Wanted(rule.group, rule.transactional_id, rule.topic, rule.partition)
        self.named = any(each is not None for each in self.wanted)
        about_whom = rule.client_id, rule.listener, rule.node, rule.connection, until
        self.narrow = any(each is not None for each in about_whom)
        """Whether it depends on who asks, or when."""
        self.holds = Holds(changed)
        """The requests that it holds now."""
        self.action = _action(rule, id, self.holds)
        self._draw = random.Random(rule.seed).random

    @property
    def spent(self) -> bool:
        """Whether it has fired as often as it may."""
        return self.rule.times is not None and self.hits >= self.rule.times

    def due(self) -> bool:
        """Count a match; whether this is one that meets the fault."""
        rule = self.rule
        self.matched += 1
        number = self.matched - rule.after
        if number <= 0 or number % rule.every:
            return False
        return (rule.share is None or self._draw() < rule.share) and not self.spent


_Known = tuple[Any, list[Armed], Naming | None]
"""A route, the rules that may match its requests, and what these name."""


class Plan:
    """The rules in the order in which they were added. All of it belongs to the server's thread."""

    def __init__(self, served: Served, topic_name: TopicName, in_session: InSession, fired: Callable[[], None]) -> None:
        """`fired` is called when a request has met a fault, and when one is held or released."""
        self._served = served
        self._topic_name = topic_name
        self._in_session = in_session
        self._fired = fired
        self._rules: dict[str, Armed] = {}
        self._by_key: dict[ApiKey, list[Armed]] = {}
        self._by_route: dict[int, _Known] = {}
        self._count = 0

    def add(self, rule: FaultRule, now_ms: int) -> Armed:
        """Raises FaultError for a rule that can never match or act here. `now_ms`: broker time."""
        apis = apis_of(rule, self._served)
        if len(self._rules) >= MOST_RULES:
            raise FaultError(f"there are {MOST_RULES} fault rules already: remove some")
        if rule.name is not None and rule.name in self._rules:
            raise FaultError(f"name={rule.name!r} is taken by another rule: remove that first")
        name = rule.name
        while name is None or name in self._rules:
            self._count += 1
            name = f"fault-{self._count}"
        armed = Armed(rule, name, apis, now_ms, self._fired)
        if armed.until_ms is not None and armed.until_ms <= now_ms:
            raise FaultError(f"until={rule.until} is refused: it is in the past on the broker's clock")
        self._rules[name] = armed
        self._index()
        return armed

    def remove(self, armed: Armed) -> None:
        """What it holds is released. Removing twice does no harm."""
        if self._rules.get(armed.id) is armed:
            del self._rules[armed.id]
            self._index()
            armed.holds.release()

    def clear(self) -> None:
        """Remove all, as `remove` does."""
        gone = self.rules()
        self._rules.clear()
        self._index()
        for armed in gone:
            armed.holds.release()

    def rules(self) -> list[Armed]:
        return list(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def _index(self) -> None:
        by_key: dict[ApiKey, list[Armed]] = {}
        for armed in self._rules.values():
            for key in armed.apis:
                by_key.setdefault(key, []).append(armed)
        self._by_key = by_key
        self._by_route.clear()

    # --- asked by the server

    def concerns(self, key: ApiKey) -> bool:
        return key in self._by_key

    def match(self, route: Any, context: Any, request: Any) -> Action | None:
        """What happens to this request. `route`: server.routes.Route, `context`: handlers.context.RequestContext."""
        _, rules, names = self._by_route.get(id(route)) or self._learn(route)
        taken = None
        for armed in rules:
            if armed.narrow and not self._meant(armed, context):
                continue
            if armed.named and not self._names(armed.wanted, names, route, context, request):
                continue
            if armed.due() and taken is None:
                taken = armed
                armed.hits += 1
        if taken is None:
            return None
        action = taken.action
        if action.error is not None and taken.named:
            action = self._for_a_part(taken, route, context, request)
        self._fired()
        return action

    def never_matches(self, route: Any, request: Any) -> bool:
        """Whether no rule can match a request that names what this one names, whoever sends it and whenever."""
        _, rules, names = self._by_route.get(id(route)) or self._learn(route)
        if not rules:
            return True
        if names is None or route.key == ApiKey.FETCH:  # whose session names more
            return False
        if any(topic_of(one, array, self._topic_name) is None for _, array, one in topics_in(request, names)):
            return False  # a topic id that may be somebody's tomorrow
        return all(armed.named and not self._names(armed.wanted, names, route, None, request) for armed in rules)

    def _learn(self, route: Any) -> _Known:
        """What is the same for all requests of a route; it keeps the route, so that no other one gets its id."""
        key, version = route.key, route.version
        heard_of = route.api.first <= version <= route.api.last  # or an ApiVersions of the future
        throttles = heard_of and has_field(key, version, "throttle_time_ms")
        rules = [
            armed
            for armed in self._by_key.get(key, ())
            if armed.versions[0] <= version <= armed.versions[1]
            and (heard_of or not armed.named)
            and (throttles or armed.rule.throttle_time_ms is None)
        ]
        if len(self._by_route) >= _MOST_ROUTES:
            self._by_route.clear()
        known = self._by_route[id(route)] = route, rules, naming(key, version) if heard_of else None
        return known

    def _meant(self, armed: Armed, context: Any) -> bool:
        """Whether the rule is about who asks, and still in force."""
        rule, connection = armed.rule, context.connection
        if armed.client is not None and (context.client_id is None or not armed.client(context.client_id)):
            return False
        if rule.listener is not None and rule.listener != connection.listener:
            return False
        if rule.node is not None and rule.node != connection.node_id:
            return False
        if rule.connection is not None and rule.connection != connection.id:
            return False
        return armed.until_ms is None or context.broker_ms < armed.until_ms

    def _names(self, wanted: Wanted, names: Any, route: Any, context: Any, request: Any) -> bool:
        group, transactional_id, topic, index = wanted
        if group is not None:
            if names.group == "group_id":  # the short way
                if request.group_id != group:
                    return False
            elif not _is_named(request, names, _GROUP_KEY, names.group, names.owner_groups, group):
                return False
        if transactional_id is not None and not _is_named(
            request, names, _TRANSACTION_KEY, names.transaction, names.owner_transactions, transactional_id
        ):
            return False
        if topic is None and index is None:
            return True
        owner = wanted.owner
        for of_owner, array, one in topics_in(request, names):
            if of_owner is not None and owner not in (None, of_owner):
                continue
            if topic is not None and topic_of(one, array, self._topic_name) != topic:
                continue
            if index is None:
                return True
            inner = array.inner
            if inner and any(index_of(p, inner) == index for p in getattr(one, inner.field) or ()):
                return True
        if route.key != ApiKey.FETCH:
            return False
        return any(
            topic in (None, name) and index in (None, number) for name, _, number in self._in_session(context, request)
        )

    def _for_a_part(self, armed: Armed, route: Any, context: Any, request: Any) -> Action:
        """The error where it belongs, the rest served for real."""
        key, names, wanted, action = route.key, naming(route.key, route.version), armed.wanted, armed.action
        assert action.error is not None
        left, parts = split(request, names, wanted, self._topic_name)
        if key == ApiKey.FETCH:
            known = {(part.topic, part.partition) for part in parts}
            parts += [
                Part(None, name, topic_id, index)
                for name, topic_id, index in self._in_session(context, request)
                if wanted.topic in (None, name) and wanted.partition in (None, index) and (name, index) not in known
            ]
        if not parts or not _can_hold(names, parts[0]):
            return action  # one group or transaction, or an error at the top alone: the whole request
        change = partial(put, names=names, parts=parts, code=int(action.error))
        if key in WRITES:
            if left is None:
                if not wanted.topical:
                    return action
                blank = response_class(key)
                return replace(action, rewrite=lambda _: change(blank()))
            if key == ApiKey.ADD_PARTITIONS_TO_TXN and route.version <= _ATOMIC_UPTO:
                return replace(action, error=ErrorCode.OPERATION_NOT_ATTEMPTED, rewrite=change)
            return replace(action, work=True, error=None, narrow=lambda _: left, rewrite=change)
        narrow = _at_once if key == ApiKey.FETCH else None
        return replace(action, work=True, error=None, narrow=narrow, rewrite=change)


def _can_hold(names: Naming, part: Part) -> bool:
    """Whether the answer has an error code at such a topic, partition, group or transaction."""
    if part.topic is None and part.partition is None:
        return names.answer_owners is not None and names.answer_owners.has_error
    topics = names.answered_topics
    return topics is not None and (topics.has_error or (topics.inner is not None and topics.inner.has_error))


def _is_named(request: Any, names: Naming, key_type: int, field: str | None, owns: bool, wanted: str) -> bool:
    """Whether a request names that group, or transaction: in a field, or where it names owners of such a kind."""
    if getattr(request, "key_type", key_type) != key_type:
        return False  # FindCoordinator for the other kind
    if field is not None:
        return bool(getattr(request, field) == wanted)
    array = names.owners
    if not owns or array is None:
        return False
    found = getattr(request, array.field) or ()
    return wanted in found if array.name is None else any(getattr(one, array.name) == wanted for one in found)


def _at_once(request: Any) -> Any:
    """A Fetch that does not wait: an error is told at once."""
    asked = copy.copy(request)
    asked.max_wait_ms = 0
    return asked


def _action(rule: FaultRule, id: str, holds: Holds) -> Action:
    plain = Action(fault=id, before_ms=rule.delay_ms, throttle_ms=rule.throttle_time_ms)
    if rule.hold is not None:
        plain = replace(plain, hold="after" if rule.hold == "after" else "before", holds=holds)
    if rule.error is not None:
        return replace(plain, work=False, error=rule.error_code)
    if rule.drop is not None:
        return replace(plain, work=rule.drop == "after", ending="close")
    if rule.cut is not None:
        return replace(plain, ending="cut", cut_at=rule.cut)
    if rule.silent:
        return replace(plain, work=rule.silent != "before", ending="silence")
    return plain
