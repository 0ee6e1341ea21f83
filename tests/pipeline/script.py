"""A random history of many groups that can be played on one stub after the other: nothing in it depends on answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.offsets_topic import RecordType, decode_record
from kafkawire.records import read_batch
from tests.coordinator.context import Member
from tests.expiry.wire import Wire
from tests.offsets_topic.history import Player, subscription

START_MS = 1_800_000_000_000
TOPICS = ("a", "b", "c", "d, with: signs".replace(", ", ".").replace(": ", "-"))
PARTITIONS = 3
LOG_PARTITIONS = 4
MINUTE = 60_000
RETENTION = 600
"""Minutes."""

Step = tuple[str, tuple[Any, ...]]
Tombstone = tuple[str, str | None, int | None, int]
"""Group, topic, partition (None for the group itself), time."""


def steps(seed: int, groups: int, length: int) -> list[Step]:
    """What happens. A group is simple, or has members, for all its life."""
    rnd = random.Random(seed)
    names = [f"group {n}: é,{n % 7}" if n % 10 == 0 else f"group-{n}" for n in range(groups)]
    alive: dict[str, int] = {}
    found: list[Step] = []
    for _ in range(length):
        group = rnd.choice(names)
        simple = names.index(group) % 3 == 0
        kind = rnd.random()
        if kind < 0.25:
            found.append(("advance", (rnd.choice([1, 7, 977, MINUTE, 17 * MINUTE + 3, 90 * MINUTE + 11]),)))
        elif kind < 0.32 and not simple and not alive.get(group):
            alive[group] = 1
            topics = rnd.sample(TOPICS, rnd.randrange(1, 3))
            metadata = b"\0" if rnd.random() < 0.1 else subscription(*topics)
            found.append(("join", (group, metadata, "connect" if rnd.random() < 0.1 else "consumer")))
        elif kind < 0.38 and alive.get(group):
            alive[group] = 0
            found.append(("leave", (group,)))
        elif kind < 0.41:
            found.append(("advance", (rnd.randrange(1, 5000),)))
            found.append(("delete offset", (group, rnd.choice(TOPICS), rnd.randrange(PARTITIONS))))
        elif kind < 0.43:
            found.append(("advance", (rnd.randrange(1, 5000),)))
            found.append(("delete group", (group,)))
        else:
            places = {
                (rnd.choice(TOPICS), rnd.randrange(PARTITIONS)): rnd.randrange(1000) for _ in range(rnd.randrange(1, 4))
            }
            own = rnd.choice([0, 5 * MINUTE, 2000 * MINUTE]) if rnd.random() < 0.1 else -1
            found.append(("commit", (group, places, own)))
    return found


@dataclass
class Played:
    """A stub behind the history, its clock frozen.

    Attributes:
        administered: (group, time) of what was deleted on purpose.
    """

    stub: KafkaStub
    wire: Wire
    members: dict[str, Member] = field(default_factory=dict)
    administered: set[tuple[str, int]] = field(default_factory=set)

    def play(self, history: list[Step]) -> None:
        for name, arguments in history:
            getattr(self, "_" + name.replace(" ", "_"))(*arguments)

    def _advance(self, ms: int) -> None:
        self.stub.clock.advance(milliseconds=ms)

    def _commit(self, group: str, places: dict[tuple[str, int], int], own: int) -> None:
        member = self.members.get(group)
        self.wire.commit(group, places, member=member, own=own, version=8 if own == -1 else 4)

    def _join(self, group: str, metadata: bytes, protocol_type: str) -> None:
        self.members[group] = self.wire.member(group, metadata, protocol_type)

    def _leave(self, group: str) -> None:
        self.wire.leave(self.members.pop(group))

    def _delete_offset(self, group: str, topic: str, partition: int) -> None:
        wanted = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
        self.wire.ask(ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(group, wanted))
        self.administered.add((group, self.stub.clock.now_ms()))

    def _delete_group(self, group: str) -> None:
        answer = self.wire.ask(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest([group]))
        assert answer.results[0].error_code in (0, ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND)
        self.administered.add((group, self.stub.clock.now_ms()))

    def tombstones(self, since_ms: int = 0) -> list[Tombstone]:
        """Read back by a client of another make than the pipeline's."""
        player = Player(self.stub.bootstrap_servers)
        found: list[Tombstone] = []
        try:
            for partition in range(LOG_PARTITIONS):
                for batch in player.batches(partition):
                    for record in read_batch(batch):
                        if record.value is not None or record.timestamp < since_ms:
                            continue
                        read = decode_record(record.key, record.value)
                        key: Any = read.key
                        if read.type is RecordType.GROUP_METADATA:
                            found.append((key.group, None, None, record.timestamp))
                        else:
                            found.append((key.group, key.topic, key.partition, record.timestamp))
        finally:
            player.close()
        return found


@contextmanager
def played(history: list[Step], retention: int = RETENTION, profile: str = "kips") -> Iterator[Played]:
    config: dict[str, object] = {
        "offsets.retention.minutes": retention,
        "offsets.topic.num.partitions": LOG_PARTITIONS,
        "group.initial.rebalance.delay.ms": 0,
        "kafkastub.offsets.history.records": 1_000_000,
    }
    with KafkaStub(config=config, profile=profile) as stub:
        stub.clock.freeze()
        stub.clock.set(START_MS)
        for topic in TOPICS:
            stub.create_topic(topic, PARTITIONS)
        with Wire(stub.bootstrap_servers) as wire:
            found = Played(stub, wire)
            found.play(history)
            yield found
