"""DescribeDelegationToken (key 41), versions 1-3.

KD-1   With null as owners every token that the principal may see; else those of which one of these is owner, renewer or
       who asked for it; an empty list finds none.                            KIP-48; DelegationTokenManager.filterToken
KD-2   Seen are tokens that the principal owns, may renew or has asked for; others with Describe on the token, or with
       DescribeTokens on their owner, and all of them without an authorizer.  KIP-373
KD-3   Version 3 tells who asked for a token. Its hmac is told to everybody who may see it.
KD-4   Where CreateDelegationToken is not allowed: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; without a secret key:
       DELEGATION_TOKEN_AUTH_DISABLED.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Operation, ResourceType
from kafkastub.security.delegation_tokens import DelegationToken, Principal, principal_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_delegation_token_request import DescribeDelegationTokenRequest
from kafkawire.messages.describe_delegation_token_response import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenResponse,
)


def error_response(
    request: DescribeDelegationTokenRequest, code: ErrorCode, version: int
) -> DescribeDelegationTokenResponse:
    """The code, and no tokens."""
    return DescribeDelegationTokenResponse(code)


@handles(ApiKey.DESCRIBE_DELEGATION_TOKEN, 1, 3, error_response=error_response)
def describe_delegation_token(ctx: RequestContext, request: DescribeDelegationTokenRequest) -> Outcome:
    if not ctx.may_ask_for_tokens:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    tokens, principal = ctx.state.delegation_tokens, principal_of(ctx.principal)
    if not tokens.enabled:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = None
    if request.owners is not None:
        owners = {Principal(one.principal_type, one.principal_name) for one in request.owners}
    return DescribeDelegationTokenResponse(
        ErrorCode.NONE,
        [
            _described(token)
            for token in tokens
            if (owners is None or not owners.isdisjoint(token.people))
            and (principal in token.people or _may_describe(ctx, token))
        ],
    )


def _may_describe(ctx: RequestContext, token: DelegationToken) -> bool:
    if ctx.state.authorizer is None:
        return True
    access = ctx.access
    return access.to(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id) or access.to(
        Operation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner)
    )


def _described(token: DelegationToken) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        *token.owner,
        *token.requester,
        token.issued_ms,
        token.expires_ms,
        token.max_ms,
        token.token_id,
        token.hmac,
        [DescribedDelegationTokenRenewer(*one) for one in token.renewers],
    )
