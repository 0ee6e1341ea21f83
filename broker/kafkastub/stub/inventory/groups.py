"""Groups of every type as tables. All of it is asked for in the broker's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.stub.inventory.tables import Row, Table, cell, moment, places, some

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.server.broker import Broker
    from kafkastub.state.group_views import GroupView
    from kafkastub.state.share_group_views import RecordsView, ShareGroupView, SharePartitionView
    from kafkastub.state.streams_group_views import StreamsGroupView, StreamsMemberView, TasksView

_MOST_GROUPS: Final = 200
_MOST_ROWS: Final = 500
"""Of every other table here."""


def group_tables(broker: Broker) -> list[Table]:
    """Those that are not empty."""
    groups, more = some(broker.state.coordinator.groups.values(), _MOST_GROUPS)
    seen = [_seen(broker, one) for one in groups]
    columns = "group", "type", "state", "epoch", "target epoch", "assignor", "members", "since", "remarks"
    return [
        Table("groups", columns, tuple(map(_group, seen)), more),
        _table(
            "members",
            "group, member, instance, client, host, state, epoch, subscribed, assigned, lets go of, target, held",
            lambda: _members(seen),
        ),
        _table(
            "offsets",
            "group, partition, offset, log end, lag, metadata, committed, expires",
            lambda: _offsets(broker, groups),
        ),
        _table(
            "records of share groups",
            "group, partition, start, end, lag, what becomes of them",
            lambda: _shared(broker, seen),
        ),
        _table(
            "members of streams groups",
            "group, member, process, state, epoch, active, standby, warm-up, lets go of, target",
            lambda: _streams_members(seen),
        ),
        _table(
            "tasks of streams groups",
            "group, task, reads, active, standby, warm-up, lets go of it",
            lambda: _tasks(broker, seen),
        ),
    ]


def _table(name: str, columns: str, rows: Callable[[], Iterator[Row]]) -> Table:
    found = list(islice(rows(), _MOST_ROWS + 1))
    return Table(name, tuple(columns.split(", ")), tuple(found[:_MOST_ROWS]), -1 if len(found) > _MOST_ROWS else 0)


class _Seen(NamedTuple):
    """A group with what is to be seen of it; of a streams group that alone which only such groups have."""

    group: Group
    view: GroupView | None
    share: ShareGroupView | None = None
    streams: StreamsGroupView | None = None


def _seen(broker: Broker, group: Group) -> _Seen:
    """Looked at once: it may be large."""
    if group.group_type == "share":
        from kafkastub.state.share_group_views import view as share_view

        shared = share_view(broker.state, group.group_id)
        return _Seen(group, None if shared is None else shared.group, share=shared)
    if group.group_type == "streams":
        from kafkastub.state.streams_group_views import view as streams_view

        return _Seen(group, None, streams=streams_view(broker.state, group.group_id))
    from kafkastub.state.group_views import view

    return _Seen(group, view(broker.state, group.group_id))


def _group(seen: _Seen) -> Row:
    group, found = seen.group, seen.view or seen.streams
    epoch = "" if found is None else str(found.epoch)
    target, assignor = (None, None) if found is None else (found.target_epoch, found.assignor)
    return (
        cell(group.group_id), group.group_type, group.state_name, epoch, cell(target), cell(assignor), str(group.size),
        moment(group.state_timestamp), _remarks(seen),
    )  # fmt: skip


def _remarks(seen: _Seen) -> str:
    """What it lacks, and what a test holds of it."""
    if seen.share is not None:
        return "acknowledgements are held" if seen.share.holds else ""
    topology = None if seen.streams is None else seen.streams.topology
    return "" if topology is None else ": ".join(map(cell, filter(None, (topology.status, topology.message))))


def _members(groups: Iterable[_Seen]) -> Iterator[Row]:
    for group, seen, *_ in groups:
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


def _shared(broker: Broker, groups: Iterable[_Seen]) -> Iterator[Row]:
    from kafkastub.state.share_group_views import client_ids, partition_view

    timer_ms = broker.clock.both()[1]
    for group, _, seen, _ in groups:
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


def _streams_members(groups: Iterable[_Seen]) -> Iterator[Row]:
    for group, _, _, seen in groups:
        for one in seen.members.values() if seen is not None else ():
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.process_id), one.state, str(one.epoch),
                *map(places, one.tasks), _of_any_role(one.pending_revocation), _of_any_role(one.target),
            )  # fmt: skip


def _of_any_role(tasks: TasksView) -> str:
    return "; ".join(f"{role} {places(of)}" for role, of in zip(tasks._fields, tasks, strict=True) if of)


def _tasks(broker: Broker, groups: Iterable[_Seen]) -> Iterator[Row]:
    from kafkastub.state.streams_group_views import task_view

    for group, _, _, seen in groups:
        if seen is None:
            continue
        for task in seen.tasks:
            one = task_view(broker.state, seen, task)
            active = () if one.active is None else (one.active,)
            who = (_names(of) for of in (active, one.standby, one.warmup, one.pending_revocation))
            yield cell(group.group_id), places([task]), places(one.reads), *who


def _names(members: Iterable[StreamsMemberView]) -> str:
    return ", ".join(cell(one.member_id) for one in members)
