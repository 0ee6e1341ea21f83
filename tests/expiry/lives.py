"""Who is a member of what: what the model of expiry has to be told about the lives of groups.

Members join, sync and leave in order here; what happens to those who do not is shown elsewhere.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from tests.expiry.model import Group, Model

Topics = frozenset[str] | None
"""What a member subscribes to; None where its subscription cannot be parsed."""


@dataclass
class Life:
    """The members of one group, by names of the test's own.

    Attributes:
        joined: who has joined in the rebalance that is on.
        first: that rebalance found the group empty: it ends with its delay, and not with the last join.
        written: the life at the last generation that is on the log, with state, timestamp and protocol type.
    """

    members: dict[str, Topics] = field(default_factory=dict)
    joined: set[str] = field(default_factory=set)
    first: bool = False
    generation: int = 0
    written: tuple[Life, str, int, str | None] | None = None


class Lives:
    """The members of all groups of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.of: dict[str, Life] = {}

    def gone(self, name: str) -> None:
        self.of.pop(name, None)

    def life(self, name: str) -> tuple[Group, Life]:
        return self.model.groups[name], self.of.setdefault(name, Life())

    def look_in(self, name: str) -> None:
        """Somebody has sent a join: a group that was not there is made, and written down."""
        if name not in self.model.groups:
            group = self.model.groups[name] = Group(self.model.now)
            _, life = self.life(name)
            self._write(group, life)

    def join(self, name: str, member: str, topics: Topics, protocol_type: str) -> None:
        """A new member, or one that comes again with another subscription."""
        self.look_in(name)
        group, life = self.life(name)
        if not life.members:
            group.protocol_type = protocol_type
        life.members[member] = topics
        self._rebalance(group, life)
        life.joined.add(member)
        self._complete_if_all_joined(group, life)

    def leave(self, name: str, *members: str) -> None:
        """Members go, or somebody who was only given an id: a group that is not empty rebalances."""
        group, life = self.life(name)
        for member in members:
            del life.members[member]
            life.joined.discard(member)
        if group.state != "Empty":
            self._rebalance(group, life)
        self._complete_if_all_joined(group, life)

    def end_of_delay(self) -> None:
        """The first rebalances are over."""
        for name in list(self.of):
            group, life = self.life(name)
            if life.first:
                self._complete(group, life)

    def sync(self, name: str) -> None:
        """The leader's assignment is there."""
        group, life = self.life(name)
        self._write(group, life)
        group.state, group.since = "Stable", self.model.now
        self.model.meters["group-completed-rebalances"] += 1

    def reload(self) -> None:
        """The coordinator knows what is on the log, and nothing else."""
        groups = self.model.groups
        for name in list(groups):
            group, life = self.life(name)
            if life.written is not None:
                then, group.state, group.since, group.protocol_type = life.written
                self.of[name] = deepcopy(then)
                self.of[name].written = life.written
                group.subscribed = self._subscribed(group, then)
            elif group.offsets:
                self.of[name] = Life()
                group.state, group.since, group.protocol_type, group.subscribed = "Empty", self.model.now, None, None
            else:
                del groups[name], self.of[name]

    # -- phases --------------------------------------------------------------------------------------------------

    def _rebalance(self, group: Group, life: Life) -> None:
        if group.state != "PreparingRebalance":
            life.first = group.state == "Empty"
            group.state, group.since = "PreparingRebalance", self.model.now

    def _complete_if_all_joined(self, group: Group, life: Life) -> None:
        if group.state == "PreparingRebalance" and not life.first and life.joined == set(life.members):
            self._complete(group, life)

    def _complete(self, group: Group, life: Life) -> None:
        life.joined.clear()
        life.first = False
        life.generation += 1
        group.subscribed = self._subscribed(group, life)
        group.state = "CompletingRebalance" if life.members else "Empty"
        group.since = self.model.now
        if not life.members:
            self._write(group, life)

    def _subscribed(self, group: Group, life: Life) -> Topics:
        if group.protocol_type != "consumer" or None in life.members.values():
            return None
        return frozenset(topic for topics in life.members.values() for topic in topics or ())

    def _write(self, group: Group, life: Life) -> None:
        life.written = None
        state = "Stable" if life.members else group.state
        life.written = deepcopy(life), state, group.since, group.protocol_type
