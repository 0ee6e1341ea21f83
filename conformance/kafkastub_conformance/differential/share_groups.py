"""Random scenarios of share groups from a seed (KIP-932): members, share sessions, and administrators among them.

Half of what members and sessions say is as it should be, so that records are delivered and acknowledged; between that
come wrong epochs and acknowledgements, transactions that are aborted, records that are deleted, topics that come, grow
and go, configurations of groups, and offsets that an administrator alters.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_batches import T0, TRANSACTIONAL
from kafkastub_conformance.differential.managing import Managing
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, GROUPS, Script
from kafkastub_conformance.differential.share_states import ShareStates
from kafkawire.records import NewRecord, build_batch

STEPS = 40
TRANSACTIONAL_ID = "<p>tx1"
LOCK_MS, PASSED_MS = 1000, 1500

CONFIGS = {
    "share.auto.offset.reset": ("earliest", "latest", "by_duration:PT1H", "by_duration:-PT1H", "never"),
    "share.isolation.level": ("read_committed", "read_uncommitted", "other"),
    "share.delivery.count.limit": ("2", "3", "5", "1", "11"),
    "share.partition.max.record.locks": ("100", "2000", "5", "99999"),
    "share.renew.acknowledge.enable": ("true", "false", "perhaps"),
    "share.heartbeat.interval.ms": ("5000", "7000", "1", "60000"),
    "share.session.timeout.ms": ("45000", "60000", "1"),
    "share.assignment.interval.ms": ("0", "x"),
    "share.nothing": ("1",),
}
"""Configurations of groups and values for them, good and bad. No interval that may pass while a scenario runs."""


def share_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"share-{seed}",
        lambda play: ShareGenerator(play, seed).run(steps),
        GROUPS,
        "share",
        (TRANSACTIONAL_ID,) if _transacts(seed) else (),
        share_groups=GROUPS,
    )


def _transacts(seed: int) -> bool:
    return seed % 3 == 0


class ShareGenerator(ShareStates, Managing):
    """One scenario in the making."""

    MOST_PARTITIONS = 2

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"share-{seed}"))
        self.transacts = _transacts(seed)
        self.pauses = seed % 8 == 1
        """Whether locks run out; that takes real time."""

    def run(self, steps: int) -> None:
        """Play until there are so many steps."""
        self.begin()
        self.play.fill(steps, self.random, self.acts(), self.learn)

    def acts(self) -> dict[Callable[[], object], int]:
        """What is done, and how often."""
        return {
            self.beat: 8,
            self.join: 5,
            self.subscribe: 3,
            self.misbehave: 4,
            self.leave: 3,
            self.open: 6,
            self.fetch: 70,
            self.fetch_and_wait: 7,
            self.acknowledge: 50,
            self.close_session: 3,
            self.stray: 3,
            self.drop: 2,
            self.produce: 20,
            self.transact: 10 * self.transacts,
            self.delete_records: 3,
            self.create_topic: 2,
            self.grow_topic: 1,
            self.delete_topic: 1,
            self.configure: 3,
            self.run_out: 20 * self.pauses,
            self.describe_offsets: 3,
            self.alter_offsets: 3,
            self.delete_offsets: 2,
            self.delete_groups: 1,
            self.list_groups: 1,
            self.describe: 2,
            self.other_types: 2,
            self.ask_states: 3,
        }

    def begin(self) -> None:
        """A topic with records, and a group that reads them from the beginning."""
        self.create_topic()
        for group in GROUPS[1:]:
            self._configure(group, "share.auto.offset.reset", "earliest")
        if not self.known:
            for group in GROUPS:
                self._configure(group, "share.assignment.interval.ms", "0")
        for _ in range(self.pick((1, 2, 3))):
            self.produce()
        for group in GROUPS[1:] if self.chance(0.5) else (self.pick(GROUPS[1:]),):
            self._begin_in(group)

    def _begin_in(self, group: str) -> None:
        member = self.members[group, self.pick(("m1", "m2"))]
        member.names = list(dict.fromkeys([*self.topics, *self._names(group)]))
        self._say(member, self._who(member) | {"subscribed_topic_names": member.names})
        self._say(member, self._who(member))

    # Records.

    def produce(self) -> None:
        """Batches into one partition."""
        place = self._place()
        if place is not None:
            self._produce(place, build_batch(self._records(), compression=self.pick((0, 0, 0, 1))).hex(), 9)

    def transact(self) -> None:
        """A transaction of some batches, and its end; now and then it stays open."""
        place = self._place()
        if place is None:
            return
        play = self.play
        body = {"transactional_id": TRANSACTIONAL_ID, "transaction_timeout_ms": 60000}
        for _ in range(2):  # what is open is aborted first
            started = play.ask("p1", "InitProducerId", 4, body)
            if started and not started.get("error_code"):
                break
        else:
            return
        who: dict[str, Json] = {
            "transactional_id": TRANSACTIONAL_ID,
            "producer_id": started["producer_id"],
            "producer_epoch": started.get("producer_epoch", 0),
        }
        add = {"v3_and_below_" + name: value for name, value in who.items()}
        play.ask(
            "p1",
            "AddPartitionsToTxn",
            3,
            add | {"v3_and_below_topics": [{"name": place[0], "partitions": [place[1]]}]},
        )
        sequence = 0
        for _ in range(self.pick((1, 1, 2))):
            records = self._records()
            batch = build_batch(
                records,
                producer_epoch=who["producer_epoch"],
                base_sequence=sequence,
                attributes=TRANSACTIONAL,
            )
            sequence += len(records)
            self._produce(place, f"{who['producer_id']} {batch.hex()}", 9, TRANSACTIONAL_ID)
            if self.chance(0.3):
                self._produce(place, build_batch(self._records()).hex(), 9)
        if self.chance(0.85):
            play.ask("p1", "EndTxn", 3, who | {"committed": self.chance(0.5)})

    def delete_records(self) -> None:
        """The log begins later: in the midst of what is acquired, or behind it."""
        place = self._place()
        if place is None:
            return
        end = self.ends.get(place, 0)
        partitions = [{"partition_index": place[1], "offset": self.pick((-1, end, end // 2, end // 3, 1, end + 100))}]
        body = {"topics": [{"name": place[0], "partitions": partitions}], "timeout_ms": 5000}
        self.play.ask("a1", "DeleteRecords", self.version("DeleteRecords"), body)

    def _place(self) -> tuple[str, int] | None:
        every = self._all_places()
        return self.pick(every) if every else None

    def _records(self) -> list[NewRecord]:
        return [NewRecord(b"k%d" % one, b"v" * self.pick((1, 20)), T0) for one in range(self.random.randint(1, 9))]

    def _produce(self, place: tuple[str, int], records: str, version: int, transactional_id: str | None = None) -> None:
        data = [{"name": place[0], "partition_data": [{"index": place[1], "records": records}]}]
        body = {"transactional_id": transactional_id, "acks": -1, "timeout_ms": 5000, "topic_data": data}
        self.learn_ends(self.play.ask("p1", "Produce", version, body))

    # Topics.

    def delete_topic(self) -> None:
        """One whose records may be acquired."""
        if len(self.topics) > 1:
            name = self.pick(list(self.topics))
            if self._delete_topic(name):
                self.warm = {one for one in self.warm if one[1][0] != name}
                self.ends = {place: end for place, end in self.ends.items() if place[0] != name}
                self.handed_out = [one for one in self.handed_out if one[1][0] != name]
                for session in self.sessions.values():
                    session.places = [place for place in session.places if place[0] != name]
                    session.acquired = [one for one in session.acquired if one[0][0] != name]

    # Groups.

    def configure(self) -> None:
        """A group's own configuration, one that counts at once or one that is refused."""
        key = self.pick(("share.delivery.count.limit", "share.isolation.level", *CONFIGS))
        self._configure(self.pick(GROUPS), key, self.pick((*CONFIGS[key], None)))
        if self.chance(0.3):
            self.describe_configs()

    def run_out(self) -> None:
        """Locks that run out: of what is acquired by the next fetch, and not renewed."""
        session = self._session()
        if session is None or not session.places:
            return
        if not all((session.group, place) in self.warm for place in session.places):
            return
        self._configure(session.group, "share.record.lock.duration.ms", str(LOCK_MS))
        body = self._who_fetches(session.group, session.member_id, session.epoch) | {"topics": []}
        several = len(session.places) > 1  # which of them comes first is up to Kafka
        body["max_records"] = 500 if several else self.pick((1, 5, 500))
        answer = self.play.ask(session.on, "ShareFetch", self.version("ShareFetch"), body)
        self._learn_fetch(session, session.epoch, answer, {})
        self._configure(session.group, "share.record.lock.duration.ms", None)
        if self.chance(0.4) and session.acquired:
            self.acknowledge()
        self.play.pause(PASSED_MS)

    def delete_groups(self) -> list[str]:
        """Of groups with and without members; gives those that were asked for."""
        some = super().delete_groups()
        for group in some:
            self.cool(group)
        return some

    def list_groups(self) -> None:
        """With filters."""
        states = self.random.sample(("Stable", "empty", "dead"), self.pick((0, 0, 1)))
        types = self.random.sample(("classic", "Share", "odd"), self.pick((0, 0, 1)))
        verbs.list_groups(self.play, "a1", self.version("ListGroups"), states_filter=states, types_filter=types)

    def describe(self) -> None:
        """ShareGroupDescribe, and its older siblings."""
        asked = self.random.choices((*GROUPS, "<p>none"), k=self.pick((0, 1, 2)))
        asked += [""] * (self.known and self.chance(0.1))
        body = {"group_ids": asked, "include_authorized_operations": self.chance(0.3)}
        api = self.pick(("ShareGroupDescribe", "ShareGroupDescribe", "ConsumerGroupDescribe"))
        self.play.ask("a1", api, self.version(api), body)
        if self.chance(0.3):
            verbs.describe_groups(self.play, "a1", *GROUPS, version=self.version("DescribeGroups"))

    def other_types(self) -> None:
        """What is for groups of other types, asked of a share group that is there."""
        group = self.pick(GROUPS)
        if not self.play.state.get(f"share group {group}", {}).get("group_epoch"):
            return
        asked: tuple[Callable[[], object], ...] = (
            lambda: verbs.join(self.play, "c1", group, self.version("JoinGroup", 4)),
            lambda: verbs.commit(self.play, "c1", group, [("t1", 0, 5)], min(9, self.version("OffsetCommit", 2))),
            lambda: verbs.fetch(self.play, "c1", group, {"t1": [0]}, min(9, self.version("OffsetFetch", 1))),
            lambda: verbs.offset_delete(self.play, "c1", group, {"t1": [0]}),
            lambda: verbs.leave(self.play, "c1", group, "m1", version=self.version("LeaveGroup")),
            lambda: self.play.ask(
                "c1",
                "ConsumerGroupHeartbeat",
                1,
                {
                    "group_id": group,
                    "member_id": "m1",
                    "member_epoch": self.pick((0, 0, 1, -1)),
                    "rebalance_timeout_ms": 1000,
                    "subscribed_topic_names": ["t1"],
                    "topic_partitions": [],
                },
            ),
        )
        self.pick(asked)()
        if group == G1:
            self.list_groups()
