"""`stub.faults`: fault rules that a test controls. `kafkastub serve --faults` uses `attach`, too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kafkastub.faults import FaultRule, Plan
from kafkastub.stub.errors import FaultTimeout

if TYPE_CHECKING:
    from kafkastub.faults import Armed, HeldRequest
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner

T = TypeVar("T")


def plan_for(broker: Broker, fired: Callable[[], None] = lambda: None) -> Plan:
    """Return an empty plan for the APIs that the broker serves."""
    from kafkastub.handlers.release import served_apis

    served = {key: (api.first, api.last) for key, api in served_apis(broker.config["kafkastub.as.version"]).items()}

    def topic_name(topic_id: bytes) -> str | None:
        topic = broker.state.cluster.topic_by_id(topic_id)  # another one after a restore
        return None if topic is None else topic.name

    def in_session(context: Any, request: Any) -> Iterator[tuple[str, bytes, int]]:
        for wanted in broker.state.fetch_purgatory.sessions_of(context.node_id).partitions_of(request.session_id):
            name = wanted.name or topic_name(wanted.topic_id)
            if name is not None:
                yield name, wanted.topic_id, wanted.index

    return Plan(served, topic_name, in_session, fired)


def attach(broker: Broker, rules: Iterable[FaultRule]) -> Plan:
    """Add rules to a broker. Raises FaultError; then none of them is added."""
    plan = plan_for(broker)
    for rule in rules:
        plan.add(rule, broker.clock.broker_ms())
    broker.observer.set_plan(plan if len(plan) else None)
    return plan


class Fault:
    """A rule that was added. As a context manager it removes the rule at the end."""

    def __init__(self, faults: StubFaults, armed: Armed) -> None:
        self._faults = faults
        self._armed = armed

    @property
    def id(self) -> str:
        """The name of the rule in journal and metrics: its `name`, or "fault-1", "fault-2" …"""
        return self._armed.id

    @property
    def rule(self) -> FaultRule:
        return self._armed.rule

    @property
    def hits(self) -> int:
        """The number of requests on which the rule has acted."""
        return self._armed.hits

    @property
    def matched(self) -> int:
        """The number of requests that match, including those that `after`, `every`, `share` and `times` spare."""
        return self._armed.matched

    @property
    def held(self) -> list[HeldRequest]:
        """The requests that the rule holds now (`hold`), in the order of their arrival."""
        return self._faults._ask(self._armed.holds.requests) or []

    def wait(self, hits: int | None = None, timeout: float = 5, *, held: int | None = None) -> None:
        """Wait until the rule has acted on at least `hits` requests (1 by default), or holds at least `held`.

        Raises FaultTimeout after `timeout` seconds, ValueError if `held` is given for a rule without `hold`.
        """
        if held and self.rule.hold is None:
            raise ValueError(f'held={held}: fault {self.id} holds nothing, hold="before" or "after" is not in its rule')
        self._faults._wait(self._armed, 1 if hits is None and held is None else hits or 0, held or 0, timeout)

    def release(self, n: int | None = None, at: int | None = None) -> int:
        """Release the first `n` requests that the rule holds, or all: of every connection, or of the connection `at`.

        Returns the number of released requests. When it returns, their work is done, unless they wait for other
        requests. Raises ValueError for a negative `n`.
        """
        for name, value in (("n", n), ("at", at)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise ValueError(f"{name}={value!r} is refused: expected a whole number, 0 or more")
        return self._faults._ask(lambda: self._armed.holds.release(n, at)) or 0

    def remove(self) -> None:
        """Remove the rule. A second call, or a call after the stub was closed, has no effect."""
        self._faults._remove(self._armed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.rule.to_dict().items())
        return f"<fault {self.id}: {said}; {self.hits} hits>"


class StubFaults:
    """The fault rules of a stub, in the order in which they were added. Of the rules that are due, the first one acts.

    Each method is atomic for clients, as those of the clock are. Closing the stub removes the rules.
    """

    def __init__(self, runner: Runner, make_plan: Callable[[Broker, Callable[[], None]], Plan] = plan_for) -> None:
        """`make_plan` returns an empty plan for the broker or proxy that runs."""
        self._runner = runner
        self._make_plan = make_plan
        self._fired = threading.Condition()
        self.watchers: list[Callable[[], None]] = []
        """Called, in the server's thread, when a request has met a fault, and when one is held or released."""
        self._plan: tuple[Broker, Plan] | None = None

    def add(self, rule: FaultRule | None = None, **fields: Any) -> Fault:
        """Add a rule, as a FaultRule or by its fields: `add(api="OffsetCommit", error="NOT_COORDINATOR", times=3)`.

        Returns the Fault. Raises FaultError for a rule that can never match or act, TypeError for a rule together with
        fields and for unknown fields.
        """
        if rule is None:
            rule = FaultRule.from_dict(fields)
        elif fields:
            raise TypeError("a fault is added as a FaultRule or by its fields, not both")
        broker = self._runner.running()

        def add() -> Fault:
            plan = self._of(broker)
            armed = plan.add(rule, broker.clock.broker_ms())
            broker.observer.set_plan(plan)
            return Fault(self, armed)

        return self._runner.call(add)

    def clear(self) -> None:
        """Remove all rules."""
        broker = self._runner.running()

        def clear() -> None:
            self._of(broker).clear()
            broker.observer.set_plan(None)

        self._runner.call(clear)

    def list(self) -> list[Fault]:
        """Return the rules in their order. Rules that have expired stay until they are removed."""
        broker = self._runner.running()
        return [Fault(self, each) for each in self._runner.call(lambda: self._of(broker).rules())]

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self.list())

    def _of(self, broker: Broker) -> Plan:
        if self._plan is None or self._plan[0] is not broker:
            self._plan = broker, self._make_plan(broker, self._tell)
        return self._plan[1]

    def _tell(self) -> None:
        with self._fired:
            self._fired.notify_all()
        for look in tuple(self.watchers):
            look()

    def _wait(self, armed: Armed, hits: int, held: int, timeout: float) -> None:
        holds = armed.holds
        with self._fired:
            if not self._fired.wait_for(lambda: armed.hits >= hits and len(holds) >= held, max(0, timeout)):
                was = f"was met by {_requests(armed.hits)}"
                if held:
                    was += f" and holds {len(holds)}"
                wanted = f"{_requests(held)} held at once" if armed.hits >= hits and held else _requests(hits)
                raise FaultTimeout(f"fault {armed.id} {was} after {timeout:g} s, {wanted} were expected")

    def _ask(self, what: Callable[[], T]) -> T | None:
        """In the server's thread; None where the stub is not running."""
        try:
            return self._runner.call(what)
        except RuntimeError:  # StubError: it was closed, and nobody waits any more
            return None

    def _remove(self, armed: Armed) -> None:
        if self._plan is None:
            return
        broker, plan = self._plan

        def remove() -> None:
            plan.remove(armed)
            broker.observer.set_plan(plan if len(plan) else None)

        try:
            if self._runner.running() is broker:
                self._runner.call(remove)
        except RuntimeError:  # StubError: it was closed, and the rules with it
            return


def _requests(count: int) -> str:
    return f"{count} request" if count == 1 else f"{count} requests"


__all__ = ["Fault", "FaultRule", "StubFaults", "attach"]
