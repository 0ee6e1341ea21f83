"""Kafka Streams: an application that counts words, with its repartition topic, its changelog and a restart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.adapters.with_java import JavaClient
from tests.clients.client import Message, until
from tests.clients.data import Broker
from tests.clients.jvm import Jvm
from tests.persistence.speaker import EARLIEST, LATEST

LINES = ("to be or not to be", "that is the question", "whether tis nobler in the mind to suffer")
TIMES = 40
PARTITIONS = 2

Unique = Callable[[str], str]


class WordCount:
    """The application (java/WordCount.java), under one application id."""

    def __init__(self, jvm: Jvm, servers: str, unique: Unique, state: Path) -> None:
        self.jvm = jvm
        self.name, self.lines, self.counts = unique("words"), unique("lines"), unique("counts")
        self.running = False
        self._config = {
            "application.id": self.name,
            "bootstrap.servers": servers,
            "auto.offset.reset": "earliest",
            "commit.interval.ms": "100",
            "repartition.purge.interval.ms": "100",
            "state.dir": str(state),
            "num.stream.threads": "2",
            "heartbeat.interval.ms": "100",
        }

    def start(self) -> None:
        self._ask("start", **{"from": self.lines, "to": self.counts, "config": self._config})
        self.running = True

    def stop(self) -> None:
        if self.running:
            self.running = False
            self._ask("stop")

    def counted(self, expected: Counter[str]) -> Any:
        """Wait until the store holds these counts; what was seen then."""

        def seen() -> Any:
            look = self._ask("look")
            assert look["state"] != "ERROR", look
            return look if look["counts"] == expected else None

        return until(seen, f"the counts of {self.name}")

    def _ask(self, verb: str, **fields: Any) -> Any:
        return self.jvm.ask(f"word_count_{verb}", name=self.name, **fields)


@pytest.fixture
def application(jvm: Jvm, servers: str, unique: Unique, tmp_path: Path) -> Iterator[WordCount]:
    words = WordCount(jvm, servers, unique, tmp_path)
    yield words
    words.stop()


def test_words_are_counted_and_counts_restored_from_the_changelog(
    application: WordCount, jvm: Jvm, servers: str, broker: Broker, unique: Unique
) -> None:
    broker.create(application.lines, PARTITIONS)
    broker.create(application.counts)
    client, offset = JavaClient(servers, jvm), broker.speaker.offset
    lines = [Message(line, partition=number % PARTITIONS) for number, line in enumerate(LINES * TIMES)]
    expected = Counter(word for line in LINES * TIMES for word in line.split())

    client.produce(application.lines, lines)
    application.start()
    application.counted(expected)
    repartition, changelog = (f"{application.name}-{what}" for what in ("words-repartition", "counts-changelog"))

    def purged() -> bool:  # what it has read of its own topic, it deletes
        return all(
            offset(repartition, index, EARLIEST) == offset(repartition, index, LATEST) for index in range(PARTITIONS)
        )

    until(purged, "a purged repartition topic")
    # The topics that it made for itself, with the settings that it asked for.
    topics = client.topics()
    assert {topics[repartition], topics[changelog]} == {PARTITIONS}
    assert client.topic_config(changelog)["cleanup.policy"] == "compact"
    assert client.topic_config(repartition)["cleanup.policy"] == "delete"
    assert client.topic_config(repartition)["retention.ms"] == "-1"

    application.stop()
    client.produce(application.lines, [Message("be that as it may", partition=0)])
    expected.update(["be", "that", "as", "it", "may"])
    application.start()
    seen = application.counted(expected)
    assert seen["restored"] >= len(set(" ".join(LINES).split()))  # the store is in memory: all of it came from there
    application.stop()

    # What it has passed on: the last count of each word is the truth.
    reader = client.member(unique("readers"), [application.counts])
    last: dict[str, int] = {}

    def complete() -> bool:
        last.update({record.key or "": int(record.value) for record in reader.poll()})
        return last == expected

    until(complete, "the counts in the topic")
    assert client.committed(application.name)[application.lines, 0] == len(lines) // PARTITIONS + 1
    client.close()
