"""What quotas do to clients, over raw frames: the same on the stub and on Apache Kafka 4.4.0.

Each client id has quotas of its own, so that nobody else who uses the broker is slowed down. Where time matters, a wait
is known up to the time that the test itself has taken (`since`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.quotas.talking import FETCH_VERSION, PRODUCE_VERSION, Client, fetch_request, produce_request, records
from tests.waiting import until

EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
BURST_MS = 10_000
"""What a client may use at once, in time: ten whole windows (quota.window.num less the one under way)."""
ROUNDING_MS = 2


class Lab:
    """Clients of one broker, with an admin whom no quota concerns."""

    def __init__(self, address: str, unique: Callable[[str], str]) -> None:
        self.address = address
        self.unique = unique
        self.admin = Client(address, unique("admin"))
        self._clients = [self.admin]
        self._probes = 0

    def client(self, name: str) -> Client:
        """A new connection."""
        one = Client(self.address, self.unique(name))
        self._clients.append(one)
        return one

    def quota(self, name: str, **values: float | None) -> None:
        """It counts when this returns: Kafka's meters learn of a quota a little after its image does, and in order."""
        self.admin.set_quota({"client-id": self.unique(name)}, **values)
        self._probes += 1
        probe = f"probe{self._probes}"
        self.admin.set_quota({"client-id": self.unique(probe)}, request_percentage=1e-6)
        asked = MetadataRequest([])
        until(lambda: self.client(probe).ask(ApiKey.METADATA, 9, asked).throttle_ms > 0, "the meters know the quota")

    def topic(self) -> str:
        name = self.unique("topic")
        self.admin.create_and_wait(name)
        return name

    def close(self) -> None:
        for one in self._clients:
            one.__exit__()


@pytest.fixture
def lab(servers: str, unique: Callable[[str], str]) -> Iterator[Lab]:
    one = Lab(servers, unique)
    yield one
    one.close()


def since(began: float) -> float:
    """Milliseconds."""
    return (time.monotonic() - began) * 1000


def frame_size(client: Client, topic: str, size: int) -> int:
    """Of a Produce request, as Kafka counts it."""
    header = 11 + len((client.client_id or "").encode())
    return header + len(encode(produce_request(topic, size), PRODUCE_VERSION))


@pytest.mark.behaviour("PR-24")
def test_a_producer_waits_until_its_rate_is_within_the_quota(lab: Lab):
    topic, rate = lab.topic(), 20_000
    lab.quota("loader", producer_byte_rate=float(rate))
    loader, size = lab.client("loader"), 250_000
    began = time.monotonic()
    first = loader.produce(topic, size)
    expected = frame_size(loader, topic, size) * 1000 / rate - BURST_MS
    assert expected - since(began) - ROUNDING_MS <= first.throttle_ms <= expected + ROUNDING_MS
    other = lab.client("loader")  # the same client id on another connection: nobody holds it back, but it is told
    second = other.produce(topic, 10)
    assert expected - since(began) - ROUNDING_MS <= second.throttle_ms <= expected + 100
    assert lab.client("bystander").produce(topic, size).throttle_ms == 0


@pytest.mark.behaviour("PR-24")
def test_the_answer_goes_out_at_once_and_the_connection_rests(lab: Lab):
    """KIP-219."""
    topic = lab.topic()
    lab.quota("loader", producer_byte_rate=20_000.0)
    loader = lab.client("loader")
    told = loader.produce(topic, 220_000)
    assert 0 < told.throttle_ms < 1100
    began = time.monotonic()
    loader.ask(ApiKey.METADATA, 9, MetadataRequest([]))
    assert since(began) >= told.throttle_ms - told.elapsed_ms - ROUNDING_MS
    assert (
        lab.client("loader").ask(ApiKey.METADATA, 9, MetadataRequest([])).throttle_ms == 0
    )  # bytes are no matter here


@pytest.mark.behaviour("PR-24")
def test_acks_0_is_not_answered_and_waits_all_the_same(lab: Lab):
    topic = lab.topic()
    lab.quota("loader", producer_byte_rate=20_000.0)
    loader = lab.client("loader")
    began = time.monotonic()
    loader.produce(topic, 215_000, acks=0)
    loader.ask(ApiKey.METADATA, 9, MetadataRequest([]))
    assert since(began) >= 700


@pytest.mark.behaviour("AQ-1")
def test_a_quota_that_is_raised_or_removed_lets_go(lab: Lab):
    topic = lab.topic()
    lab.quota("loader", producer_byte_rate=1000.0)
    assert lab.client("loader").produce(topic, 50_000).throttle_ms > 30_000
    lab.quota("loader", producer_byte_rate=1e9)
    until(lambda: not lab.client("loader").produce(topic, 10).throttle_ms, "nothing holds it back")
    lab.quota("loader", producer_byte_rate=None)
    until(lambda: not lab.client("loader").produce(topic, 10).throttle_ms, "nothing holds it back")


