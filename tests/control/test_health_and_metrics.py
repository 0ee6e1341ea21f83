"""/health and /metrics."""

from __future__ import annotations

from typing import Any

import httpx
from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families

from kafkastub import KafkaStub
from kafkastub.client import Client, topics
from kafkastub.config import BrokerConfig, Profile
from kafkastub.control.app import make_app
from kafkastub.control.hosted import Hosted
from kafkastub.stub.chaos import StubChaos
from kafkastub.stub.clock import StubClock
from kafkastub.stub.faults import StubFaults
from kafkawire.framing import frame
from kafkawire.header import request_header
from tests.control.conftest import Http, commit_for
from tests.rawclient import RawClient
from tests.waiting import SECONDS


def test_healthy_only_while_the_topics_asked_for_are_there(stub: KafkaStub, http: Http):
    status, said = http.get("/health")
    assert (status, said["status"], said["missing"]) == (200, "healthy", [])
    assert said["bootstrap_servers"] == stub.bootstrap_servers
    with Client(stub.bootstrap_servers) as client:
        topics.delete(client, ["orders"])
    status, said = http.get("/health")
    assert (status, said["status"], said["missing"]) == (503, "unhealthy", ["topic 'orders' does not exist"])
    stub.create_topic("orders")
    assert http.get("/health")[0] == 200


def test_a_topic_that_somebody_else_makes_can_be_waited_for(stub: KafkaStub, http: Http):
    assert http.get("/health", topic=["orders", "audit"])[1]["missing"] == ["topic 'audit' does not exist"]
    stub.create_topic("audit")
    assert http.get("/health", topic=["orders", "audit"])[0] == 200
    assert "topics" in http.refusal("GET", "/health", topics="audit")


def test_unhealthy_while_the_coordinator_is_loading(stub: KafkaStub, http: Http):
    with stub.coordinator_loading():
        assert http.get("/health")[1]["missing"] == ["the group coordinator is being loaded"]


def test_unhealthy_while_no_node_runs(stub: KafkaStub, http: Http):
    http.good("POST", "/v1/nodes/1/stop")
    assert http.get("/health")[1]["missing"] == ["no node is running"]


def scrape(http: Http) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Name of a sample -> labels -> value."""
    response = http.client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    found: dict[str, dict[Any, float]] = {}
    for family in text_string_to_metric_families(response.text):
        assert family.documentation, family.name
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def labels(**said: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(said.items()))


def test_metrics_are_what_clients_have_done(stub: KafkaStub, http: Http):
    stub.clock.freeze()
    for group in ("shipping", "billing"):
        commit_for(stub, group)
    stub.faults.add(api="FindCoordinator", delay_ms=1, name="slow", times=1)
    commit_for(stub, "third")
    http.good("DELETE", "/v1/groups/billing")
    stub.clock.advance(days=7)
    found = scrape(http)
    assert found["kafkastub_offset_commits_total"][()] == 3
    assert found["kafkastub_offset_expirations_total"][()] == 2
    assert found["kafkastub_offset_deletions_total"][()] == 1
    assert found["kafkastub_group_completed_rebalances_total"][()] == 0
    commits = labels(api="OffsetCommit", version="9")
    assert found["kafkastub_requests_total"][commits] == 3
    assert found["kafkastub_request_errors_total"][labels(api="OffsetCommit", version="9", error="NONE")] == 3
    assert found["kafkastub_request_duration_seconds_count"][commits] == 3
    assert 0 < found["kafkastub_request_duration_seconds_sum"][commits] < 60
    assert found["kafkastub_faults_fired_total"] == {labels(fault="slow"): 1}
    assert found["kafkastub_connections_accepted_total"][()] >= 3
    assert found["kafkastub_clock_seconds"][()] == stub.clock.now_ms() / 1000
    assert found["kafkastub_clock_frozen"][()] == 1
    assert found["kafkastub_topics"][()] == 2  # and __consumer_offsets
    assert found["kafkastub_received_bytes_total"][()] > 0
    assert found["kafkastub_sent_bytes_total"][()] > 0


def test_histograms_are_cumulative(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    buckets: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for each, value in scrape(http)["kafkastub_request_duration_seconds_bucket"].items():
        of = dict(each)
        buckets.setdefault((of["api"], of["version"]), []).append((float(of["le"]), value))
    assert buckets
    for rows in buckets.values():
        counts = [count for _, count in sorted(rows)]
        assert counts == sorted(counts)
        assert max(rows)[0] == float("inf")


def test_connections_and_groups_are_gauges(stub: KafkaStub, http: Http):
    before = scrape(http)["kafkastub_connections"][()]
    with RawClient(stub.bootstrap_servers) as client:
        client.exchange(18, 0, b"")
        assert scrape(http)["kafkastub_connections"][()] == before + 1
    commit_for(stub, "shipping")
    assert scrape(http)["kafkastub_groups"] == {labels(protocol="classic", state="Empty"): 1}
    assert scrape(http)["kafkastub_offsets"][()] == 1


def test_every_request_counts_all_its_bytes_however_it_is_answered(stub: KafkaStub, http: Http):
    requests = b"".join(frame(request_header(18, 0, number, "raw", False)) for number in range(3))

    def received() -> float:
        before = scrape(http)["kafkastub_received_bytes_total"][()]
        with RawClient(stub.bootstrap_servers) as client:
            client.socket.sendall(requests)
            assert all(client.receive() for _ in range(3))
        return scrape(http)["kafkastub_received_bytes_total"][()] - before

    assert received() == len(requests)
    stub.faults.add(api="ApiVersions", delay_ms=1, times=1)  # the others wait behind it
    assert received() == len(requests)


def test_requests_without_an_answer_and_frames_that_are_none(stub: KafkaStub, http: Http):
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "acks": 0})
    producer.produce("orders", b"one")
    producer.flush()
    stub.journal.wait_for(api="Produce", timeout=SECONDS)
    found = scrape(http)
    assert sum(found["kafkastub_requests_unanswered_total"].values()) == 1
    assert found["kafkastub_requests_refused_total"][()] == 0


async def test_before_the_broker_is_up_it_is_said():
    """The application answers before there is a broker, as it does while one is being started."""
    config = BrokerConfig({}, Profile.named("kips"))
    hosted = Hosted(config, {"orders": 1}, clock=StubClock, faults=StubFaults, chaos=StubChaos)
    transport = httpx.ASGITransport(make_app(hosted))
    async with httpx.AsyncClient(transport=transport, base_url="http://stub") as client:
        answer = await client.get("/health")
        assert (answer.status_code, answer.json()["missing"]) == (503, ["the broker is not up yet"])
        for path in ("/metrics", "/v1/clock", "/v1/faults", "/v1/journal", "/v1/groups", "/v1/config", "/v1/nodes"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()) == (503, {"error": "the broker is not up yet"}), path
