"""Groups of every type as tables. All of it is asked for in the broker's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.stub.inventory.tables import Row, Table, cell, moment, places, some

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.server.broker import Broker
    from kafkastub.views.groups import GroupView
    from kafkastub.views.share_groups import RecordsView, ShareGroupView, SharePartitionView
    from kafkastub.views.streams_groups import StreamsGroupView, StreamsMemberView, TasksView

_MOST_GROUPS: Final = 200
_MOST_ROWS: Final = 500
"""Of every other table here."""


class _Seen(NamedTuple):
    """A group as it is asked, once for all tables.

    Attributes:
        view: of one that is no streams group.
        share, streams: what there is to one of that type.
    """

    group: Group
    view: GroupView | None = None
    share: ShareGroupView | None = None
    streams: StreamsGroupView | None = None


def group_tables(broker: Broker) -> list[Table]:
    """Those that are not empty."""
    first, more = some(broker.state.coordinator.groups.values(), _MOST_GROUPS)
    groups = [_look(broker, one) for one in first]
    columns = "group", "type", "state", "epoch", "target epoch", "assignor", "members", "since", "remarks"
    return [
        Table("groups", columns, tuple(map(_group, groups)), more),
        _table(
            "members",
            "group, member, instance, client, host, state, epoch, subscribed, assigned, lets go of, target, held",
            lambda: _members(groups),
        ),
        _table(
            "offsets",
            "group, partition, offset, log end, lag, metadata, committed, expires",
            lambda: _offsets(broker, first),
        ),
        _table(
            "records of share groups",
            "group, partition, start, end, lag, what becomes of them",
            lambda: _shared(broker, groups),
        ),
        _table(
            "members of streams groups",
            "group, member, process, state, epoch, active, standby, warm-up, lets go of, target",
            lambda: _streams_members(groups),
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


def _look(broker: Broker, group: Group) -> _Seen:
    state, group_id = broker.state, group.group_id
    if group.group_type == "share":
        from kafkastub.views.share_groups import view as share_view

        share = share_view(state, group_id)
        return _Seen(group, None if share is None else share.group, share)
    if group.group_type == "streams":
        from kafkastub.views.streams_groups import view as streams_view

        return _Seen(group, streams=streams_view(state, group_id))
    from kafkastub.views.groups import view

    return _Seen(group, view(state, group_id))


def _group(seen: _Seen) -> Row:
    group, told = seen.group, seen.view or seen.streams
    epoch = "" if told is None else str(told.epoch)
    target, assignor = (None, None) if told is None else (told.target_epoch, told.assignor)
    return (
        cell(group.group_id), group.group_type, group.state_name, epoch, cell(target), cell(assignor), str(group.size),
        moment(group.state_timestamp), _remarks(seen),
    )  # fmt: skip


def _remarks(seen: _Seen) -> str:
    """What it lacks, and what a test holds of it."""
    if seen.share is not None and seen.share.holds:
        return "acknowledgements are held"
    topology = None if seen.streams is None else seen.streams.topology
    return "" if topology is None else ": ".join(map(cell, filter(None, (topology.status, topology.message))))


def _members(groups: Iterable[_Seen]) -> Iterator[Row]:
    for group, view, *_ in groups:
        for one in view.members.values() if view is not None else ():
            subscribed = "unreadable" if one.subscribed is None else ", ".join(map(cell, one.subscribed[:20]))
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.group_instance_id), cell(one.client_id),
                cell(one.client_host), cell(one.state), cell(one.epoch), cell(one.expression) or subscribed,
                places(one.assigned), places(one.pending_revocation), places(one.target), "held" if one.held else "",
            )  # fmt: skip


def _offsets(broker: Broker, groups: Iterable[Group]) -> Iterator[Row]:
    state = broker.state
    for group in groups:
        for topic, columns in state.coordinator.offsets.topics(group.group_id).items():
            known = state.cluster.topic(topic)
            for index, commit in columns.items():
                log = None if known is None else state.logs.log(known.topic_id, index)
                end = None if log is None else log.log_end_offset
                yield (
                    cell(group.group_id), places([(topic, index)]), str(commit.offset), cell(end),
                    "" if end is None else str(max(end - commit.offset, 0)), cell(commit.metadata),
                    moment(commit.commit_timestamp), moment(commit.expire_timestamp),
                )  # fmt: skip


def _shared(broker: Broker, groups: Iterable[_Seen]) -> Iterator[Row]:
    from kafkastub.views.share_groups import client_ids, partition_view

    timer_ms = broker.clock.both()[1]
    for group, _, share, _ in groups:
        if share is None:
            continue
        clients = client_ids(share)
        for topic, index in share.partitions:
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
    for group, *_, streams in groups:
        for one in streams.members.values() if streams is not None else ():
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.process_id), one.state, str(one.epoch),
                *map(places, one.tasks), _of_any_role(one.pending_revocation), _of_any_role(one.target),
            )  # fmt: skip


def _of_any_role(tasks: TasksView) -> str:
    return "; ".join(f"{role} {places(of)}" for role, of in zip(tasks._fields, tasks, strict=True) if of)


def _tasks(broker: Broker, groups: Iterable[_Seen]) -> Iterator[Row]:
    from kafkastub.views.streams_groups import task_view

    for group, *_, streams in groups:
        if streams is None:
            continue
        for task in streams.tasks:
            one = task_view(broker.state, streams, task)
            active = () if one.active is None else (one.active,)
            who = (_names(of) for of in (active, one.standby, one.warmup, one.pending_revocation))
            yield cell(group.group_id), places([task]), places(one.reads), *who


def _names(members: Iterable[StreamsMemberView]) -> str:
    return ", ".join(cell(one.member_id) for one in members)
