"""ApiVersions over real frames."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.handlers.not_served import refused_apis
from kafkastub.handlers.registry import registrations
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafkawire.messages.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kafkawire.messages.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from tests.rawclient import RawClient

TELEMETRY = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}


@pytest.fixture(scope="module")
def client():
    with KafkaStub() as stub, RawClient(stub.bootstrap_servers) as client:
        yield client


def ask(client: RawClient, version: int, request: ApiVersionsRequest) -> ApiVersionsResponse:
    answer = client.exchange(ApiKey.API_VERSIONS, version, encode(request, version))
    return decode(ApiVersionsResponse, version, answer)


@pytest.mark.behaviour("AV-1", "AV-8")
@pytest.mark.parametrize("version", range(6))
def test_the_answer_lists_what_is_registered(client: RawClient, version: int):
    answer = ask(client, version, ApiVersionsRequest(client_software_name="test", client_software_version="1.0"))
    assert answer.error_code == ErrorCode.NONE
    listed = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
    served = {key: (api.advertised_first, api.last) for key, api in registrations().items()}
    told = {key: (api.first, api.last) for key, api in refused_apis(None).items()}
    assert listed == told | {key: served[key] for key in served if key not in TELEMETRY}
    assert list(listed) == sorted(listed)


@pytest.mark.behaviour("AV-6")
def test_telemetry_is_answered_but_not_listed(client: RawClient):
    assert not TELEMETRY & {api.api_key for api in ask(client, 0, ApiVersionsRequest()).api_keys}
    request = GetTelemetrySubscriptionsRequest()
    answer = client.exchange(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, encode(request, 0))
    assert decode(GetTelemetrySubscriptionsResponse, 0, answer).error_code == ErrorCode.NONE


@pytest.mark.behaviour("AV-5")
def test_produce_is_listed_from_version_zero(client: RawClient):
    answer = ask(client, 0, ApiVersionsRequest())
    assert ApiVersion(ApiKey.PRODUCE, 0, 13) in answer.api_keys


@pytest.mark.behaviour("AV-2")
@pytest.mark.parametrize(("name", "version"), [("", "1"), ("x", ""), ("x!", "1"), ("a-", "1"), (".a", "1"), ("a", "ü")])
@pytest.mark.parametrize("api_version", [3, 4, 5])
def test_a_software_name_that_is_none_is_refused(client: RawClient, api_version: int, name: str, version: str):
    answer = ask(client, api_version, ApiVersionsRequest(client_software_name=name, client_software_version=version))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.api_keys == ()


@pytest.mark.behaviour("AV-3")
@pytest.mark.parametrize("version", [6, 99, -1])
def test_a_version_that_does_not_exist_is_told_the_range_of_api_versions(client: RawClient, version: int):
    answer = client.exchange(ApiKey.API_VERSIONS, version, b"\x02x\x021\x00", flexible=True)
    assert decode(ApiVersionsResponse, 0, answer) == ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[ApiVersion(ApiKey.API_VERSIONS, 0, 5)]
    )


@pytest.mark.behaviour("AV-4")
def test_features_with_a_lowest_level_of_zero_are_for_version_four(client: RawClient):
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    assert [f.name for f in ask(client, 3, request).supported_features] == ["metadata.version"]
    answer = ask(client, 4, request)
    assert {f.name: (f.min_version, f.max_version) for f in answer.supported_features} == {
        "metadata.version": (7, 33),
        "kraft.version": (0, 1),
        "transaction.version": (0, 2),
        "group.version": (0, 1),
        "eligible.leader.replicas.version": (0, 1),
        "share.version": (0, 2),
        "streams.version": (0, 1),
    }
    assert {f.name: f.max_version_level for f in answer.finalized_features} == {
        f.name: f.max_version for f in answer.supported_features
    }
    assert answer.finalized_features_epoch >= 0, "clients take features without an epoch for unknown"


@pytest.mark.behaviour("AV-9")
@pytest.mark.parametrize("node", [1, 2])
def test_a_client_that_means_another_cluster_or_node_is_told_to_begin_anew(node: int):
    with KafkaStub(nodes=2) as stub, RawClient(stub.bootstrap_servers.split(",")[node - 1]) as client:
        here = decode(MetadataResponse, 12, client.exchange(3, 12, encode(MetadataRequest(topics=[]), 12))).cluster_id
        for cluster_id, node_id, code in (
            (here, node, ErrorCode.NONE),
            (None, -1, ErrorCode.NONE),
            (here, 3 - node, ErrorCode.REBOOTSTRAP_REQUIRED),
            ("another", node, ErrorCode.REBOOTSTRAP_REQUIRED),
            (here, -1, ErrorCode.INVALID_REQUEST),
            (None, node, ErrorCode.INVALID_REQUEST),
        ):
            meant = ApiVersionsRequest("test", "1.0", cluster_id, node_id)
            answer = ask(client, 5, meant)
            assert (answer.error_code, bool(answer.api_keys)) == (code, not code), (cluster_id, node_id)
