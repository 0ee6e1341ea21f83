"""Random scenarios of consumer groups of the newer protocol (KIP-848) from a seed.

Half of the heartbeats are those of members that do as they are told, so that groups become Stable; between them come
wrong ones, topics that come, grow and go, commits with epochs old and new (KIP-1251), and administrators.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub.conformance.differential import verbs
from kafkastub.conformance.differential.bodies import Json
from kafkastub.conformance.differential.consuming import MEMBERS, Member
from kafkastub.conformance.differential.mixing import Mixing
from kafkastub.conformance.differential.play import Play
from kafkastub.conformance.differential.script import G1, G2, G3, Script
from kafkastub.conformance.differential.stage import GROUP

STEPS = 40
GROUPS = (G1, G2, G3)
TRANSACTIONAL_ID = "<p>tx1"
SET, DELETE = 0, 1

CONFIGS = {
    "consumer.assignment.interval.ms": ("0", "0", "0", "15000", "-1", "x", "99999999"),
    "consumer.heartbeat.interval.ms": ("5000", "7000", "1", "60000", "0"),
    "consumer.session.timeout.ms": ("45000", "60000", "50000", "1", "0"),
    "consumer.nothing": ("1",),
}
"""Configurations of groups and values for them, good and bad. No interval that may pass while a scenario runs."""


def consumer_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"consumer-{seed}",
        lambda play: ConsumersGenerator(play, seed).run(steps),
        GROUPS,
        "consumer",
        (TRANSACTIONAL_ID,) if _transacts(seed) else (),
        consumer_groups=GROUPS,
    )


def _transacts(seed: int) -> bool:
    return seed % 4 == 0


class ConsumersGenerator(Mixing):
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"consumer-{seed}"))
        self.transacts = _transacts(seed)
        self.mixes = seed % 3 == 0
        """Whether members of the classic protocol are there, too."""

    def run(self, steps: int) -> None:
        """Play until there are so many steps."""
        weights: dict[Callable[[], object], int] = {
            self.obey: 50,
            self.join: 16,
            self.change: 8,
            self.err: 10,
            self.leave: 4,
            self.removed: 1,
            self.commit: 8,
            self.fetch: 5,
            self.transact: 8 * self.transacts,
            self.classic: 30 * self.mixes,
            self.classic_leave: 2 * self.mixes,
            self.classic_commit: 3 * self.mixes,
            self.offset_delete: 2,
            self.delete_groups: 1,
            self.list_groups: 2,
            self.describe: 3,
            self.describe_groups: 1,
            self.create_topic: 2,
            self.grow_topic: 2,
            self.delete_topic: 1,
            self.configure: 2,
        }
        if not self.known:
            for group in GROUPS:
                self._configure(group, "consumer.assignment.interval.ms", "0")
        self.play.fill(steps, self.random, weights, self.learn)

    # Offsets.

    def commit(self) -> None:
        """A member commits, with its epoch or another one; or somebody who is none."""
        member = self.somebody()
        fields = self._committer(member)
        version = self.version("OffsetCommit", 2)
        if self.chance(0.7):
            version = max(version, 9) if 9 in self.play.versions("OffsetCommit") else version
        verbs.commit(self.play, "c1", member.group, self._offsets(member), version, **fields)

    def fetch(self) -> None:
        """Offsets of a group, from version 9 on by a member with its epoch or another one."""
        member = self.somebody()
        version = self.version("OffsetFetch", 1)
        topics = None if version >= 2 and self.chance(0.4) else {"t1": [0, 1, 2], "t2": [0]}
        if version < 9 or self.chance(0.3):
            verbs.fetch(self.play, "c1", member.group, topics, version)
            return
        fields = self._committer(member)
        asked = {
            "group_id": member.group,
            "member_id": self.pick((fields["member_id"], fields["member_id"], fields["member_id"], None)),
            "member_epoch": fields["generation_id_or_member_epoch"],
            "topics": None if topics is None else self._asked(topics),
        }
        self.play.ask("c1", "OffsetFetch", version, {"groups": [asked]})

    def transact(self) -> None:
        """A transaction of one commit, and its end."""
        play = self.play
        started = play.ask(
            "p1", "InitProducerId", 4, {"transactional_id": TRANSACTIONAL_ID, "transaction_timeout_ms": 60000}
        )
        if not started or started.get("error_code"):
            return
        member, version = self.somebody(), self.version("TxnOffsetCommit")
        producer: dict[str, Json] = {
            "transactional_id": TRANSACTIONAL_ID,
            "producer_id": started["producer_id"],
            "producer_epoch": started.get("producer_epoch", 0),
        }
        if version < 5:
            play.ask("p1", "AddOffsetsToTxn", 3, producer | {"group_id": member.group})
        topics = []
        for topic, partition, offset in self._offsets(member):
            row = {"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}
            topics.append({"name": topic, "topic_id": verbs.topic_id(topic), "partitions": [row]})
        body = producer | {"group_id": member.group, "topics": topics}
        play.ask("p1", "TxnOffsetCommit", version, body | (self._committer(member) if version >= 3 else {}))
        play.ask("p1", "EndTxn", 3, producer | {"committed": self.chance(0.7)})

    def _committer(self, member: Member) -> dict[str, Json]:
        """Who commits, and at which epoch."""
        if self.chance(0.1):
            return {"member_id": "", "generation_id_or_member_epoch": -1}
        name = self.pick(("nobody", "", *MEMBERS)) if self.chance(0.08) else member.member_id
        epoch = member.epoch
        if self.chance(0.4):
            epoch = self.pick((epoch + 1, epoch - 1, epoch - 1, epoch - 2, member.former, 0, -1, -2))
        return {"member_id": name, "generation_id_or_member_epoch": epoch}

    def _offsets(self, member: Member) -> list[tuple[str, int, int]]:
        """Of what it owns, mostly, and of anything."""
        owned = [
            (topic.removeprefix("<topic ").removesuffix(">"), partition)
            for topic, partitions in member.owned.items()
            for partition in partitions
            if topic.startswith("<topic t")
        ]
        chosen = self.random.sample(owned, min(len(owned), self.pick((1, 1, 2))))
        if not chosen or self.chance(0.25):
            chosen.append((self.pick(("t1", "t2", "t3")), self.pick((0, 0, 1, 2, 9))))
        return [(topic, partition, self.random.randint(0, 100)) for topic, partition in chosen]

    def _asked(self, topics: dict[str, list[int]]) -> list[Json]:
        return [
            {"name": topic, "topic_id": verbs.topic_id(topic), "partition_indexes": partitions}
            for topic, partitions in topics.items()
        ]

    # What administrators do.

    def offset_delete(self) -> None:
        """Of topics that somebody subscribes, or nobody."""
        topics = {topic: [0, self.pick((1, 9))] for topic in self.random.sample(("t1", "t2", "t3", "nope"), 2)}
        verbs.offset_delete(self.play, "a1", self.pick(GROUPS), topics)

    def delete_groups(self) -> None:
        """Of groups with and without members."""
        some = self.random.choices((*GROUPS, "<p>none"), k=self.pick((1, 1, 2)))
        verbs.delete_groups(self.play, "a1", *some, version=self.version("DeleteGroups"))

    def list_groups(self) -> None:
        """With filters."""
        states = self.random.sample(("Stable", "empty", "Assigning", "RECONCILING", "dead"), self.pick((0, 0, 1, 2)))
        types = self.random.sample(("classic", "Consumer", "odd"), self.pick((0, 0, 1)))
        verbs.list_groups(self.play, "a1", self.version("ListGroups"), states_filter=states, types_filter=types)

    def describe(self) -> None:
        """ConsumerGroupDescribe at some version (the watcher uses one alone)."""
        asked = self.random.choices((*GROUPS, "<p>none"), k=self.pick((0, 1, 2))) + [""] * (
            self.known and self.chance(0.1)
        )
        body = {"group_ids": asked, "include_authorized_operations": self.chance(0.3)}
        self.play.ask("a1", "ConsumerGroupDescribe", self.version("ConsumerGroupDescribe"), body)

    def describe_groups(self) -> None:
        """The older request."""
        verbs.describe_groups(self.play, "a1", *GROUPS, version=self.version("DescribeGroups"))

    # Topics.

    def create_topic(self) -> None:
        """A topic that some members of G2 may have subscribed already."""
        gone = [name for name in ("<p>x1", "<p>x2", "<p>x3") if name not in self.topics]
        if not gone:
            return
        name, count = self.pick(gone), self.random.randint(1, 4)
        body = {
            "topics": [{"name": name, "num_partitions": count, "replication_factor": 1}],
            "timeout_ms": 30000,
        }
        # No version that tells the topic's configuration: the brokers' own ones may differ.
        answer = self.play.ask("a1", "CreateTopics", self.newest("CreateTopics", 4), body, settle=True)
        if answer and "error_code" not in str(answer):
            self.topics[name] = count
            self.play.ask("a1", "Metadata", self.newest("Metadata", 12), {"topics": [{"name": name}]})

    def grow_topic(self) -> None:
        """More partitions."""
        if self.topics:
            name = self.pick(list(self.topics))
            count = self.topics[name] + 1
            topics = [{"name": name, "count": count, "assignments": None}]
            body = {"topics": topics, "timeout_ms": 30000}
            answer = self.play.ask("a1", "CreatePartitions", self.newest("CreatePartitions", 3), body, settle=True)
            if answer and "error_code" not in str(answer):
                self.topics[name] = count

    def delete_topic(self) -> None:
        """One that members may have."""
        if self.topics:
            name = self.pick(list(self.topics))
            body = {"topic_names": [name], "timeout_ms": 30000}
            answer = self.play.ask("a1", "DeleteTopics", min(5, self.newest("DeleteTopics", 5)), body, settle=True)
            if answer and "error_code" not in str(answer):
                del self.topics[name]

    # Configurations of groups.

    def configure(self) -> None:
        """A group's own configuration: one that counts at the next heartbeat, or one that is refused."""
        key = self.pick(("consumer.assignment.interval.ms", *CONFIGS))
        self._configure(self.pick((G1, G2)), key, self.pick((*CONFIGS[key], None)))
        if self.chance(0.5):
            asked = [{"resource_type": GROUP, "resource_name": self.pick(GROUPS), "configuration_keys": None}]
            self.play.ask("a1", "DescribeConfigs", self.version("DescribeConfigs", 1), {"resources": asked})

    def _configure(self, group: str, key: str, value: str | None) -> None:
        config = {"name": key, "config_operation": DELETE if value is None else SET, "value": value}
        resource = {"resource_type": GROUP, "resource_name": group, "configs": [config]}
        version = self.version("IncrementalAlterConfigs")
        self.play.ask("a1", "IncrementalAlterConfigs", version, {"resources": [resource]}, settle=True)
