"""Kafka's own Java producer and consumer as a data-plane client (java/Data.java)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from itertools import count
from typing import Any

from tests.clients.data import BY_DEFAULT, FETCH_WAIT_MS, DataClient, Entry, Found, Reader, Sending
from tests.clients.jvm import Jvm

_NAMES = count()


class JavaReader(Reader):
    def __init__(self, jvm: Jvm, topic: str, name: str) -> None:
        self._jvm = jvm
        self._topic = topic
        self._name = name

    def poll(self, seconds: float = 0.05) -> list[Found]:
        found = self._jvm.ask("data_poll", consumer=self._name, ms=int(seconds * 1000))
        return [
            Found(
                offset,
                Entry(
                    _bytes(value),
                    _bytes(key),
                    tuple((name, _bytes(content)) for name, content in headers),
                    timestamp,
                    partition,
                ),
            )
            for partition, offset, key, value, headers, timestamp in found
        ]

    def seek(self, partition: int, offset: int) -> None:
        self._go("seek", partition, to=offset)

    def seek_to_beginning(self, partition: int) -> None:
        self._go("seek_to_beginning", partition)

    def seek_to_end(self, partition: int) -> None:
        self._go("seek_to_end", partition)

    def seek_to_time(self, partition: int, ms: int) -> None:
        self._go("seek_to_time", partition, to=ms)

    def pause(self, partition: int) -> None:
        self._go("pause", partition)

    def resume(self, partition: int) -> None:
        self._go("resume", partition)

    def close(self) -> None:
        self._jvm.ask("data_close", consumer=self._name)

    def _go(self, verb: str, partition: int, **fields: int) -> None:
        self._jvm.ask("data_go", consumer=self._name, what=verb, topic=self._topic, partition=partition, **fields)


class JavaData(DataClient):
    def __init__(self, servers: str, jvm: Jvm) -> None:
        super().__init__()
        self._servers = servers
        self._jvm = jvm

    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        config = {
            "bootstrap.servers": self._servers,
            "compression.type": sending.codec,
            "batch.size": sending.batch_bytes,
            "max.request.size": sending.request_bytes,
            "enable.idempotence": str(sending.idempotent).lower(),
            "linger.ms": 50,
        }
        records = [
            [
                one.partition,
                one.timestamp,
                _text(one.key),
                _text(one.value),
                [[name, _text(content)] for name, content in one.headers],
            ]
            for one in entries
        ]
        offsets: list[int] = self._jvm.ask("data_send", config=config, topic=topic, records=records)
        return offsets

    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader:
        name = f"reader-{next(_NAMES)}"
        config = {
            "bootstrap.servers": self._servers,
            "auto.offset.reset": "earliest",
            "fetch.max.wait.ms": FETCH_WAIT_MS,
            "enable.auto.commit": "false",
        }
        self._jvm.ask("data_open", consumer=name, config=config, topic=topic, partitions=list(partitions))
        return JavaReader(self._jvm, topic, name)


def _text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _bytes(content: Any) -> bytes | None:
    return None if content is None else b64decode(content)
