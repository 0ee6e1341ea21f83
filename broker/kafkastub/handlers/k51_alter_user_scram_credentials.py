"""AlterUserScramCredentials (key 51), version 0.    KIP-554; Kafka: ScramControlManager

AU-1  An upsertion counts for every authentication from the answer on; a deletion takes the user's credential away.
AU-2  Deleting what is not there: RESOURCE_NOT_FOUND; a user named twice: DUPLICATE_RESOURCE, once, nothing is done.
AU-3  An empty name, and fewer than 4096 or more than 16384 iterations: UNACCEPTABLE_CREDENTIAL; a mechanism that does
      not exist: UNSUPPORTED_SASL_MECHANISM; an empty salted password: UNKNOWN_SERVER_ERROR.
AU-4  Answered are deletions, upsertions and refusals, each in the order of Kafka's hash map.
AU-5  Who has signed in as a user that is deleted is served on, until the connection has to authenticate again.
                                                                                      SaslServerAuthenticator
Not done: a Kafka broker forgets whom a request puts in beside the last one of that mechanism that it takes out, where
      its hash map has that one first (ScramDelta.apply), while its controller knows. Here who was put in is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import Pace, paced, paced_map_order
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_hash
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafkawire.messages.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)

_FEWEST: Final = 4096
_MOST: Final = 16384
_MOST_KEPT: Final = 100_000
_Refusal = tuple[ErrorCode, str | None]


def error_response(
    request: AlterUserScramCredentialsRequest, code: ErrorCode, version: int
) -> AlterUserScramCredentialsResponse:
    """The code at every user."""
    names = dict.fromkeys([one.name for one in request.deletions] + [one.name for one in request.upsertions])
    return AlterUserScramCredentialsResponse(
        results=[AlterUserScramCredentialsResult(name, code, default_text(code)) for name in names]
    )


@handles(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, 0, error_response=error_response)
def alter_user_scram_credentials(ctx: RequestContext, request: AlterUserScramCredentialsRequest) -> Outcome:
    users = ctx.state.scram_users
    chosen: dict[str, ScramCredentialDeletion | ScramCredentialUpsertion] = {}
    refused: dict[str, _Refusal] = {}
    pace = ctx.pace
    asked: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    for one in paced(asked, ctx.pace):
        name = one.name
        if name in refused:
            continue
        if chosen.pop(name, None) is not None:
            text = "A user credential cannot be altered twice in the same request"
            refused[name] = ErrorCode.DUPLICATE_RESOURCE, text
        elif (why := _refusal(ctx, one)) is not None:
            refused[name] = why
        else:
            chosen[name] = one
    deleted, upserted = [], []
    for one in chosen.values():
        if isinstance(one, ScramCredentialDeletion):
            users.remove(one.name, one.mechanism)
            deleted.append(one.name)
        elif one.salted_password:
            users.put(one.name, one.mechanism, one.salt, one.salted_password, one.iterations)
            upserted.append(one.name)
        else:
            refused[one.name] = ErrorCode.UNKNOWN_SERVER_ERROR, None  # Java makes no key of nothing
    ctx.state.changed()
    # Kafka has a map by name for each of the three.
    done = [*_map_order(deleted, pace), *_map_order(upserted, pace)]
    results = [AlterUserScramCredentialsResult(name, ErrorCode.NONE, None) for name in paced(done, pace)]
    results += [
        AlterUserScramCredentialsResult(name, *refused[name]) for name in paced(_map_order(refused, pace), pace)
    ]
    return AlterUserScramCredentialsResponse(results=results)


def _map_order(names: Iterable[str], pace: Pace) -> list[str]:
    """Names that differ, in the order of a map that has them as its keys."""
    return paced_map_order(((string_hash(name), name) for name in names), pace)


def _refusal(ctx: RequestContext, one: ScramCredentialDeletion | ScramCredentialUpsertion) -> _Refusal | None:
    """Why nothing is done about it, in Kafka's order and words."""
    if not one.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"
    if one.mechanism not in (1, 2):
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"
    users = ctx.state.scram_users
    if isinstance(one, ScramCredentialDeletion):
        if users.get(one.name, one.mechanism) is None:
            return ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"
        return None
    if one.iterations < _FEWEST:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"
    if one.iterations > _MOST:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"
    if len(users) >= _MOST_KEPT:
        return ErrorCode.UNKNOWN_SERVER_ERROR, None
    return None
