"""The seam in the server: switching while connections are open, and the metrics that are counted there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from kafkastub.journal import Ring
from kafkastub.server.watching.metrics import ApiCounts, Metrics
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.journal.test_journal import CONFIG, commit, commit_to, produce
from tests.rawclient import RawClient
from tests.waiting import until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 3}, config=CONFIG, journal=False) as stub:
        yield stub


@pytest.fixture
def raw(stub: KafkaStub) -> Iterator[RawClient]:
    with RawClient(stub.bootstrap_servers) as client:
        yield client


@pytest.fixture
def metrics(stub: KafkaStub) -> Metrics:
    found = Metrics()
    stub._call(lambda: stub._running().observer.set_metrics(found))
    return found


def counts(stub: KafkaStub, metrics: Metrics, api: str) -> ApiCounts:
    found: list[ApiCounts] = stub._call(metrics.apis)
    (one,) = [each for each in found if each.api == api]
    return one


def test_a_journal_switched_on_and_off_sees_what_lies_between_on_an_open_connection(
    stub: KafkaStub, raw: RawClient
) -> None:
    ring, observer = Ring(100, 1 << 20), stub._running().observer
    commit_to(raw, "before")
    stub._call(lambda: observer.set_journal(ring))
    commit_to(raw, "between")
    stub._call(lambda: observer.set_journal(None))
    commit_to(raw, "behind")
    assert ring.total == 1
    assert stub._running()._server.dispatcher.watch is None


def test_a_fetch_that_was_parked_before_the_journal_was_on_is_answered(stub: KafkaStub, raw: RawClient) -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    request = FetchRequest(
        max_wait_ms=60_000, min_bytes=1, session_epoch=-1, topics=[FetchTopic(topic="orders", partitions=[partition])]
    )
    raw.send(ApiKey.FETCH, 11, encode(request, 11))
    ring, observer = Ring(100, 1 << 20), stub._running().observer
    until(lambda: stub._call(lambda: len(stub._running().state.fetch_purgatory)) == 1, "a fetch that is parked")
    stub._call(lambda: observer.set_journal(ring))
    with RawClient(stub.bootstrap_servers) as other:
        other.exchange(ApiKey.PRODUCE, 9, encode(produce("orders"), 9))
    assert raw.receive() is not None


def test_requests_are_counted_by_version_and_error(stub: KafkaStub, raw: RawClient, metrics: Metrics) -> None:
    for _ in range(3):
        commit_to(raw, "a", "orders", 0, 1)
    commit_to(raw, "a", "orders", 0, 9)
    raw.exchange(ApiKey.OFFSET_COMMIT, 7, encode(commit("a"), 7))
    found = [each for each in stub._call(metrics.apis) if each.api == "OffsetCommit"]
    assert [(each.version, each.requests, each.errors) for each in found] == [(7, 1, {0: 1}), (8, 4, {0: 7, 3: 1})]
    assert [sum(each.buckets) for each in found] == [1, 4]
    assert all(each.seconds > 0 for each in found)
    assert metrics.bytes_in > 0
    assert metrics.bytes_out > 0


def test_pipelined_requests_are_counted_each(stub: KafkaStub, raw: RawClient, metrics: Metrics) -> None:
    for number in range(100):
        raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit(f"g{number}"), 8), flexible=True)
    for _ in range(100):
        assert raw.receive()
    found = counts(stub, metrics, "OffsetCommit")
    assert (found.requests, found.errors, sum(found.buckets)) == (100, {0: 100}, 100)


def test_pipelined_requests_of_several_apis_and_errors_are_counted_as_what_they_are(
    stub: KafkaStub, raw: RawClient, metrics: Metrics
) -> None:
    for _ in range(10):
        raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("a"), 8), flexible=True)
        raw.send(ApiKey.PRODUCE, 9, encode(produce("orders"), 9), flexible=True)
        raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("a", "orders", 9), 8), flexible=True)
    for _ in range(30):
        assert raw.receive()
    commits, produced = counts(stub, metrics, "OffsetCommit"), counts(stub, metrics, "Produce")
    assert (commits.requests, commits.errors, sum(commits.buckets)) == (20, {0: 10, 3: 10}, 20)
    assert (produced.requests, produced.errors, sum(produced.buckets)) == (10, {0: 10}, 10)


def test_the_straight_way_of_produce_stays_open_while_requests_are_counted(
    stub: KafkaStub, raw: RawClient, metrics: Metrics
) -> None:
    def say() -> bool:
        """Produce once; whether the fast path was open."""
        raw.exchange(ApiKey.PRODUCE, 9, encode(produce("orders"), 9))
        (route,) = (each for each in stub._running()._server.dispatcher.routes() if each.key == ApiKey.PRODUCE)
        return route.fast_path is not None and route.handler is route.bypassed

    with stub.faults.add(api="OffsetCommit", group="nobody's", error="NOT_COORDINATOR"):
        assert say()
        assert say()
    with stub.faults.add(api="Produce", topic="orders", error="NOT_LEADER_OR_FOLLOWER") as fault:
        assert say()  # to other topics
        assert fault.hits == 1
    assert say()
    assert counts(stub, metrics, "Produce").errors == {0: 3, 6: 1}
    stub._call(lambda: stub._running().observer.set_metrics(None))
    assert say()
    assert counts(stub, metrics, "Produce").requests == 4


def test_what_has_no_answer_is_counted_as_what_it_is(stub: KafkaStub, raw: RawClient, metrics: Metrics) -> None:
    raw.send(ApiKey.PRODUCE, 9, encode(produce("orders", acks=0), 9), flexible=True)
    commit_to(raw, "a")
    raw.send(999, 0, b"")
    assert raw.receive() is None
    found = counts(stub, metrics, "Produce")
    assert (found.requests, found.unanswered, found.errors) == (1, {"no_reply": 1}, {})
    assert stub._call(lambda: metrics.refused) == 1


def test_a_parked_answer_counts_with_the_time_that_it_was_parked(
    stub: KafkaStub, raw: RawClient, metrics: Metrics
) -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    request = FetchRequest(
        max_wait_ms=50, min_bytes=1, session_epoch=-1, topics=[FetchTopic(topic="orders", partitions=[partition])]
    )
    raw.send(ApiKey.FETCH, 11, encode(request, 11))
    assert raw.receive() is not None
    found = counts(stub, metrics, "Fetch")
    assert (found.requests, found.errors) == (1, {0: 2})
    assert found.seconds >= 0.045
