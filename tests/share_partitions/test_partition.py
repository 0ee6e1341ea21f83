"""What members of a share group get of a partition, and what becomes of what they say of it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from kafkastub.share_coordinator.state_batches import ReadState, StateBatch
from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.dead_letters import CLIENT_REJECT, DELIVERY_COUNT_EXCEEDED, DeadLetter
from kafkastub.share_partitions.log_batches import AbortedTransaction, LogBatch
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RECORD_LIMIT
from kafkastub.share_partitions.transition import Transition
from kafkawire.errors import ErrorCode, KafkaError
from tests.share_partitions.context import ACCEPT, REJECT, RELEASE, RENEW, SharePartitionContext

LOCK_MS = ShareSettings().record_lock_duration_ms


def of(*counts: int, **settings: int | bool) -> SharePartitionContext:
    """A partition with batches of so many records."""
    context = SharePartitionContext(ShareSettings(**settings))
    context.append(*counts)
    return context


# -- acquiring ---------------------------------------------------------------------------------------------------------


def test_two_members_get_different_records():
    context = of(5, 5, 3)
    assert context.fetch("one", 3) == ["0-4x1"]  # the whole batch
    assert context.fetch("two", 6) == ["5-12x1"]
    assert context.fetch("one") == []


def test_ranges_end_with_batches_of_the_log_that_have_batch_size_records():
    context = of(10, 10, 10)
    assert context.fetch(most=25, size=10) == ["0-9x1", "10-19x1", "20-29x1"]
    assert of(10, 10, 10).fetch(most=30, size=15) == ["0-19x1", "20-29x1"]
    assert of(10, 10, 10).fetch(most=30, size=0) == ["0-9x1", "10-19x1", "20-29x1"]


def test_no_more_records_than_asked_for_in_the_mode_that_limits_them():
    context = of(10, 10, 10)
    assert context.fetch(most=1, mode=RECORD_LIMIT) == ["0-0x1"]
    assert context.fetch(most=5, mode=RECORD_LIMIT) == ["1-5x1"]
    assert context.fetch(most=15, mode=RECORD_LIMIT, size=3) == ["6-9x1", "10-20x1"]


def test_what_is_left_of_a_batch_can_be_acquired():
    context = of(10, 10)
    context.fetch(most=1, mode=RECORD_LIMIT)
    assert context.fetch(most=5) == ["1-9x1"]


def test_so_many_offsets_are_in_flight_and_no_more():
    context = of(5, 5, 5, partition_max_record_locks=10)
    assert context.fetch() == ["0-9x1"]
    assert not context.partition.can_acquire()
    assert context.fetch() == []
    context.say("m", (0, 4, ACCEPT))
    assert context.fetch() == ["10-14x1"]


def test_what_is_released_is_acquired_again_though_no_more_may_be_in_flight():
    context = of(5, 5, partition_max_record_locks=5)
    context.fetch()
    context.say("m", (2, 3, RELEASE))
    assert context.partition.can_acquire()
    assert context.fetch() == ["2-3x2"]


def test_records_that_were_delivered_often_come_in_smaller_numbers_and_at_last_alone():
    context = of(10, delivery_count_limit=5)
    got = []
    for _ in range(5):
        while ranges := context.fetch():
            got += ranges
        context.partition.commit(context.partition.release("m"))
    assert got[:5] == ["0-9x1", "0-9x2", "0-9x3", "0-4x4", "5-9x4"]
    assert got[5:] == [f"{offset}-{offset}x5" for offset in range(10)]
    assert context.partition.start_offset == 10  # all archived


def test_records_of_aborted_transactions_are_archived_for_readers_of_committed_ones():
    context = SharePartitionContext()
    context.log = [
        LogBatch(0, 1),
        LogBatch(2, 3, 7, True),
        LogBatch(4, 4),
        LogBatch(5, 5, 7, True, True),
        LogBatch(6, 6),
    ]
    context.aborted = [AbortedTransaction(7, 2)]
    assert context.fetch() == ["0-1x1", "4-6x1"]
    assert context.seen() == ["0-1 acquired x1 m", "2-3 archived x1", "4-6 acquired x1 m"]
    context.say("m", (0, 1, ACCEPT), (4, 6, ACCEPT))
    assert context.partition.start_offset == 7


def test_what_the_log_has_lost_by_compaction_is_archived():
    context = of(5, 5)
    context.fetch(most=3)
    context.fetch(most=3)
    context.partition.commit(context.partition.release("m"))
    del context.log[0]
    assert context.fetch("other") == ["5-9x2"]
    assert context.seen() == ["0-4 archived x1", "5-9 acquired x2 other"]


def test_records_of_others_are_told_though_a_transaction_beside_them_was_aborted():
    context = SharePartitionContext()
    context.log = [LogBatch(0, 4, 5, True), LogBatch(5, 9, 6), LogBatch(10, 14, 7, True)]
    context.aborted = [AbortedTransaction(7, 10)]
    assert context.fetch(size=5) == ["0-4x1", "5-9x1"]
    assert context.seen() == ["0-4 acquired x1 m", "5-9 acquired x1 m", "10-14 archived x1"]


def test_what_was_delivered_often_waits_for_what_comes_before_it():
    context = of(5, 5, delivery_count_limit=10)
    context.fetch("first", most=3)
    for _ in range(5):
        context.fetch("second", most=3)
        context.write(context.partition.release("second"))
    context.write(context.partition.release("first"))
    assert context.fetch() == ["0-4x2"]
    assert context.fetch() == ["5-6x6"]


def test_a_record_that_is_delivered_for_the_last_time_waits_for_those_before_it():
    context = of(4, delivery_count_limit=3)
    context.fetch()
    context.say("m", (2, 3, RELEASE))
    assert context.fetch("other") == ["2-3x2"]
    context.say("other", (2, 3, RELEASE))
    context.say("m", (0, 1, RELEASE))
    assert [context.fetch() for _ in range(3)] == [["0-1x2"], ["2-2x3"], ["3-3x3"]]


# -- acknowledging -----------------------------------------------------------------------------------------------------


def test_what_is_accepted_is_done_with():
    context = of(5, 5)
    context.fetch()
    assert context.say("m", (0, 9, ACCEPT)) == [StateBatch(0, 9, 2, 1)]
    assert (context.partition.start_offset, context.partition.delivery_complete_count, context.seen()) == (10, 0, [])


def test_the_start_offset_that_is_written_is_the_one_before():
    context = of(10)
    context.fetch()
    transition = context.begin("m", (0, 4, ACCEPT))
    assert (transition.start_offset, transition.delivery_complete_count) == (0, 5)
    context.write(transition)
    assert (context.partition.start_offset, context.partition.delivery_complete_count) == (5, 0)


def test_offset_by_offset_each_goes_its_own_way():
    context = of(6)
    context.fetch()
    assert context.say("m", (0, 4, [ACCEPT, RELEASE, REJECT, 0, ACCEPT])) == [
        StateBatch(0, 0, 2, 1), StateBatch(1, 1, 0, 1), StateBatch(2, 2, 4, 1), StateBatch(3, 3, 4, 1),
        StateBatch(4, 4, 2, 1),
    ]  # fmt: skip
    assert context.seen() == [
        "0-0 acknowledged x1", "1-1 available x1", "2-3 archived x1", "4-4 acknowledged x1", "5-5 acquired x1 m"
    ]  # fmt: skip
    assert context.fetch("other") == ["1-1x2"]


def test_a_record_that_was_delivered_as_often_as_allowed_is_archived():
    context = of(1, delivery_count_limit=2)
    for written in ([StateBatch(0, 0, 0, 1)], [StateBatch(0, 0, 4, 2)]):
        context.fetch()
        assert context.say("m", (0, 0, RELEASE)) == written
    assert context.fetch() == []


PAST = "INVALID_REQUEST: Batch record not found. The {} offset in request is past acquired records."
NOT_ACQUIRED = "INVALID_RECORD_STATE: The {0} cannot be acknowledged. The {0} is not acquired."


@pytest.mark.parametrize(
    ("member", "said", "text"),
    [
        ("other", [(0, 4, ACCEPT)], "INVALID_RECORD_STATE: Member is not the owner of batch record"),
        ("m", [(20, 21, ACCEPT)], PAST.format("first")),
        ("m", [(0, 12, ACCEPT)], PAST.format("last")),
        ("m", [(0, 1, ACCEPT), (1, 1, ACCEPT)], NOT_ACQUIRED.format("offset")),
        (
            "m",
            [(0, 4, ACCEPT), (0, 4, ACCEPT)],
            "INVALID_RECORD_STATE: The batch cannot be acknowledged. The batch is not in the acquired state.",
        ),
        ("m", [(0, 4, ACCEPT), (5, 5, RENEW), (5, 5, 9)], "INVALID_REQUEST: Invalid acknowledge type: [9]"),
    ],
)
def test_what_is_wrong_changes_nothing(member: str, said: list[tuple[int, int, int]], text: str) -> None:
    context = of(5, 5)
    context.fetch(most=3)
    context.fetch(most=3)
    before = context.seen()
    with pytest.raises(KafkaError) as refused:
        context.begin(member, *said)
    assert str(refused.value) == text
    assert "".join(before) == "0-4 acquired x1 m5-9 acquired x1 m"
    assert all(" acquired x1 m" in one for one in context.seen())
    assert context.partition.delivery_complete_count == 0


def test_what_was_never_there_may_be_acknowledged_with_what_was():
    """As where compaction has left a gap between two batches: the first of them stays as it was."""
    context = of(5)
    context.fetch()
    context.log.append(LogBatch(8, 9))
    assert context.fetch() == ["8-9x1"]
    context.say("m", (6, 9, ACCEPT))
    assert context.seen() == ["0-4 acquired x1 m", "8-9 acknowledged x1"]


def test_neighbours_are_one_again_whichever_was_said_last():
    context = of(4)
    context.fetch()
    context.say("m", (2, 2, ACCEPT))
    context.say("m", (1, 1, ACCEPT))
    assert context.seen() == ["0-0 acquired x1 m", "1-2 acknowledged x1", "3-3 acquired x1 m"]


def test_nothing_in_flight_is_not_found():
    with pytest.raises(KafkaError, match="The request batch offsets are not found in the cache"):
        of(5).begin("m", (0, 0, ACCEPT))


def test_what_is_behind_the_start_offset_is_acknowledged_by_anybody():
    context = of(5, 5)
    context.fetch(most=3)
    context.say("m", (0, 4, ACCEPT))
    assert context.say("other", (0, 4, ACCEPT)) == []


def test_a_group_may_forbid_to_renew():
    context = of(1, renew_acknowledge_enable=False)
    context.fetch()
    with pytest.raises(KafkaError, match=r"Renewing acquisition locks is not enabled for the group\."):
        context.begin("m", (0, 0, RENEW))


def test_ranges_of_any_size_cost_no_more_than_what_is_in_flight():
    context = of(5)
    context.fetch()
    for first, last in ((-(2**62), 2**62), (0, 2**62), (2**62, 2**62)):
        with pytest.raises(KafkaError) as refused:
            context.begin("m", (first, last, ACCEPT))
        assert refused.value.code in (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_RECORD_STATE)
    assert len(context.seen()) == 1


def test_a_large_batch_is_kept_by_what_was_said_of_it():
    context = of(1_000_000)
    context.fetch()
    context.say("m", (10, 20, ACCEPT), (30, 30, RELEASE))
    assert len(context.seen()) == 5


def test_what_is_said_of_many_offsets_is_begun_in_parts():
    """Others may ask between the parts, and find it begun."""
    kinds = [ACCEPT, REJECT, 0, REJECT] * 1_500 + [ACCEPT]
    context, at_once = of(6_001), of(6_001)
    context.fetch()
    at_once.fetch()
    parts = context.partition.acknowledge_in_parts("m", [AcknowledgementBatch(0, 6_000, kinds)], 0)
    assert next(parts) < 1_000
    assert context.partition.next_fetch_offset() == 6_001
    with pytest.raises(KafkaError, match="The offset is not acquired"):
        context.begin("m", (0, 5_000, ACCEPT))
    assert context.write(_end_of(parts)) == at_once.say("m", (0, 6_000, kinds))
    assert (context.partition.start_offset, context.seen()) == (6_001, [])


def _end_of(parts: Generator[int, None, Transition]) -> Transition:
    try:
        while True:
            next(parts)
    except StopIteration as end:
        found: Transition = end.value
        return found


def test_parts_that_are_given_up_are_rolled_back():
    context = of(1_200)
    context.fetch()
    parts = context.partition.acknowledge_in_parts("m", [AcknowledgementBatch(0, 1_199, [ACCEPT, REJECT] * 600)], 0)
    next(parts)
    parts.close()
    assert {one.state.name for one in context.partition.view()} == {"ACQUIRED"}
    assert context.partition.delivery_complete_count == 0


# -- locks -------------------------------------------------------------------------------------------------------------


def test_a_lock_runs_out():
    context = of(5, 5)
    context.fetch("one", most=3)
    assert context.wait(LOCK_MS - 1) == []
    assert context.fetch("two") == ["5-9x1"]
    assert context.wait(1) == [StateBatch(0, 4, 0, 1)]
    assert context.fetch("two") == ["0-4x2"]
    with pytest.raises(KafkaError, match="Member is not the owner"):
        context.begin("one", (0, 4, ACCEPT))


def test_a_renewed_lock_lasts_from_then_on():
    context = of(5)
    context.fetch()
    context.wait(LOCK_MS - 1)
    assert context.say("m", (1, 2, RENEW)) == []
    assert context.wait(LOCK_MS - 1) == [StateBatch(0, 0, 0, 1), StateBatch(3, 4, 0, 1)]
    assert context.wait(1) == [StateBatch(1, 2, 0, 1)]
    assert context.partition.next_lock_deadline() is None


def test_a_lock_that_runs_out_while_something_is_written():
    """It stays what was said if that is written, and is available otherwise."""
    context = of(5, 5)
    context.fetch(most=3)
    context.fetch(most=3)
    first, second = context.begin("m", (0, 4, ACCEPT)), context.begin("m", (5, 9, ACCEPT))
    assert context.fetch("other") == []
    assert context.wait(2 * LOCK_MS) == []
    assert context.partition.roll_back(first) == ()
    context.write(second)
    assert context.seen() == ["0-4 available x1", "5-9 acknowledged x1"]


def test_what_could_not_be_written_is_the_members_again():
    context = of(5)
    context.fetch()
    transition = context.begin("m", (0, 2, ACCEPT))
    with pytest.raises(KafkaError, match="The offset is not acquired"):
        context.begin("m", (0, 0, ACCEPT))
    context.partition.roll_back(transition)
    assert context.say("m", (0, 4, ACCEPT)) == [StateBatch(0, 2, 2, 1), StateBatch(3, 4, 2, 1)]


def test_what_a_member_had_is_given_back_as_its_session_ends():
    context = of(5, 5)
    context.fetch("one", most=3)
    context.fetch("two", most=3)
    assert context.write(context.partition.release("one")) == [StateBatch(0, 4, 0, 1)]
    assert context.seen() == ["0-4 available x1", "5-9 acquired x1 two"]


def test_a_lock_does_not_end_before_its_time():
    context = of(5)
    context.fetch()
    transition = context.partition.expire_locks(LOCK_MS - 1)
    assert (context.write(transition), context.seen()) == ([], ["0-4 acquired x1 m"])


# -- the log's start, dead letters, what was kept ----------------------------------------------------------------------


def test_the_log_loses_records_that_are_in_flight():
    context = of(5, 5, 5)
    context.fetch("one", most=3)
    context.fetch("two", most=3)
    context.write(context.partition.release("one"))
    context.partition.log_start_moved(7)
    assert context.partition.start_offset == 7
    assert context.seen() == ["0-4 archived x1", "5-9 acquired x1 two"]
    context.say("two", (5, 9, ACCEPT))
    assert context.seen() == ["5-6 acquired x1 two", "7-9 acknowledged x1"]
    assert context.wait(LOCK_MS) == [StateBatch(5, 6, 4, 1)]
    assert (context.partition.start_offset, context.fetch()) == (10, ["10-14x1"])


def test_the_log_loses_all_that_is_known():
    context = of(5, 5)
    context.partition.log_start_moved(3)
    assert (context.partition.start_offset, context.fetch(most=2)) == (3, ["3-4x1"])
    context.partition.log_start_moved(2)
    assert context.partition.start_offset == 3  # it does not go back
    context.say("m", (3, 3, ACCEPT))
    context.begin("m", (4, 4, RENEW))
    context.partition.log_start_moved(9)
    context.partition.move_start()
    assert (context.partition.start_offset, context.seen()) == (9, ["3-3 acknowledged x1", "4-4 acquired x1 m"])
    assert context.partition.delivery_complete_count == 0


def test_the_log_loses_a_part_of_what_is_being_released():
    context = of(10)
    context.fetch()
    transition = context.begin("m", (0, 9, RELEASE))
    context.partition.log_start_moved(5)
    context.write(transition)
    assert context.seen() == ["0-4 archived x1", "5-9 available x1"]
    assert context.fetch("other") == ["5-9x2"]


def test_a_fenced_partition_gives_nothing():
    context = of(5)
    context.partition.fence()
    assert context.fetch() == []


def test_rejected_records_wait_for_their_dead_letters():
    context = of(2, delivery_count_limit=2, dead_letters=True)
    context.fetch()
    assert context.say("m", (0, 1, [REJECT, RELEASE])) == [StateBatch(0, 0, 3, 1), StateBatch(1, 1, 0, 1)]
    context.fetch()
    context.wait(LOCK_MS)
    letters = [DeadLetter(0, 0, 1, CLIENT_REJECT), DeadLetter(1, 1, 2, DELIVERY_COUNT_EXCEEDED)]
    assert context.letters == letters
    assert (context.partition.start_offset, context.partition.delivery_complete_count) == (0, 0)
    assert context.write(context.partition.dead_letter_done(letters[1])) == [StateBatch(1, 1, 4, 2)]
    assert context.partition.delivery_complete_count == 1
    assert context.write(context.partition.dead_letter_done(letters[0])) == [StateBatch(0, 0, 4, 1)]
    assert context.partition.start_offset == 2
    assert context.write(context.partition.dead_letter_done(letters[0])) == []


def test_it_goes_on_with_what_was_kept():
    kept = ReadState(4, 3, 5, [StateBatch(3, 4, 2, 1), StateBatch(5, 6, 0, 2), StateBatch(9, 9, 3, 5)])
    context = SharePartitionContext(ShareSettings(dead_letters=True), kept=kept)
    context.append(*[1] * 12)
    assert context.letters == [DeadLetter(9, 9, 5, DELIVERY_COUNT_EXCEEDED)]
    assert (context.partition.state_epoch, context.partition.start_offset) == (4, 5)
    assert context.fetch() == ["5-6x3", "7-8x1", "10-11x1"]


def test_what_a_start_found_done_behind_a_gap_is_passed_with_the_next_record():
    """The gap is known as long as nothing behind it was read, so that the start offset stays, as Kafka's does."""
    context = SharePartitionContext(kept=ReadState(1, 0, -1, [StateBatch(2, 3, 4, 1)]))
    context.append(2, 2)
    assert context.fetch() == ["0-1x1"]
    context.say("m", (0, 1, ACCEPT))
    partition = context.partition
    assert (partition.start_offset, partition.next_fetch_offset(), context.seen()) == (2, 4, ["2-3 archived x1"])
    context.append(1)
    assert context.fetch() == ["4-4x1"]
    context.say("m", (4, 4, ACCEPT))
    assert (partition.start_offset, context.seen()) == (5, [])


def test_what_was_never_read_begins_where_the_group_says():
    context = SharePartitionContext(start=7)
    assert (context.partition.start_offset, context.partition.next_fetch_offset()) == (7, 7)


def test_what_was_kept_and_makes_no_sense_is_refused():
    for batch in (StateBatch(2, 4, 0, 1), StateBatch(6, 5, 0, 1), StateBatch(5, 6, 9, 1)):
        with pytest.raises(KafkaError, match="Failed to initialize the share partition"):
            SharePartitionContext(kept=ReadState(0, 5, -1, [batch]))
