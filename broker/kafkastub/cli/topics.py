"""`kafkastub topics`: topics of any broker, as kafka-topics.sh shows and changes them.

Lines and sentences are those of Apache Kafka 4.3.1 (`TopicCommand`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkastub.cli import kafka_order, output
from kafkastub.cli.broker import UsageError, add_client_action, positive
from kafkastub.cli.common import FAILED

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client
    from kafkastub.client.topics import Partition, Setting, Topic

    Settings = dict[str, dict[str, Setting]]

_REPORTS = (
    ("under_replicated_partitions", "only partitions whose replicas are not all in sync"),
    ("unavailable_partitions", "only partitions without a leader that is alive"),
    ("under_min_isr_partitions", "only partitions with fewer replicas in sync than min.insync.replicas"),
    ("at_min_isr_partitions", "only partitions with exactly min.insync.replicas replicas in sync"),
)
_MINIMUM = "min.insync.replicas"
_COLLISION = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    topics = commands.add_parser("topics", help="list, describe, create, alter and delete topics of any broker")
    actions = topics.add_subparsers(required=True, metavar="ACTION")
    parser = _action(actions, "list", "list topics", _list)
    parser.add_argument("--topic", metavar="REGEX", help="only topics whose whole name matches the regular expression")
    parser.add_argument(
        "--exclude-internal", action="store_true", help="leave out internal topics such as __consumer_offsets"
    )
    _add_create(actions)
    _add_describe(actions)
    parser = _action(actions, "alter", "increase the number of partitions of topics", _alter)
    parser.add_argument(
        "--topic", required=True, metavar="REGEX", help="regular expression for the names of the topics"
    )
    parser.add_argument("--partitions", required=True, type=int, metavar="N", help="new number of partitions")
    parser.add_argument(
        "--replica-assignment", type=_assignment, metavar="1:2,2:3", help="brokers of the replicas, for every partition"
    )
    parser.add_argument("--if-exists", action="store_true", help="succeed if there is no such topic")
    parser = _action(actions, "delete", "delete topics", _delete)
    parser.add_argument(
        "--topic", required=True, metavar="REGEX", help="regular expression for the names of the topics"
    )
    parser.add_argument("--if-exists", action="store_true", help="succeed if there is no such topic")


def _action(
    actions: Commands, name: str, text: str, work: Callable[[argparse.Namespace, Client], int]
) -> argparse.ArgumentParser:
    return add_client_action(actions, name, text, _told(work))


def _add_create(actions: Commands) -> None:
    parser = _action(actions, "create", "create a topic", _create)
    parser.add_argument("--topic", required=True, metavar="NAME", help="name of the topic")
    parser.add_argument(
        "--partitions", type=int, metavar="N", help="number of partitions (default: the broker's num.partitions)"
    )
    parser.add_argument(
        "--replication-factor", type=int, metavar="N", help="replicas of each partition (default: the broker's)"
    )
    parser.add_argument(
        "--replica-assignment", type=_assignment, metavar="1:2,2:3", help="brokers of the replicas, for each partition"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="configuration of the topic; may be given several times",
    )
    parser.add_argument("--if-not-exists", action="store_true", help="succeed if the topic exists")


def _add_describe(actions: Commands) -> None:
    parser = _action(actions, "describe", "show partitions, leaders and configurations of topics", _describe)
    parser.add_argument("--topic", metavar="REGEX", help="only topics whose whole name matches the regular expression")
    parser.add_argument("--topic-id", metavar="ID", help="only the topic with this id")
    parser.add_argument("--if-exists", action="store_true", help="succeed if there is no such topic")
    parser.add_argument(
        "--exclude-internal", action="store_true", help="leave out internal topics such as __consumer_offsets"
    )
    parser.add_argument(
        "--partition-size-limit-per-response",
        type=positive,
        default=2000,
        metavar="N",
        help="partitions in one response (default %(default)s)",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--topics-with-overrides", action="store_true", help="only topics with a configuration of their own"
    )
    for name, text in _REPORTS:
        only.add_argument("--" + name.replace("_", "-"), action="store_true", help=text)


class _Refused(Exception):
    """What Kafka's tool prints behind `Error while executing topic command : `."""


