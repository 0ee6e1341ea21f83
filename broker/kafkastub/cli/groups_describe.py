"""`kafkastub groups describe`: the tables of offsets, members and state."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kafkastub.cli import output
from kafkastub.client import Client, topics
from kafkastub.client.groups import Group, Member, Offset, describe, offsets

Row = dict[str, Any]
Partition = tuple[str, int]

MISSING = "-"
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


def collect(client: Client, group_id: str, part: str) -> Described:
    """What is to be shown of a group: "offsets", "members" or "state". Raises BrokerError."""
    group = describe(client, group_id)
    if part == "members":
        return Members(group)
    if part == "state":
        return State(group)
    return Offsets(group, _rows(client, group, offsets(client, group_id)))


def _rows(client: Client, group: Group, committed: dict[Partition, Offset]) -> list[Row]:
    """Partitions of members, those with most first, then partitions that are nobody's."""
    owners: list[tuple[Member | None, list[Partition]]] = [
        (member, member.assignment)
        for member in sorted(group.members, key=lambda member: -len(member.assignment))
        if member.assignment
    ]
    assigned = {partition for _, own in owners for partition in own}
    owners.append((None, [partition for partition in committed if partition not in assigned]))
    wanted = {partition for _, own in owners for partition in own}
    described = topics.describe(client, {name for name, _ in wanted})
    led = {
        (topic.name, partition.index)
        for topic in described.values()
        for partition in topic.partitions
        if partition.leader is not None
    }
    ends = topics.list_offsets(client, dict.fromkeys(sorted(wanted & led), topics.LATEST))
    rows = []
    for member, own in owners:
        for name, index in sorted(own):
            found, end = committed.get((name, index)), ends.get((name, index))
            rows.append(
                {
                    "group": group.id,
                    "topic": name,
                    "partition": index,
                    "leader_epoch": found and found.leader_epoch,
                    "current_offset": found and found.offset,
                    "log_end_offset": end,
                    "lag": None if found is None or end is None else end - found.offset,
                    "consumer_id": member and member.id,
                    "host": member and member.host,
                    "client_id": member and member.client_id,
                }
            )
    return rows


@dataclass
class Described:
    """One group, ready to be printed."""

    group: Group

    def print(self, verbose: bool) -> None:
        raise NotImplementedError

    def as_json(self) -> Row:
        return {"group": self.group.id, "state": self.group.state}

    def _worth_a_table(self, rows: int) -> bool:
        """Say what is to be said about the group's state first."""
        name, state = self.group.id, self.group.state
        if state == "Dead":
            output.error(f"Consumer group '{name}' does not exist.")
        elif state == "Empty":
            output.warn(f"Consumer group '{name}' has no active members.", above=True)
        elif state in _REBALANCING:
            output.warn(f"Warning: Consumer group '{name}' is rebalancing.", above=True)
        return state != "Dead" and rows > 0


@dataclass
class Offsets(Described):
    """Where the group is in each partition."""

    rows: list[Row]

    def as_json(self) -> Row:
        return super().as_json() | {"offsets": self.rows}

    def print(self, verbose: bool) -> None:
        if not self._worth_a_table(len(self.rows)):
            return
        names = list(self.rows[0])
        if not verbose:
            names.remove("leader_epoch")
        widths = dict.fromkeys(names, 15) | {"partition": 10, "client_id": 0}
        for name in ("group", "topic", "consumer_id", "host"):
            widths[name] = output.width(15, (_cell(row[name]) for row in self.rows))
        columns = {name.upper().replace("_", "-"): widths[name] for name in names}
        output.table(columns, ([_cell(row[name]) for name in names] for row in self.rows), above=True)


@dataclass
class Members(Described):
    """Who is in the group."""

    def as_json(self) -> Row:
        return super().as_json() | {"members": [asdict(member) for member in self.group.members]}

    def print(self, verbose: bool) -> None:
        members = self.group.members
        self._worth_a_table(len(members))
        rows = [self._row(member) for member in members]
        names = {"GROUP": 15, "CONSUMER-ID": 15}
        if any(member.instance_id for member in members):
            names["GROUP-INSTANCE-ID"] = 17
        names |= {"HOST": 15, "CLIENT-ID": 15, "#PARTITIONS": 15}
        if verbose:
            names |= {"CURRENT-EPOCH": 15, "CURRENT-ASSIGNMENT": 20, "TARGET-EPOCH": 15, "TARGET-ASSIGNMENT": 20}
        else:
            names[""] = 0
        if verbose and {True, False} <= {member.upgraded for member in members}:
            names["UPGRADED"] = 0
        fixed = ("#PARTITIONS", "CURRENT-EPOCH", "TARGET-EPOCH", "UPGRADED", "")
        columns = {
            name: width if name in fixed else output.width(width, (row[name] for row in rows))
            for name, width in names.items()
        }
        output.table(columns, ([row[name] for name in names] for row in rows), above=True)

    def _row(self, member: Member) -> dict[str, str]:
        return {
            "GROUP": self.group.id,
            "CONSUMER-ID": member.id,
            "GROUP-INSTANCE-ID": member.instance_id or "",
            "HOST": member.host,
            "CLIENT-ID": member.client_id,
            "#PARTITIONS": str(len(member.assignment)),
            "CURRENT-EPOCH": _cell(member.epoch),
            "CURRENT-ASSIGNMENT": _assignment(member.assignment),
            "TARGET-EPOCH": _cell(self.group.assignment_epoch),
            "TARGET-ASSIGNMENT": _assignment(member.target),
            "UPGRADED": MISSING if member.upgraded is None else str(member.upgraded).lower(),
            "": "",
        }


@dataclass
class State(Described):
    """The group as a whole."""

    def as_json(self) -> Row:
        node = self.group.coordinator
        return super().as_json() | {
            "coordinator": {"id": node.id, "host": node.host, "port": node.port},
            "assignment_strategy": self.group.assignor,
            "group_epoch": self.group.epoch,
            "target_assignment_epoch": self.group.assignment_epoch,
            "members": len(self.group.members),
        }

    def print(self, verbose: bool) -> None:
        if not self._worth_a_table(1):
            return
        group, node = self.group, self.group.coordinator
        coordinator = f"{node.host}:{node.port}  ({node.id})"
        columns = {
            "GROUP": output.width(15, [group.id]), "COORDINATOR (ID)": output.width(25, [coordinator]),
            "ASSIGNMENT-STRATEGY": 20, "STATE": 20,
        }  # fmt: skip
        cells = [group.id, coordinator, group.assignor or MISSING, group.state]
        if verbose:
            columns |= {"GROUP-EPOCH": 15, "TARGET-ASSIGNMENT-EPOCH": 25}
            cells += [_cell(group.epoch), _cell(group.assignment_epoch)]
        output.table(columns | {"#MEMBERS": 0}, [[*cells, len(group.members)]], above=True)


def _cell(value: object) -> str:
    return MISSING if value is None else str(value)


def _assignment(partitions: list[Partition]) -> str:
    """`audit:0;orders:0,1`."""
    by_topic: dict[str, list[int]] = {}
    for name, index in partitions:
        by_topic.setdefault(name, []).append(index)
    shown = (f"{name}:{','.join(map(str, sorted(indexes)))}" for name, indexes in by_topic.items())
    return ";".join(sorted(shown)) or MISSING
