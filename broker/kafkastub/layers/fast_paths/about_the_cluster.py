"""Metadata, DescribeCluster and FindCoordinator: what they tell changes with the cluster's version alone.

Metadata and FindCoordinator may create topics; where all that is named is there already, as in an answer without
errors, they create nothing. Who asks does not matter: where there is an authorizer there are no fast paths.
"""

from __future__ import annotations

from kafkastub.layers.fast_paths.contract import FastPath, IsClear, always_clear
from kafkastub.layers.fast_paths.remembered import Remembered
from kafkastub.state.broker_state import BrokerState
from kafkawire.messages.describe_cluster_response import DescribeClusterResponse
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.messages.metadata_response import MetadataResponse


def metadata(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path of Metadata for one version."""
    return Remembered(state, is_clear, _tells_of_all)


def describe_cluster(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path of DescribeCluster for one version."""
    return Remembered(state, is_clear, _describes)


def find_coordinator(state: BrokerState, version: int, is_clear: IsClear = always_clear) -> FastPath | None:
    """The fast path of FindCoordinator for one version."""
    return Remembered(state, is_clear, _finds_all)


def _tells_of_all(answer: MetadataResponse) -> bool:
    return not answer.error_code and all(not topic.error_code for topic in answer.topics)


def _describes(answer: DescribeClusterResponse) -> bool:
    return not answer.error_code


def _finds_all(answer: FindCoordinatorResponse) -> bool:
    return not answer.error_code and all(not one.error_code for one in answer.coordinators)
