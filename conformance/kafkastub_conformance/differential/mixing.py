"""Members of the classic protocol among the random consumer groups: they join G2, and make it the other kind of group.

A group of theirs is upgraded by the first heartbeat of a consumer, and downgraded when the last one has left.
"""

from __future__ import annotations

import random
import struct

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.consuming import Consumers
from kafkastub_conformance.differential.crowd import Crowd, Member
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G2
from kafkawire.errors import ErrorCode

CLASSIC = ("k1", "k2")
"""Their connections, and in a consumer group their ids. In a classic group the broker makes ids up: then there is one
of them alone, as who leads the others would depend on it."""

PROTOCOLS = (("range",), ("range", "roundrobin"), ("roundrobin", "range"))


class Mixing(Consumers):
    """Adds members of the classic protocol."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.crowd = Crowd(play)

    def learn(self) -> None:
        """Read the answers of the last step."""
        self.crowd.learn()

    def classic(self) -> None:
        """What one of them says next: it joins, syncs, or says that it lives."""
        on = self.pick(CLASSIC)
        if not self.crowd.free(on):
            return
        member = self._known(on)
        if member is None or self.chance(0.2) or member.generation < 0:
            self._classic_join(on, member)
        elif not member.synced:
            self._classic_sync(member)
        else:
            self._classic_heartbeat(member)

    def classic_leave(self) -> None:
        """It leaves."""
        on = self.pick(CLASSIC)
        member = self._known(on)
        if member is None or not self.crowd.free(on):
            return
        answer = verbs.leave(self.play, "a1", G2, member.member_id, version=self.version("LeaveGroup"))
        if answer and not answer.get("error_code"):
            self.crowd.members.pop(member.member_id, None)

    def classic_commit(self) -> None:
        """It commits, with its generation or another one."""
        member = self._known(self.pick(CLASSIC))
        if member is None:
            return
        generation = member.generation + (self.pick((-2, -1, 1)) if self.chance(0.4) else 0)
        fields = {"member_id": member.member_id, "generation_id_or_member_epoch": generation}
        offsets = [(self.pick(("t1", "t1", "t3")), self.pick((0, 1)), self.random.randint(0, 100))]
        verbs.commit(self.play, "c1", G2, offsets, self.version("OffsetCommit", 2), **fields)

    def _known(self, on: str) -> Member | None:
        return next((one for one in self.crowd.members.values() if one.client == on), None)

    def _is_consumer_group(self) -> bool:
        """Whether it has members.

        A named one that joins an empty consumer group is refused, but Kafka has forgotten the group by then, without
        a record of that.
        """
        return bool(self.play.state.get(f"consumer group {G2}", {}).get("members"))

    def _is_empty_consumer_group(self) -> bool:
        told = self.play.state.get(f"consumer group {G2}", {})
        return bool(told.get("group_state") == "Empty")

    def _classic_join(self, on: str, member: Member | None) -> None:
        modern = self._is_consumer_group()
        others = [one for one in self.crowd.members.values() if one.client != on]
        if member is not None and self._is_empty_consumer_group():
            return
        if member is None:
            if others and not (modern and all(one.member_id in CLASSIC for one in others)):
                return
            name = on if modern and (others or self.chance(0.8)) else ""
            if modern and not name:
                return
            member = Member(name, on, G2, "consumer", [])
        # In which order two topics are in an assignment depends on their ids.
        topics = self.random.sample(("t1", "t3"), self.pick((1, 1, 2)) if self.known else 1)
        member.protocols = verbs.protocols(*self.pick(PROTOCOLS), metadata=self._subscription(topics))
        more: dict[str, Json] = {"protocols": member.protocols, "protocol_type": "consumer"}
        if self.chance(0.08):
            spoilt: list[dict[str, Json]] = [
                {"protocol_type": "other"},
                {"protocols": verbs.protocols("none-else")},
                {"protocols": verbs.protocols("range", metadata="00")},
            ]
            more |= self.pick(spoilt)
        version = self.newest("JoinGroup", 9) if self.chance(0.5) else self.version("JoinGroup", 4)
        verbs.join(self.play, on, G2, version, member.member_id, **more)
        self.crowd.sent(on, "JoinGroup", member)

    def _subscription(self, topics: list[str]) -> str:
        """Version 0, or one that says what the member owns: nothing, or a partition that may be another's."""
        if self.chance(0.5):
            return verbs.subscription(*topics)
        owned = self.pick(([], [], [("t1", 0)], [("t1", 1), ("t3", 0)]))
        data = struct.pack(">i", len(owned))
        for topic, partition in owned:
            data += struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">ii", 1, partition)
        return verbs.subscription(*topics, version=1, behind=data)

    def _classic_sync(self, member: Member) -> None:
        more: dict[str, Json] = {"protocol_type": "consumer"}
        if self.chance(0.1):
            more |= self.pick(({"generation_id": member.generation + 1}, {"protocol_name": "other"}))
        answer = verbs.sync(self.play, member.client, G2, member.joined(), self.version("SyncGroup"), **more)
        self.crowd.sent(member.client, "SyncGroup", member)
        self._told((answer or {}).get("error_code", 0), member)

    def _classic_heartbeat(self, member: Member) -> None:
        more = {"generation_id": member.generation - 1} if self.chance(0.1) else {}
        answer = verbs.heartbeat(self.play, member.client, G2, member.joined(), self.version("Heartbeat"), **more)
        self._told((answer or {}).get("error_code", 0), member)

    def _told(self, code: int, member: Member) -> None:
        """Join again, or as a new one, where the group says so."""
        if code == ErrorCode.REBALANCE_IN_PROGRESS:
            member.generation = -1
        elif code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.crowd.members.pop(member.member_id, None)
