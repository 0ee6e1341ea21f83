"""One history for the stub and for Apache Kafka, in which a minute is an offset's life."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from kafkawire.api import ApiKey
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from tests.coordinator.context import subscription
from tests.expiry.model import Place
from tests.expiry.wire import Wire

CONFIG: dict[str, object] = {
    "offsets.retention.minutes": 1,
    "offsets.retention.check.interval.ms": 1000,
    "group.initial.rebalance.delay.ms": 0,
}
OWN = {"at-once": 0, "below": -2, "soon": 1, "later": 20_000, "long": 3_600_000, "overflow": 2**63 - 1, "default": -1}
MOMENTS = (8, 15, 40, 75, 100)
"""Seconds since the beginning at which all is looked at. Nothing expires within five seconds before."""
LATE = 20
"""When something is committed anew; what happens at the beginning happens within three seconds."""

Seen = dict[str, tuple[str, dict[Place, int]]]
"""State and offsets by group."""


class RealHistory:
    """Groups of every kind of the expiry table. `begin` happens at 0, `go_on` at LATE."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.groups: list[str] = []

    def begin(self) -> None:
        wire = self.wire
        for version in (2, 3, 4):
            for name, own in OWN.items():
                group = self._named(f"own-{name}-v{version}")
                wire.commit(group, {("kept", 0): 1}, own=own, version=version)
        wire.commit(self._named("simple"), {("kept", 0): 1, ("other", 1): 2})
        wire.commit(self._named("simple-twice"), {("kept", 0): 1, ("kept", 1): 1})
        wire.commit(self._named("mixed"), {("kept", 0): 1})
        wire.commit("mixed", {("kept", 1): 1}, own=0, version=4)
        self._groups_with_members()
        wire.commit(self._named("of-a-deleted-topic"), {("doomed", 0): 1})
        wire.commit(self._named("of-a-deleted-topic-too"), {("doomed", 0): 1, ("kept", 0): 2})
        deleted = wire.ask(ApiKey.DELETE_TOPICS, 4, DeleteTopicsRequest(topic_names=["doomed"], timeout_ms=30_000))
        assert [r.error_code for r in deleted.responses] == [0]

    def _groups_with_members(self) -> None:
        wire = self.wire
        known, unknown = subscription("kept"), struct.pack(">hi", 0, 0)  # without user data
        stable = {"stable": (known, "consumer"), "stable-unknown": (unknown, "consumer")}
        stable["stable-connect"] = known, "connect"
        for name, (metadata, kind) in stable.items():
            member = wire.member(self._named(name), metadata, kind)
            wire.commit(name, {("kept", 0): 1, ("other", 0): 2}, member=member)
            wire.commit(name, {("kept", 1): 3, ("other", 1): 4}, member=member, own=0, version=4)
        for name in ("emptied", "emptied-connect", "emptied-commits-late"):
            kind = "connect" if name == "emptied-connect" else "consumer"
            member = wire.member(self._named(name), known, kind)
            wire.commit(name, {("kept", 0): 1, ("other", 0): 2}, member=member)
            wire.commit(name, {("kept", 1): 3}, member=member, own=3_600_000, version=4)
            wire.leave(member)
        self.leaves_late = wire.member(self._named("leaves-late"), known)
        wire.commit("leaves-late", {("kept", 0): 1, ("other", 0): 2}, member=self.leaves_late)
        self.empty = wire.member(self._named("emptied-without-offsets"), known)
        wire.leave(self.empty)

    def go_on(self) -> None:
        wire = self.wire
        wire.commit("simple-twice", {("kept", 1): 2})
        wire.commit("emptied-commits-late", {("kept", 0): 9})
        wire.leave(self.leaves_late)

    def look(self) -> Seen:
        answer = self.wire.ask(ApiKey.DESCRIBE_GROUPS, 5, DescribeGroupsRequest(self.groups))
        states = {g.group_id: g.group_state for g in answer.groups}
        return {group: (states[group], self.wire.committed(group)) for group in self.groups}

    def _named(self, group: str) -> str:
        self.groups.append(group)
        return group


def played(wire: Wire, pass_until: Callable[[int], None], moments: Sequence[int] = MOMENTS) -> dict[int, Seen]:
    """What is seen at each moment. `pass_until` returns so many seconds after the beginning, which is now."""
    history = RealHistory(wire)
    history.begin()
    seen = {}
    for moment in sorted({*moments, LATE}):
        pass_until(moment)
        if moment == LATE:
            history.go_on()
        else:
            seen[moment] = history.look()
    return seen
