"""The members' half of the random consumer groups: what they are told, and what they say, right and wrong (KIP-848)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, G2, G3, MEMBERS
from kafkawire.errors import ErrorCode

INSTANCES = ("i1", "i2")
CLIENTS = ("c1", "c2")
RESOLVABLE = ("<p>.*", "<p>x[12]", "<p>none", "(?i)<p>X1|t1", "__c.*|<p>x1", "t1", "")
BROKEN = ("[", "(", "*", "a{1001}", "\\", "(?=a)", "[z-a]", "a**")
REBALANCE_MS = 300000
"""Longer than any scenario."""

THROWN_OUT = {
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
}

Owned = dict[str, list[int]]
"""Partitions by the name of the topic's id."""

NEWER = 1
"""The version of ConsumerGroupHeartbeat that has regular expressions, and wants every member to bring its id."""


@dataclass
class Member:
    """A member as it knows itself. It has joined where its epoch is not 0."""

    member_id: str
    group: str
    instance: str | None = None
    epoch: int = 0
    former: int = 0
    """The epoch that it had before."""
    names: list[str] | None = None
    regex: str | None = None
    owned: Owned = field(default_factory=dict)
    told: bool = True
    """Whether the broker knows what it owns."""

    def learn(self, answer: Json) -> None:
        """Do as an answer to a heartbeat says: revoke what is not in the assignment, take what is."""
        code = answer.get("error_code", 0)
        if code in THROWN_OUT:
            self.epoch, self.owned, self.told = 0, {}, True
        if code:
            return
        epoch = answer.get("member_epoch", 0)
        if epoch != self.epoch:
            self.former, self.epoch = self.epoch, max(0, epoch)
        if answer.get("assignment") is not None:
            self.owned = {
                one["topic_id"]: one.get("partitions", []) for one in answer["assignment"].get("topic_partitions", ())
            }
            self.told = False

    def reported(self) -> list[Json]:
        """What it owns, as a heartbeat says it."""
        return [{"topic_id": topic, "partitions": partitions} for topic, partitions in self.owned.items()]


