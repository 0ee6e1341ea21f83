"""What producers may do with their transactional ids. Measured on Apache Kafka 4.4.0 unless a test says otherwise."""

from __future__ import annotations

import pytest

from kafkastub.transaction_coordinator import ProducerIdAndEpoch, TransactionMetadata, TransactionState
from kafkawire.errors import ErrorCode, KafkaError
from tests.transactions.context import START_MS, TIMEOUT_MS, A, B, C, TransactionsTestContext

LAST = 0x7FFF - 1


def refused(code: ErrorCode) -> pytest.RaisesExc[KafkaError]:
    return pytest.RaisesExc(KafkaError, check=lambda error: error.code == code)


@pytest.fixture
def context() -> TransactionsTestContext:
    return TransactionsTestContext()


# -- InitProducerId ----------------------------------------------------------------------------------------------


def test_an_id_keeps_its_producer_id_and_its_epoch_rises(context: TransactionsTestContext) -> None:
    assert [context.init() for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert context.init("other") == (1, 0)


def test_an_open_transaction_is_aborted_first(context: TransactionsTestContext) -> None:
    """The epoch rises by two: the one between is that of the marker, nobody writes with it."""
    who = context.init()
    context.add(who, A, B)
    turn = context.settle(context.coordinator.init_producer_id("tx", TIMEOUT_MS, None, context.turn()))
    assert turn.error is ErrorCode.CONCURRENT_TRANSACTIONS
    (markers,) = context.under_way
    assert (markers.producer_id, markers.producer_epoch, markers.commit) == (0, 1, False)
    assert markers.partitions == (A, B)
    with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
        context.init()
    context.write_markers()
    assert context.init() == (0, 2)


def test_a_producer_that_is_aborted_by_itself_gets_the_epoch_of_the_marker(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A)
    assert context.init(expected=who) == (0, 1)


def test_below_transaction_version_2_the_epoch_of_an_abort_is_raised_once_too() -> None:
    context = TransactionsTestContext(transaction_version=1)
    who = context.init()
    context.add(who, A)
    assert context.init(expected=None) == (0, 2)
    versions = [one.client_transaction_version for one in context.log if isinstance(one, TransactionMetadata)]
    assert versions == [0] * 5


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_out_of_bounds_is_refused(context: TransactionsTestContext, timeout_ms: int) -> None:
    with refused(ErrorCode.INVALID_TRANSACTION_TIMEOUT):
        context.init(timeout_ms=timeout_ms)
    assert not context.log


def test_a_producer_names_its_epoch_and_may_ask_again(context: TransactionsTestContext) -> None:
    first = context.init()
    second = context.init(expected=first)
    assert second == (0, 1)
    assert context.init(expected=first) == second
    third = context.init()
    with refused(ErrorCode.PRODUCER_FENCED):
        context.init(expected=second)
    with refused(ErrorCode.PRODUCER_FENCED):
        context.init(expected=third._replace(producer_id=7))


def test_used_up_epochs_lead_to_another_producer_id(context: TransactionsTestContext) -> None:
    who = _raised_to_the_last(context)
    after = context.init(expected=who)
    assert after == (1, 0)
    assert context.init(expected=who) == after


def _raised_to_the_last(context: TransactionsTestContext) -> ProducerIdAndEpoch:
    """A producer whose epoch is the last that one may have."""
    context.init()
    record = context.coordinator.metadata("tx")
    assert record is not None
    context.coordinator.apply(record._replace(producer_epoch=LAST))
    return ProducerIdAndEpoch(0, LAST)


# -- AddPartitionsToTxn ------------------------------------------------------------------------------------------


def test_the_first_partition_opens_a_transaction(context: TransactionsTestContext) -> None:
    who = context.init()
    context.advance(5)
    context.add(who, A)
    context.advance(5)
    context.add(who, B, A)
    told = context.coordinator.describe("tx")
    assert told.state is TransactionState.ONGOING
    assert (told.start_ms, set(told.partitions)) == (START_MS + 5, {A, B})


def test_partitions_that_are_in_already_write_nothing(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A, B)
    assert not context.add(who, B).records


def test_who_may_not_add_partitions(context: TransactionsTestContext) -> None:
    old = context.init()
    who = context.init()
    with refused(ErrorCode.PRODUCER_FENCED):
        context.add(old, A)
    with refused(ErrorCode.PRODUCER_FENCED):
        context.add(who._replace(epoch=who.epoch + 1), A)
    with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
        context.add(who._replace(producer_id=9), A)
    with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
        context.add(who, A, name="unknown")
    with refused(ErrorCode.INVALID_REQUEST):
        context.add(who, A, name="")


def test_nothing_is_added_while_markers_are_under_way(context: TransactionsTestContext) -> None:
    """Kafka: handleAddPartitionsToTransaction asks that before it looks at the producer."""
    who = context.init()
    context.add(who, A)
    after = context.end(who)
    for one in (who, after, ProducerIdAndEpoch(99, 0)):
        with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
            context.add(one, B)
    context.write_markers()
    context.add(after, B)
    assert context.state() is TransactionState.ONGOING


def test_verification_tells_what_is_in_the_transaction(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A)
    told = context.coordinator.verify_partitions("tx", *who, [A, B])
    assert told == {A: ErrorCode.NONE, B: ErrorCode.TRANSACTION_ABORTABLE}
    with refused(ErrorCode.PRODUCER_FENCED):
        context.coordinator.verify_partitions("tx", who.producer_id, who.epoch + 1, [A])
    context.end(who, version=0)
    with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
        context.coordinator.verify_partitions("tx", *who, [A])


# -- EndTxn ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commit", [True, False])
def test_version_1_ends_with_the_epoch_of_the_producer(context: TransactionsTestContext, commit: bool) -> None:
    who = context.init()
    context.add(who, A, B, C)
    assert context.end(who, commit, version=0) == who
    with refused(ErrorCode.CONCURRENT_TRANSACTIONS):
        context.end(who, commit, version=0)
    (markers,) = context.write_markers()
    assert (markers.producer_epoch, markers.commit, markers.transaction_version) == (who.epoch, commit, 0)
    assert context.state() is (TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT)
    assert context.end(who, commit, version=0) == who
    with refused(ErrorCode.INVALID_TXN_STATE):
        context.end(who, not commit, version=0)


def test_version_1_cannot_end_what_was_not_begun(context: TransactionsTestContext) -> None:
    who = context.init()
    for commit in (True, False):
        with refused(ErrorCode.INVALID_TXN_STATE):
            context.end(who, commit, version=0)


@pytest.mark.parametrize("commit", [True, False])
def test_version_2_raises_the_epoch(context: TransactionsTestContext, commit: bool) -> None:
    who = context.init()
    context.add(who, A, version=2)
    after = context.end(who, commit)
    assert after == (who.producer_id, who.epoch + 1)
    (markers,) = context.write_markers()
    assert (markers.producer_epoch, markers.commit, markers.transaction_version) == (after.epoch, commit, 2)
    assert context.end(who, commit) == after, "the request repeated"
    with refused(ErrorCode.INVALID_TXN_STATE):
        context.end(who, not commit)
    with refused(ErrorCode.PRODUCER_FENCED):
        context.add(who, B, version=2)


def test_version_2_may_abort_nothing_but_not_commit_it(context: TransactionsTestContext) -> None:
    who = context.init()
    for _ in range(3):
        with refused(ErrorCode.INVALID_TXN_STATE):
            context.end(who)
        after = context.end(who, False)
        assert after.epoch == who.epoch + 1
        assert context.state() is TransactionState.PREPARE_ABORT
        context.write_markers()
        assert context.state() is TransactionState.COMPLETE_ABORT
        who = after


def test_who_may_not_end_a_transaction(context: TransactionsTestContext) -> None:
    old = context.init()
    who = context.init()
    context.add(who, A)
    for version in (0, 2):
        for one in (old, who._replace(epoch=who.epoch + 1)):
            with refused(ErrorCode.PRODUCER_FENCED):
                context.end(one, version=version)
        with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
            context.end(who._replace(producer_id=9), version=version)
        with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
            context.end(who, name="unknown", version=version)
        with refused(ErrorCode.INVALID_REQUEST):
            context.end(who, name="", version=version)


def test_past_the_last_epoch_a_transaction_ends_with_another_producer_id(context: TransactionsTestContext) -> None:
    who = _raised_to_the_last(context)
    context.add(who, A, version=2)
    after = context.end(who)
    assert after == (1, 0)
    (markers,) = context.write_markers()
    assert (markers.producer_id, markers.producer_epoch) == (who.producer_id, LAST + 1)
    assert context.end(who) == after, "the request repeated"
    assert context.init(expected=who) == after, "and so with InitProducerId"
    context.commit(after, A)
    with refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING):
        context.end(who)


