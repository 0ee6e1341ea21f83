"""DescribeUserScramCredentials (key 50), version 0.    KIP-554

DU-1  Each user's mechanisms with their iterations; no users given, or null, means all.    Kafka: ScramImage.describe
DU-2  A user without credentials: RESOURCE_NOT_FOUND; one named twice: DUPLICATE_RESOURCE, once; with a text.
"""

from __future__ import annotations

from collections import Counter

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest
from kafkawire.messages.describe_user_scram_credentials_response import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

_MISSING = "Attempt to describe a user credential that does not exist: "
_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: "


def error_response(
    request: DescribeUserScramCredentialsRequest, code: ErrorCode, version: int
) -> DescribeUserScramCredentialsResponse:
    """The code on top, and at every user."""
    return DescribeUserScramCredentialsResponse(
        error_code=code,
        error_message=None,
        results=[DescribeUserScramCredentialsResult(error_code=code, error_message=None) for _ in request.users or ()],
    )


@handles(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, error_response=error_response)
def describe_user_scram_credentials(ctx: RequestContext, request: DescribeUserScramCredentialsRequest) -> Outcome:
    known = ctx.state.scram_users
    asked = Counter(one.name for one in paced(request.users, ctx.pace)) if request.users else Counter(known.users())
    results = []
    for name, times in paced(asked.items(), ctx.pace):
        infos = [
            CredentialInfo(number, found.iterations)
            for number in (1, 2)
            if (found := known.get(name, number)) is not None
        ]
        if times > 1:
            code, text, infos = ErrorCode.DUPLICATE_RESOURCE, f"{_TWICE}{name}", []
        elif not infos:
            code, text = ErrorCode.RESOURCE_NOT_FOUND, f"{_MISSING}{name}"
        else:
            code, text = ErrorCode.NONE, ""
        results.append(DescribeUserScramCredentialsResult(name, code, text, infos))
    return DescribeUserScramCredentialsResponse(results=results)
