"""Answers that name brokers, with other addresses: the bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.proxy import naming
from kafkastub.proxy.walking import TailFinder
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafkawire.messages.describe_cluster_response import DescribeClusterBroker, DescribeClusterResponse
from kafkawire.messages.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kafkawire.messages.fetch_response import NodeEndpoint as FetchNode
from kafkawire.messages.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kafkawire.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafkawire.messages.produce_response import NodeEndpoint as ProduceNode
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kafkawire.messages.share_acknowledge_response import NodeEndpoint as AcknowledgeNode
from kafkawire.messages.share_acknowledge_response import ShareAcknowledgeResponse
from kafkawire.messages.share_fetch_response import NodeEndpoint as ShareNode
from kafkawire.messages.share_fetch_response import ShareFetchResponse


def told(node_id: int, host: str, port: int) -> tuple[str, int]:
    return f"proxy-{node_id}", 20_000 + node_id


def longer(node_id: int, host: str, port: int) -> tuple[str, int]:
    return "a.much.longer.name.of.the.proxy.example.com", 1


def shorter(node_id: int, host: str, port: int) -> tuple[str, int]:
    return "p", 1


def versions(key: ApiKey, since: int = 0) -> range:
    first, last = RESPONSES[key][2]
    return range(max(first, since), last + 1)


def metadata(racks: bool) -> MetadataResponse:
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=n, host=f"kafka-{n}.example", port=9092, rack="r" if racks else None)
            for n in (1, 2, 300)
        ],
        cluster_id="abc",
        controller_id=2,
        topics=[
            MetadataResponseTopic(name="orders", partitions=[MetadataResponsePartition(partition_index=0, leader_id=2)])
        ],
    )


@pytest.mark.parametrize("version", versions(ApiKey.METADATA))
@pytest.mark.parametrize("racks", [True, False])
def test_metadata_of_every_version_has_other_addresses_and_is_otherwise_the_same(version: int, racks: bool) -> None:
    answer = metadata(racks)
    body = encode(answer, version)
    head = b"\0" if version >= 9 else b""
    frame = b"12345678" + head + body
    found = naming.metadata_prefix(frame, 8, version, told)
    assert found is not None
    for one in answer.brokers:
        one.host, one.port = told(one.node_id, "", 0)
    assert found.contents + frame[found.end :] == head + encode(answer, version)
    assert [one.node_id for one in found.brokers] == [1, 2, 300]
    for end in range(8, found.end):
        assert naming.metadata_prefix(frame[:end], 8, version, told) is None


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR))
def test_find_coordinator(version: int) -> None:
    answer: Any = FindCoordinatorResponse(node_id=7, host="kafka", port=9092)
    if version >= 4:
        none = Coordinator(key="h", node_id=-1, host="", port=-1, error_code=15)
        answer = FindCoordinatorResponse(coordinators=[Coordinator(key="g", node_id=7, host="kafka", port=9092), none])
    found = decode(
        FindCoordinatorResponse,
        version,
        naming.whole_with_addresses(ApiKey.FIND_COORDINATOR, version, encode(answer, version), told),
    )
    if version < 4:
        assert (found.host, found.port) == ("proxy-7", 20_007)
    else:
        assert [(one.host, one.port) for one in found.coordinators] == [("proxy-7", 20_007), ("", -1)]


@pytest.mark.parametrize("version", versions(ApiKey.FIND_COORDINATOR))
def test_no_coordinator_stays_none(version: int) -> None:
    none = Coordinator(key="g", node_id=-1, host="", port=-1, error_code=15)
    body = encode(FindCoordinatorResponse(error_code=15, node_id=-1, host="", port=-1, coordinators=[none]), version)
    assert naming.whole_with_addresses(ApiKey.FIND_COORDINATOR, version, body, told) == body


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_CLUSTER))
@pytest.mark.parametrize("kind", [1, 2])
def test_describe_cluster_but_for_controllers(version: int, kind: int) -> None:
    answer = DescribeClusterResponse(
        cluster_id="abc",
        endpoint_type=kind,
        brokers=[DescribeClusterBroker(broker_id=3, host="kafka", port=9092)],
    )
    body = naming.whole_with_addresses(ApiKey.DESCRIBE_CLUSTER, version, encode(answer, version), told)
    (one,) = decode(DescribeClusterResponse, version, body).brokers
    moved = kind == 1 or version == 0  # which knows no other kind
    assert (one.host, one.port) == (("proxy-3", 20_003) if moved else ("kafka", 9092))


def produce(nodes: list[int]) -> ProduceResponse:
    topic = TopicProduceResponse(name="t", partition_responses=[PartitionProduceResponse(index=0, error_code=6)] * 3)
    return ProduceResponse(
        responses=[topic], node_endpoints=[ProduceNode(n, "kafka.example", 9092, "r") for n in nodes]
    )


def fetch(nodes: list[int], size: int = 100) -> FetchResponse:
    data = PartitionData(partition_index=0, records=bytes(range(256)) * (size // 256 + 1), aborted_transactions=None)
    topic = FetchableTopicResponse(topic_id=bytes(range(16)), partitions=[data, PartitionData(partition_index=1)])
    return FetchResponse(responses=[topic], node_endpoints=[FetchNode(n, "kafka.example", 9092, None) for n in nodes])


def share_fetch(nodes: list[int]) -> ShareFetchResponse:
    return ShareFetchResponse(node_endpoints=[ShareNode(n, "kafka.example", 9092, "r") for n in nodes])


def acknowledge(nodes: list[int]) -> ShareAcknowledgeResponse:
    return ShareAcknowledgeResponse(node_endpoints=[AcknowledgeNode(n, "kafka.example", 9092, "r") for n in nodes])


TAILS = [(ApiKey.PRODUCE, 10, produce), (ApiKey.FETCH, 16, fetch), (ApiKey.SHARE_FETCH, 0, share_fetch),
         (ApiKey.SHARE_ACKNOWLEDGE, 0, acknowledge)]  # fmt: skip
OF_VERSIONS = [
    pytest.param(key, version, make, id=f"{key.camel}-{version}")
    for key, since, make in TAILS
    for version in versions(key, since)
]


def split(key: ApiKey, version: int, body: bytes, step: int) -> tuple[bytes, bytes, bool]:
    """What is in front of the end, and that; fed in pieces."""
    finder, at = TailFinder(key, version), 0
    while at < len(body) and not finder.found:
        at += finder.feed(body[at : at + step])
    return body[:at], body[at:], finder.is_field


@pytest.mark.parametrize(("key", "version", "make"), OF_VERSIONS)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_the_end_of_an_answer_is_found_in_whatever_pieces(key: Any, version: int, make: Any, step: int) -> None:
    for nodes in ([], [1, 2]):
        answer = make(nodes)
        body = encode(answer, version)
        front, tail, is_field = split(key, version, body, step)
        assert naming.names_brokers(tail, is_field) == bool(nodes)
        for one in answer.node_endpoints:
            one.host, one.port = told(one.node_id, "", 0)
        assert front + naming.tail_with_addresses(tail, is_field, told) == encode(answer, version)


@pytest.mark.parametrize(("key", "version", "make"), OF_VERSIONS)
@pytest.mark.parametrize("name", [told, longer, shorter])
def test_an_answer_that_has_begun_keeps_its_size(key: Any, version: int, make: Any, name: Any) -> None:
    body = encode(make([1, 2]), version)
    front, tail, is_field = split(key, version, body, 1000)
    same = naming.tail_with_addresses(tail, is_field, name, len(tail))
    assert len(same) == len(tail)
    found: Any = decode(response_class(key), version, front + same)
    told_now = [(one.node_id, one.host, one.port) for one in found.node_endpoints]
    assert told_now == ([] if name is longer else [(n, *name(n, "", 0)) for n in (1, 2)])


@given(st.text("abc.", min_size=1, max_size=200), st.text("abc.", min_size=1, max_size=200), st.integers(1, 5))
def test_whatever_the_addresses_are_it_keeps_its_size(before: str, after: str, count: int) -> None:
    nodes = [FetchNode(n, before, 9092, None) for n in range(count)]
    body = encode(FetchResponse(node_endpoints=nodes), 17)
    front, tail, is_field = split(ApiKey.FETCH, 17, body, 10_000)
    same = naming.tail_with_addresses(tail, is_field, lambda *_: (after, 1), len(tail))
    assert len(same) == len(tail)
    found = decode(FetchResponse, 17, front + same)
    hosts = {one.host for one in found.node_endpoints}
    assert hosts == {after} or (len(after) > len(before) and hosts == set())


@pytest.mark.parametrize("version", versions(ApiKey.API_VERSIONS))
def test_clients_are_told_the_versions_that_both_know(version: int) -> None:
    answer = ApiVersionsResponse(
        api_keys=[ApiVersion(0, 3, 99), ApiVersion(1, 50, 60), ApiVersion(3, 0, 5), ApiVersion(999, 0, 7)]
    )
    body = naming.versions_known(encode(answer, version), version, {0: (3, 13), 1: (4, 18), 3: (0, 13)})
    found = decode(ApiVersionsResponse, version, body)
    assert [(one.api_key, one.min_version, one.max_version) for one in found.api_keys] == [
        (0, 3, 13), (3, 0, 5), (999, 0, 7),
    ]  # fmt: skip


def test_versions_that_are_known_pass_as_they_came() -> None:
    body = encode(ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 5)]), 4)
    assert naming.versions_known(body, 4, {3: (0, 13)}) is body


@pytest.mark.parametrize("version", versions(ApiKey.PRODUCE, 10))
def test_an_ordinary_answer_to_produce_is_seen_to_name_nobody(version: int) -> None:
    for count, error, nodes, plain in ((1, 0, [], True), (2, 0, [], False), (1, 6, [1], False), (1, 0, [1], False)):
        parts = [PartitionProduceResponse(index=n, error_code=error, base_offset=7) for n in range(count)]
        answer = ProduceResponse(
            responses=[TopicProduceResponse(name="orders", topic_id=bytes(range(16)), partition_responses=parts)],
            node_endpoints=[ProduceNode(n, "kafka.example", 9092, None) for n in nodes],
        )
        body = encode(answer, version)
        assert naming.is_plainly_nameless(ApiKey.PRODUCE, version, bytes(9) + body) == plain


@pytest.mark.parametrize("version", versions(ApiKey.FETCH, 16))
def test_an_empty_answer_to_fetch_is_seen_to_name_nobody(version: int) -> None:
    assert naming.is_plainly_nameless(ApiKey.FETCH, version, bytes(9) + encode(FetchResponse(session_id=9), version))
    for answer in (fetch([]), fetch([1]), FetchResponse(node_endpoints=fetch([1]).node_endpoints)):
        assert not naming.is_plainly_nameless(ApiKey.FETCH, version, bytes(9) + encode(answer, version))


@given(st.binary(max_size=200), st.integers(10, 13))
def test_what_is_seen_at_a_glance_names_nobody(body: bytes, version: int) -> None:
    if naming.is_plainly_nameless(ApiKey.PRODUCE, version, bytes(9) + body):
        assert list(decode(ProduceResponse, version, body).node_endpoints) == []
