"""What AddRaftVoter and RemoveRaftVoter (keys 80 and 81) are: one way, with a row each. Neither changes a voter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.state.broker_state import BrokerState
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message


class VoterChange(NamedTuple):
    """One of the two.

    Attributes:
        response: the message of the answer.
        refusal: why it is refused.
    """

    response: type[Any]
    refusal: Callable[[BrokerState, Any], KafkaError]

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code at the top, with its text."""
        return self._failed(code, default_text(code))

    def answer(self, ctx: RequestContext, request: Any) -> Outcome:
        """Why it is refused, at the top."""
        try:
            why = self.refusal(ctx.state, request)
        except KafkaError as error:
            why = error
        return self._failed(why.code, why.message)

    def _failed(self, code: ErrorCode, text: str | None) -> Message:
        answer: Message = self.response(error_code=code, error_message=text)
        return answer
