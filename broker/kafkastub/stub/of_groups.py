"""What `stub.groups`, `stub.share_groups` and `stub.streams_groups` share."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar

from kafkastub.stub.errors import StubError
from kafkastub.stub.waiting import check_timeout, wait_until_nothing
from kafkastub.views.groups import end_session
from kafkastub.views.of_groups import AnyGroup, AnyMember, Awaited, configure, group_ids
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.stub.runner import Runner
_MISSING: Final = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_MEMBER_ID)

T = TypeVar("T")
Member = TypeVar("Member", bound=AnyMember)
V = TypeVar("V", bound=AnyGroup[Any])


class GroupOfType(Generic[V, Member]):
    """One group. Every attribute is the present value. Raises KeyError if the group is gone.

    You can name a member by its member id, its group instance id, or its client id.
    """

    _kind: ClassVar = "group"
    _look: Callable[[BrokerState, str], V | None]
    """Returns the view, or None if there is no group of this type."""
    _missing: ClassVar[Container[ErrorCode]] = _MISSING
    _refused: ClassVar[type[Exception]] = StubError
    """The exception for what Kafka refuses, except `_missing`, which raises KeyError."""

    def __init__(self, runner: Runner, group_id: str) -> None:
        self._runner = runner
        self.group_id = group_id

    def view(self) -> V:
        """Return everything about the group at one moment."""
        return self._done(lambda broker, found: found)

    @property
    def state(self) -> str:
        """The state by Kafka's name: "Stable"."""
        return self.view().state

    @property
    def epoch(self) -> int:
        """The epoch of the group; of a classic group, the generation."""
        return self.view().epoch

    @property
    def members(self) -> dict[str, Member]:
        """The members by member id, each with its assignment, the partitions to revoke, and its target."""
        return self.view().members

    def member(self, name: str) -> Member:
        """Return one member. Raises KeyError."""
        found: Member = self.view().member(name)
        return found

    def end_session(self, member: str) -> None:
        """End the session of a member at once: it is removed, and the others get its assignment.

        This simulates a consumer, or an instance, that has died. A member that is alive gets UNKNOWN_MEMBER_ID for its
        next heartbeat, and joins again. Records that a member of a share group has acquired stay acquired until it
        releases them, its connection ends, or the locks expire.

        Raises KeyError for a member that does not exist, ValueError for a member that waits for a rebalance of a
        classic group, which keeps its session alive.
        """
        self._done(lambda broker, _: end_session(broker.state, self.group_id, member, *broker.clock.both()))

    def _done(self, work: Callable[[Broker, V], T]) -> T:
        """What comes of work on the group. Raises KeyError for a group or member that there is not, else `_refused`."""

        def there(broker: Broker) -> T:
            found = self._look(broker.state, self.group_id)
            if found is None:
                raise KeyError(f"{self._kind} {self.group_id!r} does not exist")
            return work(broker, found)

        return of_one(self._runner, there, self._missing, self._refused)

    def __repr__(self) -> str:
        return f"<{self._kind} {self.group_id!r}>"


G = TypeVar("G", bound="GroupOfType[Any, Any]")


class GroupsOfType(Mapping[str, G]):
    """The groups of a type by their ids, in the order of their creation.

    Raises StubError while the coordinator is loading.
    """

    _type: ClassVar[str | None] = None
    """None for all types."""
    _one: ClassVar[type[Any]]

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __getitem__(self, group_id: str) -> G:
        one: G = self._one(self._runner, group_id)
        one.view()
        return one

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids())

    def __len__(self) -> int:
        return len(self._ids())

    def _ids(self) -> list[str]:
        return once_loaded(self._runner, lambda broker: group_ids(broker.state, self._type))

    def __repr__(self) -> str:
        return f"<{len(self)} {'' if self._type is None else f'{self._type} '}groups>"


class ConfiguredGroups(GroupsOfType[G]):
    """The groups of a type that have group configurations and their own waits."""

    def configure(self, group: str, configs: Mapping[str, object]) -> None:
        """Configure a group: `configure("workers", {"share.auto.offset.reset": "earliest"})`.

        The group may not exist yet. None removes a configuration. Raises ValueError, with Kafka's message, for what
        Kafka would refuse; TypeError.
        """
        if not isinstance(group, str) or not isinstance(configs, Mapping):
            raise TypeError(f'group={group!r}, configs={configs!r}: expected "GROUP", {{"NAME": value, …}}')
        wanted, broker = {str(name): value for name, value in configs.items()}, self._runner.running()
        try:
            self._runner.call(lambda: configure(broker.state, group, wanted))
        except KafkaError as error:
            raise ValueError(f"group {group!r}: {error.message or error.code.name}") from None

    def _wait(self, group: str, wanted: Awaited, timeout: float) -> None:
        check_wait(group, timeout)
        wait_until_nothing(
            self._runner,
            lambda state: wanted.missing(state, group),
            f"{self._type} group {group!r}",
            timeout,
            lambda broker: wanted.watched(broker.state),
        )


class GroupHold:
    """A hold on a group. As a context manager it is released at the end."""

    def __init__(self, runner: Runner, group_id: str) -> None:
        self._runner = runner
        self.group_id = group_id

    def release(self) -> None:
        """Release the hold."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def once_loaded(runner: Runner, work: Callable[[Broker], T]) -> T:
    """Return the result of work on groups. Raises StubError while they are loading."""
    broker = runner.running()

    def loaded() -> T:
        if broker.state.groups.loading is not None:
            raise StubError("the group coordinator is being loaded: it cannot answer now")
        return work(broker)

    return runner.call(loaded)


def of_one(
    runner: Runner,
    work: Callable[[Broker], T],
    missing: Container[ErrorCode] = _MISSING,
    refused: type[Exception] = StubError,
) -> T:
    """Return the result of work on one group.

    Raises KeyError for a group or a member that does not exist, else `refused`.
    """
    try:
        return once_loaded(runner, work)
    except KafkaError as error:
        said = error.message or error.code.name
        raise (KeyError if error.code in missing else refused)(said) from None


def check_wait(group: object, timeout: object) -> None:
    """Check the arguments of a wait. Raises TypeError, ValueError."""
    if not isinstance(group, str):
        raise TypeError(f"group={group!r} is refused: expected the id of a group, a string")
    check_timeout(timeout)
