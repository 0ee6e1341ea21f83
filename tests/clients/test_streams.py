"""Kafka Streams: an application that counts words, with its repartition topic, its changelog and a restart.

With the classic protocol it makes its topics itself; with the streams protocol (KIP-1071) the broker does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from tests.clients.adapters.with_java import JavaClient
from tests.clients.client import Message, Refused, until
from tests.clients.data import Broker
from tests.clients.histories_streams import SETTINGS
from tests.clients.jvm import Jvm
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.group_configs import configure
from tests.persistence.speaker import EARLIEST, LATEST

if TYPE_CHECKING:
    from tests.oracle.apache_kafka import ApacheKafka

LINES = ("to be or not to be", "that is the question", "whether tis nobler in the mind to suffer")
TIMES = 40
PARTITIONS = 2

PROTOCOLS: Final[dict[str, dict[str, str]]] = {
    "classic": {"heartbeat.interval.ms": "100"},
    "streams": {"group.protocol": "streams"},
}
CHANGELOG: Final = {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}
REPARTITION: Final = {**CHANGELOG, "cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": "52428800"}
"""What an application asks for its topics. The broker has given each a number of partitions, and no replication."""

Unique = Callable[[str], str]


class WordCount:
    """The application (java/WordCount.java), under one application id."""

    def __init__(self, jvm: Jvm, servers: str, unique: Unique, state: Path, protocol: str = "classic") -> None:
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
            **PROTOCOLS[protocol],
        }

    def start(self, **more: str) -> None:
        """`more` are settings, _ for each dot."""
        config = {**self._config, **{key.replace("_", "."): value for key, value in more.items()}}
        self._ask("start", **{"from": self.lines, "to": self.counts, "config": config})
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


@pytest.fixture(scope="module")
def apache_kafka() -> Iterator[ApacheKafka]:
    """Members of streams groups are told by the broker how often they speak."""
    from tests.oracle.apache_kafka import ApacheKafka

    with ApacheKafka(config={**APACHE_CONFIG, **SETTINGS}) as kafka:
        yield kafka


@pytest.fixture(params=["stub", pytest.param("kafka", marks=pytest.mark.oracle)])
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "kafka":
        yield request.getfixturevalue("apache_kafka").bootstrap_servers
    else:
        with KafkaStub(config={**CONFIG, **SETTINGS}) as stub:
            yield stub.bootstrap_servers


@pytest.fixture(params=PROTOCOLS)
def application(
    request: pytest.FixtureRequest, jvm: Jvm, servers: str, unique: Unique, tmp_path: Path
) -> Iterator[WordCount]:
    words = WordCount(jvm, servers, unique, tmp_path, request.param)
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


@pytest.mark.parametrize("application", ["streams"], indirect=True)
def test_javas_admin_sees_and_changes_the_group(
    application: WordCount, jvm: Jvm, servers: str, broker: Broker, unique: Unique
) -> None:
    broker.create(application.lines, PARTITIONS)
    broker.create(application.counts)
    group = application.name

    def ask(verb: str, **fields: Any) -> Any:
        return jvm.ask(f"streams_{verb}", servers=servers, group=group, **fields)

    def offsets() -> list[Any]:
        return sorted(ask("offsets"))

    client = JavaClient(servers, jvm)
    client.produce(application.lines, [Message("to be or not to be", partition=0)])
    with Client(servers) as configuring:
        configure(configuring, group, {"streams.num.standby.replicas": 1})
    application.start(num_stream_threads="1", client_id="one", client_tag_zone="a", application_server="here:8080")
    application.counted(Counter({"to": 2, "be": 2, "or": 1, "not": 1}))
    repartition, changelog = (f"{group}-{what}" for what in ("words-repartition", "counts-changelog"))
    until(lambda: [application.lines, 0, 1] in offsets(), "committed offsets")
    tasks = [{"0": [0, 1], "1": [0, 1]}, {}, {}]
    assert ask("describe") == {
        "state": "Stable",
        "epochs": "3 3 0",
        "assignor": "sticky",
        "description": "NOT_STORED",
        "operations": ["READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"],
        "subtopologies": {
            "0": {"sources": [application.lines], "sinks": [repartition], "changelogs": {}, "repartitions": {}},
            "1": {
                "sources": [],
                "sinks": [],
                "changelogs": {changelog: [PARTITIONS, -1, CHANGELOG]},
                "repartitions": {repartition: [PARTITIONS, -1, REPARTITION]},
            },
        },
        "members": [
            {
                "client": "one-StreamThread-1-consumer",
                "host": "/127.0.0.1",
                "epochs": "3 0",
                "endpoint": "here:8080",
                "classic": False,
                "tags": {"zone": "a"},
                "tasks": tasks,
                "target": tasks,
            }
        ],
    }
    for verb, fields, code in (
        ("alter_offsets", {"offsets": [[application.lines, 0, 0]]}, "UNKNOWN_MEMBER_ID"),
        ("delete_offsets", {"partitions": [[application.lines, 0]]}, "GROUP_SUBSCRIBED_TO_TOPIC"),
        ("delete", {}, "NON_EMPTY_GROUP"),
    ):
        with pytest.raises(Refused) as refused:
            ask(verb, **fields)
        assert refused.value.code == code

    application.stop()
    until(lambda: ask("describe")["state"] == "Empty", "an empty group")
    ask("alter_offsets", offsets=[[application.lines, 0, 0], [application.lines, 1, 0]])
    assert offsets()[:2] == [[application.lines, 0, 0], [application.lines, 1, 0]]
    ask("delete_offsets", partitions=[[application.lines, 1]])
    assert [application.lines, 1, 0] not in offsets()
    ask("delete")
    assert group not in jvm.ask("admin", servers=servers, what="groups")
    with pytest.raises(Refused) as gone:
        ask("describe")
    assert gone.value.code == "GROUP_ID_NOT_FOUND"
