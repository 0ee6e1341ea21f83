"""What a new Apache Kafka says in ApiVersions the stub says too: the same APIs, versions and features."""

from __future__ import annotations

from typing import Final

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.handlers.not_served import NOT_SERVED
from kafkawire.api import ApiKey
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_kafka import ApacheKafka
from tests.oracle.jars import REFERENCE

TO_COME: Final[dict[str, tuple[int, ...]]] = {}
"""What is not served yet, by the keys of its APIs: nothing."""


def to_come() -> set[ApiKey]:
    """Those of them that are not listed either: what clients begin with is, and is refused."""
    return {ApiKey(key) for keys in TO_COME.values() for key in keys} - NOT_SERVED.keys()


def told(servers: str, version: int) -> ApiVersionsResponse:
    with Client(servers) as client:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
        answer: ApiVersionsResponse = client.connection().ask(request, version)
    return answer


def apis(answer: ApiVersionsResponse) -> dict[ApiKey, tuple[int, int]]:
    return {ApiKey(api.api_key): (api.min_version, api.max_version) for api in answer.api_keys}


def features(answer: ApiVersionsResponse) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Those that are supported, and those that are finalized."""
    return (
        {one.name: (one.min_version, one.max_version) for one in answer.supported_features},
        {one.name: (one.min_version_level, one.max_version_level) for one in answer.finalized_features},
    )


@pytest.mark.oracle
@pytest.mark.parametrize("release", [REFERENCE, "4.3.1"])
def test_the_same_apis_versions_and_features_but_for_those_to_come(release: str) -> None:
    minor = release.rpartition(".")[0]
    with (
        ApacheKafka(APACHE_CONFIG, release=release) as kafka,
        KafkaStub(as_version=None if release == REFERENCE else minor) as stub,
    ):
        for version in (3, 4):
            theirs, ours = told(kafka.bootstrap_servers, version), told(stub.bootstrap_servers, version)
            assert features(ours) == features(theirs)
            missing = apis(theirs).keys() - apis(ours).keys()
            assert apis(ours) == {key: versions for key, versions in apis(theirs).items() if key not in missing}
            assert missing == to_come() & apis(theirs).keys(), "what is served is to come no longer"


def test_nothing_that_is_served_is_still_to_come() -> None:
    with KafkaStub() as stub:
        served = apis(told(stub.bootstrap_servers, 4))
    assert not served.keys() & to_come()
