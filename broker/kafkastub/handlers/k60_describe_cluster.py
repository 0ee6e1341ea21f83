"""DescribeCluster (key 60), versions 0-2.

CL-1   Cluster id, controller (a broker) and every broker, at its address on the listener that the client came in on.
                                                                               KIP-700
CL-2   The cluster's operations where asked for, else the lowest int32.        KIP-430
CL-3   Version 1+: endpoint type 2 (controllers) answers MISMATCHED_ENDPOINT_TYPE, any other than 1 and 2
       UNSUPPORTED_ENDPOINT_TYPE, without cluster id, controller and brokers.  KIP-919; Kafka: AuthHelper
CL-4   Version 2: include_fenced_brokers adds the nodes that were stopped.      KIP-1073
Not done: -
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.operations import CLUSTER_OPERATIONS
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.describe_cluster_response import DescribeClusterBroker, DescribeClusterResponse

BROKERS: Final = 1
CONTROLLERS: Final = 2


def error_response(
    request: DescribeClusterRequest, code: ErrorCode, version: int, text: str | None = None
) -> DescribeClusterResponse:
    """The code on top."""
    return DescribeClusterResponse(error_code=code, error_message=text or default_text(code))


@handles(ApiKey.DESCRIBE_CLUSTER, 0, 2, error_response=error_response)
def describe_cluster(ctx: RequestContext, request: DescribeClusterRequest) -> Outcome:
    if request.endpoint_type == CONTROLLERS:
        text = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        return error_response(request, ErrorCode.MISMATCHED_ENDPOINT_TYPE, ctx.api_version, text)
    if request.endpoint_type != BROKERS:
        text = f"Unsupported endpoint type {request.endpoint_type}"
        return error_response(request, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, ctx.api_version, text)
    cluster = ctx.state.cluster
    answer = DescribeClusterResponse(
        error_message=None,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        brokers=[
            DescribeClusterBroker(node.node_id, node.host, node.port, node.rack, fenced)
            for fenced in ((False, True) if request.include_fenced_brokers else (False,))
            for node in cluster.seen_from(ctx.listener, alive=not fenced)
        ],
    )
    if request.include_cluster_authorized_operations:
        answer.cluster_authorized_operations = CLUSTER_OPERATIONS
    return answer