@pytest.mark.behaviour("FE-22")
def test_a_consumer_that_has_to_wait_gets_nothing(lab: Lab):
    topic = lab.topic()
    for size in (5000, 5000, 100):
        lab.admin.produce(topic, size)
    lab.quota("reader", consumer_byte_rate=1000.0)
    began = time.monotonic()
    first = lab.client("reader").fetch(topic, 8000)
    assert (first.throttle_ms, records(first)) == (0, 8000)
    second = lab.client("reader").fetch(topic, 8000)
    assert records(second) == 0
    assert not second.answer.responses
    assert 6000 - since(began) - 1000 <= second.throttle_ms <= 6500
    third = lab.client("reader").fetch(topic, 500, offset=2)  # what was kept back does not count
    assert (third.throttle_ms, records(third) > 100) == (0, True)


@pytest.mark.behaviour("FE-22")
def test_nobody_is_given_more_at_once_than_all_windows_allow(lab: Lab):
    topic = lab.topic()
    for _ in range(6):
        lab.admin.produce(topic, 5000)
    lab.quota("reader", consumer_byte_rate=1000.0)
    told = lab.client("reader").fetch(topic, 1_000_000)
    assert 0 < told.throttle_ms < 200  # the records are 10,000 bytes, and what is around them is above the quota
    lab.quota("reader", consumer_byte_rate=1_000_000.0)
    until(lambda: records(lab.client("reader").fetch(topic, 1_000_000)) > 30_000, "all records at once")


@pytest.mark.behaviour("FE-22")
def test_a_session_learns_nothing_from_an_answer_that_was_kept_back(lab: Lab):
    topic = lab.topic()
    for _ in range(6):
        lab.admin.produce(topic, 5000)
    lab.quota("reader", consumer_byte_rate=1000.0)
    founding = lab.client("reader").fetch(topic, 1_000_000, (0, 0))
    assert founding.throttle_ms > 0
    assert founding.answer.session_id == 0
    founded = lab.client("reader").fetch(topic, 8000, (0, 0))
    session = founded.answer.session_id
    assert (founded.throttle_ms, records(founded), session > 0) == (0, 8000, True)
    kept_back = lab.client("reader").fetch(topic, 8000, (session, 1))
    assert kept_back.throttle_ms > 0
    assert (kept_back.answer.error_code, kept_back.answer.session_id) == (0, session)
    assert not kept_back.answer.responses
    lab.quota("reader", consumer_byte_rate=1e9)
    goes_on = lab.client("reader").fetch(topic, 8000, (session, 2))
    assert (goes_on.throttle_ms, goes_on.answer.session_id, records(goes_on)) == (0, session, 8000)


def test_a_fetch_that_waits_is_counted_when_it_is_answered(lab: Lab):
    topic = lab.topic()
    lab.quota("reader", consumer_byte_rate=1000.0)
    assert lab.client("reader").fetch(topic, 8000, wait=1).throttle_ms == 0
    reader = lab.client("reader")
    reader.send(ApiKey.FETCH, FETCH_VERSION, fetch_request(topic, 8000, wait=30_000))
    lab.admin.produce(topic, 9000)
    assert reader.receive(ApiKey.FETCH, FETCH_VERSION).throttle_time_ms == 0
    told = lab.client("reader").fetch(topic, 9000, wait=30_000)
    assert told.throttle_ms > 0


