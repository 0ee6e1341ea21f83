"""`kafkastub replay`: a journal's requests once more, on a fresh stub of any configuration."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafkastub.cli import output
from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    replay = commands.add_parser("replay", help="replay a journal on a new stub and show the answers that differ")
    replay.set_defaults(run=_replay)
    replay.add_argument("journal", metavar="JOURNAL", help="directory that --journal wrote")
    replay.add_argument(
        "--config", metavar="KEY=VALUE", nargs="+", action="extend", default=[], help="Kafka's broker configuration"
    )
    replay.add_argument("--config-file", metavar="FILE", help="server.properties file")
    replay.add_argument(
        "--profile",
        choices=["kips", "kafka"],
        default="kips",
        help="behave as the KIPs say, or as Kafka 4.x (default %(default)s)",
    )
    replay.add_argument(
        "--as-version", metavar="RELEASE", help="have the API versions of this Apache Kafka release, 2.1 to 4.4"
    )
    replay.add_argument(
        "--topic",
        metavar="NAME:PARTITIONS",
        nargs="+",
        action="extend",
        default=[],
        help="create topics before the replay",
    )


def _replay(arguments: argparse.Namespace) -> int:
    """0 where all was answered as in the journal, 1 where not."""
    from kafkastub.cli.serve import named_topics, overrides
    from kafkastub.config import ConfigError
    from kafkastub.stub.errors import TopicError
    from kafkastub.stub.replaying import replay
    from kafkastub.stub.stub import KafkaStub

    try:
        config, topics = overrides(arguments), named_topics(arguments.topic)
        with KafkaStub(topics=topics, config=config, profile=arguments.profile, journal=False) as stub:
            done = replay(arguments.journal, stub)
    except (ConfigError, TopicError, ValueError, OSError) as error:
        return refuse(str(error))
    for line in done.differences:
        output.say(line)
    skipped = f", {done.skipped} skipped that hold secrets" if done.skipped else ""
    output.say(f"{done.requests} requests, {done.answers} answers, {len(done.differences)} with other errors{skipped}")
    return 1 if done.differences else 0
