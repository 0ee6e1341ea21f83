"""What ConsumerGroupHeartbeat, ShareGroupHeartbeat and StreamsGroupHeartbeat (keys 68, 76, 88) are: one way each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from kafkastub.coordinator.turn import NotYet, Results
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.security import Operation
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred, Steps, in_parts
from kafkastub.state.groups import coordinator_of
from kafkastub.state.lazy_imports import MODERN, once_imported
from kafkastub.state.results import NO_RESULTS
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

_SLICE: Final = 1
"""Each step of a heartbeat that takes long is one."""
_MOST_TRIES: Final = 4
"""How often a target is computed in slices for a heartbeat, while others change the group; then it is done at once."""


class GroupHeartbeats:
    """The API of one group type. What a type adds overrides a method.

    Args:
        group_type: "share".
        serves: whether there may be groups of the type.
        response: the message of the answer.
        modules: the code of the type, in the order in which it is imported, without "kafkastub.".
    """

    def __init__(
        self, group_type: str, serves: Callable[[BrokerState], bool], response: type[Any], modules: Sequence[str]
    ) -> None:
        self._group_type = group_type
        self._serves = serves
        self._response = response
        self.modules = MODERN + [f"kafkastub.{name}" for name in modules]

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code, without a text."""
        answer: Message = self._response(error_code=code)
        return answer

    def answer(self, ctx: RequestContext, request: Any) -> Outcome:
        """The answer; with the first heartbeat of the type its code is imported, part by part."""
        state, version = ctx.state, ctx.api_version
        if not self._serves(state):
            return self.error_response(request, ErrorCode.UNSUPPORTED_VERSION, version)
        if not self.is_possible(request):
            return self.error_response(request, ErrorCode.INVALID_REQUEST, version)
        if self._group_type not in state.coordinator.modern and state.refusal is None:
            failed = partial(self.error_response, request, version=version)
            return once_imported(state, self.modules, partial(self._answer, ctx, request), failed)
        unchanged = self.unchanged(ctx, request)
        return self._answer(ctx, request) if unchanged is None else unchanged

    def _answer(self, ctx: RequestContext, request: Any) -> Message | Deferred:
        """The answer; it is made in slices where the group's target takes long, and behind others of the group then."""
        results: Results = NO_RESULTS
        if request.group_id not in ctx.state.groups.computing:
            try:
                return self._made(ctx, request, results)
            except NotYet as error:
                results = error.results
        failed = partial(self.error_response, request, version=ctx.api_version)
        in_turn = partial(_behind_others, ctx.state, request.group_id)
        return in_parts(self._made_in_slices(ctx, request, results), _SLICE, in_turn, failed)

    def _made_in_slices(self, ctx: RequestContext, request: Any, results: Results) -> Steps:
        yield _SLICE
        for _ in range(_MOST_TRIES):
            while not results.go_on():
                yield _SLICE
            try:
                return self._made(ctx, request, results)
            except NotYet as error:
                results = error.results
            yield _SLICE
        return self._made(ctx, request, None)

    def _made(self, ctx: RequestContext, request: Any, results: Results | None) -> Message:
        """The answer. Raises NotYet, and nothing has happened."""
        state, version = ctx.state, ctx.api_version
        try:
            self.check(ctx, request)
            turn = (
                coordinator_of(state)
                .modern[self._group_type]
                .heartbeat(
                    request,
                    version,
                    ctx.client_id or "",
                    ctx.client_host,
                    ctx.broker_ms,
                    ctx.timer_ms,
                    None if state.authorizer is None else partial(ctx.access.to_topic, Operation.DESCRIBE),
                    results,
                )
            )
        except KafkaError as error:
            refused: Message = self._response(error_code=error.code, error_message=error.message)
            return refused
        result = state.settle(turn).reply
        if result.follow_up is not None:
            self.follow_up(ctx, request, result.response, result.follow_up)
        answer: Message = result.response
        return answer

    # -- what a type adds ------------------------------------------------------------------------------------------

    def is_possible(self, request: Any) -> bool:
        """Else it is INVALID_REQUEST without a text, whoever is asked."""
        return True

    def unchanged(self, ctx: RequestContext, request: Any) -> Message | None:
        """The answer, where neither the heartbeat nor the group says anything that the last answer did not tell."""
        return None

    def check(self, ctx: RequestContext, request: Any) -> None:
        """Raises for what can't be said in any group, with Kafka's message."""
        ctx.state.coordinator.modern[self._group_type].check_heartbeat(request, ctx.api_version)

    def follow_up(self, ctx: RequestContext, request: Any, answer: Any, wanted: Any) -> None:
        """Do what is wanted behind the answer: see `HeartbeatResult`."""


def _behind_others(state: BrokerState, group_id: str, work: Iterator[None]) -> None:
    """Go on with a heartbeat, part by part, when those of its group are done that came before it."""
    waiting = state.groups.computing.setdefault(group_id, deque())
    waiting.append(work)
    if len(waiting) == 1:
        state.turns.add(_first(state, group_id))


def _first(state: BrokerState, group_id: str) -> Iterator[None]:
    """Work off the first heartbeat, and let the next one begin."""
    waiting = state.groups.computing[group_id]
    try:
        yield from waiting[0]
    finally:
        waiting.popleft()
        if waiting:
            state.turns.add(_first(state, group_id))
        else:
            del state.groups.computing[group_id]
