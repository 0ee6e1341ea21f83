"""SaslAuthenticate (key 36), versions 0-2.

SA-1  PLAIN: user and password as configured.                                         RFC 4616; KIP-152
SA-2  SCRAM-SHA-256 and SCRAM-SHA-512, both ways proved.                              RFC 5802; KIP-84
SA-3  OAUTHBEARER: unsecured tokens, and signed ones where keys are configured, as Kafka's validators judge them; what
      is refused is told as JSON, and the connection ends with the client's answer to that. RFC 7628; KIP-255, KIP-768
SA-4  Wrong credentials: SASL_AUTHENTICATION_FAILED with Kafka's text, which does not tell a wrong user from a wrong
      password, and the connection ends.                                              SaslServerAuthenticator
SA-5  The principal is User:NAME from the last answer on.
SA-6  The session's length in ms where connections.max.reauth.ms or the token limits it; when it is over, any request
      but another SaslHandshake closes the connection.                                KIP-368
SA-7  Another principal in re-authentication: SASL_AUTHENTICATION_FAILED.             KIP-368
SA-8  Without SASL, and after success: ILLEGAL_SASL_STATE.                            KafkaApis
SA-9  Before success, any other request than ApiVersions and SaslHandshake closes the connection; between SaslHandshake
      and success it answers ILLEGAL_SASL_STATE first.
SA-10 A failure is told, and the connection closed, after connection.failed.authentication.delay.ms; so is a frame
      that is too long for sasl.server.max.receive.size. Frames that are none close it at once.  KIP-306
SA-11 SCRAM with the extension tokenauth=true: a delegation token's id is the user, its hmac in base64 the password,
      and the principal is User:OWNER; the session ends with the token.               KIP-48; ScramSaslServer
Not done: GSSAPI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.k17_sasl_handshake import last_words
from kafkastub.handlers.outcome import CLOSE, Outcome
from kafkastub.handlers.registry import handles
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafkawire.messages.sasl_authenticate_response import SaslAuthenticateResponse

if TYPE_CHECKING:
    from kafkastub.security.session import SaslSession

_TOO_LATE = "SaslAuthenticate request received after successful authentication"


def error_response(
    request: SaslAuthenticateRequest, code: ErrorCode, version: int, text: str | None = None
) -> SaslAuthenticateResponse:
    """The code with a text."""
    return SaslAuthenticateResponse(error_code=code, error_message=text)


@handles(ApiKey.SASL_AUTHENTICATE, 0, 2, error_response=error_response)
def sasl_authenticate(ctx: RequestContext, request: SaslAuthenticateRequest) -> Outcome:
    session: SaslSession | None = ctx.connection.sasl
    if session is None or session.is_open:
        return error_response(request, ErrorCode.ILLEGAL_SASL_STATE, ctx.api_version, _TOO_LATE)
    outcome = session.token(request.auth_bytes, ctx.api_version, ctx.broker_ms, ctx.timer_ms)
    if outcome is not None:
        ctx.connection.principal = session.principal or ctx.connection.principal
        answer, length = outcome
        return SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=length)
    if session.failure is None:
        return CLOSE
    code = ErrorCode.SASL_AUTHENTICATION_FAILED
    return last_words(error_response(request, code, ctx.api_version, session.failure.told))
