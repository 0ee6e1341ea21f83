"""What `stub.groups`, `stub.share_groups` and `stub.streams_groups` do alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from kafkastub.stub.errors import StubError
from kafkastub.stub.waiting import check_timeout
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner

T = TypeVar("T")


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
