"""Share groups (KIP-932) as Kafka's command-line tools show and change them."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.client import Client, share_groups
from kafkastub.client.errors import BrokerError
from tests.clients.client import until
from tests.clients.tools import LONG_AGO, Terminal

SETTINGS: Final = {"group.share.min.heartbeat.interval.ms": 100, "group.share.heartbeat.interval.ms": 100}
"""Of the broker: members are told by it how often they speak."""

PARTS: Final = ("--offsets", "--members", "--state")
DESCRIBE: Final = "kafka-share-groups --describe --group"
RESET: Final = "kafka-share-groups --reset-offsets --group workers"
ACCEPT, RELEASE, REJECT = "accept", "release", "reject"


class Sharers:
    """Java's share consumers, which stay in their group while tools look at it."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._polled: dict[str, list[list[Any]]] = {}

    def join(self, group: str, client_id: str, topics: list[str], members: int) -> None:
        """Subscribe, and wait until the group has so many members and each of them something to read."""
        config = {"bootstrap.servers": self._terminal.servers, "group.id": group, "client.id": client_id}
        self._terminal.jvm.ask("share_subscribe", consumer=client_id, config=config, topics=topics)
        self._polled[client_id] = []

        def settled() -> bool:
            self.poll(client_id)
            try:
                found = share_groups.describe(client, group)
            except BrokerError:
                return False
            settled = [one for one in found.members if one.assignment and one.epoch == found.epoch]
            return len(settled) == len(found.members) == members

        with Client(self._terminal.servers) as client:
            until(settled, f"{group} with {members} members")
        self._terminal.say(f"{client_id} joins {group}, subscribing {', '.join(topics)}")

    def poll(self, client_id: str) -> None:
        if not self._polled[client_id]:
            self._polled[client_id] = self._terminal.jvm.ask("share_poll", consumer=client_id, ms=50)

    def read(self, client_id: str, count: int, last: str = ACCEPT) -> None:
        """Read so many records and accept them; of each partition's last one something else may be said."""
        read: list[list[Any]] = []

        def enough() -> bool:
            self.poll(client_id)
            rows, self._polled[client_id] = self._polled[client_id], []
            read.extend(rows)
            if rows:
                ends = {(row[0], row[1]): row[2] for row in rows}
                said = [(*row[:3], last if ends[row[0], row[1]] == row[2] else ACCEPT) for row in rows]
                results = self._terminal.jvm.ask("share_acknowledge", consumer=client_id, records=said)
                assert set(results.values()) == {"NONE"}, results
            return len(read) >= count

        until(enough, f"{count} records")
        self._terminal.say(f"{client_id} reads {count} records and accepts them, each partition's last one: {last}")

    def leave(self, client_id: str) -> None:
        self._terminal.say(f"{client_id} leaves")
        self._terminal.jvm.ask("share_close", consumer=client_id)
        del self._polled[client_id]


def filled(terminal: Terminal, topic: str, partitions: int, each: int, since: int = 0) -> None:
    """So many more records in each partition, a batch each, a second apart from 2023-11-14T22:13:20Z on."""
    jvm, servers = terminal.jvm, terminal.servers
    if not since:
        jvm.ask("admin", servers=servers, what="create_topic", name=topic, partitions=partitions, configs={})
    records = [
        (partition, None, f"{topic} {number}", LONG_AGO + 1000 * number)
        for partition in range(partitions)
        for number in range(since, since + each)
    ]
    jvm.ask("produce", config={"bootstrap.servers": servers, "linger.ms": 1000}, topic=topic, records=records)
    terminal.say(f"{topic}: {each} records more in each of {partitions} partitions")


def from_the_start(terminal: Terminal, group: str) -> None:
    terminal.run(f"kafka-configs --alter --entity-type groups --entity-name {group} --add-config {EARLIEST}")
    terminal.settle()


EARLIEST: Final = "share.auto.offset.reset=earliest"


def look(terminal: Terminal, group: str) -> None:
    """At all that is shown of a group."""
    for part in PARTS:
        terminal.run(f"{DESCRIBE} {group} {part}")
        terminal.run(f"{DESCRIBE} {group} {part} --verbose")