def test_a_transaction_is_complete_with_its_last_marker(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A, B)
    after = context.end(who)
    report = context.coordinator.markers_written
    assert not report("tx", *after, [A], context.turn()).records
    assert context.coordinator.describe("tx").partitions == (B,)
    assert not report("tx", *who, [B], context.turn()).records, "a marker of another epoch"
    assert not report("unknown", *after, [B], context.turn()).records
    (record,) = report("tx", *after, [B], context.turn()).records
    assert record == context.coordinator.metadata("tx")
    assert context.state() is TransactionState.COMPLETE_COMMIT
    assert not report("tx", *after, [B], context.turn()).records


# -- time --------------------------------------------------------------------------------------------------------


def test_a_transaction_times_out_and_its_producer_is_fenced(context: TransactionsTestContext) -> None:
    who = context.init()
    context.advance(1_000)
    context.add(who, A)
    context.advance(30_000)
    context.add(who, B)
    assert context.coordinator.next_deadline() == 1_000 + TIMEOUT_MS
    context.advance(29_999)
    assert context.state() is TransactionState.ONGOING
    context.advance(1)
    assert context.state() is TransactionState.PREPARE_ABORT
    with refused(ErrorCode.PRODUCER_FENCED):
        context.end(who, version=0)
    (markers,) = context.write_markers()
    assert (markers.producer_epoch, markers.commit, markers.partitions) == (who.epoch + 1, False, (A, B))
    with refused(ErrorCode.INVALID_TXN_STATE):
        context.end(who)  # of version 2 it looks like a repeated request, of another end
    with refused(ErrorCode.PRODUCER_FENCED):
        context.end(who, version=0)
    assert context.coordinator.next_deadline() is None


