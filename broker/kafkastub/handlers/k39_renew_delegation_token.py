"""RenewDelegationToken (key 39), versions 1-2.

KR-1   The token with that hmac expires after the period from now on, in broker time; delegation.token.expiry.time.ms
       bounds it, and stands for a period of 0 or less. Never past the token's end.    DelegationTokenControlManager
KR-2   An unknown hmac: DELEGATION_TOKEN_NOT_FOUND; a token that is over and has not been swept:
       DELEGATION_TOKEN_EXPIRED; who is neither its owner nor a renewer: DELEGATION_TOKEN_OWNER_MISMATCH. In this order.
KR-3   Where CreateDelegationToken is not allowed: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; without a secret key:
       DELEGATION_TOKEN_AUTH_DISABLED.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.token_expiry import ExpiryChange
from kafkastub.security.delegation_tokens import DelegationTokens
from kafkawire.api import ApiKey
from kafkawire.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from kafkawire.messages.renew_delegation_token_response import RenewDelegationTokenResponse

_CHANGE: Final = ExpiryChange(RenewDelegationTokenResponse, "renew_period_ms", DelegationTokens.renew)


@handles(ApiKey.RENEW_DELEGATION_TOKEN, 1, 2, error_response=_CHANGE.error_response)
def renew_delegation_token(ctx: RequestContext, request: RenewDelegationTokenRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