def share(terminal: Terminal) -> None:
    """A group through its life: one member, two that share a partition, none, gone."""
    members = Sharers(terminal)
    filled(terminal, "orders", 1, 10)
    terminal.run("kafka-share-groups --list")
    look(terminal, "nobody")
    from_the_start(terminal, "workers")
    terminal.run("kafka-configs --describe --entity-type groups --entity-name workers")
    members.join("workers", "one", ["orders"], 1)
    members.read("one", 10)
    for asked in ("", " --state", " --state stable", " --state Empty"):
        terminal.run(f"kafka-share-groups --list{asked}")
    for asked in ("", " --share", " --consumer", " --group-type share", " --protocol share"):
        terminal.run(f"kafka-groups --list{asked}")
    look(terminal, "workers")
    terminal.run("kafka-share-groups --describe --group workers")
    members.join("workers", "two", ["orders"], 2)
    look(terminal, "workers")
    terminal.run("kafka-share-groups --describe --all-groups --state")
    terminal.run("kafka-consumer-groups --describe --group workers")

    terminal.run("kafka-share-groups --delete --group workers")
    terminal.run("kafka-share-groups --delete-offsets --group workers --topic orders")
    terminal.run(f"{RESET} --topic orders --to-earliest --execute")
    members.leave("one")
    members.leave("two")
    look(terminal, "workers")
    terminal.run("kafka-share-groups --list --state")
    terminal.run("kafka-share-groups --delete --group workers --group nobody")
    terminal.run("kafka-share-groups --list")


def share_offsets(terminal: Terminal) -> None:
    """Start offsets that go on with what is said of records, are set anew, and deleted."""
    members = Sharers(terminal)
    filled(terminal, "orders", 2, 10)
    filled(terminal, "audit", 1, 4)
    from_the_start(terminal, "workers")
    members.join("workers", "one", ["orders", "audit"], 1)
    members.read("one", 24)
    terminal.run(f"{DESCRIBE} workers")
    filled(terminal, "orders", 2, 10, 10)
    members.read("one", 20, REJECT)
    terminal.run(f"{DESCRIBE} workers --verbose")
    filled(terminal, "orders", 2, 10, 20)
    members.read("one", 20)
    terminal.run(f"{DESCRIBE} workers")
    members.leave("one")
    for asked in (
        "--topic orders --to-earliest --dry-run",
        "--topic orders --to-earliest --execute",
        "--topic orders:1 --to-latest --execute",
        "--topic orders --to-datetime 2023-11-14T22:13:25.500 --execute",
        "--all-topics --to-latest --dry-run",
        "--all-topics --to-earliest --execute",
        "--topic missing --to-earliest --execute",
        "--topic orders:7 --to-earliest --execute",
    ):
        terminal.run(f"{RESET} {asked}")
        terminal.run(f"{DESCRIBE} workers --offsets")
    terminal.run("kafka-share-groups --reset-offsets --group fresh --topic orders --to-latest --execute")
    look(terminal, "fresh")
    terminal.run("kafka-share-groups --delete-offsets --group workers --topic missing")
    terminal.run("kafka-share-groups --delete-offsets --group nobody --topic orders")
    terminal.run("kafka-share-groups --delete-offsets --group workers --topic orders")
    terminal.run(f"{DESCRIBE} workers")
    terminal.run("kafka-share-groups --delete-offsets --group workers --topic orders")
    terminal.run("kafka-share-groups --delete --all-groups")
    terminal.run("kafka-share-groups --list")


def share_console(terminal: Terminal) -> None:
    """The console tool accepts, releases and rejects."""
    filled(terminal, "orders", 1, 6)
    from_the_start(terminal, "workers")
    shown = " ".join(f"--formatter-property print.{part}=true" for part in ("partition", "offset", "delivery"))
    consume = f"kafka-console-share-consumer --topic orders --group workers {shown}"
    terminal.run(f"{consume} --max-messages 6 --release")
    terminal.run(f"{DESCRIBE} workers")
    terminal.run(f"{consume} --max-messages 6 --reject")
    terminal.run(f"{DESCRIBE} workers")
    filled(terminal, "orders", 1, 6, 6)
    terminal.run(f"{consume} --max-messages 6")
    terminal.run(f"{DESCRIBE} workers")
    terminal.run(f"{consume} --timeout-ms 300")
    terminal.run(f"{DESCRIBE} workers --state")
