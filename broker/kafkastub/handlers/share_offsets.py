"""What AlterShareGroupOffsets and DeleteShareGroupOffsets (keys 91 and 92) are: one way, with a row each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.security import Operation
from kafkastub.state.deferred import Steps
from kafkastub.state.group_protocols import serves_share_protocol
from kafkastub.state.share_lazy_imports import AT_ONCE, OFFSETS, refusal_text, served
from kafkawire import catalogue
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

_NOT_SERVED: Final = "The version of API is not supported."


class OffsetsChange(NamedTuple):
    """One of the two.

    Attributes:
        key: the API.
        operation: what whoever asks has to be allowed on the group.
        steps: (state, request, which topics may be read, broker time, timer time) what changes the offsets. Called
            once its code is there.
    """

    key: ApiKey
    operation: Operation
    steps: Callable[..., Steps]

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code at the top, with its text."""
        return self._failed(KafkaError(code))

    def answer(self, ctx: RequestContext, request: Any) -> Outcome:
        """What the steps raise stands at the top."""
        state = ctx.state
        if not serves_share_protocol(state):
            return self._failed(KafkaError(ErrorCode.UNSUPPORTED_VERSION, _NOT_SERVED))
        if state.authorizer is not None and not ctx.access.to_group(self.operation, request.group_id):
            return self._failed(KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED))

        def refusable() -> Steps:
            try:
                return (yield from self.steps(state, request, partial(_may_read, ctx), ctx.broker_ms, ctx.timer_ms))
            except KafkaError as error:
                return self._failed(error)

        return served(state, OFFSETS, refusable, AT_ONCE, lambda code: self._failed(KafkaError(code)))

    def _failed(self, error: KafkaError) -> Message:
        response: type[Any] = catalogue.response_class(self.key)
        answer: Message = response(error_code=error.code, error_message=refusal_text(error))
        return answer


def _may_read(ctx: RequestContext, name: str) -> bool:
    return ctx.state.authorizer is None or ctx.access.to_topic(Operation.READ, name)
