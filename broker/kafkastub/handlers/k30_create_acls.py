"""CreateAcls (key 30), versions 1-3.

CA-1   An entry counts for every request that comes after the answer; one that is there already is no error.   KIP-140
CA-2   Pattern types LITERAL and PREFIXED. ANY and MATCH, and ANY as type, operation or permission, are for filters:
       UNKNOWN_SERVER_ERROR without a text at every entry.                KIP-290; Kafka: ResourcePattern
CA-3   An empty resource name, another name of the cluster than kafka-cluster, a principal without a colon:
       INVALID_REQUEST with Kafka's text at the entry, which spares its neighbours.    Kafka: AclApis, AclControlManager
CA-7   An empty host, or one with a slash that is no range of addresses in CIDR notation: INVALID_REQUEST with Kafka's
       text. With kafkastub.as.version below 4.4 any text is a host.   KIP-1276; Kafka: AclControlManager
CA-4   Without Alter on the cluster: CLUSTER_AUTHORIZATION_FAILED at every entry.
CA-5   Without an authorizer: SECURITY_DISABLED at every entry.
CA-6   A type, pattern type, operation or permission 0 closes the connection; any other that does not exist:
       INVALID_REQUEST at the entry.                                      Kafka: CreateAclsRequest.validate
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.security.acl_requests import NO_AUTHORIZER, refusal_of_entry
from kafkastub.security.hosts import refusal
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_acls_response import AclCreationResult, CreateAclsResponse

_MOST: Final = 10_000
"""Records that Kafka's controller writes for one request; so many entries the stub takes, and keeps more."""
_MOST_KEPT: Final = 1_000_000


def error_response(
    request: CreateAclsRequest, code: ErrorCode, version: int, text: str | None = None
) -> CreateAclsResponse:
    """The code at every entry."""
    return CreateAclsResponse(results=[AclCreationResult(code, text or default_text(code)) for _ in request.creations])


@handles(ApiKey.CREATE_ACLS, 1, 3, error_response=error_response)
def create_acls(ctx: RequestContext, request: CreateAclsRequest) -> Outcome:
    asked = request.creations
    if any(0 in (one.resource_type, one.resource_pattern_type, one.operation, one.permission_type) for one in asked):
        return CLOSE
    authorizer = ctx.state.authorizer
    if authorizer is None:
        return error_response(request, ErrorCode.SECURITY_DISABLED, ctx.api_version, NO_AUTHORIZER)
    if not ctx.access.to_cluster(Operation.ALTER):
        return error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
    if len(asked) > _MOST or len(authorizer) + len(asked) > _MOST_KEPT:
        return error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, ctx.api_version)
    if any(_is_for_filters(one) for one in asked):
        return CreateAclsResponse(results=[AclCreationResult(ErrorCode.UNKNOWN_SERVER_ERROR, None) for _ in asked])
    results = []
    for one in asked:
        entry = Acl(
            one.resource_type,
            one.resource_name,
            one.resource_pattern_type,
            one.principal,
            one.host,
            one.operation,
            one.permission_type,
        )
        why = refusal_of_entry(entry) or (refusal(one.host) if authorizer.host_ranges else None)
        if why is None:
            authorizer.add(entry)
        results.append(AclCreationResult(ErrorCode.NONE if why is None else ErrorCode.INVALID_REQUEST, why or ""))
    ctx.state.changed()
    return CreateAclsResponse(results=results)


def _is_for_filters(one: AclCreation) -> bool:
    return (
        one.resource_type == ResourceType.ANY
        or one.resource_pattern_type in (PatternType.ANY, PatternType.MATCH)
        or one.operation == Operation.ANY
        or one.permission_type == Permission.ANY
    )
