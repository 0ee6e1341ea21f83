"""What `stub.groups`, `stub.share_groups` and `stub.streams_groups` do alike."""

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
    """One group: every attribute tells what it is now. KeyError where it is gone.

    A member is named by its member id, its group instance id, or its client id.
    """

    _kind: ClassVar = "group"
    _look: Callable[[BrokerState, str], V | None]
    """The view; None where there is no group of this type."""
    _missing: ClassVar[Container[ErrorCode]] = _MISSING
    _refused: ClassVar[type[Exception]] = StubError
    """What is raised where Kafka refuses something, but for what is `_missing`: that is a KeyError."""

    def __init__(self, runner: Runner, group_id: str) -> None:
        self._runner = runner
        self.group_id = group_id

    def view(self) -> V:
        """All that can be told of it, of one moment."""
        return self._done(lambda broker, found: found)

    @property
    def state(self) -> str:
        """As Kafka names it: "Stable"."""
        return self.view().state

    @property
    def epoch(self) -> int:
        """The group's epoch; the generation of a classic group."""
        return self.view().epoch

    @property
    def members(self) -> dict[str, Member]:
        """Its members by member id, each with what it has, is to let go of, and is to have in the end."""
        return self.view().members

    def member(self, name: str) -> Member:
        """One member. Raises KeyError."""
        found: Member = self.view().member(name)
        return found

    def end_session(self, member: str) -> None:
        """Do at once what the end of this member's session does: it is out, and the others get what it had.

        So is a consumer, or an instance, that has died. One that lives is told UNKNOWN_MEMBER_ID by its next heartbeat,
        and joins again. What a member of a share group has acquired stays its own until it has let go of it, its
        connection ends, or the locks do.

        Raises KeyError for a member that there is not, ValueError for one that waits for a rebalance of a classic
        group: that keeps its session alive.
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
    """The groups of a type by their ids, in the order in which they came.

    Raises StubError while the coordinator is being loaded.
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
    """The groups of a type that are configured one by one, and waited for in a way of their own."""

    def configure(self, group: str, configs: Mapping[str, object]) -> None:
        """Configure a group: `configure("workers", {"share.auto.offset.reset": "earliest"})`. It need not be there yet.

        None takes a configuration away. Raises ValueError for what Kafka would refuse, with its words, TypeError.
        """
        if not isinstance(group, str) or not isinstance(configs, Mapping):
            raise TypeError(f'group={group!r}, configs={configs!r}: "GROUP", {{"NAME": value, …}} is wanted')
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
    """What is held of a group; as a context manager it is released at its end."""

    def __init__(self, runner: Runner, group_id: str) -> None:
        self._runner = runner
        self.group_id = group_id

    def release(self) -> None:
        """Hold it no more."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def once_loaded(runner: Runner, work: Callable[[Broker], T]) -> T:
    """What comes of work on groups. Raises StubError while they are being loaded."""
    broker = runner.running()

    def loaded() -> T:
        if broker.state.groups.loading is not None:
            raise StubError("the group coordinator is being loaded: what it knows cannot be told now")
        return work(broker)

    return runner.call(loaded)


def of_one(
    runner: Runner,
    work: Callable[[Broker], T],
    missing: Container[ErrorCode] = _MISSING,
    refused: type[Exception] = StubError,
) -> T:
    """The same of work on one group. Raises KeyError for a group or a member that there is not, else `refused`."""
    try:
        return once_loaded(runner, work)
    except KafkaError as error:
        said = error.message or error.code.name
        raise (KeyError if error.code in missing else refused)(said) from None


def check_wait(group: object, timeout: object) -> None:
    """Raises TypeError, ValueError."""
    if not isinstance(group, str):
        raise TypeError(f"group={group!r} is refused: the id of a group is wanted, a text")
    check_timeout(timeout)
