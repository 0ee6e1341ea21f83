"""What RenewDelegationToken and ExpireDelegationToken (keys 39 and 40) are: one way, with a row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.security.delegation_tokens import DelegationTokens, Principal, principal_of
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

_NO_TIME: Final = -1


class ExpiryChange(NamedTuple):
    """One of the two.

    Attributes:
        response: the message of the answer.
        period: the field of the request that says for how long, in milliseconds.
        change: (tokens, hmac, who asks, period, broker time) gives when the token expires now. Raises KafkaError.
    """

    response: type[Any]
    period: str
    change: Callable[[DelegationTokens, bytes, Principal, int, int], int]

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code; of who may not ask at all, the time -1."""
        answer: Message = self.response(code, _NO_TIME if code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED else 0)
        return answer

    def answer(self, ctx: RequestContext, request: Any) -> Outcome:
        """When the token expires now. Raises KafkaError."""
        if not ctx.may_ask_for_tokens:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        tokens, principal = ctx.state.delegation_tokens, principal_of(ctx.principal)
        expires_ms = self.change(tokens, bytes(request.hmac), principal, getattr(request, self.period), ctx.broker_ms)
        ctx.state.changed()
        answer: Message = self.response(ErrorCode.NONE, expires_ms)
        return answer
