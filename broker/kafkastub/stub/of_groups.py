"""What `stub.groups`, `stub.share_groups` and `stub.streams_groups` do alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeVar

from kafkastub.stub.errors import StubError
from kafkastub.stub.waiting import check_timeout
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner

T = TypeVar("T")


class OneGroup(Protocol):
    """A group, by an object that tells what it is now."""

    def view(self) -> object:
        """Raises KeyError where there is none."""


G = TypeVar("G", bound=OneGroup)


class GroupsOfType(Mapping[str, G]):
    """The groups of a type by their ids, in the order in which they came.

    Raises StubError while the coordinator is being loaded.
    """

    _type: ClassVar[str | None] = None
    """None for all types."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def _one(self, group_id: str) -> G:
        raise NotImplementedError

    def __getitem__(self, group_id: str) -> G:
        one = self._one(group_id)
        one.view()
        return one

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids())

    def __len__(self) -> int:
        return len(self._ids())

    def _ids(self) -> list[str]:
        from kafkastub.views.of_groups import group_ids

        return once_loaded(self._runner, lambda broker: group_ids(broker.state, self._type))

    def __repr__(self) -> str:
        return f"<{len(self)} {'' if self._type is None else f'{self._type} '}groups>"


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


def of_one(runner: Runner, work: Callable[[Broker], T]) -> T:
    """The same of work on one group. Raises KeyError for a group or a member that there is not, StubError."""
    try:
        return once_loaded(runner, work)
    except KafkaError as error:
        said = error.message or error.code.name
        if error.code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_MEMBER_ID):
            raise KeyError(said) from None
        raise StubError(said) from None


def known(found: T | None, group: str) -> T:
    """A group that there is. Raises KeyError, telling which `group` there is not."""
    if found is None:
        raise KeyError(f"{group} does not exist")
    return found


def end_session(runner: Runner, group_id: str, member: str, look: Callable[[Broker, str], object]) -> None:
    """`end_session` of share and streams groups; `look` raises KeyError for a group of another type."""
    from kafkastub.views.groups import end_session

    def work(broker: Broker) -> None:
        look(broker, group_id)
        end_session(broker.state, group_id, member, *broker.clock.both())

    of_one(runner, work)


def configure(runner: Runner, group: str, configs: Mapping[str, object]) -> None:
    """`configure` of share and streams groups. Raises ValueError, TypeError."""
    from kafkastub.views.of_groups import configure

    if not isinstance(group, str) or not isinstance(configs, Mapping):
        raise TypeError(f'group={group!r}, configs={configs!r}: "GROUP", {{"NAME": value, …}} is wanted')
    wanted, broker = {str(name): value for name, value in configs.items()}, runner.running()
    try:
        runner.call(lambda: configure(broker.state, group, wanted))
    except KafkaError as error:
        raise ValueError(f"group {group!r}: {error.message or error.code.name}") from None


def check_wait(group: object, timeout: object) -> None:
    """Raises TypeError, ValueError."""
    if not isinstance(group, str):
        raise TypeError(f"group={group!r} is refused: the id of a group is wanted, a text")
    check_timeout(timeout)