def test_very_many_time_out_in_several_turns(context: TransactionsTestContext) -> None:
    names = [f"tx-{number}" for number in range(250)]
    for name in names:
        context.add(context.init(name), A, name=name)
    turns = [context.advance(TIMEOUT_MS)]
    while (due := context.coordinator.next_deadline()) is not None:
        assert due <= context.timer_ms
        turns.append(context.advance(0))
    assert sum(len(turn.markers) for turn in turns) == 250
    assert max(len(turn.markers) for turn in turns) == 100
    assert {context.state(name) for name in names} == {TransactionState.PREPARE_ABORT}


def test_few_that_are_large_time_out_in_a_turn(context: TransactionsTestContext) -> None:
    for name in "abc":
        context.add(context.init(name), *(("large", index) for index in range(600)), name=name)
    assert [len(context.advance(TIMEOUT_MS).markers), len(context.advance(0).markers)] == [2, 1]


def test_very_many_ids_expire_in_several_turns(context: TransactionsTestContext) -> None:
    for number in range(2500):
        context.init(f"tx-{number}")
    context.advance(context.coordinator.settings.id_expiration_ms)
    turns = [len(context.coordinator.expire_ids(context.broker_ms).records) for _ in range(4)]
    assert turns == [1000, 1000, 500, 0]


def test_broker_time_alone_times_nothing_out(context: TransactionsTestContext) -> None:
    context.add(context.init(), A)
    context.advance(10 * TIMEOUT_MS, timers=False)
    assert context.state() is TransactionState.ONGOING


