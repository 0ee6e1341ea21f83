"""What becomes of records of share partitions is written, and true then; a test may hold that back.

Kafka: SharePartition.rollbackOrProcessStateUpdates, writeShareGroupState; PersisterStateManager.WriteStateHandler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from kafkastub.share_coordinator.records import SharePartitionKey
from kafkastub.share_coordinator.state_batches import StateBatch
from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.in_flight import Run
from kafkastub.share_partitions.states import RecordState
from kafkastub.share_partitions.transition import Transition
from kafkastub.state.share_partitions.partition_cache import Live, Moment, called
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError

Done = Callable[[KafkaError | None], None]
"""Is told that it is written, or why not."""
_ACKNOWLEDGED: Final = RecordState.ACKNOWLEDGED
_NOT_IN_CHARGE: Final = frozenset(
    (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
)
"""What says that a share partition is not the one in charge. Kafka: fencedSharePartitionHandler."""


_TRIED_AGAIN: Final = frozenset(
    (
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )
)
_TRIED: Final = "Exhausted max retries to complete write state RPC without success."


class Changed(Protocol):
    """Who is told that something has become of records."""

    def __call__(self, live: Live, *, moved: bool) -> None:
        """`moved`: the start offset is another one."""


class Writer(Protocol):
    """Who keeps what has become of records."""

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
        broker_ms: int,
    ) -> None:
        """Keep it. Raises KafkaError."""


class _Held(NamedTuple):
    live: Live
    transition: Transition
    done: Done


class Writing:
    """Transitions of share partitions on their way.

    Args:
        changed: something has become of records of a share partition; whether its start offset has `moved`.
        fenced: a share partition is not in charge any more.
        send: dead letters are to be written.
    """

    def __init__(
        self,
        writer: Writer,
        changed: Changed,
        fenced: Callable[[Live], None],
        send: Callable[[Live, Sequence[DeadLetter], Moment], None],
    ) -> None:
        self._writer = writer
        self._changed = changed
        self._fenced = fenced
        self._send = send
        self._held: dict[str, list[_Held]] = {}

    @property
    def held(self) -> frozenset[str]:
        """The groups whose transitions are held."""
        return frozenset(self._held)

    def hold(self, group_id: str) -> None:
        """From now on what members of the group begin is not written, until `release`."""
        self._held.setdefault(group_id, [])

    def release(self, group_id: str, now: Moment) -> None:
        """Write what was held, in its order, and hold no more. Nothing happens where nothing is held."""
        for held in self._held.pop(group_id, ()):
            held.done(self._write(held.live, held.transition, now))

    def write(self, live: Live, transition: Transition, now: Moment, done: Done) -> None:
        """What a member has begun; `done` is called at once, or when a test lets it go."""
        if not transition.writes:
            done(None)
        elif live.group_id in self._held:
            self._held[live.group_id].append(_Held(live, transition, done))
        else:
            done(self._write(live, transition, now))

    def _write(self, live: Live, transition: Transition, now: Moment) -> KafkaError | None:
        """What was written is true, what could not be is not; the error as a client is told."""
        error = self.at_any_rate(live, transition, now)
        if error is not None and error.code in _NOT_IN_CHARGE:
            self._fenced(live)
        return error

    def at_once(self, live: Live, transition: Transition, now: Moment) -> bool:
        """Whether what a member has begun is written, and true; else nothing has happened."""
        partition = live.partition
        if live.group_id in self._held or self._kept(live, transition, now) is not None:
            partition.roll_back(transition)
            return False
        started = partition.start_offset
        letters = partition.commit(transition)
        self._changed(live, moved=partition.start_offset != started)
        if letters:
            self._send(live, letters, now)
        return True

    def accepted(self, live: Live, run: Run, now: Moment) -> bool:
        """The same of a whole batch that is accepted."""
        partition = live.partition
        started, first, last = partition.start_offset, run.first, run.last
        if live.group_id in self._held:
            return False
        # its own constructor takes three times as long
        write = tuple.__new__(StateBatch, (first, last, _ACKNOWLEDGED, run.delivery_count))
        done = partition.delivery_complete_count + last - first + 1
        state_epoch, leader_epoch = partition.state_epoch, partition.leader_epoch
        try:
            self._writer.write(live.owner, state_epoch, leader_epoch, started, done, (write,), now[0])
        except KafkaError:
            return False
        partition.accepted(run)
        self._changed(live, moved=partition.start_offset != started)
        return True

    def at_any_rate(self, live: Live, transition: Transition, now: Moment) -> KafkaError | None:
        """The same, whatever it means for who is in charge: of locks that have ended, of dead letters."""
        partition = live.partition
        started = partition.start_offset
        error = KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER) if live.fenced else self._kept(live, transition, now)
        letters = partition.commit(transition) if error is None else partition.roll_back(transition)
        self._changed(live, moved=partition.start_offset != started)
        if letters:
            self._send(live, letters, now)
        return error

    def _kept(self, live: Live, transition: Transition, now: Moment) -> KafkaError | None:
        partition = live.partition
        try:
            self._writer.write(
                live.owner,
                partition.state_epoch,
                partition.leader_epoch,
                transition.start_offset,
                transition.delivery_complete_count,
                transition.writes,
                now[0],
            )
        except KafkaError as error:
            why = _TRIED if error.code in _TRIED_AGAIN else error.message or default_text(error.code)
            return called(KafkaError(error.code, f"Error in write state RPC. {why}"))
        return None
