"""Histories of Kafka's own command-line tools, and transcripts of what they print.

A history is played on a broker of its own: on Apache Kafka by `python -m tests.clients.record_tools`, which keeps the
transcript in golden/, and on the stub by the tests, which compare. What differs from broker to broker (ports, member
and topic ids, times of day) is replaced by what it is, in the same width.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from kafkastub.client import Client, topics
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from tests.clients.client import until
from tests.clients.jvm import Jvm

GOLDEN = Path(__file__).resolve().parent / "golden"

MAIN_CLASSES = {
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
}

PATIENCE_MS = "60000"
"""By default kafka-consumer-groups gives up after 5 s: a busy machine needs longer."""
PATIENT = ("kafka-consumer-groups", "kafka-share-groups", "kafka-streams-groups")

MEMBER_ID = re.compile(r"\b(one|two|console-consumer)-[0-9a-f-]{36}\b")
CHOSEN_MEMBER_ID = re.compile(r"(?<= )[A-Za-z0-9_-]{22}(?= +(\S+ +)?/127\.0\.0\.1)")
"""A member of the consumer protocol chooses its id itself."""
_OF_STREAMS = (
    (re.compile(r"(?<= )[A-Za-z0-9_-]{22}(?= +(\S+ +){0,2}[0-9a-f-]{36} )"), f"{'id':.^22}"),
    (re.compile(r"(?<= )[0-9a-f]{8}-[0-9a-f-]{27}(?= +\S+-StreamThread-)"), f"{'process':.^36}"),
)
"""Members of streams groups choose their ids, and those of their processes."""
QUOTAS = "Quota configs for "
TOPIC_ID = re.compile(r"(TopicId: )\S{22}")


_OF_THE_QUORUM = (
    (re.compile(r"(Epoch: |ClusterId: +|Cluster ID: |HighWatermark: +|LeaderEpoch: +)\S+"), r"\1(some)"),
    (re.compile(r"(directoryId\W+)(?!AQIDBAUGBwgJCgsMDQ4PEA)[A-Za-z0-9_-]{22}"), r"\1(some)"),
    (re.compile(r"CONTROLLER://127\.0\.0\.1:\d+"), "CONTROLLER://(somewhere)"),
    # a row of a replica: its directory, the end of its log, and times
    (re.compile(r"^(\d+)\s+[A-Za-z0-9_-]{22}\s+\d+\s+(\d+)\s+\d.*?(Leader|Observer|Follower)\s*$", re.M), r"\1 \2 \3"),
)
"""What the quorum's tools print that is another in every run, and what it is."""


LONG_AGO = 1_700_000_000_000
"""2023-11-14T22:13:20Z in ms."""
_OF_TRANSACTIONS = (
    (re.compile(rf"\b(?!{LONG_AGO})1[5-9]\d{{11}}(?= *\t)"), f"{'now':.^13}"),
    (re.compile(rf"({'now':.^13} *\t)\d+ *\t(?=[^\n])"), rf"\1{'some':<21}\t"),
    (re.compile(rf"({LONG_AGO}\t)\d{{6,}} *\t$", re.M), rf"\1{'some':<13}\t"),
)
"""Times in the tables of kafka-transactions, and how long ago they were: the columns are as wide as their heads."""


class Terminal:
    """Plays a history on the broker at `servers` and writes the transcript."""

    def __init__(self, jvm: Jvm, servers: str, folder: Path) -> None:
        self.jvm = jvm
        self.servers = servers
        self.folder = folder
        """For files that tools read."""
        self._transcript: list[str] = []

    @property
    def transcript(self) -> str:
        return "\n".join([*self._transcript, ""])

    def say(self, event: str) -> None:
        """Note what happens beside the tools."""
        self._transcript += ["", f"# {event}"]

    def run(self, command: str, stdin: str = "") -> None:
        """Run one tool; `command` is as typed in a shell, without the bootstrap server and without quoting."""
        name, *args = command.split()
        found = [str(self.folder / arg) if (self.folder / arg).is_file() else arg for arg in args]
        if name in PATIENT and "--timeout" not in found:
            found += ["--timeout", PATIENCE_MS]
        servers = ["--bootstrap-server", self.servers]
        # one of them has its subcommand first
        args = [found[0], *servers, *found[1:]] if name == "kafka-cluster" else [*servers, *found]
        done = self.jvm.tool(MAIN_CLASSES[name], *args, stdin=stdin)
        if name == "kafka-topics" and not done.status:
            _until_known(self.servers, found)
        self._transcript += ["", f"$ {command}"]
        self._transcript += [f"< {line}" for line in stdin.splitlines()]
        self._transcript += self._lines(done.out)
        self._transcript += [f"! {line}".rstrip() for line in self._lines(done.err)]
        if done.status:
            self._transcript.append(f"= {done.status}")

    def settle(self) -> None:
        """Until the broker has learnt of all that its controller has done by now."""
        quorum = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
        versions = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
        with Client(self.servers) as client:
            link = client.connection()
            done = link.ask(quorum, 2).topics[0].partitions[0].high_watermark
            until(lambda: link.ask(versions, 3).finalized_features_epoch >= done - 1, "what the controller did")

    def file(self, name: str, text: str) -> None:
        """A file for a tool to read: its name in a command stands for its path."""
        self.say(f"file {name}")
        self._transcript += text.splitlines()
        (self.folder / name).write_text(text)

    def _lines(self, output: str) -> list[str]:
        """Lines with what differs from broker to broker replaced.

        The rows of a table and the quotas of several entities are in the order of their text (Kafka's follows the
        hashes of random ids, or is another one in every run), and a Java stack trace is its first line.
        """
        if all(line.startswith(QUOTAS) for line in output.splitlines()):
            output = "\n".join(sorted(output.splitlines()))
        port = self.servers.rpartition(":")[2]
        output = MEMBER_ID.sub(rf"\1-{'id':.^36}", output)
        output = CHOSEN_MEMBER_ID.sub(f"{'id':.^22}", output)
        output = TOPIC_ID.sub(rf"\1{'id':.^22}", output)
        for pattern, place in (*_OF_THE_QUORUM, *_OF_TRANSACTIONS, *_OF_STREAMS):
            output = pattern.sub(place, output)
        output = output.replace(port, f"{'port':.^{len(port)}}")
        lines: list[str] = []
        table: list[str] = []
        for line in [*output.splitlines(), ""]:
            if table and line.strip():
                table.append(line)
            elif table:
                lines += [table[0], *sorted(table[1:]), line]
                table = []
            elif re.match(r"(GROUP|TOPIC) +[A-Z]|(TransactionalId|ProducerId) *\t", line):
                table.append(line)
            else:
                lines.append(line)
        return [line.rstrip() for line in lines[: len(output.splitlines())] if not line.startswith("\tat ")]


