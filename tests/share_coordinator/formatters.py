"""What Kafka's console consumer prints of `__share_group_state` with Kafka's own formatter."""

from __future__ import annotations

import json
import re
from typing import Any

from kafkastub.metadata import SHARE_GROUP_STATE
from tests.clients.jvm import Jvm
from tests.offsets_topic.formatters import CONSOLE_CONSUMER
from tests.persistence.speaker import Speaker

FORMATTER = "org.apache.kafka.tools.consumer.group.share.ShareGroupStateMessageFormatter"
_TIMES = ("createTimestamp", "writeTimestamp")


def printed(jvm: Jvm, servers: str) -> list[str]:
    """Its lines; times and topic ids are replaced by what they are."""
    with Speaker(servers) as on:
        count = on.offset(SHARE_GROUP_STATE, 0, -1)
    done = jvm.tool(
        CONSOLE_CONSUMER,
        *("--bootstrap-server", servers, "--topic", SHARE_GROUP_STATE, "--partition", "0", "--offset", "earliest"),
        *("--max-messages", str(count), "--formatter", FORMATTER),
    )
    assert done.status == 0, done.err
    decoder, at, lines = json.JSONDecoder(), 0, []
    while at < len(done.out):
        record, at = decoder.raw_decode(done.out, at)
        lines.append(_normalised(record))
        at += len(done.out[at:]) - len(done.out[at:].lstrip())
    return lines


def _normalised(record: dict[str, Any]) -> str:
    data = (record["value"] or {}).get("data", {})
    for name in _TIMES:
        if name in data:
            data[name] = "a time"
    return re.sub(r'"topicId": "[^"]+"', '"topicId": "an id"', json.dumps(record, ensure_ascii=False))
