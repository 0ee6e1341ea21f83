"""What the random generator knows about its simulated clients: learned from answers alone, as real clients do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.play import Play

MEMBER_ID_REQUIRED = 79


@dataclass
class Member:
    """A member id that a broker gave out, and what its owner knows. `generation` is -1 until it has joined."""

    member_id: str
    client: str
    group: str
    protocol_type: str
    protocols: list[Json]
    instance: str | None = None
    generation: int = -1
    protocol_name: str | None = ""
    others: list[str] = field(default_factory=list)
    synced: bool = False

    def joined(self) -> dict[str, Json]:
        """Its last JoinGroup answer, as far as requests need it."""
        return {
            "member_id": self.member_id,
            "generation_id": self.generation,
            "protocol_name": self.protocol_name,
            "members": [{"member_id": one} for one in self.others],
        }


class Crowd:
    """All members, who of them waits in a parked request, and who leads which group."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.members: dict[str, Member] = {}
        self.leaders: dict[str, str] = {}
        self._flying: dict[str, deque[tuple[str, Member]]] = {}

    def sent(self, on: str, api: str, member: Member) -> None:
        """Take note of a JoinGroup or SyncGroup that has just gone out for `member` (its id empty for a new one)."""
        self._flying.setdefault(on, deque()).append((api, member))

    def learn(self) -> None:
        """Read the answers of the last step."""
        for on, answer in self.play.answers:
            flying = self._flying.get(on)
            if flying:
                api, member = flying.popleft()
                self._learn_join(member, answer) if api == "JoinGroup" else self._learn_sync(member, answer)
        self._follow_leaders()

    def parked(self, member: Member) -> bool:
        """Whether a JoinGroup or SyncGroup of this member is on its way or parked."""
        flying = (one for queue in self._flying.values() for _, one in queue)
        return any(one.member_id == member.member_id for one in flying)

    def free(self, on: str) -> bool:
        """Whether nothing waits on this connection."""
        return not self.play.stage.waits(on)

    def members_shown(self, group: str) -> dict[str, str | None]:
        """The members that the broker shows in a group: {member id: instance id}."""
        members = self.play.state.get(group, {}).get("members", ())
        return {one.get("member_id", ""): one.get("group_instance_id") for one in members}

    def alive(self, member: Member) -> bool:
        """Whether the broker shows the member, or has just given its id out."""
        return member.member_id in self.members_shown(member.group) or member.generation < 0

    def state(self, group: str) -> str:
        """The state that the broker shows of a group, "Dead" where there is none."""
        return str(self.play.state.get(group, {}).get("group_state", "Dead"))

    def may_remove(self, group: str, members: list[str]) -> bool:
        """Whether removing these members has one outcome.

        Kafka makes the first member of a hash map the leader when the leader goes; with two or more to choose from we
        cannot know which.
        """
        shown = set(self.members_shown(group))
        if len(shown) <= 2 or not shown & set(members):
            return True
        return group in self.leaders and self.leaders[group] not in members

    def _learn_join(self, member: Member, answer: Json) -> None:
        code, name = answer.get("error_code", 0), answer.get("member_id", "")
        if not name or code not in (0, MEMBER_ID_REQUIRED):
            return
        if member.instance is not None and code == 0:
            same = {one.member_id for one in self.members.values() if one.instance == member.instance}
            if self.leaders.get(member.group) in same:
                self.leaders[member.group] = name
        member.member_id = name
        self.members[name] = member
        if code == 0:
            member.generation = answer.get("generation_id", -1)
            member.protocol_name = answer.get("protocol_name", "")
            member.others = [one["member_id"] for one in answer.get("members", ())]
            member.synced = False
            if self.leaders.get(member.group) not in self.members_shown(member.group):
                self.leaders[member.group] = answer.get("leader", "")

    def _learn_sync(self, member: Member, answer: Json) -> None:
        member.synced = answer.get("error_code", 0) == 0

    def _follow_leaders(self) -> None:
        """A sole member leads; a leader that is gone leaves the question open (`may_remove`)."""
        for group in self.play.scenario.groups:
            shown = list(self.members_shown(group))
            if len(shown) == 1:
                self.leaders[group] = shown[0]
            elif self.leaders.get(group) not in shown:
                self.leaders.pop(group, None)

    def waiting(self) -> Iterator[str]:
        """Connections on which something waits."""
        return (on for on in self._flying if not self.free(on))
