"""Who is in which group, and owns which partition from when to when."""

from __future__ import annotations

import itertools
from typing import Final

from kafkastub.guarantees.events import (
    Assigned,
    At,
    Beat,
    Client,
    Expelled,
    Joined,
    Left,
    NamedGroups,
    Partition,
    Spoke,
)
from kafkastub.guarantees.state import MOST_CLIENTS, Group, GroupPartition, Member, State, Tenure, short

_MOST_MEMBERS: Final = 2000
EXPELLED: Final = "its session had ended"


class Ownership:
    """Follows members through JoinGroup, SyncGroup, heartbeats and their end."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._instances = itertools.count()
        self._by_connection: dict[tuple[str, int], int] = {}
        """Which client of a group is behind a connection to its coordinator."""
        self._bound: dict[tuple[str, int], int] = {}
        """Which client of a group is behind a connection that fetches."""

    # --- what comes

    def named(self, event: NamedGroups) -> None:
        for name in event.groups:
            self._state.group(name)
            found = self._state.named.setdefault(event.client.connection, set())
            if len(found) < _MOST_MEMBERS:
                found.add(name)
        _bound_to(self._state.named, MOST_CLIENTS)

    def spoken(self, group: Group, client: Client) -> None:
        """This client has spoken for the group."""
        if len(group.clients) < MOST_CLIENTS:
            group.clients.add((client.client_id, client.host))

    def joined(self, event: Joined) -> None:
        group = self._state.group(event.group)
        self.spoken(group, event.client)
        if group.joined is None:
            group.joined = event.at
            group.ends = {partition: log.end for partition, log in self._state.logs.items() if log.first >= 0}
        if event.member:
            member = self.member(group, event.member, event.client)
            member.kept, member.gone = event.owned & member.assigned, ""

    def assigned(self, event: Assigned) -> None:
        group = self._state.group(event.group)
        self.spoken(group, event.client)
        member = self.member(group, event.member, event.client)
        self._assign(group, member, event.partitions, member.kept, event.at)
        member.kept = frozenset()

    def beat(self, event: Beat) -> None:
        """ConsumerGroupHeartbeat."""
        group = self._state.group(event.group)
        self.spoken(group, event.client)
        if not event.member:
            return
        if group.joined is None:
            group.joined = event.at
            group.ends = {partition: log.end for partition, log in self._state.logs.items() if log.first >= 0}
        member = self.member(group, event.member, event.client)
        if event.epoch == 0:
            self._let_go(group, member, "it joined anew")
            member.gone = ""
        if event.assigned is not None:
            self._assign(group, member, event.assigned, member.assigned, event.at)

    def spoke(self, event: Spoke) -> None:
        """A member is behind this connection."""
        group = self._state.group(event.group)
        self.spoken(group, event.client)
        self.is_behind(group, event.member, event.client)

    def is_behind(self, group: Group, member_id: str, client: Client) -> None:
        """A known member has asked for something on this connection."""
        if member_id in group.members:
            self.member(group, member_id, client)

    def expelled(self, event: Expelled) -> None:
        group = self._state.group(event.group)
        member = group.members.get(event.member)
        if member is not None:
            member.gone = EXPELLED
            self._let_go(group, member, "its session ended")

    def left(self, event: Left) -> None:
        group = self._state.group(event.group)
        for one in event.members:
            member = group.members.get(one)
            if member is not None:
                member.gone = "left"
                self._let_go(group, member, "it left the group")

    # --- what is asked

    def member(self, group: Group, member_id: str, client: Client) -> Member:
        """The member of that id, made where there was none."""
        member = group.members.get(member_id)
        key = group.name, client.connection
        if member is None:
            instance = self._by_connection.get(key)
            member = Member(member_id, next(self._instances) if instance is None else instance, client)
            while len(group.members) >= _MOST_MEMBERS:
                del group.members[next(iter(group.members))]
                self._state.forget("members of groups")
            group.members[member_id] = member
        self._by_connection[key] = member.instance
        _bound_to(self._by_connection, MOST_CLIENTS)
        return member

    def is_by_owner(self, group: Group, tenure: Tenure, client: Client, at: At) -> bool:
        """Whether a fetch is certainly of the member that owns the partition, and of the time since it does."""
        if at.began < tenure.began.ended:
            return False
        key = group.name, client.connection
        bound = self._bound.get(key)
        if bound is None:
            owner = group.members.get(tenure.member)
            if owner is None or owner.client.client_id != client.client_id:
                return False
            self._bound[key] = bound = tenure.instance
            _bound_to(self._bound, MOST_CLIENTS)
        if bound != tenure.instance and self._has_come_back(group, bound, tenure, client):
            self._bound[key] = bound = tenure.instance
        return bound == tenure.instance

    def _has_come_back(self, group: Group, instance: int, tenure: Tenure, client: Client) -> bool:
        """Whether a client that was told that its session had ended is the owner now, by another coordinator's
        connection and another member id: it fetches on, and nobody else is called as it is.
        """
        owner = group.members.get(tenure.member)
        if owner is None or owner.client.client_id != client.client_id:
            return False
        before = [one for one in group.members.values() if one.instance == instance]
        named = {one.instance for one in group.members.values() if not one.gone and one.client[1:] == owner.client[1:]}
        return all(one.gone == EXPELLED for one in before) and named == {tenure.instance}

    # --- tenures

    def _assign(
        self, group: Group, member: Member, assigned: frozenset[Partition], kept: frozenset[Partition], at: At
    ) -> None:
        for partition in member.assigned - assigned:
            _end(group.partitions.get(partition), member, "the partition was taken away")
        for partition in assigned:
            group.topics.add(partition[0])
            found = group.partition(partition)
            tenure = found.tenure
            if tenure is not None and tenure.instance == member.instance and partition in kept:
                tenure.member = member.id
                continue
            if tenure is not None:
                found.last_member = tenure.member
                found.over = "the group met again"
            found.tenure = Tenure(member.id, member.instance, at)
            found.behind.clear()
            found.tell(at, "owned by", short(member.id))
        member.before, member.assigned = member.assigned, assigned

    def _let_go(self, group: Group, member: Member, why: str) -> None:
        for partition in member.assigned:
            _end(group.partitions.get(partition), member, why)
        member.before, member.assigned, member.kept = member.assigned, frozenset(), frozenset()


def _end(found: GroupPartition | None, member: Member, why: str) -> None:
    if found is not None and found.tenure is not None and found.tenure.instance == member.instance:
        found.last_member, found.over = member.id, why
        found.tenure = None


def _bound_to(kept: dict[object, object] | dict[int, set[str]] | dict[tuple[str, int], int], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]  # type: ignore[arg-type]
