"""What Kafka's console consumer prints of `__consumer_offsets` with Kafka's own formatters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.clients.jvm import Jvm
from tests.offsets_topic.history import PARTITIONS, TOPIC, Player

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FORMATTERS = ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter")
_TIMES = ("commitTimestamp", "expireTimestamp", "currentStateTimestamp")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def printed(jvm: Jvm, on: Player) -> list[str]:
    """The lines of both formatters, partition by partition; no group is joined for it.

    Times, topic ids and the uuids in member ids are replaced by what they are, and lines of tombstones that were
    written together sorted, as Kafka goes by the hashes of its maps.
    """
    lines = []
    for formatter in FORMATTERS:
        for partition in range(PARTITIONS):
            count = on.offsets(partition, -1)
            done = jvm.tool(
                CONSOLE_CONSUMER,
                *("--bootstrap-server", on.servers, "--topic", TOPIC, "--partition", str(partition)),
                *("--offset", "earliest", "--max-messages", str(count)),
                *("--formatter", f"org.apache.kafka.tools.consumer.{formatter}"),
            )
            assert done.status == 0, done.err
            lines.append(f"# {formatter}, partition {partition}: {count} records")
            lines += _in_order([_normalised(record) for record in _objects(done.out)])
    return lines


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects one behind the other: the formatters end no line."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text):
        found, at = decoder.raw_decode(text, at)
        yield found
        at += len(text[at:]) - len(text[at:].lstrip())


def _normalised(record: dict[str, Any]) -> str:
    data = (record["value"] or {}).get("data", {})
    for name in _TIMES:
        if data.get(name, -1) != -1:
            data[name] = "a time"
    if "topicId" in data:
        data["topicId"] = "an id"
    if "members" in data:
        data["members"].sort(key=lambda member: str(member["clientId"]))
    return _UUID.sub("a-uuid", json.dumps(record, ensure_ascii=False))


def _in_order(lines: list[str]) -> list[str]:
    """Runs of tombstones sorted."""
    ordered: list[str] = []
    run: list[str] = []
    for line in [*lines, ""]:
        record: Any = json.loads(line) if line else {"value": ""}
        if record["value"] is None:
            run.append(line)
            continue
        ordered += [*sorted(run), *filter(None, [line])]
        run = []
    return ordered