def _told(work: Callable[[argparse.Namespace, Client], int]) -> Callable[[argparse.Namespace, Client], int]:
    """The command, with what a broker refused said as Kafka's tool says it."""

    def run(arguments: argparse.Namespace, client: Client) -> int:
        from kafkastub.client import BrokerError

        try:
            return work(arguments, client)
        except (BrokerError, _Refused) as error:
            output.say(f"Error while executing topic command : {error}")
            return FAILED

    return run


def _found(arguments: argparse.Namespace, client: Client, if_exists: bool = True) -> list[str]:
    """The topics that --topic names, sorted. Raises _Refused where there is none and one is wanted."""
    from kafkastub.client import topics

    hidden = topics.INTERNAL if getattr(arguments, "exclude_internal", False) else frozenset()
    known = [name for name in sorted(topics.names(client)) if name not in hidden]
    if arguments.topic is None:
        return known
    text = arguments.topic.strip().replace(",", "|").replace(" ", "")
    try:
        pattern = re.compile(text.strip("\"'"))
    except re.error as error:
        raise UsageError(f"--topic {arguments.topic!r} is not a regular expression: {error}") from None
    chosen = [name for name in known if pattern.fullmatch(name)]
    if not chosen and arguments.topic and not if_exists:
        raise _Refused(f"Topic '{arguments.topic}' does not exist as expected")
    return chosen


def _list(arguments: argparse.Namespace, client: Client) -> int:
    names = _found(arguments, client)
    if arguments.output == "json":
        output.as_json(names)
    else:
        for name in names or [""]:
            output.say(name)
    return 0


