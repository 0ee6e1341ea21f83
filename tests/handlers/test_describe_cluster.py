"""DescribeCluster."""

from __future__ import annotations

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from tests.handlers.in_process import InProcess


@pytest.fixture
def broker() -> InProcess:
    return InProcess(nodes=2)


@pytest.mark.behaviour("CL-1")
@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_told(broker: InProcess, version: int):
    answer = broker.ask(DescribeClusterRequest(), version)
    assert (answer.error_code, answer.cluster_id) == (ErrorCode.NONE, broker.state.cluster.cluster_id)
    assert answer.controller_id in {node.broker_id for node in answer.brokers}
    assert [(node.broker_id, node.host, node.port, node.rack) for node in answer.brokers] == [
        (1, "node-1", 9001, "rack-1"),
        (2, "node-2", 9002, "rack-2"),
    ]


@pytest.mark.behaviour("CL-2")
def test_operations_are_told_where_asked_for(broker: InProcess):
    asked = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert broker.ask(asked).cluster_authorized_operations == 8096
    assert broker.ask(DescribeClusterRequest()).cluster_authorized_operations == -(2**31)


@pytest.mark.behaviour("CL-3")
@pytest.mark.parametrize(
    ("kind", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE), (0, 115)],
)
def test_only_brokers_answer_here(broker: InProcess, kind: int, code: int):
    answer = broker.ask(DescribeClusterRequest(endpoint_type=kind), 1)
    assert (answer.error_code, answer.cluster_id, answer.controller_id, answer.brokers) == (code, "", -1, ())


@pytest.mark.behaviour("CL-4")
def test_no_broker_is_fenced(broker: InProcess):
    answer = broker.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)
    assert [node.is_fenced for node in answer.brokers] == [False, False]