class Consumers(Places):
    """Adds members: of G1 with any assignor, of G2 with `range` alone, and of G3 one alone that is given its id.

    Which partition goes to whom may depend on the ids of topics, and on those of members that the broker makes up:
    topics of the scenario's own, whose ids nobody knows before, are for `range`, which does not look at them.
    """

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.members = {(group, name): Member(name, group) for group in (G1, G2) for name in MEMBERS}
        self.single = Member("", G3)
        self.known = play.stage.broker.alone
        """Whether the shared topics have the same ids on both brokers."""

    # Who.

    def somebody(self, *, joined: bool = True) -> Member:
        """A member that has joined; any, where nobody has."""
        everybody = list(self.members.values())
        if self.single.member_id and self.chance(0.2):
            everybody.append(self.single)
        chosen = [one for one in everybody if bool(one.epoch) == joined]
        return self.pick(chosen or everybody)

    def awaited(self) -> Member:
        """A member for which others wait, or which has something to say, if there is one."""
        chosen = [one for one in self.members.values() if one.epoch and not (one.told and self._is_up_to_date(one))]
        return self.pick(chosen) if chosen and self.chance(0.8) else self.somebody()

    def _is_up_to_date(self, member: Member) -> bool:
        return bool(member.epoch == self.play.state.get(f"consumer group {member.group}", {}).get("group_epoch"))

    def on(self, member: Member) -> str:
        """The connection of a member."""
        return CLIENTS[hash_of(member.member_id) % len(CLIENTS)]

    # What they say.

    def obey(self) -> None:
        """A member does what it was told, and says so."""
        member = self.awaited()
        if not member.epoch:
            self.join()
            return
        body = self._who(member)
        if not member.told or self.chance(0.1):
            body["topic_partitions"] = member.reported()
        if self.chance(0.1):
            body |= self._in_full(member) | {"topic_partitions": member.reported()}
        self._say(member, body)

    def join(self) -> None:
        """A member joins: a new one, or one that is there and starts anew."""
        if self.chance(0.12):
            self._join_single()
            return
        member = self.somebody(joined=self.chance(0.1))
        if member is self.single:
            return
        if self.chance(0.25):
            member.instance = self.pick((*INSTANCES, None))
        if (member.names is None and member.regex is None) or self.chance(0.3):
            self._subscribe(member)
        member.epoch = 0
        body = self._who(member) | self._in_full(member) | {"topic_partitions": []}
        if self.chance(0.15):
            body |= self._spoilt_join()
        self._say(member, body, since=NEWER if member.regex is not None else 0)

    def _join_single(self) -> None:
        """One that has no id yet; version 0 lets the broker make one up."""
        if self.play.state.get(f"consumer group {G3}", {}).get("members"):
            return
        self.single = Member("", G3, names=self._names(G3))
        body = self._who(self.single) | self._in_full(self.single) | {"topic_partitions": []}
        answer = self.play.ask("c1", "ConsumerGroupHeartbeat", self.pick((0, 0, 0, 1)), body)
        if answer and not answer.get("error_code"):
            self.single.member_id = answer["member_id"]
            self.single.learn(answer)

    def change(self) -> None:
        """A member subscribes to something else, or says something else of itself."""
        member = self.somebody()
        body = self._who(member)
        if self.chance(0.7):
            self._subscribe(member)
            body |= {"subscribed_topic_names": member.names}
            if member.regex is not None:
                body["subscribed_topic_regex"] = member.regex
        else:
            changes: tuple[dict[str, Json], ...] = (
                {"rack_id": self.pick(("r1", "r2"))},
                {"rebalance_timeout_ms": self.pick((REBALANCE_MS, 2 * REBALANCE_MS))},
                {"server_assignor": self._assignor(member.group)},
            )
            body |= self.pick(changes)
        if self.chance(0.3):
            body["topic_partitions"] = member.reported()
        self._say(member, body, since=NEWER if body.get("subscribed_topic_regex") is not None else 0)

    def err(self) -> None:
        """A member says what is not so: another epoch, partitions that it does not own, a wrong name, a bad request."""
        member = self.somebody()
        if not member.epoch and self.chance(0.9):
            return
        body = self._who(member)
        if self.chance(0.5):
            body["topic_partitions"] = self._partitions(member)
        epochs = (member.epoch + 1, max(0, member.epoch - 1), member.former, member.former, -3, -2, 2**31 - 1)
        changes: tuple[dict[str, Json], ...] = (
            *({"member_epoch": self.pick(epochs)} for _ in range(4)),
            *({"member_epoch": member.former, "topic_partitions": self._partitions(member)} for _ in range(2)),
            {"member_epoch": member.former, "topic_partitions": self._partitions(member)},
            {"topic_partitions": self._partitions(member)},
            {"member_id": self.pick(("nobody", "", *MEMBERS))},
            {"group_id": self.pick(("<p>none", "", G1, G2))},
            {"instance_id": self.pick((*INSTANCES, "i9", ""))},
            {"server_assignor": self.pick(("", "nope", "Range"))},
            {"rack_id": ""},
            {"subscribed_topic_regex": self.pick(BROKEN)},
        )
        body |= self.pick(changes)
        self._say(member, body, since=NEWER if "subscribed_topic_regex" in body else 0, learn=False)

    def leave(self) -> None:
        """A member leaves for good, a static one now and then for a moment."""
        member = self.somebody()
        body = self._who(member)
        body["member_epoch"] = -2 if member.instance and self.chance(0.6) else -1
        if self.chance(0.1):
            body["instance_id"] = self.pick((*INSTANCES, None))
        answer = self.play.ask(self.on(member), "ConsumerGroupHeartbeat", self.version("ConsumerGroupHeartbeat"), body)
        if answer and not answer.get("error_code"):
            member.epoch, member.owned, member.told = 0, {}, True

    def removed(self) -> None:
        """Members that an administrator removes, with the request of the older protocol."""
        member = self.somebody()
        version = self.version("LeaveGroup")
        asked: list[Json] = [{"member_id": member.member_id}]
        if self.chance(0.3):
            asked = [{"member_id": self.pick(("", member.member_id)), "group_instance_id": self.pick(INSTANCES)}]
        if self.chance(0.3):
            asked.append({"member_id": self.pick(("nobody", *MEMBERS))})
        verbs.leave(self.play, "a1", member.group, member.member_id, version=version, members=asked)

    # Parts of requests.

    def _who(self, member: Member) -> dict[str, Json]:
        body: dict[str, Json] = {
            "group_id": member.group,
            "member_id": member.member_id,
            "member_epoch": member.epoch,
        }
        return body | ({"instance_id": member.instance} if member.instance else {})

    def _in_full(self, member: Member) -> dict[str, Json]:
        """What the first heartbeat has to say, and what one does that lost an answer."""
        body: dict[str, Json] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": member.names}
        if member.regex is not None:
            body["subscribed_topic_regex"] = member.regex
        if member.group == G2 or not self.known or self.chance(0.3):
            body["server_assignor"] = self._assignor(member.group)
        return body

    def _spoilt_join(self) -> dict[str, Json]:
        changes: tuple[dict[str, Json], ...] = (
            {"rebalance_timeout_ms": -1},
            {"topic_partitions": None},
            {"topic_partitions": [{"topic_id": verbs.topic_id("t1"), "partitions": [0]}]},
            {"subscribed_topic_names": None},
            {"instance_id": ""},
            {"group_id": ""},
        )
        return self.pick(changes)

    def _assignor(self, group: str) -> str:
        return "range" if group == G2 or not self.known else self.pick(("range", "uniform", "uniform"))

    def _subscribe(self, member: Member) -> None:
        """Make up what the member subscribes to."""
        member.names, member.regex = self._names(member.group), None
        if member.group == G2 and self.chance(0.35):
            shown = RESOLVABLE if self.known else [one for one in RESOLVABLE if one.startswith("<p>")]
            member.regex = self.pick(shown)
            member.names = self.pick((None, None, [], member.names))

    def _names(self, group: str) -> list[str]:
        shared = ["t1", "t2", "t3"]
        if group == G2:
            some = self.random.sample([*shared, *(list(self.topics) or ["<p>x1"])], self.pick((1, 1, 2)))
            return some + ["<p>none"] * self.chance(0.1)
        return self.random.sample(shared, self.pick((0, 1, 1, 1, 1, 2, 2, 3))) + ["t1"] * self.chance(0.05)

    def _partitions(self, member: Member) -> list[Json]:
        """Partitions that a member may claim: a part of its own, others, none, of a topic that is not there."""
        own = [{"topic_id": topic, "partitions": partitions[:1]} for topic, partitions in member.owned.items()]
        others = [{"topic_id": verbs.topic_id("t1"), "partitions": [0, 1, 2]}]
        return self.pick(
            ([], own, own[:1], own[1:], others, [*own, {"topic_id": "cd" * 16, "partitions": [0]}], member.reported())
        )

    def _say(self, member: Member, body: dict[str, Json], since: int = 0, *, learn: bool = True) -> None:
        version = self.version("ConsumerGroupHeartbeat", since)
        answer = self.play.ask(self.on(member), "ConsumerGroupHeartbeat", version, body)
        if answer and learn:
            member.learn(answer)
            if body.get("topic_partitions") and not answer.get("error_code") and answer.get("assignment") is None:
                member.told = True


def hash_of(text: str) -> int:
    """The same in every process."""
    return sum(text.encode())