def _create(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, topics
    from kafkawire.errors import ErrorCode

    assignment: list[list[int]] = arguments.replica_assignment or []
    if assignment and (arguments.partitions is not None or arguments.replication_factor is not None):
        raise UsageError("--replica-assignment sets the numbers of partitions and replicas: remove the other options")
    name = arguments.topic
    configs = dict(map(_config, arguments.config))
    if "." in name or "_" in name:
        output.say(_COLLISION)
    replicas, partitions = arguments.replication_factor, arguments.partitions
    if replicas is not None and not 1 <= replicas <= 32767:
        raise _Refused("The replication factor must be between 1 and 32767 inclusive")
    if partitions is not None and partitions < 1:
        raise _Refused("The partitions must be greater than 0")
    try:
        topics.create(
            client,
            name,
            -1 if partitions is None else partitions,
            -1 if replicas is None else replicas,
            assignment,
            configs,
        )
    except BrokerError as error:
        if error.code != ErrorCode.TOPIC_ALREADY_EXISTS or not arguments.if_not_exists:
            raise
        created = False
    else:
        created = True
    if arguments.output == "json":
        output.as_json({"topic": name, "created": created})
    elif created:
        output.say(f"Created topic {name}.")
    return 0


def _alter(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import topics

    names = _found(arguments, client, arguments.if_exists)
    brokers: list[list[int]] = arguments.replica_assignment or []
    described = topics.describe(client, names)
    counts = {
        name: (arguments.partitions, brokers[len(described[name].partitions) :] if brokers else None) for name in names
    }
    if counts:
        topics.add_partitions(client, counts)
    if arguments.output == "json":
        output.as_json([{"topic": name, "partitions": arguments.partitions} for name in names])
    return 0


def _delete(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import topics

    names = _found(arguments, client, arguments.if_exists)
    topics.delete(client, names)
    if arguments.output == "json":
        output.as_json([{"topic": name, "deleted": True} for name in names])
    return 0


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from dataclasses import asdict

    from kafkastub.client import topics

    if arguments.topic_id:
        names = [name for name, topic_id in topics.names(client).items() if topic_id == arguments.topic_id]
        if not names and not arguments.if_exists:
            raise _Refused(f"TopicId '{arguments.topic_id}' does not exist as expected")
    else:
        names = _found(arguments, client, arguments.if_exists)
    described = topics.describe(client, names, arguments.partition_size_limit_per_response)
    ordered = [described[name] for name in kafka_order.topics(names)]
    settings = topics.configs(client, [topic.name for topic in ordered])
    configs = {name: _overrides(of_topic) for name, of_topic in settings.items()}
    shown = _Shown(arguments, client, ordered, settings)
    if arguments.output == "json":
        output.as_json(
            [
                asdict(topic) | {"configs": configs[topic.name], "partitions": [asdict(row) for row in rows]}
                for topic in ordered
                if (rows := shown.partitions(topic)) or shown.with_topic
            ]
        )
        return 0
    for topic in ordered:
        if shown.with_topic and (configs[topic.name] or not arguments.topics_with_overrides):
            _print_topic(topic, configs[topic.name])
        for row in [] if arguments.topics_with_overrides else shown.partitions(topic):
            _print_partition(topic.name, row)
    return 0


def _overrides(of_topic: dict[str, Setting]) -> dict[str, str | None]:
    return {name: of_topic[name].value for name in kafka_order.names(of_topic) if not of_topic[name].is_default}


class _Shown:
    """Which lines of `describe` the options ask for."""

    def __init__(
        self, arguments: argparse.Namespace, client: Client, described: list[Topic], settings: Settings
    ) -> None:
        from kafkastub.client import topics

        self.report = next((name for name, _ in _REPORTS if getattr(arguments, name)), None)
        self.with_topic = self.report is None
        self.minimum = {name: int(of_topic[_MINIMUM].value or 1) for name, of_topic in settings.items()}
        self.living = {node.id for node in client.nodes()} if self.report else set()
        self.moving = topics.reassignments(
            client, [(topic.name, row.index) for topic in described for row in topic.partitions]
        )

    def partitions(self, topic: Topic) -> list[Partition]:
        from dataclasses import replace

        rows = []
        for row in sorted(topic.partitions, key=lambda row: row.index):
            moved = self.moving.get((topic.name, row.index))
            if moved is not None:
                row = replace(row, adding=list(moved.adding_replicas), removing=list(moved.removing_replicas))
            if self._is_wanted(topic.name, row):
                rows.append(row)
        return rows

    def _is_wanted(self, topic: str, row: Partition) -> bool:
        match self.report:
            case "under_replicated_partitions":
                return len(row.replicas) - len(row.adding or []) > len(row.isr)
            case "unavailable_partitions":
                return row.leader not in self.living
            case "under_min_isr_partitions":
                return row.leader is None or len(row.isr) < self.minimum[topic]
            case "at_min_isr_partitions":
                return len(row.isr) == self.minimum[topic]
        return True


def _print_topic(topic: Topic, configs: dict[str, str | None]) -> None:
    first = topic.partitions[0]
    parts = [f"Topic: {topic.name}"]
    if topic.topic_id:
        parts.append(f"TopicId: {topic.topic_id}")
    parts.append(f"PartitionCount: {len(topic.partitions)}")
    parts.append(f"ReplicationFactor: {len(first.replicas) - len(first.adding or [])}")
    shown = ",".join(f"{name}={'null' if value is None else value}" for name, value in configs.items())
    output.say("\t".join([*parts, f"Configs: {shown}"]))


def _print_partition(topic: str, row: Partition) -> None:
    parts = [
        f"Topic: {topic}",
        f"Partition: {row.index}",
        f"Leader: {'none' if row.leader is None else row.leader}",
        f"Replicas: {_ids(row.replicas)}",
        f"Isr: {_ids(row.isr)}",
    ]
    if row.adding is not None:
        parts += [f"Adding Replicas: {_ids(row.adding)}", f"Removing Replicas: {_ids(row.removing)}"]
    output.say("\t" + "\t".join([*parts, f"Elr: {_ids(row.elr)}", f"LastKnownElr: {_ids(row.last_known_elr)}"]))


def _ids(nodes: list[int] | None) -> str:
    return "N/A" if nodes is None else ",".join(map(str, nodes))


def _config(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (equals and key.strip() and value.strip()) or "=" in value:
        raise _Refused(
            'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".'
        )
    return key.strip(), value.strip()


def _assignment(text: str) -> list[list[int]]:
    """`1:2,2:3` as the brokers of each partition."""
    rows = []
    for part in text.split(","):
        numbers = [number.strip() for number in part.split(":")]
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of brokers such as 1:2,2:3")
        rows.append([int(number) for number in numbers])
        if len(set(rows[-1])) < len(numbers):
            raise argparse.ArgumentTypeError(f"{text!r} names a broker twice for one partition")
        if len(rows[-1]) != len(rows[0]):
            raise argparse.ArgumentTypeError(f"{text!r} gives partition {len(rows) - 1} another number of replicas")
    return rows
