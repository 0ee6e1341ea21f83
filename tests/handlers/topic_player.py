"""Plays the conversation about topics (`topic_scenario`) over raw frames.

`python -m tests.handlers.topic_player` records it anew from Apache Kafka.
What Apache Kafka answered is in `topics_recorded.json`: label, API, version, answer, one step a line.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.schema import Message
from tests.handlers.topic_scenario import Step, plain
from tests.handlers.topic_steps import ALL
from tests.handlers.upkeep_steps import UPKEEP
from tests.oracle.apache_kafka import ApacheKafka
from tests.rawclient import RawClient

STEPS = ALL + UPKEEP
"""The conversation."""
RECORDED = Path(__file__).with_name("topics_recorded.json")
CONFIG: dict[str, object] = {"log.retention.ms": -1}
"""What the real broker needs to differ in from its defaults, to be like a stub."""
NAMED = ["one", "two", "three", "conf", "placed", "missing"]


class Player:
    """One connection to one broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.client = RawClient(bootstrap_servers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def ask(self, key: ApiKey, version: int, request: Message) -> Message:
        module, name, _ = RESPONSES[key]
        answer = self.client.exchange(key, version, encode(request, version))
        response: Message = decode(getattr(importlib.import_module(module), name), version, answer)
        return response

    def id_of(self, name: str) -> bytes:
        topics = [MetadataRequestTopic(name=name)]
        answer: Any = self.ask(ApiKey.METADATA, 12, MetadataRequest(topics=topics, allow_auto_topic_creation=False))
        topic = answer.topics[0]
        return bytes(topic.topic_id) if topic.error_code == 0 else hashlib.md5(name.encode()).digest()

    def play(self, step: Step) -> Any:
        """The step's answer, plain."""
        # ids from before the request: of what it deletes, and not of what it creates (Kafka tells those a little later)
        known = {name: self.id_of(name) for name in NAMED}
        answer = self.ask(step.key, step.version, step.request(known.__getitem__))
        return plain(answer, known.__getitem__, NAMED)


def recorded() -> dict[str, Any]:
    """Step's title -> what Apache Kafka answered."""
    return dict(map(json.loads, RECORDED.read_text().splitlines()))


def title(step: Step) -> str:
    return f"{step.key.name} {step.version} {step.label}"


def settled(player: Player, step: Step, expected: Any, seconds: float) -> Any:
    """The answer, asked for again while it is another one than expected: Kafka's brokers learn of changes later."""
    deadline = time.monotonic() + seconds
    while True:
        answer = player.play(step)
        if answer == expected or not step.reads or time.monotonic() >= deadline:
            return answer


def record() -> Iterator[str]:
    """The lines of the recording, from a fresh Apache Kafka."""
    with ApacheKafka(config=CONFIG) as kafka, Player(kafka.bootstrap_servers) as player:
        for step in STEPS:
            yield json.dumps([title(step), player.play(step)])
            if not step.reads:
                time.sleep(0.3)  # a recording can't know what to wait for


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{line}\n" for line in record()))
