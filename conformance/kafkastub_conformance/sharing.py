"""What cases about share groups have in common: a member, its share session, and what it acquires (KIP-932)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.transacting import plain
from kafkastub_conformance.writing import write
from kafkawire.errors import ErrorCode as E

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""Types of acknowledgement."""

ENOUGH = 1 << 20
WAIT_MS = 50
"""So long a fetch may wait: where another one has just been answered, a broker may still be about to let it go."""

FINAL = -1
LIMITED = 1
"""The share_acquire_mode that acquires no more than max_records."""

Batch = tuple[int, int, Sequence[int]]
"""First offset, last offset, types."""

Acquired = list[tuple[int, int, int]]
"""First offset, last offset, how often delivered."""


class Sharer:
    """A member of a share group. Its requests go at the version of the run where the case is about them."""

    def __init__(self, on: Broker, group: str, *topics: Topic, name: str = "m1", client: str = "") -> None:
        on.needs("ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge")
        on.cluster.groups.add(group)
        self.on = on
        self.group = group
        self.topics = topics
        self.name = name
        self.client = client or name
        self.epoch = 0
        self.session = 0
        """The epoch that its next request to the share session has."""
        self.owned: dict[bytes, list[int]] = {}

    # Membership.

    def beat(self, epoch: int | None = None, **changes: Any) -> Answer:
        """A heartbeat, with nothing but who it is and what is said; nothing is learned from the answer."""
        body = {
            "group_id": self.group,
            "member_id": self.name,
            "member_epoch": self.epoch if epoch is None else epoch,
        }
        return self.on.ask("ShareGroupHeartbeat", **{**body, **changes})

    def first(self, **changes: Any) -> Answer:
        """The heartbeat that joins."""
        return self.beat(0, **{"subscribed_topic_names": [topic.name for topic in self.topics], **changes})

    def join(self, **changes: Any) -> Answer:
        """Join, without an error."""
        return self._learned(self.first(**changes))

    def follow(self) -> Answer:
        """The next heartbeat, without an error."""
        return self._learned(self.beat())

    def leave(self) -> None:
        """Leave."""
        expect(self.beat(-1), error_code=E.NONE, member_epoch=-1)

    def has(self, topic: Topic) -> list[int]:
        """Its partitions of a topic."""
        return sorted(self.owned.get(topic.id, ()))

    def assigned(self, topic: Topic, *partitions: int) -> Sharer:
        """Beat until it has these partitions. Raises Mismatch."""
        self.on.in_time(lambda: bool(self.follow() and self.has(topic) == list(partitions)), every=0.03)
        expect_that("its partitions", self.has(topic), list(partitions))
        return self

    def _learned(self, answer: Answer) -> Answer:
        expect(answer, error_code=E.NONE)
        self.epoch = int(answer.member_epoch)
        if answer.assignment is not None:
            self.owned = {bytes(one.topic_id): list(one.partitions) for one in answer.assignment.topic_partitions}
        return answer

    # Its share session.

    def ask(self, epoch: int, *partitions: tuple[Topic, int, Sequence[Batch]], **changes: Any) -> Answer:
        """A ShareFetch; nothing is learned from the answer."""
        body = {
            **self._who(epoch, partitions),
            "max_wait_ms": WAIT_MS,
            "min_bytes": 1,
            "max_bytes": ENOUGH,
            "max_records": 500,
            "batch_size": 500,
        }
        return self.on.ask("ShareFetch", client=self.client, **{**body, **changes})

    def tell(self, epoch: int, *partitions: tuple[Topic, int, Sequence[Batch]], **changes: Any) -> Answer:
        """A ShareAcknowledge; nothing is learned from the answer."""
        return self.on.ask("ShareAcknowledge", client=self.client, **{**self._who(epoch, partitions), **changes})

    def open(self) -> Sharer:
        """Begin a session about partition 0 of its first topic, which acquires nothing yet; the broker has read it.

        A share partition is brought into memory behind the first fetch. Raises Mismatch where that does not come to be.
        """
        expect_that("whether its partition can be fetched", self.on.in_time(self._opened, every=0.03), True)
        return self

    def fetch(self, *partitions: tuple[Topic, int, Sequence[Batch]], **changes: Any) -> Answer:
        """The next fetch of the session, without an error."""
        answer = self.ask(self.session, *partitions, **changes)
        expect(answer, error_code=E.NONE)
        self.session += 1
        return answer

    def acknowledge(self, *batches: Batch, **changes: Any) -> Any:
        """Acknowledge offsets of partition 0 of its first topic; what is told of it."""
        answer = self.tell(self.session, (self.topics[0], 0, batches), **changes)
        expect(answer, error_code=E.NONE)
        self.session += 1
        return answer.responses[0].partitions[0]

    def _opened(self) -> bool:
        self.follow()  # by its heartbeats a group finds out what is still to be initialised
        answer = self.ask(0, (self.topics[0], 0, ()), max_records=-1, max_wait_ms=0)
        expect(answer, error_code=E.NONE)
        self.session = 1
        return bool(answer.responses) and not answer.responses[0].partitions[0].error_code

    def _who(self, epoch: int, partitions: Sequence[tuple[Topic, int, Sequence[Batch]]]) -> dict[str, Any]:
        topics = [
            {
                "topic_id": topic.id,
                "partitions": [{"partition_index": index, "acknowledgement_batches": list(map(_batch, batches))}],
            }
            for topic, index, batches in partitions
        ]
        return {"group_id": self.group, "member_id": self.name, "share_session_epoch": epoch, "topics": topics}


