"""`proxy.faults`: the rules of a stub, for requests that pass through a proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from kafkastub.faults import FaultRule
from kafkastub.stub.faults import Fault, StubFaults

if TYPE_CHECKING:
    from kafkastub.faults import Plan
    from kafkastub.proxy.proxy import Proxy
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


def plan_for(broker: Broker, fired: Callable[[], None]) -> Plan:
    """Return an empty plan for the APIs that the cluster serves."""
    return cast("Proxy", broker).plan_for(fired)


class ProxyFaults(StubFaults):
    """The rules of a proxy."""

    def __init__(self, runner: Runner, names: Callable[[], None] | None = None) -> None:
        """`names` is called before a rule about a topic is added, because clients name topics by id and rules name them
        by name.
        """
        super().__init__(runner, plan_for)
        self._names = names

    def add(self, rule: FaultRule | None = None, **fields: Any) -> Fault:
        topic = fields.get("topic") if rule is None else rule.topic
        if topic is not None and self._names is not None:
            self._names()
        return super().add(rule, **fields)
