"""Bugs that real applications have, taken from public issues: each is found, and its cause is named.

Every worker is the smallest that has the bug; a test with assertions about what it has seen would pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kafkastub import KafkaStub, Verdict
from kafkastub.client import Client
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from tests.waiting import SECONDS, until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {"group.initial.rebalance.delay.ms": 0}
    with KafkaStub(topics={"orders": 1, "bills": 1}, config=config, check=True) as running:
        yield running


def orders(stub: KafkaStub, count: int = 10) -> None:
    for number in range(count):
        stub.produce("orders", f"order {number}", key=str(number))


def reader(stub: KafkaStub, **settings: Any) -> Consumer:
    wanted = {
        "bootstrap.servers": stub.bootstrap_servers, "group.id": "billing", "enable.auto.commit": False,
        "auto.offset.reset": "earliest", "session.timeout.ms": 6000, "heartbeat.interval.ms": 50,
    }  # fmt: skip
    consumer = Consumer({**wanted, **settings})
    consumer.subscribe(["orders"])
    return consumer


def read(consumer: Consumer, count: int = 10) -> list[Any]:
    """So many records."""
    found: list[Any] = []

    def come() -> bool:
        found.extend(one for one in consumer.consume(count - len(found), 0.2) if not one.error())
        return len(found) >= count

    until(come, f"{count} records", SECONDS)
    return found


def at(offset: int) -> list[TopicPartition]:
    return [TopicPartition("orders", 0, offset)]


def only(verdict: Verdict, guarantee: str) -> str:
    """The cause of the only finding, which is of that guarantee."""
    assert [one.guarantee for one in verdict.findings] == [guarantee], str(verdict)
    return verdict.findings[0].cause


def test_the_offset_of_the_last_record_is_committed(stub: KafkaStub):
    """hw-kafka-client #49: an offset is where to go on, not what was read last: one record comes again each time."""
    orders(stub)
    for _ in range(2):
        consumer = reader(stub)
        last = read(consumer)[-1] if stub.check().looked_at["commits"] == 0 else read(consumer, 1)[-1]
        consumer.commit(offsets=at(last.offset()), asynchronous=False)
        consumer.close()
    cause = only(stub.check("redelivered"), "redelivered")
    assert "committed 9, the offset of the last record: commit the next offset, 10" in cause


def test_an_old_commit_is_retried_behind_a_newer_one(stub: KafkaStub):
    """spring-kafka #2076: an asynchronous commit that failed was sent again when a later one had succeeded."""
    orders(stub)
    consumer = reader(stub)
    read(consumer)
    with (
        stub.faults.add(api="OffsetCommit", error="INVALID_COMMIT_OFFSET_SIZE", times=1),
        pytest.raises(KafkaException),
    ):
        consumer.commit(offsets=at(4), asynchronous=False)
    consumer.commit(offsets=at(10), asynchronous=False)
    consumer.commit(offsets=at(4), asynchronous=False)
    consumer.close()
    assert "committed 4 when 10 was committed already" in only(stub.check(), "commit_went_back")


def test_a_reset_to_the_end_leaves_out_the_first_records(stub: KafkaStub):
    """librdkafka #1852: what is written while a consumer with latest is about to begin is never read."""
    answered = partial(stub.journal.requests, api="Fetch", outcome="reply")
    with stub.faults.add(api="OffsetFetch", hold="before", times=1) as held:
        consumer = reader(stub, **{"auto.offset.reset": "latest"})
        consumer.poll(0)
        until(lambda: bool(consumer.poll(0.05) is None and held.held), "the consumer that begins", SECONDS)
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        producer.produce("orders", "the first")
        assert producer.flush(SECONDS) == 0
        held.release()
        until(lambda: consumer.poll(0.05) is None and bool(answered()), "an answered fetch", SECONDS)
    consumer.close()
    assert "auto.offset.reset=latest began at 1" in only(stub.check(), "reset_skipped")


