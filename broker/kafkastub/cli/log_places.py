"""Places in logs that commands take offsets to: the ends, and what came at a time."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kafkastub.cli import kafka_order, output

if TYPE_CHECKING:
    from kafkastub.client import Client

Partition = tuple[str, int]
Plan = dict[Partition, int]


def check(client: Client, partitions: list[Partition]) -> None:
    """Raises BrokerError for partitions that do not exist or have no leader."""
    from kafkastub.client import BrokerError, topics
    from kafkawire.errors import ErrorCode

    described = topics.describe(client, {name for name, _ in partitions})
    led = {
        (topic.name, partition.index): partition.leader is not None
        for topic in described.values()
        for partition in topic.partitions
    }
    for problem, code, what in (
        ([one for one in partitions if one not in led], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "do not exist"),
        ([one for one in partitions if not led.get(one, True)], ErrorCode.LEADER_NOT_AVAILABLE, "have no leader"),
    ):
        if problem:
            shown = ",".join(f"{name}-{index}" for name, index in problem)
            raise BrokerError(code, f'The partitions "{shown}" {what}')


def at(client: Client, partitions: list[Partition], timestamp: int) -> Plan:
    """What ListOffsets says of a timestamp. Raises BrokerError."""
    from kafkastub.client import topics

    return topics.list_offsets(client, dict.fromkeys(partitions, timestamp))


def since(client: Client, partitions: list[Partition], timestamp: int) -> Plan:
    """The first records from a time on; the ends, which is said, where there are none. Raises BrokerError."""
    found = at(client, partitions, timestamp)
    late = [one for one in partitions if found[one] < 0]
    for name, index in kafka_order.partitions(late):
        warning = f"Warn: Partition {index} from topic {name} is empty. Falling back to latest known offset."
        output.say(warning, above=True)
    return found | at(client, late, -1)


def date_time(text: str) -> int:
    """Milliseconds since 1970 of an ISO time; without a zone it is UTC (Kafka: Utils.getDateTime)."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or "T" not in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-01-31T13:00:00.000; a zone may follow")
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
