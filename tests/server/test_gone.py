"""A client that goes while something waits for it takes that along, whatever stands between."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.conftest import CONFIG
from tests.rawclient import RawClient
from tests.waiting import until

DAYS_24 = 2**31 - 1


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, config=CONFIG) as stub:
        yield stub


def parked(stub: KafkaStub) -> int:
    found: int = stub._call(lambda: len(stub._running().state.fetch_purgatory))
    return found


def fetch(stub: KafkaStub, max_wait_ms: int) -> RawClient:
    """A client that waits for records."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    topics = [FetchTopic(topic="orders", partitions=[partition])]
    client = RawClient(stub.bootstrap_servers)
    asked = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, session_epoch=-1, topics=topics)
    client.send(ApiKey.FETCH, 11, encode(asked, 11))
    return client


def gone(stub: KafkaStub) -> None:
    """Somebody waits for 24 days and goes, while another one waits for less long."""
    with fetch(stub, DAYS_24 // 2):
        until(lambda: parked(stub) == 1, "a fetch that waits")
        with fetch(stub, DAYS_24):
            until(lambda: parked(stub) == 2, "two fetches that wait")
        until(lambda: parked(stub) == 1, "an end of one's wait")


def test_a_fetch_is_let_go_with_its_connection(stub: KafkaStub):
    gone(stub)


def test_a_fetch_under_quotas_is_let_go_with_its_connection(stub: KafkaStub):
    stub.set_quota(client_id="raw", request_percentage=1000, consumer_byte_rate=10_000_000)
    gone(stub)


@pytest.mark.parametrize("delay", [{"delay_ms": 1}, {"throttle_time_ms": 5}])
def test_a_fetch_that_a_fault_met_is_let_go_with_its_connection(stub: KafkaStub, delay: dict[str, int]):
    with stub.faults.add(api="Fetch", **delay):
        gone(stub)


def test_a_fetch_that_waits_for_the_disk_is_let_go_with_its_connection(tmp_path_factory: pytest.TempPathFactory):
    directory = tmp_path_factory.mktemp("data")
    with KafkaStub(topics={"orders": 1}, config={**CONFIG, "kafkastub.flush": "message"}, data_dir=directory) as stub:
        gone(stub)
