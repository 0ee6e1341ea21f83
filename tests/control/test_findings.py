"""/v1/groups/{group}/findings: what it says is the cause is the cause, whatever else may look like it."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import commit
from kafkastub.journal import DEFAULT_ENTRIES
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from tests.conftest import CONFIG
from tests.control.conftest import Http
from tests.stub.consumers import AT_ONCE, Player, rounds
from tests.waiting import until

Found = dict[str, Any]
Start = Callable[..., Consumer]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {**CONFIG, **AT_ONCE, "offsets.topic.num.partitions": 1}
    with KafkaStub(topics={"orders": 1, "audit": 1, "two": 2}, config=config, control_port=0) as stub:
        yield stub


@pytest.fixture
def start(stub: KafkaStub) -> Iterator[Start]:
    """Makes consumers of librdkafka with settings of their own."""
    with ExitStack() as made:

        def make(group: str, *topics: str, **settings: object) -> Consumer:
            named = {name.replace("_", "."): value for name, value in settings.items()}
            consumer = Consumer(
                {
                    "bootstrap.servers": stub.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest",
                    "enable.auto.commit": False, **named,
                }
            )  # fmt: skip
            made.callback(consumer.close)
            consumer.subscribe(list(topics))
            return consumer

        yield make


def told(http: Http, group: str = "g") -> list[Found]:
    """Nothing as long as there is no such group."""
    status, said = http.get(f"/v1/groups/{group}/findings")
    found: list[Found] = said["findings"] if status != 404 else []
    return found


def one_with(http: Http, words: str, group: str = "g", consumers: tuple[Consumer, ...] = ()) -> Found:
    """The finding with these words, once it is there."""

    def look() -> Found | None:
        for consumer in consumers:
            consumer.poll(0)
        return next((each for each in told(http, group) if words in each["sentence"]), None)

    found = until(look, lambda: f"{words!r} among {[one['sentence'] for one in told(http, group)]}")
    assert found is not None
    return found


def given(consumer: Consumer, count: int = 1) -> Consumer:
    """It has been given so many records, and is assigned."""
    got = 0

    def look() -> bool:
        nonlocal got
        message = consumer.poll(0.05)
        got += message is not None and not message.error()
        return got >= count and bool(consumer.assignment())

    until(look, "records")
    return consumer


def test_a_quota_that_keeps_a_client_waiting(stub: KafkaStub, http: Http, start: Start) -> None:
    http.good("POST", "/v1/quotas", {"client_id": "slow", "quotas": {"consumer_byte_rate": 50}})
    stub.produce("orders", value="x" * 5000)
    consumer = start("g", "orders", client_id="slow")
    found = one_with(http, "was throttled for", consumers=(consumer,))
    assert (found["level"], found["subject"]) == ("stop", "quota")
    assert ", when it asked for orders-0: quota consumer_byte_rate 50 of client id 'slow'." in found["sentence"]
    throttled = next(entry for entry in stub.journal.requests(api="Fetch") if entry.throttle_ms)
    wait = throttled.throttle_ms
    assert f"slow was throttled for {wait / 1000:.0f} s " in found["sentence"]
    assert f" -> ok, throttled for {wait} ms " in str(throttled)
    (listed,) = http.good("GET", "/v1/journal", since=throttled.sequence, limit=1)["entries"]
    assert listed["throttle_time_ms"] == wait


def test_a_fetch_that_waits_for_more_bytes(stub: KafkaStub, http: Http, start: Start) -> None:
    for _ in range(20):
        stub.produce("orders", value="small")
    more = {"fetch_min_bytes": 1_000_000, "fetch_wait_max_ms": 50_000}
    consumer = start("g", "orders", **more)
    found = one_with(http, "waits until 1000000 bytes", consumers=(consumer,))
    assert (found["level"], found["subject"], found["name"]) == ("stop", "journal", "rdkafka")
    assert (
        "asks for orders-0 and waits until 1000000 bytes are there (fetch.min.bytes): there are 20 records, "
        in (found["sentence"])
    )
    assert found["sentence"].endswith(" s more (fetch.wait.max.ms, of Java fetch.max.wait.ms: 50000).")


def test_a_static_member_that_is_gone_was_last_heard_of_long_ago(stub: KafkaStub, http: Http, start: Start) -> None:
    still = {"session_timeout_ms": 300_000, "heartbeat_interval_ms": 200}
    one = start("g", "two", group_instance_id="one", client_id="one", **still)
    two = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "group.instance.id": "two",
            "client.id": "two", "session.timeout.ms": 300_000,
        }
    )  # fmt: skip
    two.subscribe(["two"])

    def shared() -> bool:
        one.poll(0.05), two.poll(0.05)
        return len(one.assignment()) == len(two.assignment()) == 1

    until(shared, "each has a partition")
    two.close()  # a static member does not leave
    stub.clock.advance(seconds=61, timers=True)
    for partition in range(2):
        stub.produce("two", value="x", partition=partition)
    found = one_with(http, "member two-", consumers=(one,))
    assert found["level"] == "stop"
    said = r"was last heard of (\d+) s ago \(a .*\): it may be gone\. Its session ends in (\d+) s\."
    heard = re.search(said, found["sentence"])
    assert heard is not None, found["sentence"]
    assert int(heard[1]) >= 60
    assert 299 <= int(heard[1]) + int(heard[2]) <= 301
    one_with(http, "one asks for two-", consumers=(one,))
    assert not any("member one-" in each["sentence"] for each in told(http))


def test_a_client_id_that_members_of_two_groups_have(stub: KafkaStub, http: Http, start: Start) -> None:
    for topic in ("orders", "audit"):
        for _ in range(3):
            stub.produce(topic, value="x")
    stuck = given(start("stuck", "orders"))
    stuck.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    stuck.pause(stuck.assignment())
    good, third = given(start("good", "orders"), 3), given(start("third", "audit"), 3)
    found = one_with(http, "is not known", "stuck", (stuck, good, third))
    assert (found["level"], found["name"]) == ("look", "rdkafka")
    assert found["sentence"].startswith("Somebody with the client id rdkafka asks for orders-0, and whether that is")
    assert "a member of good has that client id, too" in found["sentence"]
    assert " asks right now from 3 on" in found["sentence"]
    assert not any("right now: it gets" in each["sentence"] for each in told(http, "stuck"))
    clear = one_with(http, "from the end (3) on", "third", (third,))["sentence"]
    assert clear.startswith("rdkafka asks for audit-0 right now")


def elsewhere(host: str, port: int, timeout: float) -> socket.socket:
    """A connection that comes from another host."""
    return socket.create_connection((host, port), timeout, source_address=("127.0.0.2", 0))


def test_members_of_one_client_id_on_two_hosts_are_told_apart(stub: KafkaStub, http: Http) -> None:
    stub.produce("orders", value="x")
    mine, other = Player(stub, "one"), Player(stub, "one", group="other")
    other.close()
    other._client = Client(stub.bootstrap_servers, client_id="client-one", connector=elsewhere)
    rounds(mine, other)
    topics = [FetchTopic(topic="orders", partitions=[FetchPartition(partition=0, fetch_offset=0)])]
    other._client.ask(FetchRequest(topics=topics, session_epoch=-1), version=12)
    assert any("client-one asks for orders-0 right now" in each["sentence"] for each in told(http, "other"))
    assert any("client-one has not asked for orders-0" in each["sentence"] for each in told(http, "g"))
    mine.close()
    other.close()


def test_an_offset_beyond_the_end_is_not_all_that_there_is(stub: KafkaStub, http: Http) -> None:
    stub.produce("orders", value="x")
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("orders", 0): 120})
    player = Player(stub, "one")
    rounds(player)
    sentences = [each["sentence"] for each in told(http)]
    player.close()
    assert (
        "The committed offset of orders-0, 120, is not in the log: it is beyond the end, 1. "
        "auto.offset.reset says where reading begins." in sentences
    )
    assert not any("all that there is" in each for each in sentences)


def test_who_began_at_the_end(stub: KafkaStub, http: Http, start: Start) -> None:
    for topic in ("orders", "audit"):
        stub.produce(topic, value="before")
    latest = start("g", "orders", auto_offset_reset="latest")
    found = one_with(http, "began at the end", consumers=(latest,))
    assert found["sentence"] == (
        "rdkafka asks for orders-0 right now, from the end (1) on: it began at the end, by auto.offset.reset=latest, "
        "as no offset was committed. It does not get the 1 record before that."
    )
    earliest = given(start("other", "audit"))
    found = one_with(http, "from the end (1) on", "other", (earliest,))
    assert found["sentence"].endswith(": it was given all that there is, and has committed nothing.")


def test_an_offset_that_has_expired(stub: KafkaStub, http: Http) -> None:
    stub.produce("orders", value="x")
    stub.clock.freeze()
    at = f"{stub.clock.now() + timedelta(days=7):%Y-%m-%d %H:%M:%S}"
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("orders", 0): 1, ("audit", 0): 0})
        stub.clock.advance(days=5)
        commit(client, "g", {("audit", 0): 0})
        stub.clock.advance(days=3)
    player = Player(stub, "one")
    rounds(player)
    found = one_with(http, "expired at")
    player.close()
    assert (found["level"], found["subject"], found["name"]) == ("look", "partition", "orders-0")
    assert found["sentence"] == (
        f"The committed offset of orders-0 expired at {at}, and none was committed since. "
        "A consumer that has started since then began where auto.offset.reset says."
    )


@contextmanager
def unpolled(stub: KafkaStub) -> Iterator[Consumer]:
    """A member that does not join anew, as nobody asks it for records."""
    settings: dict[str, Any] = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "client.id": "busy"}
    consumer = Consumer({**settings, "max.poll.interval.ms": 200_000, "heartbeat.interval.ms": 200})

    def ignore(*_: object) -> None:
        pass

    consumer.subscribe(["two"], on_assign=ignore, on_revoke=ignore)
    until(lambda: consumer.poll(0.05) or consumer.assignment(), "an assignment")
    yield consumer
    consumer.close()


def test_who_keeps_a_rebalance_waiting(stub: KafkaStub, http: Http, start: Start) -> None:
    with unpolled(stub):
        new = start("g", "two", client_id="new")
        found = one_with(http, "has not joined again", consumers=(new,))
        assert (found["level"], found["subject"], found["name"][:5]) == ("stop", "member", "busy-")
        assert found["sentence"].startswith(
            f"Member busy ({found['name']}) has not joined again: others wait for it for "
        )
        assert found["sentence"].endswith(" s more at most (the longest rebalance timeout of its members).")
        assert not any("Member new" in each["sentence"] for each in told(http))


def test_who_is_not_done_with_a_revocation_and_for_how_long(stub: KafkaStub, http: Http) -> None:
    one, two = Player(stub, "one", ("two",)), Player(stub, "two", ("two",))
    rounds(one)
    http.good("POST", "/v1/groups/g/hold-revocation", {"member": "one"})
    two.beat()
    one.beat()
    found = one_with(http, "has not revoked two-")
    one.close(), two.close()
    assert found["sentence"].endswith(" s more (its rebalance timeout).")


def test_all_of_a_journal_is_looked_at(stub: KafkaStub, http: Http) -> None:
    player = Player(stub, "one")
    rounds(player)
    stub.produce("orders", value="x")
    with Client(stub.bootstrap_servers, client_id="client-one") as client:
        topics = [FetchTopic(topic="orders", partitions=[FetchPartition(partition=0, fetch_offset=0)])]
        client.ask(FetchRequest(topics=topics, session_epoch=-1), version=12)
        client.ask(ApiVersionsRequest(client_software_name="a", client_software_version="1"))
    ring = stub._running().observer.ring
    assert ring is not None

    def fill() -> None:
        _, last = ring.numbered(ring.total - 1)[0]
        for _ in range(DEFAULT_ENTRIES * 7 // 10):
            ring.add(list(last))

    stub._call(fill)
    sentences = [each["sentence"] for each in told(http)]
    player.close()
    assert not any("in the entries that the journal still has" in each for each in sentences), sentences


def test_partitions_without_an_offset_are_counted_beside_the_lag(stub: KafkaStub, http: Http) -> None:
    for partition in range(2):
        stub.produce("two", value="x", partition=partition)
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("two", 0): 1, ("orders", 0): 0})
    (one,) = http.good("GET", "/v1/groups", details="true")["groups"]
    assert (one["lag"], one["partitions_without_offset"]) == (0, 1)
    stub.produce("orders", value="x")
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("two", 1): 0})
    (one,) = http.good("GET", "/v1/groups", details="true")["groups"]
    assert (one["lag"], one["partitions_without_offset"]) == (2, 0)
