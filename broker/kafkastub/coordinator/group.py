"""What offsets, expiry, deletion, loading and the administration ask of any group, whatever its type.

A group type is a package beside `classic`: a `Group`, and one `GroupType` that makes its groups, out of records too.
Nothing outside that package names its classes. Kafka: ``Group``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadlines

NOT_DUE = 2**63
"""Broker milliseconds later than every timestamp."""


PartitionCheck = Callable[[str, bytes, int], None]
"""Is given a topic's name and id and a partition of it; raises what speaks against a commit of its offset."""


class Consideration(NamedTuple):
    """That offsets of a group may expire: their age counts from `since`, or from each commit where it is None."""

    since: int | None


class MemberDescription(NamedTuple):
    """One member, for those who look at a group. Timeouts are milliseconds.

    Attributes:
        subscribed: the names of its topics, sorted; None where that is not known.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscribed: list[str] | None


class GroupDescription(NamedTuple):
    """A group as it is now, for those who look at it.

    Attributes:
        protocol: what the members agreed on; None without a generation.
        leader: a member id; None where nobody leads.
    """

    generation: int
    protocol: str | None
    leader: str | None
    members: Sequence[MemberDescription]


class Group(Protocol):
    """One group.

    Attributes:
        check_at: broker milliseconds at which the expiry sweep has to look at the group again.
    """

    check_at: int

    @property
    def lasting(self) -> bool:
        """Whether an empty one without offsets stays what it is, until somebody deletes it."""

    @property
    def group_id(self) -> str: ...

    @property
    def group_type(self) -> str:
        """As ListGroups 5+ tells it, in lower case: `classic`."""

    @property
    def protocol_type(self) -> str | None:
        """None for a group that only ever committed offsets (a "simple" one)."""

    @property
    def state_name(self) -> str:
        """As DescribeGroups and ListGroups show it: `Stable`."""

    @property
    def state_timestamp(self) -> int | None:
        """When it came into its state, broker milliseconds; None where its record does not say."""

    @property
    def is_empty(self) -> bool:
        """Whether it is in the state Empty."""

    @property
    def size(self) -> int:
        """How many members it has."""

    # -- offsets -------------------------------------------------------------------------------------------------

    def consideration(self) -> Consideration | None:
        """Whether, and from when, the age of its offsets counts; those that it subscribes to are never considered."""

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic, or may, for all that is known."""

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> PartitionCheck | None:
        """Raises what speaks against a commit of this member in this generation, or epoch.

        With `transactional` (TxnOffsetCommit), who names no member may commit (older producers name none), and the
        group's state is not asked. What is given back has to be asked about each partition; `version` is the
        request's.
        """

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises what speaks against this member's reading offsets in this epoch (OffsetFetch 9 and later)."""

    def keep_alive(self, member_id: str, deadlines: Deadlines[Turn], timer_ms: int) -> int | None:
        """A member has committed: for its session that is as good as a heartbeat.

        Gives from when on, in broker milliseconds, the age of all of the group's offsets counts: since it is Empty.
        None where each has its own age.
        """

    def validate_offset_delete(self) -> None:
        """Raises NON_EMPTY_GROUP where no offset may be deleted, whatever its topic."""

    # -- the end -------------------------------------------------------------------------------------------------

    def validate_delete(self) -> None:
        """Raises NON_EMPTY_GROUP while the group has members."""

    def tombstones(self) -> Iterable[Record]:
        """The records that end it, but for those of its offsets."""

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""

    def described(self) -> GroupDescription:
        """What it looks like now."""


class GroupType(Protocol):
    """What makes the groups of one type."""

    @property
    def name(self) -> str:
        """The `group_type` of its groups."""

    def new(self, group_id: str, broker_ms: int) -> Group:
        """An empty group."""

    def group_ids(self) -> Iterable[str]:
        """The groups of this type that the records know."""

    def revive(self, group_id: str, turn: Turn) -> Group:
        """The group as its records say; where there are none, one that only has offsets."""

    def revived(self, group: Group, turn: Turn) -> None:
        """All groups are there again: let the group's members' sessions begin."""

    def give_way(self, group: Group, turn: Turn) -> None:
        """A group of another type takes the group's place: answer everything that is parked; it ends next."""

    def unload(self, group: Group, turn: Turn) -> None:
        """Answer everything that is parked with NOT_COORDINATOR; the group is forgotten."""

    def describe(self, group: Group) -> Any:
        """The group as that API tells it which describes those of this type; None where there is nothing to tell."""

    def description(self, group: Group) -> tuple[Any, Iterator[Any | None]] | None:
        """The same in two: the group without its members, and the members, each of which is described when it is taken.

        All of it is as it is now, whatever happens to the group before the last member is taken. Between the members
        come Nones, wherever others may have their turn.
        """

    def end_session(self, group_id: str, member_id: str, broker_ms: int, timer_ms: int) -> Turn:
        """What the end of a member's session does, at once. Raises what speaks against it."""


def with_members(description: tuple[Any, Iterable[Any | None]] | None) -> Any:
    """A `GroupType.description` as a whole."""
    if description is None:
        return None
    group, members = description
    group.members = [member for member in members if member is not None]
    return group
