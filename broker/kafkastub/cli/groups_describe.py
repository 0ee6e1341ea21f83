"""`kafkastub groups describe`: the tables of offsets, members and state."""

from __future__ import annotations

from kafkastub.cli import output
from kafkastub.cli.of_groups import MISSING, Row, assignment, cell, print_state
from kafkastub.client import Client, topics
from kafkastub.client.groups import Group, Member, Offset, describe, offsets

Partition = tuple[str, int]

_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


def collect(client: Client, group_id: str, part: str) -> tuple[Group, list[Row]]:
    """A group, and its offsets where "offsets" is the part of it that is to be shown. Raises BrokerError."""
    group = describe(client, group_id)
    return group, _rows(client, group, offsets(client, group_id)) if part == "offsets" else []


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


def of_state(group: Group) -> Row:
    """What the state of a consumer group has beside that of any group."""
    return {
        "assignment_strategy": group.assignor,
        "group_epoch": group.epoch,
        "target_assignment_epoch": group.assignment_epoch,
    }


def show(group: Group, part: str, rows: list[Row], verbose: bool) -> None:
    """Print what `collect` has found, as a table."""
    if part == "members":
        _print_members(group, verbose)
    elif part == "state":
        _print_state(group, verbose)
    else:
        _print_offsets(group, rows, verbose)


def _worth_a_table(group: Group, rows: int) -> bool:
    """Say what is to be said about the group's state first."""
    name, state = group.id, group.state
    if state == "Dead":
        output.error(f"Consumer group '{name}' does not exist.")
    elif state == "Empty":
        output.warn(f"Consumer group '{name}' has no active members.", above=True)
    elif state in _REBALANCING:
        output.warn(f"Warning: Consumer group '{name}' is rebalancing.", above=True)
    return state != "Dead" and rows > 0


def _print_offsets(group: Group, rows: list[Row], verbose: bool) -> None:
    """Where the group is in each partition."""
    if not _worth_a_table(group, len(rows)):
        return
    names = list(rows[0])
    if not verbose:
        names.remove("leader_epoch")
    widths = dict.fromkeys(names, 15) | {"partition": 10, "client_id": 0}
    for name in ("group", "topic", "consumer_id", "host"):
        widths[name] = output.width(15, (cell(row[name]) for row in rows))
    columns = {name.upper().replace("_", "-"): widths[name] for name in names}
    output.table(columns, ([cell(row[name]) for name in names] for row in rows), above=True)


def _print_members(group: Group, verbose: bool) -> None:
    """Who is in the group."""
    members = group.members
    _worth_a_table(group, len(members))
    rows = [_member(group, member) for member in members]
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


def _member(group: Group, member: Member) -> dict[str, str]:
    return {
        "GROUP": group.id,
        "CONSUMER-ID": member.id,
        "GROUP-INSTANCE-ID": member.instance_id or "",
        "HOST": member.host,
        "CLIENT-ID": member.client_id,
        "#PARTITIONS": str(len(member.assignment)),
        "CURRENT-EPOCH": cell(member.epoch),
        "CURRENT-ASSIGNMENT": assignment(member.assignment) or MISSING,
        "TARGET-EPOCH": cell(group.assignment_epoch),
        "TARGET-ASSIGNMENT": assignment(member.target) or MISSING,
        "UPGRADED": MISSING if member.upgraded is None else str(member.upgraded).lower(),
        "": "",
    }


def _print_state(group: Group, verbose: bool) -> None:
    """The group as a whole."""
    if not _worth_a_table(group, 1):
        return
    columns = {"ASSIGNMENT-STRATEGY": (20, group.assignor or MISSING), "STATE": (20, group.state)}
    if verbose:
        columns["GROUP-EPOCH"] = 15, cell(group.epoch)
        columns["TARGET-ASSIGNMENT-EPOCH"] = 25, cell(group.assignment_epoch)
    print_state(group, columns)
