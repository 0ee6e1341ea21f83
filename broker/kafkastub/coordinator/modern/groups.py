"""What makes the groups of a type with epochs, whatever the type: how they come out of their records and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Generic, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.coordinator.group import Group, with_members
from kafkastub.coordinator.modern.context import Modern, ModernContext, Settings
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH
from kafkastub.coordinator.modern.watching import Sessions
from kafkastub.coordinator.turn import NotYet, Results, Turn


class HeartbeatResult(NamedTuple):
    """What comes of a heartbeat.

    Attributes:
        response: the answer, a message of the type's API.
        follow_up: what the broker is to do once the answer is on its way, as the type has it; None for nothing.
    """

    response: Any
    follow_up: Any = None


class ModernGroups(Generic[Modern, Settings]):
    """A `GroupType`, and the requests that every type knows.

    Attributes:
        sessions: those of its members.
    """

    __slots__ = ("context", "sessions")

    name: ClassVar[str]
    heartbeat_response: ClassVar[type[Any]]
    """The message that answers a heartbeat."""
    leaving_epochs: ClassVar[tuple[int, ...]] = (LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH)
    """The epochs of a heartbeat by which a member leaves."""

    def __init__(self, context: ModernContext[Modern, Settings], sessions: Sessions[Modern, Any]) -> None:
        self.context = context
        self.sessions = sessions

    @property
    def settings(self) -> Settings:
        """The broker's part of the configuration; may be changed while it runs."""
        return self.context.settings

    def reconfigured(self, config: BrokerConfig) -> None:
        """What can be changed while the broker runs has changed. Kafka: GroupCoordinatorConfig's dynamic values."""
        now: Any = type(self.context.settings).of(config)
        self.context.reconfigured(now)

    @property
    def rebalances(self) -> int:
        """How often a heartbeat has raised a group's epoch."""
        return self.context.rebalances

    def find(self, group_id: str) -> Modern | None:
        """The group, where there is one of this type."""
        return self.context.find(group_id)

    def describe(self, group: Group) -> Any:
        """One group, as the API tells it that describes groups of the type; None where it is of another type.

        Authorized operations are not in it.
        """
        return with_members(self.description(group))

    def description(self, group: Group) -> tuple[Any, Iterator[Any | None]] | None:
        """See `GroupType`."""
        found: Any = group
        return self._described(found) if group is self.find(group.group_id) else None

    def _described(self, group: Modern) -> tuple[Any, Iterator[Any | None]]:
        """One group of the type: see `GroupType.description`. May raise errors."""
        raise NotImplementedError

    # -- heartbeats ----------------------------------------------------------------------------------------------

    def check_heartbeat(self, request: Any, version: int) -> None:
        """Raises for what can't be said in any group, with Kafka's message."""
        raise NotImplementedError

    def heartbeat(
        self,
        request: Any,
        version: int,
        client_id: str,
        client_host: str,
        broker_ms: int,
        timer_ms: int,
        may_describe: Callable[[str], bool] | None = None,
        results: Results | None = None,
    ) -> Turn:
        """A heartbeat of a member; the reply is a `HeartbeatResult`.

        What `check_heartbeat` raises is not looked for again.

        Args:
            client_host: as Kafka shows it, with its slash: `/127.0.0.1`.
            may_describe: whether the client may know of a topic; None where it may of all.
            results: of computations that take too long for one turn of the loop; None where all is computed at once.

        Raises: KafkaError with Kafka's message; NotYet.
        """
        turn = Turn(broker_ms, timer_ms)
        if request.member_id:  # else each time that it is made it is another member's
            turn.results = results
        if request.member_epoch in self.leaving_epochs:
            self.sessions.leave(request, turn)
            left = self.heartbeat_response(member_id=request.member_id, member_epoch=request.member_epoch)
            turn.reply = HeartbeatResult(left)
        else:
            rebalances = self.context.rebalances
            try:
                turn.reply = self._heartbeat(request, version, client_id, client_host, may_describe, turn)
            except NotYet:
                self.context.rebalances = rebalances
                raise
        return turn

    def _heartbeat(
        self,
        request: Any,
        version: int,
        client_id: str,
        client_host: str,
        may_describe: Callable[[str], bool] | None,
        turn: Turn,
    ) -> HeartbeatResult:
        """A heartbeat of a member that comes or stays. Raises what speaks against it; then nothing has happened."""
        raise NotImplementedError

    def repeat_heartbeat(
        self, request: Any, version: int, client_id: str, client_host: str, timer_ms: int
    ) -> object | None:
        """A heartbeat that says nothing new, after one that was answered with that all is well: the session counts
        anew. Gives the `answer_basis`; None, and nothing has happened, for every other one.
        """
        return None

    def answer_basis(self, request: Any, answer: Any) -> object | None:
        """What the answer depends on beside its request: as long as that is the same object, so is the answer to the
        same request. None where the answer tells more than that all is well.
        """
        return None

    # -- topics --------------------------------------------------------------------------------------------------

    def metadata_changed(self, names: Iterable[str]) -> None:
        """Topics were created, grown or deleted: groups that need them look again at their next heartbeat.

        Kafka: onMetadataUpdate.
        """
        for group_id in self.context.topics.changed(names):
            group = self.find(group_id)
            if group is not None:
                group.metadata_stale = True

    def topics_deleted(self, names: Iterable[str], turn: Turn) -> None:
        """Topics are gone, and what a type keeps of them is, too: it keeps nothing."""

    def end_session(self, group_id: str, member_id: str, broker_ms: int, timer_ms: int) -> Turn:
        """What the end of the member's session does, at once. Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID."""
        turn, group = Turn(broker_ms, timer_ms), self.context.existing(group_id)
        self.sessions.expel(group, group.member(member_id).member_id, turn)
        return turn

    # -- a group type --------------------------------------------------------------------------------------------

    def new(self, group_id: str, broker_ms: int) -> Modern:
        """An empty group."""
        return self.context.new(group_id)

    def group_ids(self) -> Iterable[str]:
        """The groups with records."""
        return self.context.groups.hard.of_type(self.name)

    def revive(self, group_id: str, turn: Turn) -> Modern:
        """The group as its records say."""
        group, state = self.context.new(group_id), self.context.groups.hard.of_type(self.name).get(group_id)
        if state is not None:
            for record in state.records():
                group.apply(record)
            if group.target_timestamp:
                group.assigned_at = turn.timer_ms - max(turn.broker_ms - group.target_timestamp, 0)
        return group

    def revived(self, group: Group, turn: Turn) -> None:
        """The members' sessions begin."""
        found: Any = group
        self.sessions.watch_all(found, turn)

    def give_way(self, group: Group, turn: Turn) -> None:
        """Nobody is parked in it."""

    def unload(self, group: Group, turn: Turn) -> None:
        """The group is forgotten; nobody is parked in it."""
        group.end(turn.broker_ms)
