"""Groups of every type as tables. All of it is asked for in the broker's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from kafkastub.stub.inventory.tables import Row, Table, cell, moment, places, some

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.server.broker import Broker
    from kafkastub.state.share_group_views import RecordsView, SharePartitionView
    from kafkastub.state.streams_group_views import StreamsMemberView, TasksView

_MOST_GROUPS: Final = 200
_MOST_ROWS: Final = 500
"""Of every other table here."""


def group_tables(broker: Broker) -> list[Table]:
    """Those that are not empty."""
    groups, more = some(broker.state.coordinator.groups.values(), _MOST_GROUPS)
    told = [_group(broker, one) for one in groups]
    columns = "group", "type", "state", "epoch", "target epoch", "assignor", "members", "since", "remarks"
    return [
        Table("groups", columns, tuple(told), more),
        _table(
            "members",
            "group, member, instance, client, host, state, epoch, subscribed, assigned, lets go of, target, held",
            lambda: _members(broker, groups),
        ),
        _table(
            "offsets",
            "group, partition, offset, log end, lag, metadata, committed, expires",
            lambda: _offsets(broker, groups),
        ),
        _table(
            "records of share groups",
            "group, partition, start, end, lag, what becomes of them",
            lambda: _shared(broker, groups),
        ),
        _table(
            "members of streams groups",
            "group, member, process, state, epoch, active, standby, warm-up, lets go of, target",
            lambda: _streams_members(broker, groups),
        ),
        _table(
            "tasks of streams groups",
            "group, task, reads, active, standby, warm-up, lets go of it",
            lambda: _tasks(broker, groups),
        ),
    ]


def _table(name: str, columns: str, rows: Callable[[], Iterator[Row]]) -> Table:
    found = list(islice(rows(), _MOST_ROWS + 1))
    return Table(name, tuple(columns.split(", ")), tuple(found[:_MOST_ROWS]), -1 if len(found) > _MOST_ROWS else 0)


def _group(broker: Broker, group: Group) -> Row:
    from kafkastub.state.group_views import view

    seen = view(broker.state, group.group_id)
    epoch = "" if seen is None else str(seen.epoch)
    target, assignor = (None, None) if seen is None else (seen.target_epoch, seen.assignor)
    return (
        cell(group.group_id), group.group_type, group.state_name, epoch, cell(target), cell(assignor), str(group.size),
        moment(group.state_timestamp), _remarks(broker, group),
    )  # fmt: skip


def _remarks(broker: Broker, group: Group) -> str:
    """What it lacks, and what a test holds of it."""
    if group.group_type == "share":
        from kafkastub.state.share_group_views import view as share_view

        shared = share_view(broker.state, group.group_id)
        return "acknowledgements are held" if shared is not None and shared.holds else ""
    if group.group_type == "streams":
        from kafkastub.state.streams_group_views import view as streams_view

        streams = streams_view(broker.state, group.group_id)
        topology = None if streams is None else streams.topology
        return "" if topology is None else ": ".join(map(cell, filter(None, (topology.status, topology.message))))
    return ""


def _members(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    from kafkastub.state.group_views import view

    for group in groups:
        seen = None if group.group_type == "streams" else view(broker.state, group.group_id)
        for one in seen.members.values() if seen is not None else ():
            subscribed = "unreadable" if one.subscribed is None else ", ".join(map(cell, one.subscribed[:20]))
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.group_instance_id), cell(one.client_id),
                cell(one.client_host), cell(one.state), cell(one.epoch), cell(one.expression) or subscribed,
                places(one.assigned), places(one.pending_revocation), places(one.target), "held" if one.held else "",
            )  # fmt: skip


def _offsets(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    from kafkastub.state.lag import measured

    for group in groups:
        for topic, columns in broker.state.coordinator.offsets.topics(group.group_id).items():
            for index, commit, end, lag in measured(broker.state, topic, columns):
                yield (
                    cell(group.group_id), places([(topic, index)]), str(commit.offset), cell(end), cell(lag),
                    cell(commit.metadata), moment(commit.commit_timestamp), moment(commit.expire_timestamp),
                )  # fmt: skip


def _shared(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    from kafkastub.state.share_group_views import client_ids, partition_view, view

    timer_ms = broker.clock.both()[1]
    for group in groups:
        seen = view(broker.state, group.group_id) if group.group_type == "share" else None
        if seen is None:
            continue
        clients = client_ids(seen)
        for topic, index in seen.partitions:
            one = partition_view(broker.state, group.group_id, topic, index, timer_ms, clients)
            yield _share_partition(group.group_id, one)


def _share_partition(group: str, one: SharePartitionView) -> Row:
    first, more = some(one.ranges, 30)
    ranges = "; ".join([_range(each) for each in first] + ([f"… {more} more"] if more else []))
    return cell(group), places([(one.topic, one.partition)]), cell(one.start), str(one.end), cell(one.lag), ranges


def _range(one: RecordsView) -> str:
    who = "" if one.member_id is None else f" by {cell(one.client_id or one.member_id)}, {one.lock_left_ms} ms left"
    delivered = f", delivered {one.deliveries} times" if one.deliveries else ""
    where = str(one.first) if one.first == one.last else f"{one.first} to {one.last}"
    return f"{where} {one.state}{who}{delivered}{', held' if one.held else ''}"


def _streams_members(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    from kafkastub.state.streams_group_views import view

    for group in groups:
        seen = view(broker.state, group.group_id) if group.group_type == "streams" else None
        for one in seen.members.values() if seen is not None else ():
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.process_id), one.state, str(one.epoch),
                *map(places, one.tasks), _of_any_role(one.pending_revocation), _of_any_role(one.target),
            )  # fmt: skip


def _of_any_role(tasks: TasksView) -> str:
    return "; ".join(f"{role} {places(of)}" for role, of in zip(tasks._fields, tasks, strict=True) if of)


def _tasks(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    from kafkastub.state.streams_group_views import task_view, view

    for group in groups:
        seen = view(broker.state, group.group_id) if group.group_type == "streams" else None
        for task in seen.tasks if seen is not None else ():
            one = task_view(broker.state, seen, task)  # type: ignore[arg-type]  # there are tasks, and so it is there
            active = () if one.active is None else (one.active,)
            who = (_names(of) for of in (active, one.standby, one.warmup, one.pending_revocation))
            yield cell(group.group_id), places([task]), places(one.reads), *who


def _names(members: Iterable[StreamsMemberView]) -> str:
    return ", ".join(cell(one.member_id) for one in members)
