"""`stub.offsets`: commit offsets, and read and wait for lag, without a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkastub.stub.errors import StubError
from kafkastub.stub.waiting import wait_until
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner

TopicPartition = tuple[str, int]


class StubOffsets:
    """The committed offsets of groups."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def commit(self, group: str, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """Commit offsets of a group without members, as an administrator does: `commit("g", {("orders", 0): 5})`.

        Raises KeyError for a partition that does not exist, ValueError for a group with members, TypeError.
        """
        _commit_checked(self._runner, group, offsets, metadata)

    def lag(self, group: str) -> dict[TopicPartition, int]:
        """Return the lag in records, for each partition that the group has committed.

        Raises KeyError, ValueError for a share group.
        """
        from kafkastub.views.lag import is_share_group, lag_of

        broker = self._runner.running()
        if self._runner.call(lambda: is_share_group(broker.state, group)):
            raise ValueError(
                f"group {group!r} is a share group: stub.share_groups[{group!r}] has the lag of partitions"
            )
        found = self._runner.call(lambda: lag_of(broker.state, group))
        if found is None:
            raise KeyError(f"group {group!r} does not exist")
        return found

    def wait_lag(self, group: str, topic: str | None = None, *, at_most: int = 0, timeout: float = 5) -> None:
        """Wait until the lag of a group is at most `at_most` records in every partition, of one topic or of all topics.

        All topics are those of which the group has committed an offset, with all their partitions that have records.
        Raises GroupTimeout after `timeout` seconds, TypeError.
        """
        if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 0:
            raise TypeError(f"at_most={at_most!r} is refused: expected a number, 0 or more")
        _wait_lag(self._runner, group, topic, at_most, timeout)


def _commit_checked(runner: Runner, group: str, offsets: Mapping[TopicPartition, int], metadata: str) -> None:
    if not isinstance(group, str) or not isinstance(metadata, str):
        raise TypeError(f"group={group!r}, metadata={metadata!r}: expected strings")
    if not isinstance(offsets, Mapping) or not offsets:
        raise TypeError(f'offsets={offsets!r}: expected offsets to commit, for example {{("orders", 0): 5}}')
    by_topic: dict[str, dict[int, int]] = {}
    for place, offset in offsets.items():
        if not _is_place(place):
            raise TypeError(f'{place!r} is not a partition: expected a topic and a number, for example ("orders", 0)')
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
            raise ValueError(f"the offset of {place[0]}-{place[1]} is {offset!r}: expected a whole number, 0 or more")
        by_topic.setdefault(place[0], {})[place[1]] = offset
    broker = runner.running()
    try:
        runner.call(lambda: _commit(broker, group, by_topic, metadata))
    except KafkaError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise KeyError(error.message) from None
        if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            raise StubError("the group coordinator is being loaded") from None
        if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
            raise ValueError(f"group {group!r} has members: only its members may commit") from None
        raise ValueError(error.message or f"group {group!r}: {error.code.name}") from None


def _is_place(place: object) -> bool:
    return (
        isinstance(place, tuple)
        and len(place) == 2
        and isinstance(place[0], str)
        and isinstance(place[1], int)
        and not isinstance(place[1], bool)
    )


def _commit(broker: Broker, group: str, by_topic: Mapping[str, Mapping[int, int]], metadata: str) -> None:
    from kafkastub.coordinator.commits import utf16_length
    from kafkastub.coordinator.records import PartitionCommit
    from kafkastub.state.groups import coordinator_of
    from kafkastub.views.records import partition_named
    from kafkawire.messages.offset_commit_request import OffsetCommitRequest

    state = broker.state
    wanted = []
    for name, offsets in by_topic.items():
        for index in offsets:
            topic = partition_named(state, name, index)
        partitions = [PartitionCommit(index, offset, -1, metadata) for index, offset in offsets.items()]
        wanted.append((name, topic.topic_id, partitions))
    state.check_writable()
    coordinator = coordinator_of(state)
    limit = coordinator.settings.offset_metadata_max
    if utf16_length(metadata) > limit:
        raise KafkaError(
            ErrorCode.OFFSET_METADATA_TOO_LARGE,
            f"metadata has {utf16_length(metadata)} characters, more than offset.metadata.max.bytes={limit}",
        )
    turn = coordinator.commit_offsets(OffsetCommitRequest(group_id=group), wanted, _VERSION, *broker.clock.both())
    state.settle(turn)


_VERSION = 9
"""Of the request that it is as good as."""


def _wait_lag(runner: Runner, group: str, topic: str | None, at_most: int, timeout: float) -> None:
    from kafkastub.views.lag import behind

    def left(broker: Broker) -> str | None:
        return behind(broker.state, group, topic, at_most)

    def describe(broker: Broker) -> str:
        return f"group {group!r} {left(broker)} after {timeout:g} s, a lag of at most {at_most} was waited for"

    wait_until(runner, lambda broker: left(broker) is None, describe, timeout)
