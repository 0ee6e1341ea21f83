"""A consumer that reads orders and commits by hand."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer

from kafkastub import KafkaStub
from tests.waiting import until


def consumer_of(stub: KafkaStub, **settings: Any) -> Consumer:
    """One of group `billing`, from the beginning; `_` in a setting's name stands for a dot."""
    more = {name.replace("_", "."): value for name, value in settings.items()}
    return Consumer({
        "bootstrap.servers": stub.bootstrap_servers, "group.id": "billing", "enable.auto.commit": False,
        "auto.offset.reset": "earliest", **more,
    })  # fmt: skip


def read(consumer: Consumer, count: int) -> None:
    """Consume so many records."""
    found: list[object] = []

    def come() -> bool:
        found.extend(consumer.consume(count - len(found), 0.2))
        return len(found) >= count

    until(come, "the records")
