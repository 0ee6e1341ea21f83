"""An ETL job with confluent-kafka, as its users write it: consume, transform, produce, in transactions.

What it does is told in tests/programs/etl.py.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

BOOTSTRAP, INPUT, OUTPUT, AUDIT, GROUP = sys.argv[1:6]
HOLD = int(sys.argv[6])
SIZE, ABORTED, AUDITED = 100, 5, 10
SECONDS = 60


class Job:
    def __init__(self) -> None:
        self.consumer = Consumer(
            {
                "bootstrap.servers": BOOTSTRAP,
                "group.id": GROUP,
                "group.instance.id": "etl",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 20,  # to seek waits for the fetch that is under way
            }
        )
        self.producer = Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": f"{GROUP}-etl"})

    def run(self) -> None:
        self.producer.init_transactions(SECONDS)
        self.consumer.subscribe([INPUT])
        number = 0
        while batch := self.next_batch():
            number += 1
            self.transact(number, batch)
        self.consumer.close()
        print("done", flush=True)

    def next_batch(self) -> list[Message]:
        """Some records; none at the end of the input."""
        while True:
            batch = self.consumer.consume(SIZE, 0.1)
            failed = [message.error() for message in batch if message.error()]
            if failed:
                raise KafkaException(failed[0])
            if batch or self.at_the_end():
                return batch

    def at_the_end(self) -> bool:
        """A partition of which nothing was read has no position: the committed offset is where it stands."""
        places = self.consumer.assignment()
        committed = {one.partition: one.offset for one in self.consumer.committed(places, SECONDS)} if places else {}
        return bool(places) and all(
            max(place.offset, committed[place.partition]) >= self.consumer.get_watermark_offsets(place, SECONDS)[1]
            for place in self.consumer.position(places)
        )

    def transact(self, number: int, batch: list[Message]) -> None:
        self.producer.begin_transaction()
        for message in batch:
            self.transform(message)
        self.producer.flush(SECONDS)
        if number == HOLD:
            print("holding", flush=True)
            sys.stdin.readline()
        if number % ABORTED == 0:
            self.producer.abort_transaction(SECONDS)
            self.rewind()
            return
        places = self.consumer.position(self.consumer.assignment())
        self.producer.send_offsets_to_transaction(places, self.consumer.consumer_group_metadata(), SECONDS)
        self.producer.commit_transaction(SECONDS)

    def transform(self, message: Message) -> None:
        value = message.value().decode().upper()
        self.producer.produce(OUTPUT, value, message.key(), message.partition())
        if int(value.split("-")[1]) % AUDITED == 0:
            self.producer.produce(AUDIT, value, message.key(), message.partition())

    def rewind(self) -> None:
        for place in self.consumer.committed(self.consumer.assignment(), SECONDS):
            self.consumer.seek(TopicPartition(place.topic, place.partition, max(place.offset, 0)))


try:
    Job().run()
except KafkaException as error:
    if not error.args[0].fatal():
        raise
    print("fenced", error.args[0].name(), flush=True)