def test_an_ended_transaction_does_not_time_out(context: TransactionsTestContext) -> None:
    context.commit(context.init(), A)
    assert context.coordinator.next_deadline() is None
    assert not context.advance(10 * TIMEOUT_MS).records


def test_ids_without_a_transaction_expire() -> None:
    context = TransactionsTestContext(id_expiration_ms=1_000)
    context.init("first")
    context.add(context.init("open"), A, name="open")
    context.advance(400)
    context.init("second")
    assert context.coordinator.next_id_expiry() == START_MS + 1_000
    context.advance(599)
    assert not context.coordinator.expire_ids(context.broker_ms).records
    context.advance(1)
    turn = context.coordinator.expire_ids(context.broker_ms)
    assert [record.transactional_id for record in turn.records] == ["first"]
    assert not context.coordinator.knows("first")
    assert context.coordinator.next_id_expiry() == START_MS + 1_400
    context.advance(10_000)
    assert [one.transactional_id for one in context.coordinator.expire_ids(context.broker_ms).records] == ["second"]
    assert context.coordinator.knows("open")
    with refused(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND):
        context.coordinator.describe("first")


# -- loading -----------------------------------------------------------------------------------------------------


def test_after_a_restart_markers_are_written_again(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A, B, version=2)
    after = context.end(who)
    context.coordinator.markers_written("tx", *after, [A], context.turn())
    other = context.restarted()
    assert [set(one.partitions) for one in other.under_way] == [{A, B}]
    other.write_markers()
    assert other.state() is TransactionState.COMPLETE_COMMIT
    other.commit(after, C)


def test_after_a_restart_an_open_transaction_has_the_rest_of_its_time(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A)
    context.advance(20_000)
    other = context.restarted()
    assert other.coordinator.next_deadline() == TIMEOUT_MS - 20_000
    other.advance(TIMEOUT_MS - 20_000)
    assert other.state() is TransactionState.PREPARE_ABORT


def test_a_moved_id_is_known_by_its_records(context: TransactionsTestContext) -> None:
    who = context.init()
    context.add(who, A, B, version=2)
    after = context.end(who)
    context.coordinator.markers_written("tx", *after, [A], context.turn())
    turn = context.coordinator.reload(["tx", "unknown"], context.broker_ms, context.timer_ms)
    assert [one.partitions for one in turn.markers] == [(A, B)]


def test_unloaded_it_knows_nothing(context: TransactionsTestContext) -> None:
    context.add(context.init(), A)
    context.coordinator.unload(context.broker_ms, context.timer_ms)
    assert not context.coordinator.knows("tx")
    assert context.coordinator.next_deadline() is None
    assert context.coordinator.next_id_expiry() is None


# -- what is told ------------------------------------------------------------------------------------------------


def test_a_listing_fulfils_every_filter(context: TransactionsTestContext) -> None:
    context.init("idle")
    context.add(context.init("old"), A, name="old")
    context.advance(10)
    context.add(context.init("new"), A, name="new")
    context.advance(10)

    def listed(**filters: object) -> set[str]:
        found = context.coordinator.listing(context.broker_ms, **filters)  # type: ignore[arg-type]
        return {one.transactional_id for one in found}

    assert listed() == {"idle", "old", "new"}
    assert listed(states={TransactionState.ONGOING}) == {"old", "new"}
    assert listed(producer_ids={1, 7}) == {"old"}
    assert listed(min_duration_ms=10) == {"idle", "old"}, "as in Kafka, an id that has begun none is among them"
    assert listed(states={TransactionState.ONGOING}, producer_ids={0}) == set()


def test_states_have_the_names_that_clients_know() -> None:
    assert [state.camel for state in TransactionState] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]


def test_an_empty_or_unknown_id_is_not_described(context: TransactionsTestContext) -> None:
    with refused(ErrorCode.INVALID_REQUEST):
        context.coordinator.describe("")
    with refused(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND):
        context.coordinator.describe("unknown")
