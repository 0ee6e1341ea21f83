"""ExpireDelegationToken (key 40), versions 1-2.

KE-1   The token with that hmac expires after the period from now on, in broker time, earlier or later than it would
       have, and never past its end.                                          DelegationTokenControlManager
KE-2   A period below 0: it is gone at once, also one that is over.
KE-3   An unknown hmac: DELEGATION_TOKEN_NOT_FOUND; who is neither its owner nor a renewer:
       DELEGATION_TOKEN_OWNER_MISMATCH; a token that is over and has not been swept: DELEGATION_TOKEN_EXPIRED. In this
       order.
KE-4   Where CreateDelegationToken is not allowed: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; without a secret key:
       DELEGATION_TOKEN_AUTH_DISABLED.
KE-5   Tokens that are over are swept every delegation.token.expiry.check.interval.ms, and when a test moves the clock.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.token_expiry import ExpiryChange
from kafkastub.security.delegation_tokens import DelegationTokens
from kafkawire.api import ApiKey
from kafkawire.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from kafkawire.messages.expire_delegation_token_response import ExpireDelegationTokenResponse

_CHANGE: Final = ExpiryChange(ExpireDelegationTokenResponse, "expiry_time_period_ms", DelegationTokens.expire)


@handles(ApiKey.EXPIRE_DELEGATION_TOKEN, 1, 2, error_response=_CHANGE.error_response)
def expire_delegation_token(ctx: RequestContext, request: ExpireDelegationTokenRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