def test_a_position_of_its_own_is_ahead_of_what_is_committed(stub: KafkaStub):
    """kafka-elasticsearch-consumer #78: after a restart it goes on behind a poll whose records it had dropped."""
    orders(stub)
    first = reader(stub)
    read(first, 5)
    first.commit(offsets=at(2), asynchronous=False)
    first.close()
    second = reader(stub, **{"client.id": "restarted"})
    second.subscribe(["orders"], on_assign=lambda consumer, _: consumer.assign(at(5)))
    read(second, 5)
    second.commit(offsets=at(10), asynchronous=False)
    second.close()
    verdict = stub.check()
    assert "began at 5 though 2 was committed" in only(verdict, "left_behind")
    assert verdict.findings[0].offsets == ((2, 5),)


def test_a_count_of_its_own_is_where_it_goes_on(stub: KafkaStub):
    """kafka-node #711: after a restart it begins past what is committed, and nobody has read what lies between."""
    orders(stub, 2)
    first = reader(stub)
    read(first, 2)
    first.commit(offsets=at(2), asynchronous=False)
    first.close()
    orders(stub, 8)
    second = reader(stub, **{"client.id": "restarted"})
    second.subscribe(["orders"], on_assign=lambda consumer, _: consumer.assign(at(5)))
    read(second, 5)
    second.commit(offsets=at(10), asynchronous=False)
    second.close()
    verdict = stub.check()
    assert "past records that the group was never given" in only(verdict, "skipped")
    assert verdict.findings[0].offsets == ((2, 5),)


def test_a_failed_commit_is_swallowed(stub: KafkaStub):
    """joowani/kq #15: the group has given the partition to another one, and the records are worked on twice."""
    orders(stub)
    slow = reader(stub, **{"client.id": "slow"})
    read(slow)
    with stub.faults.add(api="OffsetCommit", error="ILLEGAL_GENERATION", times=1), pytest.raises(KafkaException):
        slow.commit(offsets=at(10), asynchronous=False)
    slow.close()
    other = reader(stub, **{"client.id": "other"})
    read(other)
    other.commit(offsets=at(10), asynchronous=False)
    other.close()
    verdict = stub.check("redelivered")
    assert only(verdict, "redelivered") == "the commit of 10 was refused with ILLEGAL_GENERATION"


def test_nothing_is_ever_committed(stub: KafkaStub):
    """dpkp/kafka-python #458: after each restart everything is read again."""
    orders(stub)
    consumer = reader(stub)
    read(consumer)
    consumer.close()
    assert "nothing was ever committed" in only(stub.check("never_commits"), "never_commits")


def test_a_delivery_report_is_not_looked_at(stub: KafkaStub):
    """librdkafka #392, confluent-kafka-dotnet #685: what could not be written once is gone, and nobody knows."""
    settings = {"bootstrap.servers": stub.bootstrap_servers, "message.timeout.ms": 400, "retries": 0}
    producer = Producer(settings)
    with stub.faults.add(api="Produce", error="NOT_ENOUGH_REPLICAS", times=1):
        producer.produce("orders", "lost")
        producer.flush(SECONDS)
    producer.produce("orders", "written")
    producer.flush(SECONDS)
    cause = only(stub.check(), "refused_and_given_up")
    assert "1 record of client 'rdkafka' was refused with NOT_ENOUGH_REPLICAS" in cause


def test_retries_without_idempotence_write_twice(stub: KafkaStub):
    """fyndiq/confluent_kafka_helpers #42: the answer is lost, the batch comes again."""
    settings = {"bootstrap.servers": stub.bootstrap_servers, "retry.backoff.ms": 10, "enable.idempotence": False}
    producer = Producer(settings)
    with stub.faults.add(api="Produce", drop="after", times=1):
        producer.produce("orders", "one")
        assert producer.flush(SECONDS) == 0
    assert [record.value for record in stub.records("orders")] == [b"one", b"one"]
    assert "without idempotence, sent a batch of 1 again" in only(stub.check("sent_twice"), "sent_twice")


def test_retries_with_several_under_way_change_the_order(stub: KafkaStub):
    """librdkafka #831, spline-spark-agent #314: a batch is refused, the next one is written, and then the first.

    Java's producer without idempotence and with more than one request under way does that; librdkafka waits.
    """
    batches = [build_batch([NewRecord(None, value, 1)]) for value in (b"first", b"second")]

    def send(client: Client, records: bytes) -> None:
        data = PartitionProduceData(index=0, records=records)
        client.ask(
            ProduceRequest(acks=1, topic_data=[TopicProduceData(name="orders", partition_data=[data])]), version=9
        )

    refused = stub.faults.add(api="Produce", error="NOT_ENOUGH_REPLICAS", times=1)
    with Client(stub.bootstrap_servers) as client, refused:
        for records in (*batches, batches[0]):
            send(client, records)
    assert [record.value for record in stub.records("orders")] == [b"second", b"first"]
    assert "behind one that it had sent after it" in only(stub.check(), "out_of_order")


