"""`stub.groups`: groups as the coordinator sees them, controls for tests, and waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkastub.stub.of_groups import GroupHold, GroupOfType, GroupsOfType, check_wait
from kafkastub.stub.waiting import wait_until
from kafkastub.views.group_waits import DEAD, GROUP_STATES, state_and_size, state_named, unassigned, unknown
from kafkastub.views.groups import GroupView, MemberView, hold_revocation, release_revocation, set_target, view
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner
TopicPartition = tuple[str, int]


class RevocationHold(GroupHold):
    """A member whose revocations are held. As a context manager it releases them at the end."""

    def __init__(self, runner: Runner, group_id: str, member_id: str) -> None:
        super().__init__(runner, group_id)
        self.member_id = member_id

    def release(self) -> None:
        """End the hold: from the member's next heartbeat on, revocations count again. A second call has no effect."""
        broker = self._runner.running()
        self._runner.call(lambda: release_revocation(broker.state, self.group_id, self.member_id))

    def __repr__(self) -> str:
        return f"<hold of what {self.member_id!r} of group {self.group_id!r} revokes>"


class StubGroup(GroupOfType[GroupView, MemberView]):
    """One group of any type. Every attribute is the present value. Raises KeyError if the group is gone.

    You can name a member by its member id, its group instance id, or its client id.
    """

    _look = staticmethod(view)
    _missing = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)
    _refused = ValueError

    def __setattr__(self, name: str, value: object) -> None:
        if name != "group_id" and not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"a group has no settable {name!r}: only its `target` can be set")
        super().__setattr__(name, value)

    @property
    def type(self) -> str:
        """ "classic", "consumer", "share" (see `stub.share_groups`) or "streams" (see `stub.streams_groups`)."""
        return self.view().type

    @property
    def target_epoch(self) -> int | None:
        """The epoch of the target assignment. None in a classic group."""
        return self.view().target_epoch

    @property
    def assignor(self) -> str | None:
        """The assignor that computes the assignment: "uniform", "range"."""
        return self.view().assignor

    @property
    def target(self) -> dict[str, tuple[TopicPartition, ...]]:
        """The target assignment by member id. `set_target` changes it."""
        return {one.member_id: one.target or () for one in self.members.values()}

    @target.setter
    def target(self, target: Mapping[str, Iterable[TopicPartition]]) -> None:
        self.set_target(target)

    def set_target(self, target: Mapping[str, Iterable[TopicPartition]]) -> None:
        """Set the target assignment, with a new epoch: `{"one": [("orders", 0)], "two": [("orders", 1)]}`.

        The members reach it through their heartbeats, as they reach any target. A member that is not named gets
        nothing. The target stays until the next epoch: until members join, leave or subscribe to something else, or
        their topics change.

        Raises KeyError for a member or a partition that does not exist, ValueError for a partition that is given twice,
        for a topic that the member does not subscribe to and for a classic group, TypeError.
        """
        checked = {name: _partitions(name, partitions) for name, partitions in _target(target).items()}
        self._done(lambda broker, _: set_target(broker.state, self.group_id, checked, *broker.clock.both()))

    def hold_revocation(self, member: str) -> RevocationHold:
        """Hold the revocations of a member: partitions that it revokes stay assigned to it. Return the hold.

        This simulates a consumer that revokes slowly. The hold is a context manager, at whose end revocations count
        again. A member that takes longer than its rebalance timeout is fenced, as always.

        Raises KeyError for a member that does not exist, ValueError for a classic group.
        """
        member_id = self._done(lambda broker, _: hold_revocation(broker.state, self.group_id, member))
        return RevocationHold(self._runner, self.group_id, member_id)


class StubGroups(GroupsOfType[StubGroup]):
    """All groups: `stub.groups["shipping"].state == "Stable"` (docs/consumer-groups.md).

    Iterating returns their ids, in the order of their creation. Raises StubError while the coordinator is loading.
    """

    _one = StubGroup


def _target(target: object) -> Mapping[str, Iterable[TopicPartition]]:
    if not isinstance(target, Mapping):
        raise TypeError(f'target={target!r} is refused: expected {{"MEMBER": [("TOPIC", 0), …]}}')
    return target


def _partitions(name: object, partitions: object) -> list[TopicPartition]:
    """Raises TypeError."""
    if not isinstance(name, str):
        raise TypeError(f"the member {name!r} is refused: expected a string")
    try:
        return [(_text(topic), _index(index)) for topic, index in partitions]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise TypeError(f'{partitions!r} of member {name!r} is refused: expected [("TOPIC", 0), …]') from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _index(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


# -- waiting ---------------------------------------------------------------------------------------------------------


def checked_state(group: str, state: str, members: int | None, timeout: float) -> str:
    """Return the state by Kafka's name, after a check of the arguments. Raises TypeError, ValueError."""
    check_wait(group, timeout)
    if not isinstance(state, str):
        raise TypeError(f"state={state!r} is refused: expected one of {', '.join(GROUP_STATES)}")
    if members is not None and (not isinstance(members, int) or isinstance(members, bool)):
        raise TypeError(f"members={members!r} is refused: expected a number, or None for any")
    if members is not None and members < 0:
        raise ValueError(f"members={members} is refused: a group has 0 or more")
    named = state_named(state)
    if named is None:
        raise ValueError(f"state={state!r} is refused: expected one of {', '.join(GROUP_STATES)}")
    return named


def wait_group(runner: Runner, group: str, state: str, members: int | None, timeout: float) -> None:
    """`KafkaStub.wait_group`. Raises GroupTimeout after `timeout` seconds, TypeError, ValueError."""
    named = checked_state(group, state, members, timeout)
    wanted = named, members

    def reached(broker: Broker) -> bool:
        now = state_and_size(broker.state, group)
        return now[0] == wanted[0] and (members is None or now[1] == members)

    def describe(broker: Broker) -> str:
        state, size = state_and_size(broker.state, group)
        now = "does not exist" if state == DEAD else f"is {_in_words(state, size)}"
        return f"group {group!r} {now} after {timeout:g} s, {_in_words(*wanted)} was waited for"

    wait_until(runner, reached, describe, timeout)


def wait_assigned(
    runner: Runner, group: str, assignment: Mapping[str, Iterable[TopicPartition]], timeout: float
) -> None:
    """`KafkaStub.wait_assigned`. Raises GroupTimeout after `timeout` seconds, TypeError, ValueError."""
    check_wait(group, timeout)
    if not _target(assignment):
        raise ValueError("assignment={} is refused: it names no member; wait_group waits for a whole group")
    wanted = {name: _partitions(name, partitions) for name, partitions in _target(assignment).items()}

    def missing(broker: Broker) -> list[str]:
        if broker.state.groups.loading is not None:
            return ["it is being loaded"]
        return unassigned(view(broker.state, group), wanted)

    def describe(broker: Broker) -> str:
        said = missing(broker) + unknown(broker.state, wanted)
        return f"group {group!r} is not assigned like that after {timeout:g} s: {'; '.join(said)}"

    wait_until(runner, lambda broker: not missing(broker), describe, timeout)


def _in_words(state: str, members: int | None) -> str:
    if members is None:
        return state
    return f"{state} with {members or 'no'} {'member' if members == 1 else 'members'}"
