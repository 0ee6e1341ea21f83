"""`stub.share_groups`: share groups, and each record as they have it: whose, for how long, how often delivered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkastub.stub.of_groups import GroupHold, GroupsOfType, check_wait, configure, end_session, known, of_one
from kafkastub.stub.waiting import wait_until_nothing

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner
    from kafkastub.stub.waiting import Watchers
    from kafkastub.views.groups import MemberView
    from kafkastub.views.share_groups import ShareGroupView, SharePartitionView

TopicPartition = tuple[str, int]


class AcknowledgementHold(GroupHold):
    """A share group whose acknowledgements are held; as a context manager they are released at its end."""

    def release(self) -> None:
        """Let go what is held, in its order, and hold no more. Releasing twice does no harm."""
        from kafkastub.views.share_groups import release_acknowledgements

        of_one(
            self._runner,
            lambda broker: release_acknowledgements(broker.state, self.group_id, *broker.clock.both()),
        )

    def __repr__(self) -> str:
        return f"<hold of what members of share group {self.group_id!r} acknowledge>"


class StubShareGroup(Mapping[TopicPartition, "SharePartitionView"]):
    """One share group: every attribute tells what it is now. KeyError where it is gone.

    `group["orders", 0]` is a partition as it has it at this moment; iterating gives the partitions that its members
    may read.
    """

    def __init__(self, runner: Runner, group_id: str) -> None:
        self._runner = runner
        self.group_id = group_id

    def view(self) -> ShareGroupView:
        """The group with its members, of one moment."""
        return of_one(self._runner, lambda broker: _view(broker, self.group_id))

    @property
    def state(self) -> str:
        """ "Empty" or "Stable"."""
        return self.view().group.state

    @property
    def epoch(self) -> int:
        """The group's epoch."""
        return self.view().group.epoch

    @property
    def members(self) -> dict[str, MemberView]:
        """Its members by member id, each with the partitions that it may read, beside others."""
        return self.view().group.members

    def member(self, name: str) -> MemberView:
        """One member, by member id or client id. Raises KeyError."""
        return self.view().group.member(name)

    @property
    def holds_acknowledgements(self) -> bool:
        """Whether a test holds what its members acknowledge."""
        return self.view().holds

    def __getitem__(self, place: TopicPartition) -> SharePartitionView:
        """A partition as the group has it. Raises KeyError for one that there is not, TypeError."""
        from kafkastub.views.share_groups import client_ids, partition_view

        topic, index = _place(place)

        def work(broker: Broker) -> SharePartitionView:
            clients = client_ids(_view(broker, self.group_id))
            return partition_view(broker.state, self.group_id, topic, index, broker.clock.timer_ms(), clients)

        return of_one(self._runner, work)

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.view().partitions)

    def __len__(self) -> int:
        return len(self.view().partitions)

    def hold_acknowledgements(self) -> AcknowledgementHold:
        """From now on nothing becomes of what its members say of records, and their requests are not answered.

        Their records are `held` until the hold is released; the locks of these run on. What is given back is a context
        manager, at whose end they are released.
        """
        from kafkastub.views.share_groups import hold_acknowledgements

        def work(broker: Broker) -> None:
            _view(broker, self.group_id)
            hold_acknowledgements(broker.state, self.group_id)

        of_one(self._runner, work)
        return AcknowledgementHold(self._runner, self.group_id)

    def end_session(self, member: str) -> None:
        """Do at once what the end of this member's session does: it is out, and its partitions are the others'.

        What it has acquired stays its own until it has let go of it, its connection ends, or the locks do. One that
        lives is told UNKNOWN_MEMBER_ID by its next heartbeat, and joins again. Raises KeyError for a member that there
        is not.
        """
        end_session(self._runner, self.group_id, member, _view)

    def __repr__(self) -> str:
        return f"<share group {self.group_id!r}>"


class StubShareGroups(GroupsOfType[StubShareGroup]):
    """Every share group: `stub.share_groups["workers"]["orders", 0].acquired` (docs/share-groups.md).

    Iterating gives their ids, in the order in which they came. Raises StubError while the coordinator is being loaded.
    """

    _type = "share"

    def _one(self, group_id: str) -> StubShareGroup:
        return StubShareGroup(self._runner, group_id)

    def configure(self, group: str, configs: Mapping[str, object]) -> None:
        """Configure a group: `configure("workers", {"share.auto.offset.reset": "earliest"})`. It need not be there yet.

        None takes a configuration away. Raises ValueError for what Kafka would refuse, with its words, TypeError.
        """
        configure(self._runner, group, configs)

    def wait(
        self,
        group: str,
        topic: str | None = None,
        *,
        acquired: int | None = None,
        held: int | None = None,
        lag: int | None = None,
        timeout: float = 5,
    ) -> None:
        """Wait until a share group's records are like this, those of all its topics or of one.

        Args:
            acquired: its members have at least so many.
            held: of at least so many the acknowledgements wait for `AcknowledgementHold.release`.
            lag: of every partition at most so many are not done with; 0: all were accepted, rejected or archived.

        Raises GroupTimeout after `timeout` seconds, ValueError where nothing is waited for, TypeError.
        """
        from kafkastub.views.share_group_waits import Wanted, missing

        numbers = {"acquired": acquired, "held": held, "lag": lag}
        if not isinstance(topic, str | None):
            raise TypeError(f"topic={topic!r} is refused: a text is wanted, or None for all")
        for name, number in numbers.items():
            if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
                raise TypeError(f"{name}={number!r} is refused: a number from 0 on is wanted, or None for any")
        if all(number is None for number in numbers.values()):
            raise ValueError("nothing is waited for: acquired, held or lag is wanted")
        check_wait(group, timeout)
        wanted = Wanted(topic, acquired, held, lag)

        def watchers(broker: Broker) -> Watchers:
            return broker.state.group_watchers, broker.state.share_partitions.watchers

        whom = f"share group {group!r}"
        wait_until_nothing(self._runner, lambda state: missing(state, group, wanted), whom, timeout, watchers)


def _view(broker: Broker, group_id: str) -> ShareGroupView:
    from kafkastub.views.share_groups import view

    return known(view(broker.state, group_id), f"share group {group_id!r}")


def _place(place: object) -> TopicPartition:
    match place:
        case (str() as topic, int() as index) if not isinstance(index, bool):
            return topic, index
    raise TypeError(f'{place!r} is no partition: a topic and a number is wanted, as ["orders", 0]')
