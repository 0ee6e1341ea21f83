"""What can be given to whoever watches requests, a broker's observer or a proxy's: a journal, metrics, rules, chaos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkastub.journal.ring import Ring
    from kafkastub.server.watching.metrics import Metrics
    from kafkawire.api import ApiKey


class Switches:
    """What is on. Whoever inherits it hears of every change by `_switch`."""

    def __init__(self) -> None:
        self.ring: Ring | None = None
        self.metrics: Metrics | None = None
        self.plan: Any = None
        """What decides what happens to requests: rules (`server.watching.faults.Plan`), chaos, or both."""
        self._rules: Any = None
        self._chaos: Any = None

    def set_journal(self, ring: Ring | None) -> None:
        self.ring = ring
        self._switch()

    def set_metrics(self, metrics: Metrics | None) -> None:
        self.metrics = metrics
        self._switch()

    def set_plan(self, plan: Any) -> None:
        """These are the fault rules now. A plan that has changed is given again."""
        self._rules = plan
        self._plan_now()

    def set_chaos(self, chaos: Any) -> None:
        """Who meets no rule meets this."""
        self._chaos = chaos
        self._plan_now()

    def _plan_now(self) -> None:
        self.plan = self._rules if self._chaos is None else ChaoticPlan(self._rules, self._chaos)
        self._switch()

    def _switch(self) -> None:
        raise NotImplementedError


class ChaoticPlan:
    """The fault rules, if there are any, and chaos for those whom none of them meets: a `Plan`."""

    def __init__(self, rules: Any, chaos: Any) -> None:
        self._rules = rules
        self._chaos = chaos

    def concerns(self, key: ApiKey) -> bool:
        return bool(self._chaos.concerns(key) or (self._rules is not None and self._rules.concerns(key)))

    def match(self, route: Any, context: Any, request: Any) -> Any:
        if self._rules is not None and self._rules.concerns(route.key):
            action = self._rules.match(route, context, request)
            if action is not None:
                return action
        return self._chaos.match(route, request, context) if self._chaos.concerns(route.key) else None

    def never_matches(self, route: Any, request: Any) -> bool:
        if self._chaos.concerns(route.key):
            return False
        rules = self._rules
        return rules is None or not rules.concerns(route.key) or rules.never_matches(route, request)
