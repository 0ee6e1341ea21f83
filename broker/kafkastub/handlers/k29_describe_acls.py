"""DescribeAcls (key 29), versions 1-3.

DA-1   The entries that match the filter, those of one resource pattern together.       KIP-140
DA-2   Pattern types LITERAL, PREFIXED, ANY, and MATCH: all that concern a resource.    KIP-290
DA-3   Without Describe on the cluster: CLUSTER_AUTHORIZATION_FAILED.                   Kafka: AclApis
DA-4   Without an authorizer: SECURITY_DISABLED with a text.
DA-5   A type, pattern type, operation or permission 0 closes the connection; with any other that does not exist
       nothing is found.                                            Kafka: DescribeAclsRequest.normalizeAndValidate
Kafka answers in no particular order, the stub in that in which the entries came.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import CLOSE, Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security import Operation
from kafkastub.security.acl_requests import filter_of
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from kafkawire.messages.describe_acls_response import AclDescription, DescribeAclsResource, DescribeAclsResponse


def error_response(
    request: DescribeAclsRequest, code: ErrorCode, version: int, text: str | None = None
) -> DescribeAclsResponse:
    """The code at the top."""
    return DescribeAclsResponse(error_code=code, error_message=text or default_text(code))


@handles(ApiKey.DESCRIBE_ACLS, 1, 3, error_response=error_response)
def describe_acls(ctx: RequestContext, request: DescribeAclsRequest) -> Outcome:
    wanted = filter_of(request)
    if wanted is None:
        return CLOSE
    authorizer = ctx.state.authorizer
    if authorizer is None:
        text = "No Authorizer is configured on the broker"
        return error_response(request, ErrorCode.SECURITY_DISABLED, ctx.api_version, text)
    if not ctx.access.to_cluster(Operation.DESCRIBE):
        return error_response(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ctx.api_version)
    resources: dict[tuple[int, str, int], list[AclDescription]] = {}
    for acl in authorizer.find(wanted):
        described = AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
        resources.setdefault((acl.resource_type, acl.resource_name, acl.pattern_type), []).append(described)
    return DescribeAclsResponse(
        resources=[DescribeAclsResource(*pattern, entries) for pattern, entries in resources.items()],
    )