@pytest.mark.behaviour("CT-14")
def test_topics_are_refused_when_too_many_partitions_were_made(lab: Lab):
    """KIP-599: all windows at once, and more in the last request that is taken; then nothing until it is paid back."""
    lab.quota("maker", controller_mutation_rate=1.0)
    names = [lab.unique(f"made{number}") for number in range(4)]
    began = time.monotonic()
    first = lab.client("maker").create((names[0], 5), (names[1], 15))
    assert [one.error_code for one in first.answer.topics] == [0, 0]
    assert first.throttle_ms == 0
    second = lab.client("maker").create((names[2], 1), ("no/name", 1))
    codes = {one.name: one.error_code for one in second.answer.topics}
    assert codes == {names[2]: EXCEEDED, "no/name": ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert 9000 - since(began) - ROUNDING_MS <= second.throttle_ms <= 9000 + ROUNDING_MS
    assert [one.error_message for one in second.answer.topics if one.name == names[2]] == [None]
    trial = lab.client("maker").create((names[3], 1), validate_only=True)
    assert [one.error_code for one in trial.answer.topics] == [EXCEEDED]
    old = lab.client("maker").create((names[3], 1), version=5)
    assert [one.error_code for one in old.answer.topics] == [0]
    assert 10_000 - since(began) - ROUNDING_MS <= old.throttle_ms <= 10_000 + ROUNDING_MS
    assert [one.error_code for one in lab.client("other").create((names[2], 1)).answer.topics] == [0]


@pytest.mark.behaviour("CT-14")
def test_what_is_only_validated_is_counted_too(lab: Lab):
    lab.quota("maker", controller_mutation_rate=1.0)
    trial = lab.client("maker").create((lab.unique("made"), 20), validate_only=True)
    assert [one.error_code for one in trial.answer.topics] == [0]
    told = lab.client("maker").create((lab.unique("made"), 1))
    assert [one.error_code for one in told.answer.topics] == [EXCEEDED]


def spend(lab: Lab, name: str) -> None:
    """All credits of a client, and nine seconds' more."""
    lab.quota(name, controller_mutation_rate=1.0)
    told = lab.client(name).create((lab.unique("spent"), 20), validate_only=True)
    assert [one.error_code for one in told.answer.topics] == [0]


@pytest.mark.behaviour("DT-10")
def test_topics_are_not_deleted_when_too_much_was_done(lab: Lab):
    topic, other = lab.topic(), lab.unique("other")
    lab.admin.create_and_wait(other)
    spend(lab, "maker")
    asked = DeleteTopicsRequest([DeleteTopicState(topic)], (), 30_000)
    told = lab.client("maker").ask(ApiKey.DELETE_TOPICS, 6, asked)
    assert [(one.name, one.error_code, one.error_message) for one in told.answer.responses] == [(topic, EXCEEDED, None)]
    assert told.throttle_ms > 0
    old = lab.client("maker").ask(ApiKey.DELETE_TOPICS, 4, DeleteTopicsRequest((), [other], 30_000))
    assert [(one.name, one.error_code) for one in old.answer.responses] == [(other, 0)]
    assert old.throttle_ms > told.throttle_ms - 9000


@pytest.mark.behaviour("CP-8")
def test_partitions_are_not_added_when_too_much_was_done(lab: Lab):
    topic = lab.topic()
    spend(lab, "maker")

    def grow(version: int, count: int, validate_only: bool = False) -> tuple[int, int]:
        asked = CreatePartitionsRequest([CreatePartitionsTopic(topic, count, None)], 30_000, validate_only)
        told = lab.client("maker").ask(ApiKey.CREATE_PARTITIONS, version, asked)
        return told.answer.results[0].error_code, told.throttle_ms

    code, wait = grow(3, 3)
    assert code == EXCEEDED
    assert 0 < wait <= 9000 + ROUNDING_MS
    assert grow(3, 3, validate_only=True)[0] == EXCEEDED
    assert grow(3, 1) == (ErrorCode.INVALID_PARTITIONS, 0)
    code, wait = grow(2, 3)
    assert code == 0
    assert 0 < wait <= 11_000 + ROUNDING_MS


@pytest.mark.behaviour("MD-14")
def test_no_topic_is_made_by_asking_for_it_when_too_many_were_made(lab: Lab):
    spend(lab, "maker")
    asked = MetadataRequest([MetadataRequestTopic(name=lab.unique("auto"))], True)
    for _ in range(3):
        told = lab.client("maker").ask(ApiKey.METADATA, 9, asked)
        assert (told.answer.topics[0].error_code, told.throttle_ms) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0)
    until(lambda: not lab.client("other").ask(ApiKey.METADATA, 9, asked).answer.topics[0].error_code, "a topic")


def test_the_time_of_requests_is_a_quota_too(lab: Lab):
    """A tiny one, so that any request is too much; nobody waits longer than a window for it."""
    lab.quota("asker", request_percentage=1e-6)
    asker = lab.client("asker")
    told = asker.ask(ApiKey.METADATA, 9, MetadataRequest([]))
    assert told.throttle_ms == 1000
    began = time.monotonic()
    assert asker.ask(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("raw", "1")).throttle_ms == 1000
    assert since(began) >= 1000 - told.elapsed_ms - ROUNDING_MS
    topic = lab.topic()
    assert lab.client("asker").produce(topic, 10).throttle_ms == 1000
    told = lab.client("asker").fetch(topic, 1000)
    assert (told.throttle_ms, len(told.answer.responses)) == (1000, 0)
    refused = lab.client("asker").create(("no/name", 1))
    assert (refused.throttle_ms, refused.answer.topics[0].error_code) == (1000, ErrorCode.INVALID_TOPIC_EXCEPTION)
