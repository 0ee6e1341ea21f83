"""The members' half of the random streams groups: what they are told, and what they say, right and wrong (KIP-1071)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import GROUPS, MEMBERS
from kafkastub_conformance.differential.streams_topologies import Topologies
from kafkawire.errors import ErrorCode

PROCESSES = ("pa", "pb", "pc")
"""Several members may be threads of one process."""

INSTANCES = ("i1", "i2")
CLIENTS = ("c1", "c2")
REBALANCE_MS = 300000
"""Longer than any scenario."""

HEARTBEAT = "StreamsGroupHeartbeat"
KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")

THROWN_OUT = {
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
}

NO_TASKS: dict[str, Json] = {kind: [] for kind in KINDS}


@dataclass
class Member:
    """A member as it knows itself. It has joined where its epoch is not 0."""

    member_id: str
    group: str
    process: str
    instance: str | None = None
    epoch: int = 0
    former: int = 0
    """The epoch that it had before."""
    endpoint_epoch: int = 0
    tasks: dict[str, Json] = field(default_factory=lambda: dict(NO_TASKS))
    told: bool = True
    """Whether the broker knows what it owns."""
    said: tuple[int, dict[str, Json]] | None = None
    """The version and the body of its last heartbeat."""

    def learn(self, answer: Json) -> None:
        """Do as an answer to a heartbeat says: close tasks that are not in the assignment, open those that are."""
        code = answer.get("error_code", 0)
        if code in THROWN_OUT:
            self.out()
        if code:
            return
        epoch = answer.get("member_epoch", 0)
        if epoch != self.epoch:
            self.former, self.epoch = self.epoch, max(0, epoch)
        if answer.get("active_tasks") is not None:
            self.tasks = {kind: answer.get(kind) or [] for kind in KINDS}
            self.told = False
        self.endpoint_epoch = answer.get("endpoint_information_epoch", 0)

    def out(self) -> None:
        """It has left, or was thrown out."""
        self.epoch, self.tasks, self.told = 0, dict(NO_TASKS), True


class Members(Places):
    """Adds members, who share a topology in each group."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.topologies = Topologies(source)
        self.of_groups: dict[str, Json] = {}
        """The topology of each group, as its members tell it."""
        self.members = {
            (group, name): Member(name, group, PROCESSES[number % 3])
            for group in GROUPS
            for number, name in enumerate(MEMBERS)
        }
        self.known = play.stage.broker.alone

    # Who.

    def somebody(self, *, joined: bool = True) -> Member:
        """A member that has joined; any, where nobody has."""
        everybody = list(self.members.values())
        chosen = [one for one in everybody if bool(one.epoch) == joined]
        return self.pick(chosen or everybody)

    def awaited(self) -> Member:
        """A member for which others wait, or which has something to say, if there is one."""
        chosen = [one for one in self.members.values() if one.epoch and not (one.told and self._is_up_to_date(one))]
        return self.pick(chosen) if chosen and self.chance(0.8) else self.somebody()

    def _is_up_to_date(self, member: Member) -> bool:
        return bool(member.epoch == self.shown(member.group).get("group_epoch"))

    def shown(self, group: str) -> Json:
        """What is told of a group."""
        return self.play.state.get(f"streams group {group}", {})

    def on(self, member: Member) -> str:
        """The connection of a member."""
        return CLIENTS[sum(member.member_id.encode()) % len(CLIENTS)]

    def topology_of(self, group: str) -> Json:
        """The topology of a group's program, another one where the group is gone."""
        if group not in self.of_groups or (not self.shown(group).get("topology") and self.chance(0.5)):
            self.of_groups[group] = self.topologies.topology(group)
        return self.of_groups[group]

    # What they say.

    def obey(self) -> None:
        """A member does what it was told, and says so."""
        member = self.awaited()
        if not member.epoch:
            self.join()
            return
        body = self._who(member)
        if not member.told or self.chance(0.1):
            body |= member.tasks
        self._say(member, body)

    def repeat(self) -> None:
        """A member says the very same again, now or after others have said something; perhaps twice."""
        member = self.somebody()
        if not member.epoch:
            return
        if member.said is None or self.chance(0.4):
            self._say(member, self._who(member) | {"endpoint_information_epoch": member.endpoint_epoch})
        for _ in range(self.pick((1, 1, 2))):
            if member.said is not None and member.epoch:
                version, body = member.said
                self._say(member, body, version=version)

    def join(self) -> None:
        """A member joins: a new one, or one that is there and starts anew."""
        member = self.somebody(joined=self.chance(0.1))
        if self.chance(0.2):
            member.instance = self.pick((*INSTANCES, None))
        if self.chance(0.15):
            member.process = self.pick(PROCESSES)
        member.out()
        body = self._who(member) | self._in_full(member)
        body["topology"] = self._told_topology(member.group)
        if self.chance(0.12):
            body |= self._spoilt_join()
        self._say(member, body)

    def _told_topology(self, group: str) -> Json:
        """The group's, mostly; or a former or later one of the program, or one that is none."""
        topology = self.topology_of(group)
        if self.chance(0.88):
            return topology
        return self.pick(
            (
                topology | {"epoch": max(0, topology["epoch"] - 1)},
                topology | {"epoch": max(0, topology["epoch"] - 1)},
                topology | {"epoch": topology["epoch"] + 1},
                topology | {"subtopologies": topology["subtopologies"][::-1]},
                topology | {"subtopologies": topology["subtopologies"][:1]},
                self.topologies.refused(group),
                self.topologies.refused(group),
                self.topologies.refused(group),
            )
        )

    def _spoilt_join(self) -> dict[str, Json]:
        some = [{"subtopology_id": "0", "partitions": [0]}]
        changes: tuple[dict[str, Json], ...] = (
            {"rebalance_timeout_ms": -1},
            {"active_tasks": None},
            {"standby_tasks": some},
            {"warmup_tasks": some},
            {"topology": None},
            {"instance_id": ""},
            {"rack_id": ""},
            {"member_id": ""},
            {"process_id": None},
            {"user_endpoint": {"host": "", "port": 0}},
            {"client_tags": [{"key": "zone", "value": ""}, {"key": "", "value": "z"}]},
            {"client_tags": [{"key": "zone", "value": "a"}, {"key": "zone", "value": "b"}]},
            {"shutdown_application": True},
            *([{"group_id": ""}] if self.known else []),
        )
        return self.pick(changes)

    def change(self) -> None:
        """A member says something else of itself."""
        member = self.somebody()
        body = self._who(member)
        changes: tuple[dict[str, Json], ...] = (
            {"rack_id": self.pick(("r1", "r2"))},
            {"rebalance_timeout_ms": self.pick((REBALANCE_MS, 2 * REBALANCE_MS))},
            {"process_id": self.pick(PROCESSES)},
            {"client_tags": self._tags()},
            {"user_endpoint": self._endpoint(member)},
            {"user_endpoint": self._endpoint(member)},
        )
        body |= self.pick(changes)
        if self.chance(0.3):
            body |= member.tasks
        self._say(member, body)

    def report(self) -> None:
        """How far a member has restored its tasks."""
        member = self.somebody()
        body = self._who(member)
        for kind in ("task_offsets", "task_end_offsets"):
            if self.chance(0.8):
                body[kind] = [
                    {"subtopology_id": self.pick("0012"), "partition": self.pick((0, 0, 1, 2)), "offset": offset}
                    for offset in self.random.sample((0, 1, 5, 500, 20000, 20001, -1), self.pick((0, 1, 2, 3)))
                ]
        self._say(member, body)

    def shut_down(self) -> None:
        """A member wants all of its application to end."""
        member = self.somebody()
        body = self._who(member) | {"shutdown_application": True}
        if self.chance(0.3):
            body["member_epoch"] = -1
        self._say(member, body)

    def err(self) -> None:
        """A member says what is not so: another epoch, tasks that it does not own, a wrong name, a bad request."""
        member = self.somebody()
        if not member.epoch and self.chance(0.9):
            return
        body = self._who(member)
        if self.chance(0.5):
            body |= self._other_tasks(member)
        epochs = (member.epoch + 1, max(1, member.epoch - 1), member.former or 1, member.former or 1, -3, -2, 2**31 - 1)
        changes: tuple[dict[str, Json], ...] = (
            *({"member_epoch": self.pick(epochs)} for _ in range(4)),
            *({"member_epoch": member.former or 1} | self._other_tasks(member) for _ in range(3)),
            self._other_tasks(member),
            {self.pick(KINDS): None},
            {"member_id": self.pick(("nobody", "", *MEMBERS))},
            {"group_id": self.pick(("<p>none", *GROUPS))},
            {"instance_id": self.pick((*INSTANCES, "i9", ""))},
            {"rack_id": ""},
            {"topology": self.topology_of(member.group)},
        )
        self._say(member, body | self.pick(changes), learn=False)

    def leave(self) -> None:
        """A member leaves for good, a static one now and then for a moment; seldom everybody does."""
        member = self.somebody()
        group = [one for one in self.members.values() if one.group == member.group and one.epoch]
        for one in group if self.chance(0.25) else [member]:
            body: dict[str, Json] = {"group_id": one.group, "member_id": one.member_id, "member_epoch": -1}
            if one.instance:
                body |= {"instance_id": one.instance, "member_epoch": self.pick((-1, -2, -2))}
            if self.chance(0.1):
                body["instance_id"] = self.pick((*INSTANCES, None))
            answer = self.play.ask(self.on(one), HEARTBEAT, self.version(HEARTBEAT), body)
            if answer and not answer.get("error_code"):
                one.out()

    # Parts of requests.

    def _who(self, member: Member) -> dict[str, Json]:
        body: dict[str, Json] = {
            "group_id": member.group,
            "member_id": member.member_id,
            "member_epoch": member.epoch,
            "endpoint_information_epoch": self.pick((*[member.endpoint_epoch] * 5, -1, 0, 1)),
        }
        if not body["endpoint_information_epoch"]:
            del body["endpoint_information_epoch"]
        return body | ({"instance_id": member.instance} if member.instance else {})

    def _in_full(self, member: Member) -> dict[str, Json]:
        """What the first heartbeat has to say."""
        body: dict[str, Json] = {"rebalance_timeout_ms": REBALANCE_MS, "process_id": member.process} | NO_TASKS
        if self.chance(0.3):
            body["user_endpoint"] = self._endpoint(member)
        if self.chance(0.25):
            body["client_tags"] = self._tags()
        if self.chance(0.15):
            body["rack_id"] = self.pick(("r1", "r2"))
        return body

    def _endpoint(self, member: Member) -> Json:
        return {"host": f"host-{member.process}", "port": self.pick((7000, 7001, 65535))}

    def _tags(self) -> list[Json]:
        return [
            {"key": key, "value": self.pick(("a", "b"))}
            for key in self.random.sample(("zone", "rack", "cluster"), self.pick((0, 1, 2, 3)))
        ]

    def _other_tasks(self, member: Member) -> dict[str, Json]:
        """Tasks that a member may claim: a part of its own, others, none, such as are not there."""
        first = {
            kind: [one | {"partitions": one.get("partitions", [])[:1]} for one in tasks][:1]
            for kind, tasks in member.tasks.items()
        }
        strange = {"subtopology_id": self.pick("019"), "partitions": [self.pick((0, 1, 2, 7, -1))]}
        return self.pick(
            (
                dict(NO_TASKS),
                first,
                first,
                dict(member.tasks),
                member.tasks | {"active_tasks": [strange]},
                NO_TASKS | {"standby_tasks": [strange]},
                NO_TASKS | {"warmup_tasks": [strange]},
                member.tasks | {"active_tasks": member.tasks["active_tasks"] * 2},
            )
        )

    def _say(self, member: Member, body: dict[str, Json], *, learn: bool = True, version: int | None = None) -> None:
        version = self.version(HEARTBEAT) if version is None else version
        member.said = version, body
        answer = self.play.ask(self.on(member), HEARTBEAT, version, body)
        if not answer or not learn:
            return
        member.learn(answer)
        tasks = body.get("active_tasks") is not None
        if tasks and not answer.get("error_code") and answer.get("active_tasks") is None:
            member.told = True