def _until_known(servers: str, args: Sequence[str]) -> None:
    """Until the broker has learnt of what its controller did: tools in a JVM that runs already start within that."""
    said = dict(pairwise(args))
    topic = said.get("--topic", "")
    with Client(servers) as client:
        if "--create" in args or ("--delete" in args and "--if-exists" not in args):
            there = "--create" in args
            until(lambda: (topic in topics.names(client)) is there, f"topic {topic}, there: {there}")
        elif "--alter" in args and "--if-exists" not in args:
            count = int(said["--partitions"])
            until(lambda: len(topics.describe(client, [topic])[topic].partitions) == count, f"{topic} with {count}")


def filled(terminal: Terminal, topic: str, partitions: int, each: int) -> None:
    """A topic with so many records in each partition, a second apart from 2023-11-14T22:13:20Z on."""
    jvm, servers = terminal.jvm, terminal.servers
    jvm.ask("admin", servers=servers, what="create_topic", name=topic, partitions=partitions, configs={})
    records = [
        (partition, None, f"{topic} {number}", LONG_AGO + 1000 * number)
        for partition in range(partitions)
        for number in range(each)
    ]
    jvm.ask("produce", config={"bootstrap.servers": servers}, topic=topic, records=records)
    terminal.say(f"{topic}: {partitions} partitions, {each} records in each")


class Members:
    """Java consumers that stay in their group while tools look at it; `protocol` is classic or consumer."""

    def __init__(self, terminal: Terminal, protocol: str = "classic") -> None:
        self.terminal = terminal
        self._protocol = protocol

    def join(
        self,
        group: str,
        client_id: str,
        topics: list[str],
        *,
        instance: str = "",
        pattern: str = "",
        known_as: str = "",
    ) -> None:
        """Subscribe to topics, or to what the pattern matches; others call it by its client id, or as `known_as`."""
        which = f" as {instance}" if instance else ""
        self.terminal.say(f"{client_id} joins {group}{which}, subscribing {', '.join(topics) or pattern}")
        config = {
            "bootstrap.servers": self.terminal.servers,
            "group.id": group,
            "group.protocol": self._protocol,
            "client.id": client_id,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
        }
        if self._protocol == "classic":
            config["heartbeat.interval.ms"] = 100
        if instance:
            config["group.instance.id"] = instance
        name = known_as or client_id
        self.terminal.jvm.ask("subscribe", consumer=name, config=config, topics=topics, pattern=pattern)

    def poll_until(self, shares: dict[str, int]) -> None:
        """Poll all members until each has so many partitions."""

        def ask(verb: str, client_id: str, **fields: object) -> list[object]:
            found: list[object] = self.terminal.jvm.ask(verb, consumer=client_id, **fields)
            return found

        def settled() -> bool:
            for client_id in shares:
                ask("poll", client_id, ms=50)
            return {client_id: len(ask("assignment", client_id)) for client_id in shares} == shares

        until(settled, str(shares))

    def read_all(self, client_id: str, count: int) -> None:
        """Read so many records from the start and commit."""
        received = 0

        def enough() -> bool:
            nonlocal received
            received += len(self.terminal.jvm.ask("poll", consumer=client_id, ms=50))
            return received >= count

        until(enough, f"{count} records")
        self.terminal.jvm.ask("commit", consumer=client_id)
        self.terminal.say(f"{client_id} reads {count} records and commits")

    def leave(self, client_id: str) -> None:
        self.terminal.say(f"{client_id} leaves")
        self.terminal.jvm.ask("close", consumer=client_id)


History = Callable[[Terminal], None]
