"""Random lives of a share partition beside a model that knows each offset by itself, and what members are promised.

No record is acquired by two, none is delivered more often than the limit allows, none is lost: in the end each was
accepted, or is archived, over lost writes and restarts too.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkastub.share_coordinator.state_batches import ReadState, StateBatch
from kafkastub.share_partitions.log_batches import LogBatch
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RecordState
from kafkastub.share_partitions.transition import Transition
from kafkawire.errors import KafkaError
from tests.share_partitions.context import RENEW, SharePartitionContext

LIMIT, LOCK_MS, MOST = 3, 100, 60
MEMBERS = ("one", "two", "three")
AVAILABLE, ACQUIRED = RecordState.AVAILABLE, RecordState.ACQUIRED
BECOMES = {0: RecordState.ARCHIVED, 1: RecordState.ACKNOWLEDGED, 2: AVAILABLE, 3: RecordState.ARCHIVED}


@dataclass
class Offset:
    state: RecordState = AVAILABLE
    count: int = 0
    member: str = ""
    until: int = 0

    def give_back(self, to: RecordState = AVAILABLE) -> None:
        if to is AVAILABLE and self.count >= LIMIT:
            to = RecordState.ARCHIVED
        self.state, self.member = to, ""


REFUSED = r"^INVALID_RE(CORD_STATE|QUEST): "


class Lives(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.settings = ShareSettings(LOCK_MS, LIMIT, MOST)
        self.context = SharePartitionContext(self.settings)
        self.context.append(1, 5, 3)
        self.offsets: dict[int, Offset] = {}
        self.kept: dict[int, tuple[int, int]] = {}
        self.kept_start = -1
        self.deliveries: dict[int, int] = {}

    def _write(self, transition: Transition) -> None:
        if transition.writes:
            self.kept_start = transition.start_offset
            for first, last, state, count in transition.writes:
                self.kept.update(dict.fromkeys(range(first, last + 1), (state, count)))
        self.context.write(transition)

    @rule(counts=st.lists(st.integers(1, 12), min_size=1, max_size=4))
    def is_written_to(self, counts: list[int]) -> None:
        self.context.append(*counts)

    @rule(
        member=st.sampled_from(MEMBERS), most=st.integers(1, 30), mode=st.integers(0, 1), size=st.integers(1, 30),
        batches=st.integers(1, 5),
    )  # fmt: skip
    def acquires(self, member: str, most: int, mode: int, size: int, batches: int) -> None:
        partition, end = self.context.partition, self.context.log[-1].last_offset
        can, following = partition.can_acquire(), partition.next_fetch_offset()
        got = self.context.acquire(member, most, mode, size, batches)
        assert bool(got) == (can and following <= end)
        assert mode == 0 or sum(last - first + 1 for first, last, _ in got) <= most
        for first, last, count in got:
            for number in range(first, last + 1):
                offset = self.offsets.setdefault(number, Offset())
                assert offset.state is AVAILABLE
                assert count == offset.count + 1 <= LIMIT
                self.offsets[number] = Offset(ACQUIRED, count, member, self.context.now + LOCK_MS)
        if got:  # what was read with it, and left
            for number in range(partition.start_offset, partition.end_offset + 1):
                self.offsets.setdefault(number, Offset())

    @rule(
        member=st.sampled_from(MEMBERS), first=st.integers(0, 50), goes_well=st.booleans(),
        types=st.lists(st.integers(0, 4), min_size=1, max_size=20),
    )  # fmt: skip
    def says(self, member: str, first: int, types: list[int], goes_well: bool) -> None:
        partition = self.context.partition
        mine = [number for number, offset in self.offsets.items() if offset.member == member]
        if mine:
            first = sorted(mine)[first % len(mine)]
        said = dict(enumerate(types, first))
        is_owner = all(number in mine for number in said if number >= partition.start_offset)
        batch = (first, first + len(types) - 1, types)
        if not is_owner:
            begins = partition.start_offset
            # Kafka falls over a null where nothing that is in flight begins at the partition's first offset or before.
            is_null = first < begins <= batch[1] and partition.in_flight.floor(begins) < 0
            with pytest.raises(KafkaError, match="^UNKNOWN_SERVER_ERROR$" if is_null else REFUSED):
                self.context.begin(member, batch)
            self._renewed({number for number, kind in said.items() if kind == RENEW} & set(mine))
            return
        transition = self.context.begin(member, batch)
        for number, kind in said.items():
            if number >= partition.start_offset and kind == RENEW:
                self.offsets[number].until = self.context.now + LOCK_MS
        if not goes_well:
            assert not partition.roll_back(transition)
            return
        for number, kind in said.items():
            if number >= partition.start_offset and kind != RENEW:
                self.offsets[number].give_back(BECOMES[kind])
        self._write(transition)

    def _renewed(self, said: set[int]) -> None:
        """Locks that were renewed before something else of the request was refused are longer."""
        for one in self.context.partition.view():
            for number in said & set(range(one.first_offset, one.last_offset + 1)):
                assert one.locked_until_ms in (self.offsets[number].until, self.context.now + LOCK_MS)
                self.offsets[number].until = one.locked_until_ms

    @rule(member=st.sampled_from(MEMBERS))
    def leaves(self, member: str) -> None:
        transition = self.context.partition.release(member)
        for offset in self.offsets.values():
            if offset.member == member:
                offset.give_back()
        self._write(transition)

    @rule(ms=st.sampled_from([1, 30, LOCK_MS]))
    def time_passes(self, ms: int) -> None:
        context = self.context
        until = context.now + ms
        while (at := context.partition.next_lock_deadline()) is not None and at <= until:
            context.now = at
            self._write(context.partition.expire_locks(at))
        context.now = until
        for offset in self.offsets.values():
            if offset.member and offset.until <= until:
                offset.give_back()

    @rule()
    def restarts(self) -> None:
        """Locks are lost, and what was delivered without a word. What was written is there."""
        start = self.kept_start
        batches = [StateBatch(n, n, *self.kept[n]) for n in sorted(self.kept) if n >= start]
        log, now = self.context.log, self.context.now
        self.context = SharePartitionContext(self.settings, 0, ReadState(1, start, -1, batches))
        self.context.log, self.context.now = log, now
        partition = self.context.partition
        self.offsets = {n: Offset(RecordState(self.kept[n][0]), self.kept[n][1]) for n in self.kept}
        if batches:
            for number in range(partition.start_offset, partition.end_offset + 1):
                self.offsets.setdefault(number, Offset())
        assert all(
            self.offsets[n].state.is_terminal for n in range(max(start, 0), partition.start_offset) if n in self.offsets
        )

    @precondition(lambda self: self.context.partition.in_flight.batches)
    @invariant()
    def is_as_the_model(self) -> None:
        partition = self.context.partition
        start, end = partition.start_offset, partition.end_offset
        for one in partition.view():
            for number in range(max(one.first_offset, start), one.last_offset + 1):
                offset = self.offsets[number]
                assert (one.state, one.delivery_count, one.member_id) == (offset.state, offset.count, offset.member)
                assert one.locked_until_ms == (offset.until if offset.member else None)
                assert not one.in_transition
        done = sum(offset.state.is_terminal for number, offset in self.offsets.items() if start <= number <= end)
        assert partition.delivery_complete_count == done
        assert not self.offsets[start].state.is_terminal

    def teardown(self) -> None:
        """Whoever comes last gets all that is left, and accepts it.

        There is one more record, as only with it the start offset passes what a start found done with behind a gap:
        see test_what_a_start_found_done_behind_a_gap_is_passed_with_the_next_record.
        """
        self.is_written_to([1])
        self.time_passes(LOCK_MS)
        partition = self.context.partition
        end = self.context.log[-1].last_offset
        for _ in range(10 * end + 10):
            if partition.next_fetch_offset() > end:
                break
            for first, last, _ in self.context.acquire("last", 500, 0, 500, 1):
                self._write(self.context.begin("last", (first, last, 1)))
        assert (partition.start_offset, partition.in_flight.batches) == (end + 1, [])


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)


def test_a_life_that_ends_with_what_a_restart_left_done_behind_a_gap():
    """The start offset stays at 5 until more is read: the model asked for the end of the log."""
    life = Lives()
    life.acquires("one", 1, 0, 1, 1)
    life.acquires("two", 6, 0, 1, 2)
    life.says("two", 4, [0, 0, 0, 0], goes_well=True)
    life.restarts()
    life.teardown()


def test_the_log_of_the_model_has_no_gaps():
    """The model counts each offset of a batch as a record."""
    context = SharePartitionContext()
    context.append(2, 3)
    assert context.log == [LogBatch(0, 1), LogBatch(2, 4)]
