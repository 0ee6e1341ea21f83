"""Offsets of the random groups of newer kinds: committed by members and others, fetched, deleted (KIP-1251)."""

from __future__ import annotations

from typing import ClassVar, Generic, Protocol, TypeVar

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.script import GROUPS, MEMBERS

TRANSACTIONAL_ID = "<p>tx1"


class Who(Protocol):
    """A member, as far as offsets are concerned."""

    @property
    def member_id(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def former(self) -> int: ...


M = TypeVar("M", bound=Who)


class Committing(Places, Generic[M]):
    """Adds offsets, of the topics that all scenarios share, for a class that has members."""

    BY_EPOCH: ClassVar[float]
    """How likely it is that a version is taken that has epochs, where any would do."""

    BY_NOBODY: ClassVar[float]
    """How likely it is that somebody commits who is no member."""

    def somebody(self, *, joined: bool = True) -> M:
        """A member that has joined; any, where nobody has."""
        raise NotImplementedError

    def _offsets(self, member: M) -> list[tuple[str, int, int]]:
        """What a member commits: topic, partition, offset."""
        raise NotImplementedError

    def commit(self) -> None:
        """A member commits, with its epoch or another one; or somebody who is none."""
        member = self.somebody()
        fields = self._committer(member)
        version = self.version("OffsetCommit", 2)
        if self.chance(self.BY_EPOCH):
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

    def offset_delete(self) -> None:
        """Of topics that somebody reads, or nobody."""
        topics = {topic: [0, self.pick((1, 9))] for topic in self.random.sample(("t1", "t2", "t3", "nope"), 2)}
        verbs.offset_delete(self.play, "a1", self.pick(GROUPS), topics)

    def _committer(self, member: M) -> dict[str, Json]:
        """Who commits, and at which epoch."""
        if self.chance(self.BY_NOBODY):
            return {"member_id": "", "generation_id_or_member_epoch": -1}
        name = self.pick(("nobody", "", *MEMBERS)) if self.chance(0.08) else member.member_id
        epoch = member.epoch
        if self.chance(0.4):
            epoch = self.pick((epoch + 1, epoch - 1, epoch - 1, epoch - 2, member.former, 0, -1, -2))
        return {"member_id": name, "generation_id_or_member_epoch": epoch}

    def _asked(self, topics: dict[str, list[int]]) -> list[Json]:
        return [
            {"name": topic, "topic_id": verbs.topic_id(topic), "partition_indexes": partitions}
            for topic, partitions in topics.items()
        ]