def sharing(on: Broker, *counts: int, group: str = "", name: str = "m1") -> tuple[Sharer, Topic]:
    """A member with an open session about a new topic of one partition, with batches of so many records each."""
    topic = on.topic(1)
    member = Sharer(on, group or on.group(), topic, name=name)
    member.join()
    member.open()
    fill(on, topic, *counts)
    return member, topic


def another(member: Sharer, name: str = "m2") -> Sharer:
    """Another member of the same group, with a session of its own on a connection of its own."""
    second = Sharer(member.on, member.group, *member.topics, name=name)
    second.join()
    return second.open()


def comes_to(member: Sharer) -> Acquired:
    """What a member acquires in the end: what another one gave back may be available a moment later."""
    found: Acquired = []

    def comes() -> bool:
        found[:] = acquired(member.fetch())
        return bool(found)

    member.on.in_time(comes, every=0.03)
    return found


def fill(on: Broker, topic: Topic, *counts: int) -> None:
    """Write batches of so many records each."""
    for count in counts:
        write(on, topic, plain(*(b"v%d" % number for number in range(count))))


def acquired(answer: Answer) -> Acquired:
    """What a ShareFetch has acquired of its only partition; nothing where it tells of none."""
    if not answer.responses:
        return []
    rows = answer.responses[0].partitions[0].acquired_records
    return [(one.first_offset, one.last_offset, one.delivery_count) for one in rows]


def offsets_told(on: Broker, group: str, topic: Topic, *partitions: int) -> list[int]:
    """The start offsets that DescribeShareGroupOffsets tells of partitions."""
    asked = [{"topic_name": topic.name, "partitions": list(partitions)}]
    told = on.ask("DescribeShareGroupOffsets", groups=[{"group_id": group, "topics": asked}]).groups[0]
    expect_that("error_code of DescribeShareGroupOffsets", told.error_code, E.NONE)
    rows = {one.partition_index: one for one in told.topics[0].partitions}
    return [int(rows[one].start_offset) for one in partitions]


def described(on: Broker, group: str) -> Any:
    """What ShareGroupDescribe says of a group."""
    return on.ask("ShareGroupDescribe", group_ids=[group]).groups[0]


def _batch(batch: Batch) -> dict[str, Any]:
    first, last, types = batch
    return {"first_offset": first, "last_offset": last, "acknowledge_types": list(types)}
