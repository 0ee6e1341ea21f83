"""CreateDelegationToken (key 38), versions 1-3.

KC-1   A token of who asks, or in version 3 of another owner, with an id, and the HMAC-SHA512 of that by
       delegation.token.secret.key.                                         KIP-48; DelegationTokenControlManager
KC-2   It ends after delegation.token.expiry.time.ms of broker time, if it is not renewed; in any case after the
       lifetime asked for, which delegation.token.max.lifetime.ms bounds. A lifetime of 0 or less asks for the most.
KC-3   On a PLAINTEXT listener, over TLS without a client's certificate, and by who has signed in with a token himself:
       DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.                                KafkaApis.allowTokenRequests
KC-4   For another owner without CreateTokens on the user: DELEGATION_TOKEN_AUTHORIZATION_FAILED.     KIP-373
KC-5   A renewer that is no User: INVALID_PRINCIPAL_TYPE.
KC-6   Without a secret key: DELEGATION_TOKEN_AUTH_DISABLED, with times of 0 where other errors have -1.
KC-7   An owner with a name and no type: UNKNOWN_SERVER_ERROR.              KafkaPrincipal
KC-8   More than 10,000 tokens, with 50,000 renewers and 16 million characters of principals in all, are not kept:
       UNKNOWN_SERVER_ERROR.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata.ids import random_uuid, uuid_text
from kafkastub.security import Operation, ResourceType
from kafkastub.security.delegation_tokens import Principal, principal_of
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_delegation_token_request import CreateDelegationTokenRequest
from kafkawire.messages.create_delegation_token_response import CreateDelegationTokenResponse

_ANONYMOUS = Principal("User", "ANONYMOUS")


def error_response(
    request: CreateDelegationTokenRequest,
    code: ErrorCode,
    version: int,
    owner: Principal = _ANONYMOUS,
    requester: Principal = _ANONYMOUS,
    ms: int = -1,
) -> CreateDelegationTokenResponse:
    """The code, and who is meant as far as that is known."""
    return CreateDelegationTokenResponse(code, *owner, *requester, ms, ms, ms)


@handles(ApiKey.CREATE_DELEGATION_TOKEN, 1, 3, error_response=error_response)
def create_delegation_token(ctx: RequestContext, request: CreateDelegationTokenRequest) -> Outcome:
    requester = principal_of(ctx.principal)
    owner = requester
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        owner = Principal(request.owner_principal_type, request.owner_principal_name)
    renewers = [Principal(one.principal_type, one.principal_name) for one in paced(request.renewers, ctx.pace)]
    tokens = ctx.state.delegation_tokens
    if not ctx.may_ask_for_tokens:
        code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    elif owner != requester and not _may_create(ctx, owner):
        code = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    elif any(one.kind != "User" for one in paced(renewers, ctx.pace)):
        code = ErrorCode.INVALID_PRINCIPAL_TYPE
    elif not tokens.enabled:
        code = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return error_response(request, code, ctx.api_version, owner, requester, ms=0)
    else:
        token_id = uuid_text(random_uuid(ctx.state.random))
        made = tokens.create(token_id, owner, requester, renewers, request.max_lifetime_ms, ctx.broker_ms)
        ctx.state.changed()
        ctx.state.mark_dirty()
        return CreateDelegationTokenResponse(
            ErrorCode.NONE, *owner, *requester, made.issued_ms, made.expires_ms, made.max_ms, token_id, made.hmac
        )
    return error_response(request, code, ctx.api_version, owner, requester)


def _may_create(ctx: RequestContext, owner: Principal) -> bool:
    if ctx.state.authorizer is None:
        return True
    return ctx.access.to(Operation.CREATE_TOKENS, ResourceType.USER, str(owner))
