"""The members' half of the random share groups: what they are told, and what they say, right and wrong (KIP-932)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, G2, GROUPS, MEMBERS, OWN
from kafkawire.errors import ErrorCode

CLIENTS = ("c1", "c2")
SHARED = ("t1", "t2", "t3")

THROWN_OUT = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}

HEARTBEAT = "ShareGroupHeartbeat"


@dataclass
class Member:
    """A member as it knows itself. It has joined where its epoch is not 0."""

    member_id: str
    group: str
    epoch: int = 0
    former: int = 0
    names: list[str] = field(default_factory=list)

    def learn(self, answer: Json) -> None:
        """Take the epoch that it is told; or it is out."""
        code = answer.get("error_code", 0)
        if code in THROWN_OUT:
            self.epoch = 0
        if not code:
            epoch = answer.get("member_epoch", 0)
            if epoch != self.epoch:
                self.former, self.epoch = self.epoch, max(0, epoch)


class Members(Places):
    """Adds members: several of G1, which share topics that have the same ids everywhere; of G2 and G3 one at a time.

    Who is assigned which partitions depends on the ids of topics, where there are several members.
    """

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.members = {(group, name): Member(name, group) for group in GROUPS for name in MEMBERS}
        self.known = play.stage.broker.alone
        """Whether the shared topics have the same ids on both brokers."""

    def somebody(self, *, joined: bool = True) -> Member:
        """A member that has joined; any, where nobody has."""
        everybody = list(self.members.values())
        chosen = [one for one in everybody if bool(one.epoch) == joined]
        return self.pick(chosen or everybody)

    def on(self, name: str) -> str:
        """The connection of a member."""
        return CLIENTS[sum(name.encode()) % len(CLIENTS)]

    def alone_in(self, group: str) -> bool:
        """Whether a group has one member at most at any time."""
        return group != G1 or not self.known

    # What they say.

    def beat(self) -> None:
        """A member does what it was told, and says so."""
        member = self.somebody()
        if not member.epoch:
            self.join()
            return
        body = self._who(member)
        if self.chance(0.1):
            body["subscribed_topic_names"] = member.names
        self._say(member, body)

    def join(self) -> None:
        """A member joins: a new one, or one that is there and starts anew."""
        member = self.somebody(joined=self.chance(0.1))
        if self.alone_in(member.group):
            there = [one for one in self.members.values() if one.group == member.group and one.epoch]
            if there and there != [member]:
                return
        if not member.names or self.chance(0.3):
            member.names = self._names(member.group)
        member.epoch = 0
        body = self._who(member) | {"subscribed_topic_names": member.names}
        if self.chance(0.15):
            body["rack_id"] = "r1"
        if self.chance(0.1):
            body |= self.pick(
                (
                    {"subscribed_topic_names": None},
                    {"subscribed_topic_names": []},
                    {"rack_id": ""},
                    {"group_id": ""},
                    {"member_id": ""},
                )
            )
        self._say(member, body)

    def subscribe(self) -> None:
        """A member subscribes to something else."""
        member = self.somebody()
        if member.epoch:
            member.names = self._names(member.group)
            self._say(member, self._who(member) | {"subscribed_topic_names": member.names})

    def misbehave(self) -> None:
        """A member says what is not so: another epoch, a wrong name, a bad request."""
        member = self.somebody()
        epochs = (member.epoch + 1, max(0, member.epoch - 1), member.former, -2, -3, 2**31 - 1)
        changes: tuple[dict[str, Json], ...] = (
            *({"member_epoch": self.pick(epochs)} for _ in range(4)),
            {"member_id": self.pick(("nobody", ""))},
            {"group_id": self.pick(("<p>none", "", G1, G2))},
            {"rack_id": self.pick(("", "r2"))},
            {"subscribed_topic_names": self.pick(([], ["bad name"], [""]))},
        )
        body = self._who(member) | self.pick(changes)
        if body["member_epoch"] == 0 and self.alone_in(body["group_id"]):
            return
        if "subscribed_topic_names" in body and member.epoch:
            member.names = body["subscribed_topic_names"] or member.names
        self._say(member, body, learn=False)

    def leave(self) -> None:
        """A member leaves; now and then everybody of its group does."""
        member = self.somebody()
        group = [one for one in self.members.values() if one.group == member.group and one.epoch]
        for one in group if self.chance(0.5) else [member]:
            answer = self._say(one, self._who(one) | {"member_epoch": -1})
            if answer and not answer.get("error_code"):
                one.epoch = 0

    def _who(self, member: Member) -> dict[str, Json]:
        return {"group_id": member.group, "member_id": member.member_id, "member_epoch": member.epoch}

    def _names(self, group: str) -> list[str]:
        if group == G1:
            names = self.random.sample(SHARED, self.pick((1, 1, 1, 2, 2, 3)))
            return names + ["<p>none"] * self.chance(0.1)
        some = [*self.topics, *self.topics, *OWN]
        return list(dict.fromkeys(self.pick(some) for _ in range(self.pick((1, 2, 2, 3)))))

    def _say(self, member: Member, body: dict[str, Json], *, learn: bool = True) -> Json:
        answer = self.play.ask(self.on(member.member_id), HEARTBEAT, self.version(HEARTBEAT), body)
        if answer and learn:
            member.learn(answer)
        return answer
