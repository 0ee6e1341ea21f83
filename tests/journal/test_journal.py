"""`stub.journal`: what it holds of requests, how it is asked, waited for and written down."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, TopicPartition

from kafkastub import GroupTimeout, KafkaProxy, KafkaStub
from kafkastub.journal import JournalTimeout, Ring
from kafkastub.journal.export import COLUMNS
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

CONFIG = {"group.initial.rebalance.delay.ms": 0}


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, {"orders": 3, "paid": 1}, CONFIG) as stub:
        yield stub


@pytest.fixture
def raw(stub: KafkaStub) -> Iterator[RawClient]:
    with RawClient(stub.bootstrap_servers) as client:
        yield client


def commit(group: str, topic: str = "orders", *partitions: int, topic_id: bytes | None = None) -> OffsetCommitRequest:
    named = OffsetCommitRequestTopic(
        name=topic, partitions=[OffsetCommitRequestPartition(partition_index=p) for p in partitions or (0,)]
    )
    if topic_id is not None:
        named.topic_id = topic_id
    return OffsetCommitRequest(group_id=group, topics=[named])


def produce(topic: str, acks: int = -1) -> ProduceRequest:
    records = build_batch([NewRecord(timestamp=0, key=None, value=b"x")])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[data])


def commit_to(raw: RawClient, group: str, topic: str = "orders", *partitions: int) -> None:
    raw.exchange(ApiKey.OFFSET_COMMIT, 8, encode(commit(group, topic, *partitions), 8))


# -- what an entry tells


def test_an_entry_names_group_partitions_client_and_errors(stub: KafkaStub, raw: RawClient) -> None:
    raw.exchange(ApiKey.OFFSET_COMMIT, 8, encode(commit("g", "orders", 0, 2, 7), 8))
    (entry,) = stub.journal
    assert (entry.api, entry.api_version, entry.client_id, entry.outcome) == ("OffsetCommit", 8, "raw", "reply")
    assert (entry.groups, entry.topics) == (("g",), ("orders",))
    assert entry.partitions == (("orders", 0), ("orders", 2), ("orders", 7))
    assert entry.errors == {0: 2, 3: 1}
    assert entry.error_names == ("UNKNOWN_TOPIC_OR_PARTITION",)
    assert entry.duration_us is not None
    assert entry.sender.listener == "PLAINTEXT"
    assert abs(entry.wall_time - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_line_says_who_asked_what_and_what_came_of_it(stub: KafkaStub, raw: RawClient) -> None:
    commit_to(raw, "billing", "orders", 0, 1, 2, 3, 4, 5)
    (entry,) = stub.journal
    line = str(entry)
    for part in ("raw", "OffsetCommit v8", "group billing", "orders-0", "… 2 more", "UNKNOWN_TOPIC_OR_PARTITION"):
        assert part in line
    assert "\n" not in repr(entry)


def test_pipelined_requests_are_one_entry_each(stub: KafkaStub, raw: RawClient) -> None:
    count = 200
    for number in range(count):
        raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit(f"g{number}"), 8), flexible=True)
    for _ in range(count):
        assert raw.receive() is not None
    assert [entry.groups for entry in stub.journal] == [(f"g{number}",) for number in range(count)]
    assert [entry.correlation_id for entry in stub.journal] == list(range(1, count + 1))
    assert {entry.outcome for entry in stub.journal} == {"reply"}
    assert all(entry.errors == {0: 1} for entry in stub.journal)


def test_pipelined_answers_of_many_sizes_are_kept_as_they_were_sent(stub: KafkaStub, raw: RawClient) -> None:
    names = [f"topic-{number:0200}" for number in range(100)]
    long = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False)
    said = []
    for number in range(40):
        partitions = range(number % 7 + 1)
        raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("g", "orders", *partitions), 8), flexible=True)
        if number % 10 == 5:
            raw.send(ApiKey.METADATA, 8, encode(long, 8))
    for _ in range(44):
        answer = raw.receive()
        assert answer is not None
        said.append(len(answer).to_bytes(4, "big") + answer)
    assert [entry.response_frame for entry in stub.journal] == said


def test_a_request_without_answer_among_others(stub: KafkaStub, raw: RawClient) -> None:
    raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("before"), 8), flexible=True)
    raw.send(ApiKey.PRODUCE, 9, encode(produce("orders", acks=0), 9), flexible=True)
    raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("behind"), 8), flexible=True)
    assert raw.receive()
    assert raw.receive()
    found = [(entry.api, entry.groups, entry.outcome) for entry in stub.journal]
    assert found == [
        ("OffsetCommit", ("before",), "reply"),
        ("Produce", (), "no_reply"),
        ("OffsetCommit", ("behind",), "reply"),
    ]


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [(999, 0, b""), (ApiKey.METADATA, 99, b""), (ApiKey.OFFSET_COMMIT, 8, b"\xff")],
    ids=["unknown API", "unknown version", "malformed"],
)
def test_what_is_refused_is_there_too(stub: KafkaStub, raw: RawClient, key: int, version: int, body: bytes) -> None:
    raw.send(ApiKey.OFFSET_COMMIT, 8, encode(commit("before"), 8), flexible=True)
    raw.send(key, version, body)
    assert raw.receive()
    assert raw.receive() is None
    # Why a broker behind a proxy closes a connection, it does not say.
    entry = stub.journal.wait_for(outcome="closed" if isinstance(stub, KafkaProxy) else "refused", timeout=SECONDS)
    assert (entry.api_key, entry.api_version, entry.errors) == (key, version, {})
    assert len(stub.journal) == 2


def test_topic_ids_are_resolved_and_stay_so_when_the_topic_is_gone(stub: KafkaStub, raw: RawClient) -> None:
    topic = stub._running().state.cluster.topic("orders")
    assert topic is not None
    body = encode(commit("g", "", 1, topic_id=topic.topic_id), 10)
    raw.exchange(ApiKey.OFFSET_COMMIT, 10, body)
    assert [entry.partitions for entry in stub.journal] == [(("orders", 1),)]
    stub._call(lambda: stub._running().state.cluster.delete_topic("orders"))
    assert [entry.topics for entry in stub.journal] == [("orders",)]


def test_a_parked_request_is_pending_until_its_answer_comes(stub: KafkaStub) -> None:
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "fetch.wait.max.ms": 60_000})
    try:
        consumer.assign([TopicPartition("orders", 0, 0)])
        parked = stub.journal.wait_for(api="Fetch", outcome="pending", timeout=SECONDS)
        assert parked.duration_us is None
        with RawClient(stub.bootstrap_servers) as raw:
            raw.exchange(ApiKey.PRODUCE, 9, encode(produce("orders"), 9))
        assert consumer.poll(SECONDS) is not None
        answered = stub.journal.wait_for(where=lambda entry: entry.sequence == parked.sequence, timeout=SECONDS)
        assert answered.outcome == "reply"
        assert answered.topics == ("orders",)
    finally:
        consumer.close()


def test_a_client_that_goes_before_its_answer(stub: KafkaStub) -> None:
    if isinstance(stub, KafkaProxy):
        pytest.skip("this is a proxy in front of a cluster: like Apache Kafka, it notices when it has answered")
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "fetch.wait.max.ms": 60_000})
    consumer.assign([TopicPartition("orders", 0, 0)])
    stub.journal.wait_for(api="Fetch", outcome="pending", timeout=SECONDS)
    consumer.close()
    assert stub.journal.wait_for(api="Fetch", outcome="dropped", timeout=SECONDS).response is None


def test_moves_of_the_clock_are_entries(stub: KafkaStub) -> None:
    stub.clock.set(datetime(2040, 1, 1, tzinfo=UTC))
    stub.clock.freeze()
    stub.clock.advance(days=1)
    stub.clock.unfreeze()
    entries = list(stub.journal)
    assert [entry.kind for entry in entries] == ["clock"] * 4
    assert [str(entry).rpartition(": ")[2] for entry in entries] == ["advance", "freeze", "advance", "unfreeze"]
    assert entries[2].broker_time - entries[1].broker_time == timedelta(days=1)


# -- asking


def test_filters(stub: KafkaStub, raw: RawClient) -> None:
    commit_to(raw, "a", "orders", 0)
    commit_to(raw, "b", "orders", 9)
    raw.exchange(ApiKey.METADATA, 9, encode(MetadataRequest(topics=[MetadataRequestTopic(name="paid")]), 9))
    journal = stub.journal

    def found(**wanted: object) -> list[int]:
        return [entry.sequence for entry in journal.requests(**wanted)]

    assert found(api="OffsetCommit") == found(api="OFFSET_COMMIT") == [0, 1]
    assert found(group="b") == found(error="UNKNOWN_TOPIC_OR_PARTITION") == found(error=3) == [1]
    assert found(topic="paid") == [2]
    assert found(api="OffsetCommit", topic="paid") == []
    assert found(client_id="raw", since=1) == [1, 2]
    assert found(since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert found(outcome="reply") == [0, 1, 2]
    assert found(where=lambda entry: entry.api_version == 9) == [2]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"api": "OffsetComit"}, r"Kafka has no such API; is OffsetCommit meant\?"),
        ({"error": "NOT_A_COORDINATOR"}, r"Kafka has no such error; is NOT_COORDINATOR meant\?"),
        ({"outcome": "lost"}, "one of reply"),
        ({"topics": "orders"}, "has no filter topics="),
        ({"group": 7}, "group=7 is refused: expected a string"),
        ({"transactional_id": 7}, "transactional_id=7 is refused: expected a string"),
        ({"producer_id": "7"}, "producer_id='7' is refused: expected a whole number"),
        ({"since": "yesterday"}, "since='yesterday' is refused: expected a sequence number"),
        ({"since": datetime.fromisoformat("2026-01-01")}, "a datetime with its zone"),
    ],
)
def test_a_filter_that_can_match_nothing_is_refused(stub: KafkaStub, wanted: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        stub.journal.requests(**wanted)


def test_clear_forgets_and_numbers_go_on(stub: KafkaStub, raw: RawClient) -> None:
    commit_to(raw, "a")
    stub.journal.clear()
    assert len(stub.journal) == 0
    commit_to(raw, "b")
    assert [(entry.sequence, entry.groups) for entry in stub.journal] == [(1, ("b",))]
    assert stub.journal.total == 2


def test_it_can_be_read_when_the_stub_is_closed(stub: KafkaStub, raw: RawClient) -> None:
    commit_to(raw, "a")
    raw.close()
    stub.close()
    assert [entry.groups for entry in stub.journal.tail(5)] == [("a",)]


def test_without_a_journal_nothing_watches() -> None:
    with KafkaStub(journal=False) as stub:
        assert "observer" not in vars(stub._running())
        with pytest.raises(RuntimeError, match="keeps no journal"):
            _ = stub.journal


# -- waiting


@contextlib.contextmanager
def committed_while_somebody_waits(stub: KafkaStub, raw: RawClient, group: str) -> Iterator[None]:
    """A commit that comes when somebody waits for the journal, and not before."""
    ring = stub._journal.ring
    assert ring is not None

    def commit_later() -> None:
        until(lambda: stub._call(lambda: bool(ring.watchers)), "somebody who waits")
        commit_to(raw, group)

    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(commit_later)
        yield
        later.result()


def test_wait_for_what_is_there_and_for_what_comes(stub: KafkaStub, raw: RawClient) -> None:
    commit_to(raw, "a")
    assert stub.journal.wait_for(api="OffsetCommit", group="a").sequence == 0
    with committed_while_somebody_waits(stub, raw, "b"):
        found = stub.journal.wait_for(api="OffsetCommit", group="b", since=stub.journal.total, timeout=SECONDS)
        assert found.sequence == 1


def test_waiting_in_vain_says_what_came_instead(stub: KafkaStub, raw: RawClient) -> None:
    with pytest.raises(JournalTimeout, match="there was none at all"):
        stub.journal.wait_for(api="OffsetCommit", timeout=0.01)
    commit_to(raw, "a")
    with pytest.raises(JournalTimeout, match=r"group='b' within 0.01 s; the last ones were:\n.*group a"):
        stub.journal.wait_for(group="b", timeout=0.01)
    assert stub._journal.ring is not None
    assert stub._journal.ring.watchers == []


def test_a_condition_that_fails_is_the_callers_and_does_not_hurt_the_broker(stub: KafkaStub, raw: RawClient) -> None:
    with committed_while_somebody_waits(stub, raw, "a"), pytest.raises(ZeroDivisionError):
        stub.journal.wait_for(where=lambda entry: 1 / 0, timeout=SECONDS)
    commit_to(raw, "b")


def test_wait_group_sees_members_come_and_go(stub: KafkaStub) -> None:
    consumers = []
    try:
        for count in (1, 2):
            consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"})
            consumers.append(consumer)
            consumer.subscribe(["orders"])
            polling = threading.Event()

            def poll(polling: threading.Event = polling) -> None:
                while not polling.is_set():
                    for each in consumers:
                        each.poll(0.02)

            thread = threading.Thread(target=poll)
            thread.start()
            try:
                stub.wait_group("g", state="Stable", members=count, timeout=SECONDS)
            finally:
                polling.set()
                thread.join()
        with pytest.raises(GroupTimeout, match=r"'g' is Stable with 2 members after 0.01 s, Empty was waited for"):
            stub.wait_group("g", state="Empty", timeout=0.01)
    finally:
        for consumer in consumers:
            consumer.close()
    stub.wait_group("g", state="empty", members=0, timeout=SECONDS)
    with pytest.raises(ValueError, match="expected one of Empty, Prep"):
        stub.wait_group("g", state="Sleepy")
    stub.wait_group("nobody's", state="Dead")


# -- limits


def test_the_oldest_go_when_there_are_too_many() -> None:
    ring = Ring(10, 1 << 20)
    frames = b"".join(b"\0\0\0\4" + bytes([0, 0, 0, number]) for number in range(4))
    for _ in range(5):
        ring.add_run(frames, 0, 32, b"\0\0\0\1r" * 4, None, 0, 1, 2, 4, 52)
        assert len(ring) <= 10
    assert ring.total == 20
    numbers = [(sequence, raw.frame[3]) for sequence, raw in ring.numbered()]
    assert numbers == [(sequence, sequence % 4) for sequence in range(ring.first, 20)]
    assert numbers[0][0] >= 10
    assert [sequence for sequence, _ in ring.numbered(17)] == [17, 18, 19]
    for before in range(25):
        backwards = [(sequence, raw.frame[3]) for sequence, raw in ring.walk(before=before)]
        assert backwards == [one for one in reversed(numbers) if one[0] < before]
    assert [sequence for sequence, _ in ring.walk(15, before=18)] == [17, 16, 15]
    going = ring.walk(before=20)
    ring.clear()
    assert [sequence for sequence, _ in going] == [sequence for sequence, _ in reversed(numbers)]


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_may_begin_anywhere(seed: int) -> None:
    random = Random(seed)
    ring = Ring(random.choice([10, 50]), 1 << 20)
    for _ in range(random.randrange(30)):
        size = random.randrange(5)
        if size:
            frames, replies = b"\0\0\0\4abcd" * size, b"\0\0\0\1r" * size
            ring.add_run(frames, 0, 8 * size, replies, None, 0, 1, 2, size, 13 * size)
        else:
            ring.add([bytes(4), 0, 4, b"", None, 0, 1, 2, 0, None])
    there = range(ring.first, ring.total)
    for since in range(ring.total + 3):
        assert [one for one, _ in ring.walk(since)] == [one for one in there if one >= since]
        for before in range(ring.total + 3):
            wanted = [one for one in reversed(there) if since <= one < before]
            assert [one for one, _ in ring.walk(since, before)] == wanted
    single = list(ring.walk_single())
    assert {one for one in ring.numbered() if one[1].frame == bytes(4)} <= set(single) <= set(ring.numbered())
    assert single == sorted(single, reverse=True)


def test_the_oldest_go_when_they_are_too_long() -> None:
    ring = Ring(1000, 100)
    for number in range(50):
        ring.add([bytes(30), 0, 30, bytes(10), None, number, 1, 2, 0, None])
    assert [raw.broker_ms for _, raw in ring.numbered()] == [48, 49]


def test_an_entry_does_not_hold_all_that_was_read_with_it() -> None:
    ring = Ring(1000, 1 << 20)
    read = b"\0\0\0\4" + bytes(4) + bytes(1 << 16)
    ring.add([read, 4, 8, b"", None, 0, 1, 2, 0, None])
    ring.add_run(read, 0, 8, b"", None, 0, 1, 2, 1, 8)
    assert [(raw.frame, len(raw.data) <= 8) for _, raw in ring.numbered()] == [(bytes(4), True)] * 2


def test_a_long_answer_is_kept_whole(stub: KafkaStub, raw: RawClient) -> None:
    names = [f"topic-{number:0200}" for number in range(200)]
    for name in names:
        stub.create_topic(name)
    body = encode(MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names]), 9)
    answer = raw.exchange(ApiKey.METADATA, 9, body)
    (entry,) = stub.journal
    assert entry.response_frame is not None
    assert entry.response_frame.endswith(answer)
    assert len(entry.response.topics) == len(names)


# -- secrets


def test_passwords_are_neither_in_messages_nor_in_frames(stub: KafkaStub, raw: RawClient) -> None:
    secret = b"do-not-tell"
    upsertion = ScramCredentialUpsertion(
        name="alice", mechanism=1, iterations=4096, salt=secret, salted_password=secret
    )
    scram = encode(AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0)
    raw.send(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, scram, flexible=True)
    entry = stub.journal.wait_for(api="AlterUserScramCredentials", timeout=SECONDS)
    assert secret not in entry.request_frame
    assert entry.request.upsertions[0].salted_password == b""
    assert entry.request.upsertions[0].name == "alice"


def test_sensitive_configuration_is_hidden(stub: KafkaStub, raw: RawClient) -> None:
    configs = [
        AlterableConfig(name="ssl.keystore.password", config_operation=0, value="do-not-tell"),
        AlterableConfig(name="retention.ms", config_operation=0, value="1000"),
    ]
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=configs)
    body = encode(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    raw.exchange(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, body)
    (entry,) = stub.journal
    assert b"do-not-tell" not in entry.request_frame
    assert [config.value for config in entry.request.resources[0].configs] == ["[hidden]", "1000"]


# -- export


def test_json_lines(stub: KafkaStub, raw: RawClient, tmp_path: Path) -> None:
    commit_to(raw, "a", "orders", 0, 9)
    stub.clock.advance(days=1)
    path = stub.journal.to_jsonl(tmp_path / "journal.jsonl", frames=True)
    first, second = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(first) == [name for name, _, _ in COLUMNS]
    assert first["errors"] == [
        {"code": 0, "name": "NONE", "count": 1},
        {"code": 3, "name": "UNKNOWN_TOPIC_OR_PARTITION", "count": 1},
    ]
    assert first["groups"] == ["a"]
    assert base64.b64decode(first["request"])[:4] == b"\0\x08\0\x08"
    assert (second["kind"], second["api_key"], second["outcome"]) == ("clock", -1, "clock")


def test_json_lines_with_messages(stub: KafkaStub, raw: RawClient, tmp_path: Path) -> None:
    """Of the version that was spoken: no field that was not on the wire, and no secret."""
    commit_to(raw, "a", "orders", 0)
    topic = OffsetFetchRequestTopics(name="orders", partition_indexes=[0])
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="a", topics=[topic])])
    raw.exchange(ApiKey.OFFSET_FETCH, 8, encode(request, 8))
    configs = [AlterableConfig(name="ssl.key.password", value="do-not-tell")]
    altered = IncrementalAlterConfigsRequest([AlterConfigsResource(4, "1", configs)])
    raw.exchange(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, encode(altered, 1))
    path = stub.journal.to_jsonl(tmp_path / "journal.jsonl", messages=True)
    commit, fetch, alter = [json.loads(line) for line in path.read_text().splitlines()]
    assert (commit["request_message"]["group_id"], commit["request"]) == ("a", None)
    assert fetch["request_message"] == {
        "groups": [{"group_id": "a", "topics": [{"name": "orders", "partition_indexes": [0]}]}],
        "require_stable": False,
    }
    (answered,) = fetch["response_message"]["groups"]
    assert answered["topics"][0]["partitions"][0]["error_code"] == 0
    assert "do-not-tell" not in path.read_text()
    assert alter["request_message"]["resources"][0]["configs"][0]["value"] == "[hidden]"


@pytest.mark.parametrize("version", [7, 8, 9])
def test_an_offset_fetch_names_the_groups_that_it_asks_for(stub: KafkaStub, raw: RawClient, version: int) -> None:
    """From version 8 on the field for the only group is not on the wire: it named an empty group beside the others."""
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in ("a", "b")]
    request = OffsetFetchRequest(group_id="a", topics=None, groups=groups)
    raw.exchange(ApiKey.OFFSET_FETCH, version, encode(request, version))
    empty = OffsetFetchRequest(groups=[])
    raw.exchange(ApiKey.OFFSET_FETCH, 8, encode(empty, 8))
    assert [entry.groups for entry in stub.journal] == [("a",) if version == 7 else ("a", "b"), ()]
    assert stub.journal.requests(group="") == []


def test_parquet_has_the_documented_columns(stub: KafkaStub, raw: RawClient, tmp_path: Path) -> None:
    commit_to(raw, "a", "orders", 0, 1)
    raw.send(999, 0, b"")
    assert raw.receive() is None
    stub.journal.wait_for(outcome="closed" if isinstance(stub, KafkaProxy) else "refused", timeout=SECONDS)
    table = pq.read_table(stub.journal.to_parquet(tmp_path / "journal.parquet"))
    assert table.column_names == [name for name, _, _ in COLUMNS]
    assert table.schema.field("broker_time").type == pa.timestamp("ms", tz="UTC")
    assert table.schema.field("wall_time").type == pa.timestamp("us", tz="UTC")
    rows = table.to_pylist()
    assert rows[0]["partitions"] == [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]
    assert rows[0]["request"] is None
    assert rows[1]["client_id"] is None
    only = stub.journal.to_parquet(tmp_path / "some.parquet", api="OffsetCommit", frames=True)
    assert [row["request"][:2] for row in pq.read_table(only).to_pylist()] == [b"\0\x08"]


async def test_real_clients_are_written_down(stub: KafkaStub) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers, client_id="shop")
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=stub.bootstrap_servers, group_id="billing", auto_offset_reset="earliest"
    )
    await producer.start()
    await consumer.start()
    await producer.send_and_wait("orders", b"one")
    await asyncio.wait_for(consumer.getone(), SECONDS)
    await consumer.commit()
    await producer.stop()
    await consumer.stop()
    journal = stub.journal
    assert journal.requests(api="Produce", client_id="shop", topic="orders")[0].errors == {0: 1}
    assert journal.requests(api="JoinGroup", group="billing")
    assert journal.requests(api="OffsetCommit", group="billing", topic="orders")
    assert journal.requests(api="FindCoordinator", group="billing")
    assert all(entry.request is not None for entry in journal)


def test_the_documented_schema_is_the_one_that_is_written() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "journal.md").read_text(encoding="utf-8")
    for name, kind, meaning in COLUMNS:
        assert f"| {name} | {kind} | {meaning} |" in guide


def test_a_line_for_people_is_a_line(stub: KafkaStub) -> None:
    name = "\x1b[2J\r\nbilling" + "x" * 30_000
    with RawClient(stub.bootstrap_servers) as client:
        client.send(ApiKey.OFFSET_COMMIT, 2, encode(commit(name), 2), client_id=name)
        client.receive()
    [entry] = stub.journal.requests(api="OffsetCommit")
    assert entry.groups == (name,)
    assert entry.client_id == name
    line = str(entry)
    assert "billing" in line
    assert line.isprintable()
    assert len(line) < 1000


def test_a_connection_that_has_gone_keeps_little_of_what_it_said(stub: KafkaStub) -> None:
    request = ApiVersionsRequest(client_software_name="a" * 30_000, client_software_version="1" * 30_000)
    with RawClient(stub.bootstrap_servers) as client:
        client.send(ApiKey.API_VERSIONS, 3, encode(request, 3), flexible=True, client_id="c" * 30_000)
        client.receive()
    [entry] = stub.journal.requests(api="ApiVersions")
    until(lambda: len(entry.sender.software_name) < 2_000, "the end of the connection")
    assert entry.sender.software_name.startswith("aaa")
    assert entry.sender.software_version.startswith("111")
    kept = entry._raw.connection
    assert (kept.client_id, kept.client_id_bytes, kept.last_requests) == ("", b"", {})
    assert entry.client_id == "c" * 30_000  # of the request itself


def test_as_many_entries_are_kept_as_somebody_asks_for() -> None:
    with KafkaStub(journal_entries=3) as stub, RawClient(stub.bootstrap_servers) as client:
        for _ in range(5):
            client.exchange(18, 0, b"")
        assert (len(stub.journal), stub.journal.total) == (3, 5)


@pytest.mark.parametrize("entries", [0, 1_000_001, True, "many"])
def test_a_number_of_entries_that_cannot_be_is_refused(entries: object) -> None:
    with pytest.raises(ValueError, match=r"is not a number of entries of a journal: 1 to 1000000 is allowed"):
        KafkaStub(journal_entries=entries)  # type: ignore[arg-type]