async def _aborts(servers: str, way: Callable[[AIOKafkaProducer], Any]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id="billing")
    await producer.start()
    try:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"torn", partition=0)
        await way(producer)
    finally:
        await producer._sender.close() if way is _leave else await producer.stop()
        if way is _leave:
            await producer.client.close()


async def _leave(producer: AIOKafkaProducer) -> None:
    """Nothing: an exception has passed by."""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_is_aborted_is_read(stub: KafkaStub):
    """streamsx.kafka #192: the reader has the default of Java's clients, read_uncommitted."""
    asyncio.run(_aborts(stub.bootstrap_servers, lambda producer: producer.abort_transaction()))
    consumer = reader(stub, **{"isolation.level": "read_uncommitted"})
    read(consumer, 1)
    consumer.commit(offsets=at(1), asynchronous=False)
    consumer.close()
    cause = only(stub.check(), "read_aborted")
    assert cause.startswith("records of an aborted transaction were given to the group")
    assert "isolation.level=read_uncommitted" in cause


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_transaction_is_left_open(stub: KafkaStub):
    """twmb/kcl #10: readers of committed records wait for a producer that has gone."""
    asyncio.run(_aborts(stub.bootstrap_servers, _leave))
    until(lambda: not stub.check().ok, "the end of the connection", SECONDS)
    assert "transaction of billing was begun and not ended" in only(stub.check(), "transaction_left_open")


def test_offsets_are_committed_outside_of_the_transaction(stub: KafkaStub):
    """librdkafka #3918's kin: the output is a transaction's, the input's offsets are the consumer's own."""
    orders(stub)
    consumer = reader(stub)
    records = read(consumer)
    settings = {"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "billing"}
    producer = Producer(settings)
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for record in records:
        producer.produce("bills", record.value(), key=record.key())
    producer.flush(SECONDS)
    consumer.commit(offsets=at(10), asynchronous=False)
    producer.abort_transaction(SECONDS)
    consumer.close()
    producer.begin_transaction()
    producer.produce("bills", "of another time", key="0")
    producer.commit_transaction(SECONDS)
    verdict = stub.check.exactly_once("orders", "bills")
    assert {one.guarantee for one in verdict.findings} == {"exactly_once", "offsets_outside_transaction"}
    missing = verdict.of("exactly_once")[0]
    assert missing.offsets == ((1, 10),)
    assert missing.entries, "the fetch and the commit"


def test_it_is_committed_before_it_is_worked_on(stub: KafkaStub):
    """librdkafka #1122: at most once by mistake: what was in hand when the worker fell is never worked on."""
    orders(stub)
    consumer = reader(stub)
    records = read(consumer)
    consumer.commit(offsets=at(10), asynchronous=False)
    for record in records[:6]:  # and then it falls
        stub.produce("bills", record.value(), key=record.key())
    consumer.close()
    cause = only(stub.check.at_least_once("orders", "bills"), "at_least_once")
    assert cause == "4 records were committed, up to 10, and nothing of the output follows from 6, 7, 8, 9"


def test_one_ack_of_a_replicated_topic_is_noticed_once() -> None:
    """With a real client, which has learnt of the replicas as every client does: by Metadata."""
    with KafkaStub(nodes=3, config={"default.replication.factor": 3}, check=True) as stub:
        stub.create_topic("orders", 1)
        for acks in (1, "all"):
            producer = Producer(
                {"bootstrap.servers": stub.bootstrap_servers, "acks": acks, "client.id": f"acks {acks}"}
            )
            for number in range(3):
                producer.produce("orders", str(number))
                producer.flush(10)
        verdict = stub.check()
    assert verdict.ok
    (notice,) = [one for one in verdict.notices if one.guarantee == "weak_acks"]
    assert "client 'acks 1' wrote with acks=1 to a topic with 3 replicas" in notice.cause
