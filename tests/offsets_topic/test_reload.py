"""Unloading the coordinator and loading it from `__consumer_offsets` brings back what was written there."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub.coordinator import GroupMetadata, Turn
from kafkastub.coordinator.hard_state import HardState, key_of
from kafkastub.state.topics import delete_topics, ensure_offsets_topic
from kafkawire.errors import ErrorCode
from tests.coordinator.context import DAY_MS, RETENTION_MS, CoordinatorTestContext, Member, subscription
from tests.offsets_topic.consumer_records import random_record
from tests.offsets_topic.reading import TOPIC, records
from tests.offsets_topic.test_consumer_groups import shown
from tests.offsets_topic.test_log import _produced, one_partition


def reload(context: CoordinatorTestContext) -> None:
    for turn in context.state.offsets_topic.reload(context.broker_ms, context.timer_ms):
        context.state.settle(turn)


def offsets(hard: HardState) -> dict[str, Any]:
    """Every offset. Value version 1 has neither leader epoch nor topic id."""
    return {
        group: {
            topic: {
                p: value if value.expire_timestamp == -1 else value._replace(leader_epoch=-1, topic_id=bytes(16))
                for p, value in columns.items()
            }
            for topic, columns in hard.offsets.topics(group).items()
        }
        for group in hard.offsets.group_ids()
    }


def pending(hard: HardState) -> dict[Any, Any]:
    """Every pending offset, with what will become of it if its transaction is committed."""
    return {
        (group, topic, partition, one.record.producer_id): (one.partition, one.superseded)
        for group in hard.offsets.pending.groups
        for topic, partition, one in hard.offsets.pending.each(group)
    }


def last_records(context: CoordinatorTestContext) -> dict[Any, tuple[int, Any]]:
    """The last record of each key that is no tombstone, with its log offset."""
    last = {}
    for partition in range(3) if TOPIC in context.state.cluster.topics else ():
        for at, short in records(context, partition):
            last[short[:3] if isinstance(short, tuple) else key_of(short)[0]] = at, short
    return {key: found for key, found in last.items() if _has_value(found[1])}


def _has_value(short: Any) -> bool:
    return short[3] is not None if isinstance(short, tuple) else key_of(short)[1]


class History:
    """Anything that groups do, at random."""

    def __init__(self, seed: int, history: int) -> None:
        self.random = Random(seed)
        self.context = CoordinatorTestContext(
            topics=("a", "b", "c"),
            offsets_topic_num_partitions=3,
            kafkastub_offsets_history_records=history,
            group_initial_rebalance_delay_ms=0,
        )
        self.members: list[Member] = []

    def step(self) -> None:
        chosen = self.random.choices(
            [
                self.commit,
                self.join,
                self.leave,
                self.delete_offsets,
                self.delete_group,
                self.time,
                self.look,
                self.topic,
                self.pend,
                self.end,
                self.consumer_group,
            ],
            [12, 3, 2, 2, 1, 2, 1, 0.3, 6, 3, 6],
        )
        chosen[0]()

    def group(self) -> str:
        return self.random.choice(["g", "h", "some-other-group", "x"])

    def commit(self) -> None:
        random, context = self.random, self.context
        known = [m for m in self.members if random.random() < 0.5]
        member = known[0] if known else Member(self.group(), "", -1)
        topic = random.choice([t for t in "abc" if t in context.state.cluster.topics])
        chosen = random.sample(range(10), random.randint(1, 10)) if random.random() < 0.7 else range(10)
        version = random.choice([2, 4, 9])
        context.commit(
            member.group_id,
            {topic: {p: random.randrange(5) for p in chosen}},
            generation=member.generation,
            member_id=member.member_id,
            metadata=random.choice(["", "", "m", "ü" * 100]),
            retention=random.choice([-1, -1, DAY_MS]) if version < 5 else -1,
            epoch=random.choice([-1, 3]) if version > 5 else -1,
            version=version,
        )

    def pend(self) -> None:
        random = self.random
        offsets = {
            topic: {p: random.randrange(5) for p in random.sample(range(10), random.randint(1, 4))}
            for topic in random.sample("ab", random.randint(1, 2))
        }
        self.context.pend(self.group(), offsets, producer=random.randrange(3), metadata=random.choice(["", "m"]))

    def end(self) -> None:
        if TOPIC in self.context.state.cluster.topics:
            self.context.end(self.random.random() < 0.6, producer=self.random.randrange(3))

    def consumer_group(self) -> None:
        """Records as they never come together: the log does not know what they mean."""
        context, group = self.context, self.random.choice(["c1", "c2", "g"])
        turn = Turn(context.broker_ms, context.timer_ms)
        for _ in range(self.random.randint(1, 4)):
            context.coordinator.log(turn, random_record(self.random, group))
        ensure_offsets_topic(context.state)
        context.state.settle(turn)

    def join(self) -> None:
        group = self.group()
        instance = self.random.choice([None, None, "i1"])
        protocols = {"range": subscription(self.random.choice("abc"))}
        parked = self.context.join(group, version=5 if instance else 3, instance=instance, protocols=protocols)
        if parked.answered and parked.answer.error_code == 0:
            member = Member(group, parked.answer.member_id, parked.answer.generation_id)
            self.context.sync(member, {member.member_id: b"all"}, instance=instance, protocol=None, version=4)
            self.members.append(member)

    def leave(self) -> None:
        if self.members:
            member = self.members.pop(self.random.randrange(len(self.members)))
            self.context.leave(member.group_id, (member.member_id, None))

    def delete_offsets(self) -> None:
        self.context.delete_offsets(self.group(), {self.random.choice("ab"): self.random.sample(range(10), 4)})

    def delete_group(self) -> None:
        self.context.delete_groups(self.group(), self.group())

    def time(self) -> None:
        self.context.advance(self.random.choice([1, 5_000, 70_000]))
        self.context.sweep(self.random.choice([0, DAY_MS, RETENTION_MS]))

    def look(self) -> None:
        if TOPIC in self.context.state.cluster.topics:
            records(self.context, self.random.randrange(3))

    def topic(self) -> None:
        if "c" in self.context.state.cluster.topics:
            delete_topics(self.context.state, ["c"], self.context.broker_ms)


@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 80), history=st.sampled_from([0, 1, 7, 40, 10_000]))
def test_a_random_history_comes_back(seed: int, steps: int, history: int):
    story = History(seed, history)
    for _ in range(steps):
        story.step()
    context = story.context
    old = context.coordinator.hard
    topic = last_records(context)
    reload(context)
    assert context.coordinator.hard is not old
    assert offsets(context.coordinator.hard) == offsets(old)
    assert pending(context.coordinator.hard) == pending(old)
    assert context.coordinator.hard.generations == old.generations
    assert shown(context.coordinator.hard) == shown(old)
    assert last_records(context) == topic, "and is on the log as before"
    for _ in range(20):
        story.step()
    newer = context.coordinator.hard
    reload(context)
    assert offsets(context.coordinator.hard) == offsets(newer)
    assert pending(context.coordinator.hard) == pending(newer)
    assert context.coordinator.hard.generations == newer.generations
    assert shown(context.coordinator.hard) == shown(newer)


def test_who_is_parked_is_sent_away_and_the_group_lives_on():
    context = one_partition()
    leader, follower = context.stable(2)
    context.commit("g", {"a": {3: 9}}, generation=1, member_id=leader.member_id)
    parked = context.join("g", leader.member_id, protocols={"range": subscription("b")})
    reload(context)
    assert parked.answer.error_code == ErrorCode.NOT_COORDINATOR
    assert context.group_state() == "Stable"
    assert context.heartbeat(follower) == ErrorCode.NONE
    assert context.fetch("g", {"a": [3]}) == {("a", 3): (9, -1, "")}


def test_damage_that_an_admin_client_did_is_skipped_with_a_warning():
    context = one_partition()
    context.commit("g", {"a": {0: 5}})
    for key in (b"k", b"\x00\x63unknown", b"\x00\x02\x00\x01g"):
        assert _produced(context, key, b"\x00\x09", "__admin_client").error_code == 0
    reload(context)
    assert context.fetch("g", {"a": [0]}) == {("a", 0): (5, -1, "")}
    assert context.log.warnings == ["record skipped"] * 3


@pytest.mark.parametrize("history", [0, 100])
def test_what_an_admin_client_wrote_counts_after_a_reload(history: int):
    from kafkawire.offsets_topic import offset_key, offset_value

    context = one_partition(history=history)
    context.commit("g", {"a": {0: 5}})
    value = offset_value(3, 77, -1, "by hand", context.broker_ms, -1, bytes(16))
    _produced(context, offset_key("h", "a", 1), value, "__admin_client")
    assert context.fetch("h", {"a": [1]})["a", 1][0] == -1
    reload(context)
    assert context.fetch("h", {"a": [1]}) == {("a", 1): (77, -1, "by hand")}
    assert isinstance(context.coordinator.hard.generations, dict)
    assert not [g for g in context.coordinator.hard.generations.values() if not isinstance(g, GroupMetadata)]
