"""The coordinator's beginning and end: groups out of their records, and everybody sent away.

Kafka: GroupCoordinatorShard.onLoaded, onUnloaded. What a group's records mean is known to its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kafkastub.coordinator.group import Group, GroupType
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.turn import Turn
from kafkastub.steps import Steps, at_once

_AT_ONCE: Final = 1000
"""Groups between two pauses."""


def loaded(groups: Groups, turn: Turn) -> Steps[Turn]:
    """Make a live group of every one that has records, and a simple one of every group that only has offsets.

    Those may be pending. Nobody may ask for any group before all is done.
    """
    types, offsets = _types(groups), groups.offsets
    group_ids = dict.fromkeys((*types, *offsets.group_ids(), *offsets.pending.groups))
    return (yield from _bring_to_life(groups, group_ids, types, turn))


def reload(groups: Groups, group_ids: Sequence[str], turn: Turn) -> Turn:
    """Unload these groups, and make live ones again of what their records say."""
    for group_id in group_ids:
        _unload(groups, groups.groups.pop(group_id), turn)
        groups.unpublished.pop(group_id, None)
    groups.unseen.difference_update(group_ids)
    types = _types(groups)
    kept = [one for one in group_ids if one in types or groups.hard.knows(one)]
    return at_once(_bring_to_life(groups, kept, types, turn))


def _types(groups: Groups) -> dict[str, GroupType]:
    """The type of every group that has records beside those of its offsets."""
    return {group_id: type_ for type_ in groups.types.values() for group_id in type_.group_ids()}


def _bring_to_life(groups: Groups, group_ids: Iterable[str], types: dict[str, GroupType], turn: Turn) -> Steps[Turn]:
    revived: list[Group] = []
    for group_id in group_ids:
        group = groups.groups[group_id] = types.get(group_id, groups.simple).revive(group_id, turn)
        revived.append(group)
        if not len(revived) % _AT_ONCE:
            yield 1
    for number, group in enumerate(revived, 1):
        groups.index.touch(group, turn.broker_ms)
        groups.types[group.group_type].revived(group, turn)
        if not number % _AT_ONCE:
            yield 1
    return turn


def unload(groups: Groups, turn: Turn) -> Turn:
    """Answer everything that is parked with NOT_COORDINATOR, and forget all groups and offsets."""
    for group in groups.groups.values():
        _unload(groups, group, turn)
    groups.groups.clear()
    groups.unseen.clear()
    groups.unpublished.clear()
    groups.dropped.clear()
    groups.hard = type(groups.hard)()
    return turn


def _unload(groups: Groups, group: Group, turn: Turn) -> None:
    groups.types[group.group_type].unload(group, turn)
    groups.index.forget(group)
