"""Random scenarios of streams groups from a seed (KIP-1071): members with topologies, and administrators among them.

Half of the heartbeats are those of members that do as they are told, so that groups become Stable; between them come
wrong ones, topologies that are refused or that want topics which are not there, topics that come, grow and go (those
that the broker made, too), configurations of groups, and offsets with epochs old and new.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.committing import TRANSACTIONAL_ID, Committing
from kafkastub_conformance.differential.managing import Managing
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import GROUPS, Script
from kafkastub_conformance.differential.stage import TOPIC
from kafkastub_conformance.differential.streams_looks import INTERNAL
from kafkastub_conformance.differential.streams_members import HEARTBEAT, REBALANCE_MS, Member, Members

STEPS = 40
SHORT_MS, PASSED_MS, INTERVAL_MS = 700, 1500, 2000

AT_ONCE = ("streams.initial.rebalance.delay.ms", "streams.assignment.interval.ms")
"""What groups of a guest are told to be, so that members are assigned at once."""

CONFIGS = {
    "streams.num.standby.replicas": ("0", "1", "1", "2", "3", "-1"),
    "streams.num.warmup.replicas": ("0", "1", "20", "21", "x"),
    "streams.session.timeout.ms": ("3600000", "7200000", "1", "0"),
    "streams.heartbeat.interval.ms": ("5000", "7000", "1", "60000"),
    "streams.task.offset.interval.ms": ("15000", "70000", "1", "-1"),
    "streams.acceptable.recovery.lag": ("0", "5", "1000000000000", "-1"),
    "streams.assignment.interval.ms": ("0", "0", "0", "3600000", "-1", "x", "99999999"),
    "streams.rack.aware.assignment.tags": ("zone", "zone,rack", "zone, cluster", "", "zone,zone", "zone,,rack"),
    "streams.assignor.name": ("sticky", "nope", ""),
    "streams.assignor.offload.enable": ("true", "false", "perhaps"),
    "streams.initial.rebalance.delay.ms": ("0", "-1", "x"),
    "streams.nothing": ("1",),
}
"""Configurations of groups and values for them, good and bad. No interval that may pass while a scenario runs."""


def streams_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"streams-{seed}",
        lambda play: StreamsGenerator(play, seed).run(steps),
        GROUPS,
        "streams",
        (TRANSACTIONAL_ID,) if _transacts(seed) else (),
        streams_groups=GROUPS,
    )


def _transacts(seed: int) -> bool:
    return seed % 4 == 0


class StreamsGenerator(Members, Committing[Member], Managing):
    """One scenario in the making."""

    BY_EPOCH, BY_NOBODY = 0.8, 0.15

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"streams-{seed}"))
        self.transacts = _transacts(seed)
        self.pauses = seed % 8 == 1
        """Whether delays and timeouts pass; that takes real time."""

    def run(self, steps: int) -> None:
        """Play until there are so many steps."""
        weights: dict[Callable[[], object], int] = {
            self.obey: 55,
            self.repeat: 18,
            self.join: 18,
            self.change: 7,
            self.report: 4,
            self.err: 12,
            self.leave: 5,
            self.shut_down: 1,
            self.commit: 7,
            self.fetch: 3,
            self.transact: 6 * self.transacts,
            self.offset_delete: 2,
            self.delete_groups: 2,
            self.list_groups: 2,
            self.describe: 3,
            self.other_types: 2,
            self.tell_topology: 1,
            self.create_topic: 4,
            self.grow_topic: 2,
            self.delete_topic: 2,
            self.look_at_internal: 2,
            self.configure: 5,
            self.wait_for_delay: 6 * self.pauses,
            self.wait_for_interval: 4 * self.pauses,
            self.wait_for_revocation: 8 * self.pauses,
            self.wait_for_session: 5 * self.pauses,
            self.wait_for_topics: 6 * self.pauses,
        }
        self.begin()
        self.play.fill(steps, self.random, weights)

    def begin(self) -> None:
        """A topic or two; groups that need no time, where the broker's own configuration is not known."""
        for _ in range(self.pick((1, 2, 2))):
            self.create_topic()
        if not self.known:
            for group in GROUPS:
                for key in AT_ONCE:
                    self._configure(group, key, "0")

    # Groups.

    def list_groups(self) -> None:
        """With filters."""
        states = ("Stable", "empty", "Assigning", "RECONCILING", "dead", "NotReady", "not_ready")
        types = self.random.sample(("classic", "Streams", "odd"), self.pick((0, 0, 1)))
        some = self.random.sample(states, self.pick((0, 0, 1, 2)))
        verbs.list_groups(self.play, "a1", self.version("ListGroups"), states_filter=some, types_filter=types)

    def describe(self) -> None:
        """StreamsGroupDescribe at some version, and its older siblings."""
        asked = self.random.choices((*GROUPS, "<p>none"), k=self.pick((0, 1, 2))) + [""] * (
            self.known and self.chance(0.1)
        )
        body: dict[str, Json] = {"group_ids": asked, "include_authorized_operations": self.chance(0.3)}
        api = self.pick(("StreamsGroupDescribe", "StreamsGroupDescribe", "ConsumerGroupDescribe"))
        if api == "StreamsGroupDescribe":
            body["include_topology_description"] = self.chance(0.3)
        self.play.ask("a1", api, self.version(api), body)
        if self.chance(0.3):
            verbs.describe_groups(self.play, "a1", *GROUPS, version=self.version("DescribeGroups"))

    def tell_topology(self) -> None:
        """The description of a topology, which no broker keeps without a plug-in."""
        member = self.somebody()
        body = {"group_id": member.group, "member_id": member.member_id, "topology_epoch": 1}
        self.play.ask("c1", "StreamsGroupTopologyDescriptionUpdate", 0, body)

    def other_types(self) -> None:
        """What is for groups of other types, asked of a streams group that is there."""
        group = self.pick(GROUPS)
        shown = self.shown(group)
        if not shown.get("group_epoch"):
            return
        member = {"group_id": group, "member_id": "m1", "member_epoch": self.pick((0, 0, 1, -1))}
        asked: list[Callable[[], object]] = [
            lambda: verbs.leave(self.play, "c1", group, "m1", version=self.version("LeaveGroup")),
            lambda: self.play.ask(
                "c1",
                "ConsumerGroupHeartbeat",
                1,
                member | {"rebalance_timeout_ms": 1000, "subscribed_topic_names": ["t1"], "topic_partitions": []},
            ),
            lambda: self.play.ask("c1", "ShareGroupHeartbeat", 1, member | {"subscribed_topic_names": ["t1"]}),
            lambda: self.play.ask("c1", "DescribeShareGroupOffsets", 0, {"groups": [{"group_id": group}]}),
            lambda: verbs.heartbeat(self.play, "c1", group, {"member_id": "m1", "generation_id": 2}),
            lambda: verbs.sync(self.play, "c1", group, {"member_id": "m1", "generation_id": 2}),
        ]
        if shown.get("group_state") != "Empty":  # an empty one would become a group of the classic protocol
            asked.append(lambda: verbs.join(self.play, "c1", group, self.version("JoinGroup", 4)))
        self.pick(asked)()

    # Topics.

    def _changeable(self) -> tuple[str, int] | None:
        made = list(self.play.state.get(INTERNAL, {}).items())
        every = [*self.topics.items(), *self.topics.items(), *made]
        return self.pick(every) if every else None

    def look_at_internal(self) -> None:
        """Topics that the broker made: what they are set to."""
        made = list(self.play.state.get(INTERNAL, {}))
        if not made:
            return
        name = self.pick(made)
        keys = [
            "cleanup.policy", "retention.ms", "segment.bytes", "message.timestamp.type", "min.compaction.lag.ms",
        ]  # fmt: skip
        asked = [{"resource_type": TOPIC, "resource_name": name, "configuration_keys": keys}]
        body = {"resources": asked, "include_synonyms": self.chance(0.5)}
        self.play.ask("a1", "DescribeConfigs", self.version("DescribeConfigs", 1), body)
        self.play.ask("a1", "Metadata", self.newest("Metadata", 12), {"topics": [{"name": name}]})

    # Configurations of groups.

    def configure(self) -> None:
        """A group's own configuration: one that counts at the next heartbeat, or one that is refused."""
        key = self.pick(("streams.num.standby.replicas", "streams.num.standby.replicas", *CONFIGS))
        self._configure(self.pick(GROUPS), key, self.pick((*CONFIGS[key], None)))
        if self.chance(0.4):
            self.describe_configs()

    def _configure(self, group: str, key: str, value: str | None) -> None:
        super()._configure(group, key, "0" if value is None and not self.known and key in AT_ONCE else value)

    # Offsets.

    def _offsets(self, member: Member) -> list[tuple[str, int, int]]:
        topics, partitions = ("t1", "t1", "t2", "t3"), (0, 0, 0, 1, 2, 9)
        places = {(self.pick(topics), self.pick(partitions)) for _ in range(self.pick((1, 2)))}
        return [(topic, partition, self.random.randint(0, 100)) for topic, partition in sorted(places)]

    # What only time brings.

    def wait_for_delay(self) -> None:
        """A group that has nobody waits for others before it assigns anything."""
        member = self._first()
        if member is None:
            return
        self._configure(member.group, AT_ONCE[0], str(SHORT_MS))
        self._begin_with(member, self.topology_of(member.group))
        self.play.pause(PASSED_MS)
        self._configure(member.group, AT_ONCE[0], None)
        if member.epoch:
            self._say(member, self._who(member))

    def wait_for_interval(self) -> None:
        """Nothing is assigned anew for a while after it was."""
        member = self.somebody()
        if not member.epoch:
            return
        self._configure(member.group, AT_ONCE[1], str(INTERVAL_MS))
        self.play.pause(INTERVAL_MS + SHORT_MS)
        for rack in ("r3", "r4"):
            self._say(member, self._who(member) | {"rack_id": rack})
        self.play.pause(INTERVAL_MS + SHORT_MS)
        self._say(member, self._who(member))
        self._configure(member.group, AT_ONCE[1], None)

    def wait_for_revocation(self) -> None:
        """Members that do not give tasks back in time are thrown out."""
        group = self.pick(GROUPS)
        for member in self._joined(group):
            self._say(member, self._who(member) | {"rebalance_timeout_ms": SHORT_MS} | member.tasks)
        new = [one for one in self.members.values() if one.group == group and not one.epoch]
        if new:
            self._begin_with(new[0], self.topology_of(group))
        for member in self._joined(group):
            self.play.ask(self.on(member), HEARTBEAT, self.version(HEARTBEAT), self._who(member))
        self.play.pause(PASSED_MS)
        for member in self._joined(group):
            self._say(member, self._who(member) | {"rebalance_timeout_ms": REBALANCE_MS})

    def wait_for_session(self) -> None:
        """A member that is not heard of is thrown out."""
        member = self._first()
        if member is None or not self.known:
            return
        self._configure(member.group, "streams.heartbeat.interval.ms", "500")
        self._configure(member.group, "streams.session.timeout.ms", str(2 * SHORT_MS))
        self._begin_with(member, self.topology_of(member.group))
        self.play.pause(PASSED_MS + 2 * SHORT_MS)
        self._configure(member.group, "streams.session.timeout.ms", None)
        self._configure(member.group, "streams.heartbeat.interval.ms", None)
        self._say(member, self._who(member))

    def wait_for_topics(self) -> None:
        """Topics that the broker cannot make: the next heartbeat tells why."""
        member = self._first()
        if member is None:
            return
        self.of_groups[member.group] = self.topologies.unmakeable(member.group)
        self._begin_with(member, self.of_groups.pop(member.group))
        self.play.pause(SHORT_MS)
        if member.epoch:
            self._say(member, self._who(member))
            self._say(member, self._who(member) | {"member_epoch": -1})
            member.out()
            verbs.delete_groups(self.play, "a1", member.group)

    def _first(self) -> Member | None:
        """Somebody of a group that is not there."""
        gone = [group for group in GROUPS if self.shown(group).get("error_code", 69) == 69]
        chosen = [one for one in self.members.values() if one.group in gone and not one.epoch]
        return self.pick(chosen) if chosen else None

    def _joined(self, group: str) -> list[Member]:
        return [one for one in self.members.values() if one.group == group and one.epoch]

    def _begin_with(self, member: Member, topology: Json) -> None:
        self._say(member, self._who(member) | self._in_full(member) | {"topology": topology})
