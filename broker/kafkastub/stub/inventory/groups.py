"""Groups of every type as tables. All of it is asked for in the broker's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkastub.stub.inventory.tables import Row, Table, cell, moment, places, some
from kafkastub.views.groups import GroupView, view
from kafkastub.views.of_groups import SHARE, STREAMS
from kafkastub.views.share_groups import RecordsView, ShareGroupView, SharePartitionView, client_ids, partition_view
from kafkastub.views.share_groups import view as share_view
from kafkastub.views.streams_groups import StreamsGroupView, StreamsMemberView, TasksView, task_view
from kafkastub.views.streams_groups import view as streams_view

if TYPE_CHECKING:
    from kafkastub.coordinator.group import Group
    from kafkastub.server.broker import Broker
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.views.of_groups import AnyGroup

_MOST_GROUPS: Final = 200
_MOST_ROWS: Final = 500
"""Of every other table here."""


class _Seen(NamedTuple):
    """A group, and the view of its type, which is made once for all tables; None where it has none."""

    group: Group
    view: AnyGroup[Any] | None


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
    looks: dict[str, Callable[[BrokerState, str], AnyGroup[Any] | None]] = {SHARE: share_view, STREAMS: streams_view}
    return _Seen(group, looks.get(group.group_type, view)(broker.state, group.group_id))


def _group(seen: _Seen) -> Row:
    group, told = seen
    epoch = "" if told is None else str(told.epoch)
    target, assignor = (None, None) if told is None else (told.target_epoch, told.assignor)
    return (
        cell(group.group_id), group.group_type, group.state_name, epoch, cell(target), cell(assignor), str(group.size),
        moment(group.state_timestamp), _remarks(seen),
    )  # fmt: skip


def _remarks(seen: _Seen) -> str:
    """What it lacks, and what a test holds of it."""
    if isinstance(seen.view, ShareGroupView) and seen.view.holds:
        return "acknowledgements are held"
    if not isinstance(seen.view, StreamsGroupView):
        return ""
    return ": ".join(map(cell, filter(None, (seen.view.status, seen.view.status_message))))


def _members(groups: Iterable[_Seen]) -> Iterator[Row]:
    for group, found in groups:
        for one in found.members.values() if isinstance(found, GroupView) else ():
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
    timer_ms = broker.clock.both()[1]
    for group, share in groups:
        if not isinstance(share, ShareGroupView):
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
    for group, streams in groups:
        for one in streams.members.values() if isinstance(streams, StreamsGroupView) else ():
            yield (
                cell(group.group_id), cell(one.member_id), cell(one.process_id), one.state, str(one.epoch),
                *map(places, one.tasks), _of_any_role(one.pending_revocation), _of_any_role(one.target),
            )  # fmt: skip


def _of_any_role(tasks: TasksView) -> str:
    return "; ".join(f"{role} {places(of)}" for role, of in zip(tasks._fields, tasks, strict=True) if of)


def _tasks(broker: Broker, groups: Iterable[_Seen]) -> Iterator[Row]:
    for group, streams in groups:
        if not isinstance(streams, StreamsGroupView):
            continue
        for task in streams.tasks:
            one = task_view(broker.state, streams, task)
            active = () if one.active is None else (one.active,)
            who = (_names(of) for of in (active, one.standby, one.warmup, one.pending_revocation))
            yield cell(group.group_id), places([task]), places(one.reads), *who


def _names(members: Iterable[StreamsMemberView]) -> str:
    return ", ".join(cell(one.member_id) for one in members)
