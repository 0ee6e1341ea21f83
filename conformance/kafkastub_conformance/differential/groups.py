"""Random scenarios from a seed: a crowd of consumers, simple consumers and administrators on three groups.

Most requests make sense, as the crowd knows its member ids and generations; a part is spoilt on purpose. The same seed
gives the same scenario as long as the broker that knows answers the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.crowd import Crowd, Member
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.script import G1, G2, G3, GROUPS, Script

T = TypeVar("T")

STEPS = 60
CROWDED_MORE = 30

CLIENTS = ("c1", "c2", "c3", "c4", "c5")
ADMINS = ("a1", "a2")
INSTANCES = ("i1", "i2")
TYPES = {G1: "consumer", G2: "consumer", G3: "connect"}
PROTOCOLS = (("range",), ("range", "roundrobin"), ("roundrobin", "range"), ("sticky", "range"))
TOPICS = ("t1", "t1", "t1", "t2", "t2", "t3", "nope")
SPOILT = 0.12
"""So many of the fields that can be wrong are."""


def groups_script(seed: int, steps: int | None = None) -> Script:
    """The scenario of one seed; where it is not said, the seed decides on the number of steps."""
    wanted = steps or STEPS + CROWDED_MORE * (seed % 2 == 0)
    return Script(f"groups-{seed}", lambda play: Generator(play, seed).run(wanted), GROUPS)


class Generator:
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        self.play = play
        self.random = random.Random(seed)
        self.crowd = Crowd(play)
        self.crowded = seed % 2 == 0
        """Whether most are in one group and stay: longer rebalances of more members."""

    def run(self, steps: int) -> None:
        """Play so many steps, fewer where there is too little that can be asked."""
        weights: dict[Callable[[], object], int] = {
            self.new_member: 11,
            self.rejoin: 44 if self.crowded else 24,
            self.sync: 32 if self.crowded else 24,
            self.heartbeat: 9,
            self.commit_as_member: 9,
            self.commit_simple: 6,
            self.fetch: 7,
            self.leave: 1 if self.crowded else 6,
            self.leave_many: 1 if self.crowded else 3,
            self.offset_delete: 5,
            self.delete_groups: 1 if self.crowded else 3,
            self.describe_groups: 2,
            self.list_groups: 2,
            self.find_coordinator: 2,
            self.pipelined: 2,
            self.reconnect: 1,
        }
        self.play.fill(steps, self.random, weights, self.crowd.learn)

    # What clients do.

    def new_member(self) -> None:
        """Somebody joins, some with an instance id; now and then with a field that is refused."""
        on = self._free(CLIENTS)
        if on is None:
            return
        group = self._group()
        member = Member("", on, group, TYPES[group], self._protocols(), self._maybe(self._pick(INSTANCES), 0.3))
        spoilt: dict[str, Json] = {}
        if self._chance(SPOILT):
            spoilt = self._pick(
                (
                    {"protocol_type": self._pick(("", "connect", "other"))},
                    {"protocols": []},
                    {"session_timeout_ms": self._pick((0, 1, 5999, 1800001))},
                    {"group_id": ""},
                    {"member_id": "nobody"},
                    {"protocols": verbs.protocols("none-else")},
                )
            )
        self._join(on, member, spoilt)

    def rejoin(self) -> None:
        """A member joins again: with an id just given out, in a rebalance, or out of the blue; some with changes."""
        members = [one for one in self._members() if self._can_speak(one)]
        urgent = [one for one in members if self._is_awaited(one)]
        if not members:
            return
        member = self._pick(urgent if urgent and self._chance(0.9) else members)
        if self._chance(0.2):
            member.protocols = self._protocols()
        spoilt: dict[str, Json] = {}
        if self._chance(SPOILT / 2):
            spoilt = self._pick(({"group_instance_id": "i9"}, {"protocol_type": "other"}, {"member_id": "nobody"}))
        on = self._free(CLIENTS) if self._chance(0.05) else member.client
        if on is not None:
            self._join(on, member, spoilt)

    def sync(self) -> None:
        """A member that joined syncs, the leader with an assignment; some with the wrong generation or protocol."""
        members = [one for one in self._members() if self._can_speak(one) and one.generation >= 0]
        urgent = [one for one in members if not one.synced and self.crowd.state(one.group) == "CompletingRebalance"]
        if not members:
            return
        member = self._pick(urgent if urgent and self._chance(0.85) else members)
        fields = self._named(member) | {"protocol_type": TYPES[member.group]}
        fields |= self._spoil_member() or {}
        if self._chance(SPOILT / 3):
            fields["protocol_type" if self._chance(0.5) else "protocol_name"] = self._pick(("other", None))
        if member.others and self._chance(0.2):
            some = self.random.sample(member.others, self.random.randint(0, len(member.others)))
            fields["assignments"] = [
                {"member_id": one, "assignment": verbs.assignment("t1", number)}
                for number, one in enumerate([*some, "stranger"])
            ]
        version = self._version("SyncGroup", 3 if member.instance else 0)
        verbs.sync(self.play, member.client, member.group, member.joined(), version, **fields)
        self.crowd.sent(member.client, "SyncGroup", member)

    def heartbeat(self) -> None:
        """A member says that it lives; some as somebody else."""
        member = self._somebody()
        if member is not None:
            fields = self._named(member) | (self._spoil_member() or {})
            version = self._version("Heartbeat", 3 if member.instance else 0)
            verbs.heartbeat(self.play, member.client, self._group_of(member), member.joined(), version, **fields)

    def commit_as_member(self) -> None:
        """A member commits; some with a stale generation."""
        member = self._somebody()
        if member is not None:
            fields = self._named(member) | {
                "member_id": member.member_id,
                "generation_id_or_member_epoch": member.generation,
            }
            for name, value in (self._spoil_member() or {}).items():
                fields["generation_id_or_member_epoch" if name == "generation_id" else name] = value
            self._commit(member.client, member.group, fields)

    def commit_simple(self) -> None:
        """Somebody commits without being a member, the way tools and assigning consumers do."""
        on = self._free(ADMINS)
        if on is not None:
            group = self._pick((*GROUPS, G3, "<p>simple"))
            self._commit(on, group, {})

    def fetch(self) -> None:
        """Somebody reads offsets, of a member's group or any."""
        on = self._free(CLIENTS + ADMINS)
        if on is None:
            return
        version = self._version("OffsetFetch")
        if version >= 8 and self._chance(0.3):
            groups = [self._fetched(version, group) for group in self.random.choices((*GROUPS, "<p>none", ""), k=3)]
            self.play.ask(on, "OffsetFetch", version, {"groups": groups, "require_stable": self._chance(0.3)})
            return
        topics = None if version >= 2 and self._chance(0.4) else self._topics()
        verbs.fetch(self.play, on, self._group(), topics, version, require_stable=self._chance(0.3))

    def leave(self) -> None:
        """One member leaves: itself, or by an administrator."""
        member = self._somebody()
        if member is not None and self.crowd.may_remove(member.group, [member.member_id]):
            name = "nobody" if self._chance(SPOILT) else member.member_id
            on = member.client if self._chance(0.7) else self._free(ADMINS)
            if on is not None:
                verbs.leave(self.play, on, self._group_of(member), name, version=self._version("LeaveGroup"))

    def leave_many(self) -> None:
        """An administrator removes several: by member id, by instance id, some unknown."""
        group, on = self._group(), self._free(ADMINS)
        names = self.random.sample(
            sorted(self.crowd.members_shown(group)), min(2, len(self.crowd.members_shown(group)))
        )
        if on is None or not self.crowd.may_remove(group, names):
            return
        asked: list[Json] = []
        for name in names:
            instance = self.crowd.members_shown(group)[name]
            by_instance = instance is not None and self._chance(0.5)
            asked.append({"member_id": "" if by_instance else name, "group_instance_id": instance, "reason": "test"})
        if self._chance(0.4):
            asked.append({"member_id": self._pick(("nobody", "")), "group_instance_id": self._pick(("i9", None))})
        verbs.leave(self.play, on, group, version=self._version("LeaveGroup", 3), members=asked)

    def pipelined(self) -> None:
        """Something goes behind a parked request of the same connection."""
        waiting = sorted(self.crowd.waiting())
        if waiting:
            verbs.find_coordinator(self.play, self._pick(waiting), G1, version=self._version("FindCoordinator"))

    def reconnect(self) -> None:
        """A client loses its connection, and what it was waiting for."""
        on = self._pick(CLIENTS)
        if self.crowd.free(on):
            self.play.close(on)

    # What administrators do.

    def offset_delete(self) -> None:
        """OffsetDelete of some partitions."""
        on = self._free(ADMINS)
        if on is not None:
            verbs.offset_delete(self.play, on, self._pick((*GROUPS, "<p>simple", "<p>none", "")), self._topics())

    def delete_groups(self) -> None:
        """DeleteGroups of one or more, the same one twice now and then."""
        on = self._free(ADMINS)
        if on is not None:
            some = self.random.choices((*GROUPS, "<p>simple", "<p>none", ""), k=self.random.randint(1, 3))
            verbs.delete_groups(self.play, on, *some, version=self._version("DeleteGroups"))

    def describe_groups(self) -> None:
        """DescribeGroups at some version (the watcher uses one alone)."""
        on = self._free(ADMINS)
        if on is not None:
            some = self.random.choices((*GROUPS, "<p>none", ""), k=self.random.randint(1, 3))
            version = self._version("DescribeGroups")
            allowed = self._chance(0.3)
            verbs.describe_groups(self.play, on, *some, version=version, include_authorized_operations=allowed)

    def list_groups(self) -> None:
        """ListGroups, some with filters."""
        on = self._free(ADMINS)
        if on is not None:
            states = self.random.sample(("Stable", "Empty", "PreparingRebalance", "dead"), self.random.randint(0, 2))
            types = self.random.sample(("classic", "consumer", "odd"), self.random.randint(0, 1))
            version = self._version("ListGroups")
            verbs.list_groups(self.play, on, version, states_filter=states, types_filter=types)

    def find_coordinator(self) -> None:
        """FindCoordinator of a group."""
        on = self._free(CLIENTS + ADMINS)
        if on is not None:
            keys = self.random.choices((*GROUPS, ""), k=self.random.randint(1, 3))
            verbs.find_coordinator(self.play, on, *keys, version=self._version("FindCoordinator"))

    # Parts of requests.

    def _join(self, on: str, member: Member, spoilt: dict[str, Json]) -> None:
        body: dict[str, Json] = {"protocol_type": member.protocol_type, "protocols": member.protocols}
        body |= self._named(member) | spoilt
        version = self._version("JoinGroup", 5 if member.instance else 0)
        verbs.join(self.play, on, member.group, version, **({"member": member.member_id} | body))
        self.crowd.sent(on, "JoinGroup", member)

    def _commit(self, on: str, group: str, fields: dict[str, Json]) -> None:
        topics = []
        for name in self.random.sample(TOPICS, self.random.choice((1, 1, 2, 3))):
            partitions = [self._partition(group) for _ in range(self.random.choice((1, 1, 2, 3)))]
            topics.append({"name": name, "topic_id": verbs.topic_id(name), "partitions": partitions})
        version = self._version("OffsetCommit", 7 if "group_instance_id" in fields else 0)
        retention = self._pick((-1, -1, -1, 3600000))
        self.play.ask(
            on,
            "OffsetCommit",
            version,
            {"group_id": group, "retention_time_ms": retention, "topics": topics} | fields,
        )

    def _partition(self, group: str) -> Json:
        # A commit that is refused as a whole makes a group all the same, in Kafka seen from the next record on.
        exists = self.crowd.state(group) != "Dead"
        return {
            "partition_index": self._pick((0, 0, 0, 0, 0, 0, 1, 1, 2, 3, -1)),
            "committed_offset": self.random.randint(0, 1000),
            "committed_leader_epoch": self._pick((-1, 0, 5)),
            "committed_metadata": "y" * 4097
            if exists and self._chance(0.01)
            else self._pick(("", None, "note", "x" * 130)),
        }

    def _topics(self) -> dict[str, list[int]]:
        chosen = self.random.sample(TOPICS, self.random.randint(0, 3))
        return {name: self.random.choices((0, 1, 2, 5), k=self.random.randint(0, 3)) for name in chosen}

    def _fetched(self, version: int, group: str) -> Json:
        asked = [
            {"name": name, "topic_id": verbs.topic_id(name), "partition_indexes": partitions}
            for name, partitions in self._topics().items()
        ]
        member = self._somebody()
        known = {"member_id": member.member_id, "member_epoch": member.generation} if member else {}
        return {"group_id": group, "topics": None if self._chance(0.3) else asked} | (known if version >= 9 else {})

    def _protocols(self) -> list[Json]:
        topics = self.random.sample(("t1", "t2", "t3"), self.random.randint(1, 2))
        metadata = verbs.subscription(*topics, version=self._pick((0, 1, 3)), behind=bytes(4))
        if self._chance(0.06):
            metadata = self._pick(("", "0000", metadata[:-16], "deadbeef"))
        return verbs.protocols(*self._pick(PROTOCOLS), metadata=metadata)

    def _named(self, member: Member) -> dict[str, Json]:
        return {"group_instance_id": member.instance} if member.instance else {}

    def _spoil_member(self) -> dict[str, Json] | None:
        if not self._chance(SPOILT):
            return None
        spoilt: list[dict[str, Json]] = [{"generation_id": self._pick((-1, 0, 7))}, {"member_id": "nobody"}]
        return self._pick([*spoilt, {"member_id": ""}])

    def _group_of(self, member: Member) -> str:
        return self._pick(("", "<p>none")) if self._chance(SPOILT / 4) else member.group

    # Chances.

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _pick(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def _maybe(self, value: T, probability: float) -> T | None:
        return value if self._chance(probability) else None

    def _group(self) -> str:
        return self.random.choices(GROUPS, (15, 1, 1) if self.crowded else (6, 2, 2))[0]

    def _version(self, api: str, since: int = 0) -> int:
        every = [version for version in self.play.versions(api) if version >= since]
        if not every:
            raise NotThere(api)
        return self._pick(every)

    def _free(self, names: tuple[str, ...]) -> str | None:
        free = [name for name in names if self.crowd.free(name)]
        return self._pick(free) if free else None

    def _can_speak(self, member: Member) -> bool:
        return self.crowd.free(member.client) and not self.crowd.parked(member)

    def _somebody(self) -> Member | None:
        members = [one for one in self._members() if self.crowd.free(one.client)]
        return self._pick(members) if members else None

    def _members(self) -> list[Member]:
        """Who may act now: mostly those that the broker still knows."""
        members = list(self.crowd.members.values())
        return [one for one in members if self.crowd.alive(one)] if self._chance(0.92) else members

    def _is_awaited(self, member: Member) -> bool:
        shown = member.member_id in self.crowd.members_shown(member.group)
        if self.crowd.state(member.group) == "PreparingRebalance":
            return shown
        return member.generation < 0 and not shown
