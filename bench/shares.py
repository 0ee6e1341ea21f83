"""What a share group costs: fetching records, and acknowledging them (KIP-932), step by step."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

from bench import cycles
from bench.cases import MIB, PRODUCE, SETTLE_SECONDS, batch, create_topic, produce_request
from bench.contestants import Contestant
from bench.cycles import Cycle
from bench.frames import NOT_YET, BadAnswer, Client, error_codes, frame, read_answer
from bench.wire import Effort, Measured
from kafkawire.messages import share_acknowledge_request as acknowledging
from kafkawire.messages import share_fetch_request as fetching
from kafkawire.messages.share_acknowledge_request import ShareAcknowledgeRequest
from kafkawire.messages.share_fetch_request import ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.schema import Message

HEARTBEAT, FETCH, ACKNOWLEDGE = 1, 1, 1
RECORDS, SMALL = 100, 40
"""Of a batch, and bytes of each."""
STEPS = (f"share-fetch/{RECORDS}", f"share-acknowledge/{RECORDS}")
TOGETHER = (f"share-fetch/acknowledging-{RECORDS}",)
"""As Java's consumer does it: what was got is acknowledged with the next fetch."""
ACCEPT = 1

_number = itertools.count()


def measure(contestants: Sequence[Contestant], effort: Effort, selected: Callable[[str], bool]) -> dict[str, Measured]:
    """The round trips of every step."""
    found: dict[str, Measured] = {}
    for steps, begin in ((STEPS, _begin), (TOGETHER, _begin_together)):
        if any(map(selected, steps)):
            found |= cycles.measure(steps, contestants, effort, begin)
    return found


class Member:
    """The only member of a new share group, whose topic has one partition and, at first, nothing to read."""

    def __init__(self, client: Client) -> None:
        self.client = client
        number = next(_number)
        self.group, self.member = f"bench-share-{number}", str(uuid.uuid4())
        topic = f"bench-share-{number}"
        create_topic(client, topic, 1)
        self.topic_id = self._join(topic)
        self.epoch = 0
        self.produced = frame(produce_request(topic, batch(RECORDS, SMALL)), PRODUCE)
        self._begin()

    def _begin(self) -> None:
        """Get a first batch. A server may look at the partition behind its answer: what was before is not read."""
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            self.epoch = 0
            self.ask(self.fetch(), FETCH)
            self.produce()
            answer = self.ask(self.fetch(), FETCH)[1]
            if answer.responses and answer.responses[0].partitions[0].acquired_records:
                self.ask(self.acknowledge(self.got(answer)), ACKNOWLEDGE)
                return
            if time.monotonic() > until:
                raise BadAnswer(f"nothing was acquired within {SETTLE_SECONDS} s")

    def _join(self, topic: str) -> bytes:
        """The topic's id."""
        asked = ShareGroupHeartbeatRequest(self.group, self.member, subscribed_topic_names=[topic])
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            answer = self.client.ask(asked, HEARTBEAT)
            if answer.error_code == 0:
                if answer.assignment is not None and answer.assignment.topic_partitions:
                    found: bytes = answer.assignment.topic_partitions[0].topic_id
                    return found
                asked = ShareGroupHeartbeatRequest(self.group, self.member, answer.member_epoch)
            elif answer.error_code not in NOT_YET:
                raise BadAnswer(f"ShareGroupHeartbeat was answered {answer.error_code}")
            if time.monotonic() > until:
                raise BadAnswer(f"nothing was assigned within {SETTLE_SECONDS} s")
            time.sleep(0.02)

    def produce(self) -> None:
        """A batch more."""
        self.client.exchange(self.produced)

    def fetch(self, done: tuple[int, int] | None = None) -> ShareFetchRequest:
        partition = fetching.FetchPartition(partition_index=0)
        if done is not None:
            partition.acknowledgement_batches = [fetching.AcknowledgementBatch(*done, [ACCEPT])]
        named = not self.epoch or done is not None
        return ShareFetchRequest(
            self.group, self.member, self.epoch, max_wait_ms=500, min_bytes=1, max_bytes=MIB, max_records=RECORDS,
            batch_size=RECORDS, topics=[fetching.FetchTopic(self.topic_id, [partition])] if named else [],
        )  # fmt: skip

    def acknowledge(self, done: tuple[int, int]) -> ShareAcknowledgeRequest:
        batches = [acknowledging.AcknowledgementBatch(*done, [ACCEPT])]
        partition = acknowledging.AcknowledgePartition(0, batches)
        topics = [acknowledging.AcknowledgeTopic(self.topic_id, [partition])]
        return ShareAcknowledgeRequest(self.group, self.member, self.epoch, topics=topics)

    def ask(self, message: Message, version: int) -> tuple[int, Any]:
        """(nanoseconds, answer). Raises BadAnswer."""
        data = frame(message, version)
        start = perf_counter_ns()
        payload = self.client.exchange(data)
        elapsed = perf_counter_ns() - start
        answer = read_answer(message.API_KEY, version, payload)[1]
        if errors := {code.name for code in error_codes(answer)}:
            raise BadAnswer(f"{type(message).__name__} was answered {errors}")
        self.epoch += 1
        return elapsed, answer

    def got(self, answer: Any) -> tuple[int, int]:
        """First and last offset of what was acquired. Raises BadAnswer."""
        (acquired,) = answer.responses[0].partitions[0].acquired_records
        if acquired.last_offset - acquired.first_offset != RECORDS - 1:
            raise BadAnswer(f"{acquired} is not {RECORDS} records")
        return acquired.first_offset, acquired.last_offset


def _begin(client: Client) -> Cycle:
    return partial(_in_two, Member(client))


def _in_two(member: Member) -> Iterator[int]:
    member.produce()
    elapsed, answer = member.ask(member.fetch(), FETCH)
    yield elapsed
    yield member.ask(member.acknowledge(member.got(answer)), ACKNOWLEDGE)[0]


def _begin_together(client: Client) -> Cycle:
    member = Member(client)
    member.produce()
    got = [member.got(member.ask(member.fetch(), FETCH)[1])]
    return partial(_in_one, member, got)


def _in_one(member: Member, got: list[tuple[int, int]]) -> Iterator[int]:
    member.produce()
    elapsed, answer = member.ask(member.fetch(got.pop()), FETCH)
    got.append(member.got(answer))
    yield elapsed
