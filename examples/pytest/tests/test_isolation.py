"""Two hundred tests that would notice each other: the same names everywhere, and nothing cleaned up."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

FORTY = range(40)


def client(stub, **more):
    return {"bootstrap.servers": stub.bootstrap_servers, **more}


@pytest.mark.parametrize("number", FORTY)
def test_a_new_broker_has_no_topics(kafka_stub, number):
    assert AdminClient(client(kafka_stub)).list_topics(timeout=10).topics == {}
    kafka_stub.create_topic("orders")


@pytest.mark.kafka_stub(topics={"orders": 2})
@pytest.mark.parametrize("number", FORTY)
def test_records_begin_at_offset_zero(kafka_stub, number):
    producer = Producer(client(kafka_stub))
    where = []
    producer.produce("orders", f"order {number}", partition=1, on_delivery=lambda error, message: where.append(message))
    producer.flush(10)
    assert [(message.error(), message.offset()) for message in where] == [(None, 0)]


@pytest.mark.kafka_stub(topics={"orders": 1})
@pytest.mark.parametrize("number", FORTY)
def test_a_group_has_committed_nothing_yet(kafka_stub, number):
    orders = TopicPartition("orders", 0)
    consumer = Consumer(client(kafka_stub, **{"group.id": "shipping"}))
    assert consumer.committed([orders], timeout=10)[0].offset < 0
    consumer.commit(offsets=[TopicPartition("orders", 0, 1 + number)], asynchronous=False)
    assert consumer.committed([orders], timeout=10)[0].offset == 1 + number
    consumer.close()


@pytest.mark.kafka_stub(topics={"orders": 1}, retention_minutes=60)
@pytest.mark.parametrize("number", FORTY)
def test_the_clock_is_this_tests_own(kafka_stub, kafka_clock, number):
    consumer = Consumer(client(kafka_stub, **{"group.id": "shipping"}))
    kafka_clock.freeze()
    consumer.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    kafka_clock.advance(minutes=59)
    assert kafka_stub.metrics()["offset-expirations"] == 0
    kafka_clock.advance(minutes=1)
    assert kafka_stub.metrics()["offset-expirations"] == 1
    consumer.close()


@pytest.mark.parametrize("number", FORTY)
def test_names_on_a_shared_broker_are_this_tests_own(kafka_stub_server, kafka_topic, kafka_group, number):
    producer = Producer(client(kafka_stub_server))
    producer.produce(kafka_topic, str(number))
    producer.flush(10)
    consumer = Consumer(client(kafka_stub_server, **{"group.id": kafka_group, "auto.offset.reset": "earliest"}))
    consumer.subscribe([kafka_topic])
    assert consumer.poll(10).value() == str(number).encode()
    consumer.close()
