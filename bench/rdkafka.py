"""Sends or reads records with librdkafka (confluent-kafka) as fast as it can, a client for the benchmarks.

    python -m bench.rdkafka produce HOST:PORT TOPIC RECORDS SIZE COMPRESSION ACKS
    python -m bench.rdkafka consume HOST:PORT TOPIC RECORDS GROUP

It prints one line of JSON, {"records": n, "seconds": s}: from the first record sent to the last acknowledgement, or
from the first records read to the last ones, without the first. librdkafka's own rdkafka_performance is in no package;
with `produce_batch` and `consume` of many records, Python's share of a record is small.
"""

from __future__ import annotations

import json
import random
import sys
from time import monotonic, perf_counter
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

AT_ONCE = 1000
LIMIT_SECONDS = 60
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def produce(servers: str, topic: str, records: int, size: int, compression: str, acks: str) -> tuple[int, float]:
    """How many records took how many seconds."""
    failed: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "acks": acks,
            "compression.type": compression,
            "queue.buffering.max.messages": 200_000,
            "delivery.report.only.error": True,
            "error_cb": failed.append,
        }
    )
    values = ["".join(random.Random(number).choices(LETTERS, k=size)).encode() for number in range(AT_ONCE)]
    batch = [{"value": value} for value in values]

    def on_failure(error: Any, _: Any) -> None:
        failed.append(error)

    begin, sent = perf_counter(), 0
    while sent < records:
        if len(producer) > 100_000:
            producer.poll(0.001)
            continue
        sent += producer.produce_batch(
            topic, batch[: records - sent], on_delivery=lambda error, _: failed.append(error)
        )
        producer.poll(0)
    left = producer.flush(LIMIT_SECONDS)
    if left or failed:
        raise SystemExit(f"{left} records were not sent; {failed[:1]}")
    return records, perf_counter() - begin


def consume(servers: str, topic: str, records: int, group: str) -> tuple[int, float]:
    """How many records took how many seconds."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    got, first, begin, until = 0, 0, 0.0, monotonic() + LIMIT_SECONDS
    while got < records:
        batch = consumer.consume(AT_ONCE, 0.1)
        if batch and (error := batch[0].error()) is not None:
            raise KafkaException(error)
        if batch and not got:
            first, begin = len(batch), perf_counter()
        got += len(batch)
        if monotonic() > until:
            raise SystemExit(f"read {got} of {records} records within {LIMIT_SECONDS} s")
    taken = perf_counter() - begin
    consumer.close()
    return got - first, taken


def main(words: list[str]) -> None:
    what, servers, topic, records, *others = words
    if what == "produce":
        size, compression, acks = others
        counted, seconds = produce(servers, topic, int(records), int(size), compression, acks)
    else:
        counted, seconds = consume(servers, topic, int(records), others[0])
    print(json.dumps({"records": counted, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1:])
