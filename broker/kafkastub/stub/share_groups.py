"""`stub.share_groups`: share groups, and each of their records with its owner, lock and delivery count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkastub.stub.of_groups import ConfiguredGroups, GroupHold, GroupOfType, of_one
from kafkastub.views.groups import MemberView
from kafkastub.views.share_group_waits import Wanted
from kafkastub.views.share_groups import (
    ShareGroupView,
    SharePartitionView,
    client_ids,
    hold_acknowledgements,
    partition_view,
    release_acknowledgements,
    view,
)

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
TopicPartition = tuple[str, int]


class AcknowledgementHold(GroupHold):
    """A share group whose acknowledgements are held. As a context manager it releases them at the end."""

    def release(self) -> None:
        """Release the held acknowledgements, in their order, and end the hold. A second call has no effect."""
        of_one(
            self._runner,
            lambda broker: release_acknowledgements(broker.state, self.group_id, *broker.clock.both()),
        )

    def __repr__(self) -> str:
        return f"<hold of what members of share group {self.group_id!r} acknowledge>"


class StubShareGroup(GroupOfType[ShareGroupView, MemberView], Mapping[TopicPartition, SharePartitionView]):
    """One share group. Every attribute is the present value. Raises KeyError if the group is gone.

    `group["orders", 0]` is the present state of a partition in the group. Iterating returns the partitions that its
    members may read.
    """

    _kind = "share group"
    _look = staticmethod(view)

    @property
    def holds_acknowledgements(self) -> bool:
        """Whether a test holds the acknowledgements of the members."""
        return self.view().holds

    def __getitem__(self, place: TopicPartition) -> SharePartitionView:
        """A partition as the group has it. Raises KeyError for one that there is not, TypeError."""
        topic, index = _place(place)

        def work(broker: Broker, found: ShareGroupView) -> SharePartitionView:
            clients = client_ids(found)
            return partition_view(broker.state, self.group_id, topic, index, broker.clock.timer_ms(), clients)

        return self._done(work)

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.view().partitions)

    def __len__(self) -> int:
        return len(self.view().partitions)

    def hold_acknowledgements(self) -> AcknowledgementHold:
        """Hold the acknowledgements of all members: they take no effect, and their requests get no answer.

        Return the hold. The records are `held` until the hold is released, and their locks run on. The hold is a
        context manager, at whose end the acknowledgements are released.
        """
        self._done(lambda broker, _: hold_acknowledgements(broker.state, self.group_id))
        return AcknowledgementHold(self._runner, self.group_id)


class StubShareGroups(ConfiguredGroups[StubShareGroup]):
    """All share groups: `stub.share_groups["workers"]["orders", 0].acquired` (docs/share-groups.md).

    Iterating returns their ids, in the order of their creation. Raises StubError while the coordinator is loading.
    """

    _type = "share"
    _one = StubShareGroup

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
        """Wait for the state of a share group's records, of one topic or of all topics.

        Args:
            acquired: the members have acquired at least this number of records.
            held: the acknowledgements of at least this number of records wait for `AcknowledgementHold.release`.
            lag: at most this number of records of every partition are not done. 0: all were accepted, rejected or
                archived.

        Raises GroupTimeout after `timeout` seconds, ValueError if nothing is waited for, TypeError.
        """
        numbers = {"acquired": acquired, "held": held, "lag": lag}
        if not isinstance(topic, str | None):
            raise TypeError(f"topic={topic!r} is refused: expected a string, or None for all")
        for name, number in numbers.items():
            if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
                raise TypeError(f"{name}={number!r} is refused: expected a number, 0 or more, or None for any")
        if all(number is None for number in numbers.values()):
            raise ValueError("there is no condition to wait for: expected acquired, held or lag")
        self._wait(group, Wanted(topic, acquired, held, lag), timeout)


def _place(place: object) -> TopicPartition:
    match place:
        case (str() as topic, int() as index) if not isinstance(index, bool):
            return topic, index
    raise TypeError(f'{place!r} is not a partition: expected a topic and a number, for example ["orders", 0]')
