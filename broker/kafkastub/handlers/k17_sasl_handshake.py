"""SaslHandshake (key 17), versions 0-1.

SH-1  An enabled mechanism: NONE, and the names of all that are enabled.             KIP-43; SaslServerAuthenticator
SH-2  Another mechanism: UNSUPPORTED_SASL_MECHANISM with these names, and the connection ends; on a session that has an
      end it ends without a word.
SH-3  After version 0 tokens come without a header, after version 1 in SaslAuthenticate.    KIP-152
SH-4  On a listener without SASL, and on a session that has no end: ILLEGAL_SASL_STATE.    KafkaApis
SH-5  On a session that has an end: another authentication, with the same mechanism.    KIP-368
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, Deferred, Outcome
from kafkastub.handlers.registry import handles
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.sasl_handshake_request import SaslHandshakeRequest
from kafkawire.messages.sasl_handshake_response import SaslHandshakeResponse
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.security.session import SaslSession


def error_response(request: SaslHandshakeRequest, code: ErrorCode, version: int) -> SaslHandshakeResponse:
    """The code, and no mechanisms."""
    return SaslHandshakeResponse(error_code=code)


@handles(ApiKey.SASL_HANDSHAKE, 0, 1, error_response=error_response)
def sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Outcome:
    session: SaslSession | None = ctx.connection.sasl
    if session is None or (session.is_open and not session.may_begin_again(ctx.timer_ms)):
        return error_response(request, ErrorCode.ILLEGAL_SASL_STATE, ctx.api_version)
    if session.begin(request.mechanism, ctx.api_version, ctx.timer_ms, lambda: ctx.broker_ms):
        return SaslHandshakeResponse(mechanisms=session.listener.mechanisms)
    if session.ends_at_once:
        return CLOSE
    code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
    return last_words(SaslHandshakeResponse(error_code=code, mechanisms=session.listener.mechanisms))


def last_words(response: Message) -> Deferred:
    """An answer after which the connection ends: whoever sends it sees that the session has failed."""
    reply = Deferred(lambda value: value)
    reply.complete(response)
    return reply
