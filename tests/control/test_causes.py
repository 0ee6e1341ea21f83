"""/v1/causes: why clients may wait, for those who have no report of pytest."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.findings.causes import Reader, find_causes, recent
from kafkastub.stub.causes import _Watched
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.control.conftest import Http
from tests.stub.consumers import AT_ONCE


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {**AT_ONCE, "auto.create.topics.enable": False}
    with KafkaStub(topics={"orders": 2}, config=config, control_port=0) as stub:
        yield stub


def ask_for(stub: KafkaStub, *topics: str) -> None:
    """A client looks for topics that nobody made."""
    with Client(stub.bootstrap_servers, client_id="shipping") as client:
        topics_asked = [MetadataRequestTopic(name=name) for name in topics]
        client.ask(MetadataRequest(topics=topics_asked, allow_auto_topic_creation=False), version=9)


def causes(http: Http, **query: float) -> list[str]:
    found = http.good("GET", "/v1/causes", **query)["causes"]
    assert all(isinstance(one, str) for one in found)
    return list(found)


def test_a_topic_that_is_not_there(stub: KafkaStub, http: Http):
    ask_for(stub, "order")
    assert causes(http)[0] == "Topic 'order' does not exist; shipping asked for it once. Did you mean 'orders'?"


def test_a_forgotten_hold_comes_first(stub: KafkaStub, http: Http):
    ask_for(stub, "order")
    fault = stub.faults.add(api="Metadata", client_id="shipping", hold="before")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(ask_for, stub, "orders")
        fault.wait(held=1)
        first, second = causes(http)
        fault.release()
        waiting.result()
    assert first == f"Fault {fault.id!r} holds 1 request until it is released: Metadata of shipping."
    assert second.startswith("Topic 'order' does not exist")


def test_only_requests_of_so_long_a_time(stub: KafkaStub, http: Http):
    ask_for(stub, "order")
    assert causes(http, seconds=3600)[0].startswith("Topic 'order' does not exist")
    assert causes(http, seconds=1e-6) == []
    assert http.refusal("GET", "/v1/causes", seconds=0) == "seconds='0' is refused: input should be greater than 0"
    assert "1000000000" in http.refusal("GET", "/v1/causes", seconds=1e10)


def test_nothing_is_the_matter(stub: KafkaStub, http: Http):
    assert causes(http) == []


def test_the_broker_serves_meanwhile(stub: KafkaStub):
    """Names that look alike take long to compare: at no time more than eight in one go."""
    for number in range(50):
        stub.create_topic(f"{'a-long-name-' * 19}{number:04}")
    ask_for(stub, *(f"{'a-long-name-' * 19}{number:04}x" for number in range(12)))
    reader, watched = Reader(), _Watched(stub)
    requests = [reader.read(one) for one, _ in recent(watched.running(), datetime.min.replace(tzinfo=UTC))]
    steps = list(find_causes(watched, requests))
    found = [each for each in steps if each is not None]
    assert len(found) == 8
    assert steps.count(None) >= 8 * 50 // 8
