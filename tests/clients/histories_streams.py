"""Groups of Kafka Streams (KIP-1071) as Kafka's command-line tools show and change them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from kafkastub.client import Client, groups
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from tests.clients.client import until
from tests.clients.tools import Terminal, filled

SETTINGS: Final = {
    "group.streams.min.heartbeat.interval.ms": 100,
    "group.streams.heartbeat.interval.ms": 100,
    "group.streams.min.assignment.interval.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
}
"""Of the broker: members are told by it how often they speak."""

PARTS: Final = ("--offsets", "--members", "--state")
DESCRIBE: Final = "kafka-streams-groups --describe --group"
RESET: Final = "kafka-streams-groups --reset-offsets --group workers"
INSTANCE: Final = {
    "group.protocol": "streams",
    "auto.offset.reset": "earliest",
    "commit.interval.ms": 100,
    "num.stream.threads": 1,
    "repartition.purge.interval.ms": 3_600_000,
}


class Counters:
    """Instances of an application that counts words (java/WordCount.java): members while tools look at their group."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def join(self, group: str, client_id: str, topic: str, tasks: dict[str, int]) -> None:
        """Start one, and wait until each instance has so many active tasks of its own, and nobody is to get another."""
        settings: dict[str, object] = {
            **INSTANCE,
            "application.id": group,
            "client.id": client_id,
            "bootstrap.servers": self._terminal.servers,
            "state.dir": str(self._terminal.folder / client_id),
        }
        fields = {"from": topic, "to": "counts", "config": settings}
        self._terminal.jvm.ask("word_count_start", name=client_id, **fields)
        self.settle(group, tasks)
        self._terminal.say(f"{client_id} joins {group}, counting the words of {topic}")

    def settle(self, group: str, tasks: dict[str, int]) -> None:
        """Wait until each instance has so many active tasks, and each of its threads what it is to have."""

        def settled() -> bool:
            (one,) = client.ask_coordinator(group, StreamsGroupDescribeRequest(group_ids=[group])).groups
            members = {member.client_id.partition("-")[0]: member for member in one.members}
            return one.group_state == "Stable" and tasks == {
                name: sum(len(some.partitions) for some in member.assignment.active_tasks)
                for name, member in members.items()
            }

        with Client(self._terminal.servers) as client:
            until(settled, str(tasks))

    def counted(self, group: str, counts: dict[str, int]) -> None:
        """Wait until the group has committed so much of each topic."""

        def committed() -> dict[str, int]:
            found: Counter[str] = Counter()
            for (topic, _), one in groups.offsets(client, group).items():
                found[topic] += one.offset
            return found

        with Client(self._terminal.servers) as client:
            until(lambda: committed() == counts, f"{counts} committed")
        self._terminal.say(f"{group} has counted all")

    def leave(self, client_id: str) -> None:
        self._terminal.say(f"{client_id} leaves")
        self._terminal.jvm.ask("word_count_stop", name=client_id)


def look(terminal: Terminal, group: str) -> None:
    """At all that is shown of a group."""
    for part in PARTS:
        terminal.run(f"{DESCRIBE} {group} {part}")
        terminal.run(f"{DESCRIBE} {group} {part} --verbose")


def topics(terminal: Terminal) -> None:
    """Two for an application to read and to write."""
    filled(terminal, "lines", 2, 6)
    filled(terminal, "counts", 1, 0)


READ: Final = {"lines": 12, "workers-words-repartition": 24}


