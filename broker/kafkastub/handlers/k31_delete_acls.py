"""DeleteAcls (key 31), versions 1-3.

XA-1   Each filter is answered with the entries that it takes away; they count no more from the answer on.     KIP-140
XA-2   A filter that finds nothing is no error. An entry that two filters find is told by both.
                                                                          Kafka: AclControlManager.deleteAcls
XA-3   Without Alter on the cluster: CLUSTER_AUTHORIZATION_FAILED at every filter.
XA-4   Without an authorizer: SECURITY_DISABLED at every filter.
XA-5   A type, pattern type, operation or permission 0 closes the connection; any other that does not exist:
       INVALID_REQUEST at the filter.                                     Kafka: DeleteAclsRequest.normalizeAndValidate
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Acl, AclFilter, Operation
from kafkastub.security.acl_requests import NO_AUTHORIZER, filter_of
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_acls_request import DeleteAclsRequest
from kafkawire.messages.delete_acls_response import DeleteAclsFilterResult, DeleteAclsMatchingAcl, DeleteAclsResponse


def error_response(
    request: DeleteAclsRequest, code: ErrorCode, version: int, text: str | None = None
) -> DeleteAclsResponse:
    """The code at every filter."""
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_code=code, error_message=text or default_text(code)) for _ in request.filters
        ]
    )


@handles(ApiKey.DELETE_ACLS, 1, 3, error_response=error_response)
def delete_acls(ctx: RequestContext, request: DeleteAclsRequest) -> Outcome:
    filters: list[AclFilter] = []
    for asked in paced(request.filters, ctx.pace):
        wanted = filter_of(asked)
        if wanted is None:
            return CLOSE
        filters.append(wanted)
    authorizer = ctx.state.authorizer
    if authorizer is None:
        return error_response(request, ErrorCode.SECURITY_DISABLED, ctx.api_version, NO_AUTHORIZER)
    if not ctx.access.to_cluster(Operation.ALTER):
        return error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
    # all are looked for before anything goes
    results = [_result(wanted, authorizer.find(wanted)) for wanted in paced(filters, ctx.pace)]
    for wanted in paced(dict.fromkeys(filters), ctx.pace):
        authorizer.remove(wanted)
    ctx.state.changed()
    return DeleteAclsResponse(filter_results=results)


def _result(wanted: AclFilter, found: list[Acl]) -> DeleteAclsFilterResult:
    for unknown, name in (
        (0 in (wanted.resource_type, wanted.pattern_type), "patternFilter"),
        (0 in (wanted.operation, wanted.permission), "entryFilter"),
    ):
        if unknown:
            return DeleteAclsFilterResult(error_code=ErrorCode.INVALID_REQUEST, error_message=f"Unknown {name}.")
    return DeleteAclsFilterResult(
        error_message=None,
        matching_acls=[
            DeleteAclsMatchingAcl(
                error_message=None,
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
            for acl in found
        ],
    )
