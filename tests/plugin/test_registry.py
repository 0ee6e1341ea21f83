"""The fixture `kafka_registry_url` and the marker's `registry`."""

from __future__ import annotations

import urllib.request

import pytest

from kafkastub import KafkaStub

SECONDS = 60


def subjects(url: str) -> bytes:
    with urllib.request.urlopen(f"{url}/subjects", timeout=SECONDS) as answer:
        said: bytes = answer.read()
    return said


def test_the_fixture_starts_a_registry_for_the_tests_broker(kafka_stub: KafkaStub, kafka_registry_url: str):
    kafka_stub.registry.register("a", "string")
    assert subjects(kafka_registry_url) == b'["a"]'


@pytest.mark.kafka_stub(registry=True)
def test_the_marker_starts_one(kafka_stub: KafkaStub):
    assert subjects(kafka_stub.registry.url) == b"[]"


@pytest.mark.kafka_stub(registry=True)
def test_a_shared_broker_has_one_when_a_test_asks_for_it(kafka_stub_server: KafkaStub):
    assert subjects(kafka_stub_server.registry.url) == b"[]"


def test_in_front_of_a_cluster_it_is_the_clusters(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KAFKA_STUB_BOOTSTRAP", "localhost:1")
    pytester.makepyfile("def test_it(kafka_registry_url): assert kafka_registry_url == 'http://registry:8081'")
    pytester.runpytest_subprocess("-p", "no:asyncio").assert_outcomes(skipped=1)
    monkeypatch.setenv("KAFKA_STUB_REGISTRY_URL", "http://registry:8081")
    pytester.runpytest_subprocess("-p", "no:asyncio").assert_outcomes(passed=1)