def streams(terminal: Terminal) -> None:
    """A group through its life: one member, two with standbys, none, gone."""
    members = Counters(terminal)
    topics(terminal)
    terminal.run("kafka-streams-groups --list")
    look(terminal, "nobody")
    standbys = "streams.num.standby.replicas=1"
    terminal.run(f"kafka-configs --alter --entity-type groups --entity-name workers --add-config {standbys}")
    terminal.settle()
    terminal.run("kafka-configs --describe --entity-type groups --entity-name workers")
    members.join("workers", "one", "lines", {"one": 4})
    members.counted("workers", READ)
    for asked in ("", " --state", " --state stable", " --state Empty", " --state NotReady"):
        terminal.run(f"kafka-streams-groups --list{asked}")
    for asked in ("", " --streams", " --consumer", " --group-type streams", " --protocol streams"):
        terminal.run(f"kafka-groups --list{asked}")
    look(terminal, "workers")
    terminal.run("kafka-topics --list")
    terminal.run("kafka-topics --describe --topic workers-words-repartition")
    terminal.run("kafka-topics --describe --topic workers-counts-changelog")
    members.join("workers", "two", "lines", {"one": 2, "two": 2})
    look(terminal, "workers")
    terminal.run("kafka-streams-groups --describe --group workers")
    terminal.run("kafka-streams-groups --describe --all-groups --state")
    terminal.run("kafka-consumer-groups --describe --group workers")
    terminal.run("kafka-share-groups --describe --group workers")

    terminal.run("kafka-streams-groups --delete --group workers")
    terminal.run("kafka-streams-groups --delete-offsets --group workers --input-topic lines")
    terminal.run(f"{RESET} --input-topic lines --to-earliest --execute")
    members.leave("one")
    members.settle("workers", {"two": 4})
    look(terminal, "workers")
    members.leave("two")
    look(terminal, "workers")
    terminal.run("kafka-streams-groups --list --state")
    terminal.run("kafka-streams-groups --delete --group workers --group nobody --delete-all-internal-topics")
    terminal.run("kafka-streams-groups --list")
    terminal.run("kafka-topics --list")


def streams_offsets(terminal: Terminal) -> None:
    """Offsets of a group without members, set anew and deleted, and its internal topics with them."""
    members = Counters(terminal)
    topics(terminal)
    members.join("workers", "one", "lines", {"one": 4})
    members.counted("workers", READ)
    members.leave("one")
    for asked in (
        "--input-topic lines --to-offset 4 --dry-run",
        "--input-topic lines --to-offset 4 --execute",
        "--input-topic lines:1 --shift-by 1 --execute",
        "--input-topic lines --to-current --dry-run",
        "--input-topic lines --to-datetime 2023-11-14T22:13:22.500 --execute",
        "--input-topic lines --by-duration PT1H --execute",
        "--input-topic lines --to-offset 1000 --execute",
        "--input-topic lines --shift-by -1000 --execute",
        "--all-input-topics --to-latest --export --dry-run",
        "--all-input-topics --to-latest --execute",
        "--input-topic missing --to-earliest --execute",
        "--input-topic counts --to-earliest --execute",
        "--input-topic lines:7 --to-earliest --execute",
    ):
        terminal.run(f"{RESET} {asked}")
    terminal.file("offsets.csv", '"lines",0,1\n"lines",1,2\n')
    terminal.run(f"{RESET} --from-file offsets.csv --dry-run")
    terminal.run(f"{RESET} --from-file offsets.csv --execute")
    terminal.run(f"{DESCRIBE} workers")
    terminal.run(f"{RESET} --all-input-topics --to-earliest --delete-internal-topic missing --execute")
    terminal.run(f"{RESET} --all-input-topics --to-earliest --delete-internal-topic workers-counts-changelog --execute")
    terminal.run(f"{RESET} --all-input-topics --to-earliest --delete-all-internal-topics --execute")
    terminal.settle()
    terminal.run("kafka-topics --list")
    members.join("workers", "one", "lines", {"one": 4})
    terminal.run("kafka-topics --list")
    members.leave("one")
    terminal.run("kafka-streams-groups --reset-offsets --group fresh --input-topic lines --to-latest --execute")
    look(terminal, "fresh")
    for asked in (
        "--group workers --input-topic missing",
        "--group nobody --input-topic lines",
        "--group workers --input-topic lines:1",
        "--group workers --input-topic lines",
        "--group workers --all-input-topics",
    ):
        terminal.run(f"kafka-streams-groups --delete-offsets {asked}")
    terminal.run("kafka-streams-groups --delete --group nobody")
    terminal.run("kafka-streams-groups --delete --all-groups")
    terminal.run("kafka-streams-groups --list")
    terminal.settle()
    terminal.run("kafka-topics --list")
