"""Clients that ask for what is not served yet: they are told so at the first request that shows it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError

from kafkastub import KafkaStub
from kafkastub.handlers.not_served import NOT_SERVED, refused_apis
from kafkastub.handlers.registry import registrations
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode, encode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from tests.clients.jvm import Jvm
from tests.rawclient import RawClient
from tests.unserved import CLOSES, LISTED, listed
from tests.waiting import SECONDS, until

GONE_ON_FOR_EVER = 20
"""Requests: clients that are not told ask again and again, ten times a second."""


@pytest.fixture(autouse=True)
def _one_is_listed() -> Iterator[None]:
    with listed():
        yield


def codes(message: Any) -> list[int]:
    """Every error code in it."""
    if isinstance(message, list | tuple):
        return [code for each in message for code in codes(each)]
    found = []
    for name in getattr(type(message), "__slots__", ()):
        value = getattr(message, name)
        found += [value] if name.endswith("error_code") else codes(value)
    return found


@pytest.mark.behaviour("AV-8")
@pytest.mark.parametrize("key", [LISTED])
def test_every_listed_version_is_answered_with_the_code_at_every_place(key: ApiKey):
    with KafkaStub() as stub, RawClient(stub.bootstrap_servers) as client:
        listed = decode(ApiVersionsResponse, 0, client.exchange(18, 0, encode(ApiVersionsRequest(), 0))).api_keys
        (row,) = [row for row in listed if row.api_key == key]
        for version in range(row.min_version, row.max_version + 1):
            raw = client.exchange(key, version, encode(request_class(key)(), version))
            answer = decode(response_class(key), version, raw)
            assert [code for code in codes(answer) if code] == [NOT_SERVED[key][0]]


@pytest.mark.behaviour("AV-8")
def test_an_older_release_lists_those_that_it_has():
    assert not refused_apis("3.8")
    assert set(refused_apis(None)) == {LISTED}
    row = refused_apis(None)[LISTED]
    assert (row.first, row.last) == (0, 0)


def test_what_is_served_is_not_in_the_table():
    assert not NOT_SERVED.keys() & registrations().keys()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "kafkastub"]


def test_the_warning_names_the_client_and_the_api_and_comes_once(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub() as stub:
        hello = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.0")
        for _ in range(3):
            with RawClient(stub.bootstrap_servers) as client:
                client.exchange(18, 3, encode(hello, 3))
                for _ in range(2):
                    client.exchange(LISTED, 0, encode(request_class(LISTED)(), 0))
                host, port = client.socket.getsockname()
        (warning,) = warnings(caplog)
    for part in ("UpdateRaftVoter", "client_id=raw", "librdkafka 2.16.0", f"peer={host}:", "not serve yet"):
        assert part in warning, part
    assert port


def test_an_api_that_is_not_even_refused_is_named_with_its_client_and_once(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub() as stub:
        for _ in range(3):
            with RawClient(stub.bootstrap_servers) as client, pytest.raises(ConnectionError):
                client.exchange(CLOSES, 0, b"")
        (warning,) = warnings(caplog)
    assert "AllocateProducerIds v0 is not served; client id 'raw' asked for it" in warning


def test_a_client_id_as_long_as_can_be_is_not_told_at_length(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub() as stub:
        for key in (CLOSES, LISTED):
            with RawClient(stub.bootstrap_servers) as client:
                client.send(key, 0, encode(request_class(key)(), 0), client_id="x" * 30_000)
                client.receive()
        assert [len(warning) < 500 for warning in warnings(caplog)] == [True, True]


OFF = {"group.coordinator.rebalance.protocols": "classic"}
"""The consumer protocol is switched off."""


@pytest.mark.behaviour("CG-8")
def test_confluents_consumer_raises_at_once_where_its_protocol_is_off():
    with KafkaStub(topics={"orders": 1}, config=OFF) as stub:
        config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "group.protocol": "consumer"}
        consumer = Consumer({**config, "log_level": 0})
        consumer.subscribe(["orders"])
        message = consumer.poll(SECONDS)
        consumer.close()
        assert message is not None
        assert "ConsumerGroupHeartbeat" in str(message.error())
        assert message.error().code() == KafkaError._FATAL
        assert len(stub.journal) < GONE_ON_FOR_EVER


@pytest.mark.behaviour("CG-8")
def test_javas_consumer_raises_at_once_where_its_protocol_is_off(jvm: Jvm):
    with KafkaStub(topics={"orders": 1}, config=OFF) as stub:
        config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "group.protocol": "consumer"}
        jvm.ask("subscribe", consumer="new-protocol", config=config, topics=["orders"])
        try:
            with pytest.raises(Exception, match="UNSUPPORTED_VERSION"):
                until(lambda: jvm.ask("poll", consumer="new-protocol", ms=1000), "a record that never comes")
        finally:
            jvm.ask("close", consumer="new-protocol")
        assert len(stub.journal) < GONE_ON_FOR_EVER
