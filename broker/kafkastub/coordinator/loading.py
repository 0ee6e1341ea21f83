"""The coordinator's beginning and end: groups out of their records, and everybody sent away.

Kafka: GroupMetadataManager.replay(GroupMetadataKey, …), onLoaded, onUnloaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.member import ClassicMember
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.records import GroupMetadata
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from .coordinator import GroupCoordinator


def loaded(coordinator: GroupCoordinator, turn: Turn) -> Turn:
    """Make a live group of every generation, and a simple one of every group that only has offsets."""
    group_ids = dict.fromkeys((*coordinator.hard.generations, *coordinator.offsets.group_ids()))
    return _bring_to_life(coordinator, group_ids, turn)


def reload(coordinator: GroupCoordinator, group_ids: Sequence[str], turn: Turn) -> Turn:
    """Unload these groups, and make live ones again of what their records say."""
    for group_id in group_ids:
        _unload(coordinator, coordinator.groups.pop(group_id), turn)
    coordinator.unseen.difference_update(group_ids)
    known = coordinator.hard.generations
    kept = [one for one in group_ids if one in known or coordinator.offsets.topics(one)]
    return _bring_to_life(coordinator, kept, turn)


def _bring_to_life(coordinator: GroupCoordinator, group_ids: Iterable[str], turn: Turn) -> Turn:
    groups = []
    for group_id in group_ids:
        record = coordinator.hard.generations.get(group_id)
        group = ClassicGroup(group_id, turn.broker_ms) if record is None else _group_of(coordinator, record, turn)
        coordinator.groups[group_id] = group
        groups.append(group)
    for group in groups:
        coordinator.index.touch(group, turn.broker_ms)
        for member in group.members.values():
            coordinator.rebalancer.arm_session(member, turn)
        if len(group.members) > coordinator.settings.max_size:
            coordinator.rebalancer.prepare(group, turn)
    return turn


def _group_of(coordinator: GroupCoordinator, record: GroupMetadata, turn: Turn) -> ClassicGroup:
    timestamp = None if record.current_state_timestamp == -1 else record.current_state_timestamp
    group = ClassicGroup(record.group_id, timestamp)
    group.generation = record.generation
    group.protocol_type = record.protocol_type or None
    group.protocol = record.protocol
    group.leader = record.leader
    for m in record.members:
        rebalance_timeout = m.session_timeout if m.rebalance_timeout == -1 else m.rebalance_timeout
        member = ClassicMember(
            m.member_id,
            m.group_instance_id,
            m.client_id,
            m.client_host,
            rebalance_timeout,
            m.session_timeout,
            ((record.protocol or "", m.subscription),),
            coordinator.rebalancer.session(group, m.member_id),
            m.assignment,
        )
        group.add(member)
    if record.members:
        group.state = State.STABLE
    group.subscribed = group.compute_subscribed()
    return group


def unload(coordinator: GroupCoordinator, turn: Turn) -> Turn:
    """Answer everything that is parked with NOT_COORDINATOR, and forget all groups and offsets."""
    for group in coordinator.groups.values():
        _unload(coordinator, group, turn)
    coordinator.groups.clear()
    coordinator.unseen.clear()
    coordinator.hard = type(coordinator.hard)()
    return turn


def _unload(coordinator: GroupCoordinator, group: ClassicGroup, turn: Turn) -> None:
    error = ErrorCode.NOT_COORDINATOR
    for member in group.members.values():
        member.session.cancel()
        response = JoinGroupResponse(error_code=error, member_id=member.member_id, protocol_name=None)
        coordinator.rebalancer.answer_join(group, member, response, turn)
        coordinator.rebalancer.answer_sync(member, SyncGroupResponse(error_code=error), turn)
    for deadline in (*group.pending.values(), group.join, group.sync):
        if deadline is not None:
            deadline.cancel()
    group.transition(State.DEAD, turn.broker_ms)
    coordinator.index.forget(group)
