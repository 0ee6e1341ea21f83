"""ShareFetch: sessions, what is acquired, waiting, errors."""

from __future__ import annotations

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkastub.state.leadership import move_leader
from kafkastub.state.partitions import log_of
from kafkastub.state.share_partitions import abandoned_fetches
from kafkastub.storage import Marker
from kafkawire.errors import ErrorCode
from kafkawire.messages.share_fetch_response import LeaderIdAndEpoch, ShareFetchResponse
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.messages.update_features_response import UpdateFeaturesResponse
from tests.handlers.desk import batch
from tests.handlers.share_desk import ACCEPT, REJECT, RELEASE, RENEW, ShareDesk, later, offsets, parts, ranges

FIVE = batch(*[b"v"] * 5)
STRANGE = b"\7" * 16
"""No topic's id."""


@pytest.fixture
def desk() -> ShareDesk:
    return ShareDesk()


@pytest.fixture
def three() -> ShareDesk:
    return ShareDesk(partitions=3)


# -- who asks ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-1", "AK-1")
def test_without_share_groups_nothing_is_served(desk):
    def level(share_version: int) -> None:
        update = FeatureUpdateKey("share.version", share_version, upgrade_type=1 if share_version else 2)
        answer = desk.ask(1, UpdateFeaturesRequest(feature_updates=[update]), UpdateFeaturesResponse)
        assert answer.error_code == 0

    desk.fill(FIVE)
    desk.fetch()
    level(0)
    assert desk.fetch().error_code == ErrorCode.UNSUPPORTED_VERSION
    assert desk.acknowledging(1, {}).error_code == ErrorCode.UNSUPPORTED_VERSION
    level(1)
    assert desk.acknowledging(1, {}).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert ranges(desk.fetch()) == [(0, 4, 1)]


@pytest.mark.behaviour("SF-2", "AK-2")
@pytest.mark.parametrize("who", [{"group": None}, {"member": None}, {"member": ""}, {"member": "m" * 37}])
def test_a_group_and_a_member_of_36_characters_at_most(desk, who):
    assert desk.fetch(**who).error_code == ErrorCode.INVALID_REQUEST
    assert desk.acknowledging(1, {}, **who).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.behaviour("SF-25")
def test_no_heartbeat_is_needed(desk):
    desk.fill(FIVE)
    assert ranges(desk.fetch(member="m" * 36)) == [(0, 4, 1)]


@pytest.mark.behaviour("SF-3")
def test_who_renews_asks_for_nothing(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=5)
    nothing = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    for name in nothing:
        wrong = desk.fetch(1, is_renew_ack=True, **{**nothing, name: 1})
        assert wrong.error_code == ErrorCode.INVALID_REQUEST
    desk.timer_ms = 20_000
    renewed = desk.fetch(1, is_renew_ack=True, along={0: [(0, 4, [RENEW])]}, **nothing)
    assert (renewed.error_code, parts(renewed)[0].acknowledge_error_code, ranges(renewed)) == (0, 0, [])
    desk.wait_until(30_000)
    assert desk.states() == [(0, 4, "ACQUIRED", 1)]
    desk.wait_until(50_000)
    assert desk.states() == [(0, 4, "AVAILABLE", 1)]


# -- sessions ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-4")
def test_a_session_goes_from_epoch_to_epoch(desk):
    desk.fill(FIVE)
    assert desk.fetch(1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert desk.fetch(-1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    along = {0: [(0, 4, [ACCEPT])]}
    assert desk.fetch(0, along=along).error_code == ErrorCode.INVALID_REQUEST
    assert desk.fetch(0).error_code == 0
    assert desk.fetch(2).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert isinstance(desk.fetching(1, partitions=()), Deferred)
    assert desk.fetch(1).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert desk.acknowledging(2, {}).error_code == 0
    assert isinstance(desk.fetching(0), Deferred)
    assert desk.fetch(3).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH


@pytest.mark.behaviour("SF-4")
def test_a_partition_named_twice_begins_no_session(desk):
    request = desk.fetch_request(0)
    request.topics = [*request.topics, *request.topics]
    answer = desk.from_connection("c", 2, request)
    assert isinstance(answer, ShareFetchResponse)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert desk.fetch(1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND


@pytest.mark.behaviour("SF-5")
def test_the_final_epoch_gives_back_what_is_not_acknowledged(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=5)
    last = desk.fetch(-1, along={0: [(0, 2, [ACCEPT])]})
    assert (parts(last)[0].acknowledge_error_code, ranges(last)) == (0, [])
    assert desk.fetch(1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert ranges(desk.fetch(0, member="n")) == [(3, 4, 2), (5, 9, 1)]


@pytest.mark.behaviour("SF-6")
def test_a_session_ends_with_the_connection_that_began_it(desk):
    desk.fill(FIVE)
    desk.fetch(connection="first")
    desk.fetching(connection="other", member="n")
    assert isinstance(desk.fetching(1, connection="second"), Deferred)
    desk.hang_up("second")
    assert desk.states() == [(0, 4, "ACQUIRED", 1)]
    desk.hang_up("first")
    assert desk.fetch(2, connection="third").error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert desk.states() == [(0, 4, "AVAILABLE", 1)]


@pytest.mark.behaviour("SF-6")
def test_with_the_last_session_a_group_forgets_what_was_not_written(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=5)
    desk.acknowledge(1, (0, 1, [ACCEPT]))
    desk.hang_up()
    assert not desk.state.share_partitions.of_group("g")
    assert ranges(desk.fetch(0)) == [(2, 4, 2), (5, 9, 1)]


@pytest.mark.behaviour("SF-7")
def test_no_more_sessions_than_there_may_be():
    desk = ShareDesk({"group.share.max.share.sessions": 1, "group.share.max.size": 1})
    desk.fill(FIVE)
    desk.fetch()
    refused = desk.fetching(member="n", max_wait_ms=100)
    assert later(refused) is None
    desk.wait_until(100)
    answer = later(refused)
    assert answer is not None
    assert answer.error_code == ErrorCode.SHARE_SESSION_LIMIT_REACHED
    assert desk.fetch(-1).error_code == 0
    assert ranges(desk.fetch(0, member="n")) == [(0, 4, 2)]


@pytest.mark.behaviour("SF-8")
def test_later_answers_tell_news_only(three):
    three.fill(FIVE, partition=1)
    first = three.fetch(partitions=(0, 1))
    assert {index: len(ranges(first, index)) for index in parts(first)} == {0: 0, 1: 1}
    three.fill(FIVE, partition=1)
    second = three.fetch(1, partitions=(2,))
    assert {index: len(ranges(second, index)) for index in parts(second)} == {1: 1, 2: 0}
    three.fill(FIVE, partition=1)
    assert parts(three.fetch(2, partitions=())).keys() == {1}
    three.fill(FIVE, partition=0)
    assert parts(three.fetch(3, partitions=(), forget=(1,))).keys() == {0}


@pytest.mark.behaviour("SF-9")
def test_each_epoch_begins_with_another_partition(three):
    for _ in range(3):
        for index in range(3):
            three.fill(FIVE, partition=index)
    served = []
    for epoch in range(3):
        answer = three.fetch(epoch, partitions=(0, 1, 2) if not epoch else (), max_records=5)
        served.append([index for index in parts(answer) if ranges(answer, index)])
    # With the last one it is 1's turn. But of 0 it is known where it goes on: that is read first.
    assert served == [[0], [1], [0]]


@pytest.mark.behaviour("SF-10")
def test_what_is_not_there_is_told_each_time(desk):
    strange = desk.fetch(topic_id=STRANGE)
    assert parts(strange)[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert parts(desk.fetch(1, partitions=()))[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert parts(desk.fetch(0, partitions=(7,)))[7].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    desk.fetching(0)
    desk.delete("orders")
    assert parts(desk.fetch(1, partitions=()))[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- acquiring ---------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-11", "SF-19")
def test_whole_batches_or_so_many_records(desk):
    desk.fill(FIVE, FIVE, FIVE)
    few = desk.fetch(max_records=3)
    assert (ranges(few), offsets(few)) == ([(0, 4, 1)], [0, 1, 2, 3, 4])
    strict = desk.fetch(1, max_records=3, share_acquire_mode=1)
    assert (ranges(strict), offsets(strict)) == ([(5, 7, 1)], [5, 6, 7, 8, 9])
    rest = desk.fetch(2)
    assert (ranges(rest), offsets(rest)) == ([(8, 9, 1), (10, 14, 1)], [*range(5, 15)])


@pytest.mark.behaviour("SF-11")
def test_bytes_are_divided_and_the_first_has_a_batch_in_any_case(three):
    for index in range(3):
        three.fill(FIVE, FIVE, partition=index)
    answer = three.fetch(partitions=(0, 1, 2), max_bytes=3)
    assert [ranges(answer, index) for index in range(3)] == [[(0, 4, 1)], [], []]
    more = three.fetch(1, partitions=(), max_bytes=6 * len(FIVE))
    assert [ranges(more, index) for index in range(3)] == [[(5, 9, 1)], [(0, 9, 1)], [(0, 9, 1)]]


@pytest.mark.behaviour("SF-19")
def test_only_batches_with_something_acquired_are_sent(desk):
    desk.fill(FIVE, FIVE, FIVE)
    desk.fetch()
    desk.acknowledge(1, (0, 4, [ACCEPT]), (5, 9, [RELEASE]), (10, 14, [ACCEPT]))
    again = desk.fetch(2)
    assert (ranges(again), offsets(again)) == ([(5, 9, 2)], [5, 6, 7, 8, 9])


@pytest.mark.behaviour("SF-24")
def test_an_acquire_mode_that_is_none(desk):
    assert desk.fetch(share_acquire_mode=2).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert desk.fetch(0, share_acquire_mode=2, partitions=()).error_code == 0


@pytest.mark.behaviour("SF-13")
@pytest.mark.parametrize("nothing", [{"max_records": 0}, {"max_bytes": 0}])
def test_nothing_is_asked_for(desk, nothing):
    desk.fill(FIVE)
    answer = desk.fetch(**nothing)
    assert (answer.error_code, parts(answer)) == (0, {})


@pytest.mark.behaviour("SF-16")
def test_committed_records_only(desk):
    desk.begin_at_first("g", share_isolation_level="read_committed")
    desk.fill(FIVE)
    partition = log_of(desk.state, desk.orders, 0)
    open_one = batch(*[b"t"] * 3, producer_id=7, producer_epoch=0, base_sequence=0, attributes=0x10)
    partition.append(open_one, leader_epoch=0, now_ms=desk.broker_ms)
    assert ranges(desk.fetch()) == [(0, 4, 1)]
    waiting = desk.fetching(1)
    assert later(waiting) is None
    partition.append_marker(Marker(7, 0, commit=False), leader_epoch=0, now_ms=desk.broker_ms)
    desk.fill(FIVE)
    assert ranges(later(waiting)) == [(8, 13, 1)]  # with the marker, of which the client says that it is a gap


@pytest.mark.behaviour("SF-17")
def test_the_log_begins_later_now(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=1)
    desk.acknowledge(1, (0, 4, [RELEASE]))
    log_of(desk.state, desk.orders, 0).delete_records_before(7)
    assert ranges(desk.fetch(2)) == []
    answer = desk.fetch(3)
    assert (ranges(answer), offsets(answer)) == ([(5, 9, 1)], [5, 6, 7, 8, 9])


# -- waiting -----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-12")
def test_waits_for_enough(desk):
    waiting = desk.fetching(min_bytes=2 * len(FIVE))
    desk.fill(FIVE)
    assert later(waiting) is None
    desk.fill(FIVE)
    assert ranges(later(waiting)) == [(0, 9, 1)]
    desk.fill(FIVE)
    late = desk.fetching(1, min_bytes=2 * len(FIVE), max_wait_ms=100)
    desk.wait_until(99)
    assert later(late) is None
    desk.wait_until(100)
    assert ranges(later(late)) == [(10, 14, 1)]


@pytest.mark.behaviour("SF-12")
def test_what_is_given_back_is_for_who_looks_next(desk):
    desk.fill(FIVE)
    desk.fetch(connection="a", member="a")
    waiting = desk.fetching(connection="b", member="b")
    desk.acknowledge(1, (0, 0, [RELEASE]), connection="a", member="a")
    assert later(waiting) is None
    desk.acknowledge(2, (1, 1, [RELEASE]), connection="a", member="a")
    assert ranges(later(waiting)) == [(0, 0, 2)]
    waiting = desk.fetching(1, connection="b", member="b", partitions=(), max_wait_ms=100)
    assert ranges(later(waiting) if isinstance(waiting, Deferred) else waiting) == [(1, 1, 2)]


@pytest.mark.behaviour("SF-12")
def test_who_waits_looks_again_after_an_acknowledgement_that_was_refused_too(desk):
    desk.fill(FIVE)
    desk.fetch(connection="a", member="a")
    waiting = desk.fetching(connection="b", member="b")
    desk.acknowledge(1, (0, 0, [RELEASE]), connection="a", member="a")
    assert later(waiting) is None
    refused = desk.acknowledge(2, (0, 0, [RELEASE]), connection="a", member="a")
    assert refused.error_code == ErrorCode.INVALID_RECORD_STATE
    assert ranges(later(waiting)) == [(0, 0, 2)]


@pytest.mark.behaviour("SF-24")
def test_what_comes_along_with_an_odd_mode_is_acknowledged_all_the_same(desk):
    desk.fill(FIVE)
    desk.fetch()
    answer = desk.fetch(1, partitions=(), along={0: [(0, 4, [RELEASE])]}, share_acquire_mode=7)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert ranges(desk.fetch(2, partitions=())) == [(0, 4, 2)]


@pytest.mark.behaviour("SF-12")
def test_who_is_given_records_wakes_the_others(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(connection="a", member="a")
    waiting = desk.fetching(connection="b", member="b")
    desk.hang_up("a")
    assert later(waiting) is None
    assert ranges(desk.fetch(connection="c", member="c", max_records=5, share_acquire_mode=1)) == [(0, 4, 2)]
    assert ranges(later(waiting)) == [(5, 9, 2)]


@pytest.mark.behaviour("SF-12")
def test_the_end_of_a_lock_wakes_who_waits_and_locks_from_then_on(desk):
    desk.fill(FIVE)
    desk.fetch(connection="a", member="a")
    waiting = desk.fetching(connection="b", member="b", max_wait_ms=60_000)
    desk.wait_until(29_999)
    assert later(waiting) is None
    desk.wait_until(30_000)
    assert ranges(later(waiting)) == [(0, 4, 2)]
    desk.wait_until(59_999)
    assert desk.states() == [(0, 4, "ACQUIRED", 2)]
    desk.wait_until(60_000)
    assert desk.states() == [(0, 4, "AVAILABLE", 2)]


@pytest.mark.behaviour("SF-12")
def test_nothing_to_acquire_waits_whatever_min_bytes_is(desk):
    desk.begin_at_first("g", share_partition_max_record_locks=100)
    desk.fill(batch(*[b"v"] * 100), FIVE)
    assert ranges(desk.fetch()) == [(0, 99, 1)]
    waiting = desk.fetching(min_bytes=0, member="n", connection="d")
    assert later(waiting) is None
    desk.acknowledge(1, (0, 49, [ACCEPT]))
    assert ranges(later(waiting)) == [(100, 104, 1)]


def hang_up_while_it_waits(desk: ShareDesk, waiting: object, connection: str = "c") -> None:
    assert isinstance(waiting, Deferred)
    waiting.abandon()
    desk.hang_up(connection)


def wait_and_notice(desk: ShareDesk, timer_ms: int) -> None:
    """With the round of timers that follows."""
    desk.wait_until(timer_ms)
    desk.state.expire(desk.broker_ms, desk.timer_ms)


@pytest.mark.behaviour("SF-6")
def test_that_a_client_has_gone_is_noticed_when_its_fetch_is_over(desk):
    waiting = desk.fetching()
    desk.fetching(member="n", connection="other", max_wait_ms=0)
    hang_up_while_it_waits(desk, waiting)
    assert desk.state.share_partitions.sessions == 2
    desk.fill(FIVE)
    assert desk.states() == [(0, 4, "ACQUIRED", 1)]
    desk.state.expire(desk.broker_ms, desk.timer_ms)
    assert desk.states() == [(0, 4, "AVAILABLE", 1)]
    assert desk.state.share_partitions.sessions == 1
    assert ranges(desk.fetch(1, member="n", connection="other")) == [(0, 4, 2)]


@pytest.mark.behaviour("SF-6")
def test_who_has_gone_has_a_session_no_longer_than_its_fetch_wants_to_wait(desk):
    hang_up_while_it_waits(desk, desk.fetching(max_wait_ms=500))
    desk.wait_until(499)
    assert desk.state.share_partitions.sessions == 1
    wait_and_notice(desk, 500)
    assert desk.state.share_partitions.sessions == 0
    assert not desk.state.share_partitions.of_group("g")
    assert desk.state.next_event() is None


@pytest.mark.behaviour("SF-6", "SF-18")
def test_what_a_client_acknowledges_before_it_goes_is_written(desk):
    desk.fill(FIVE)
    desk.fetch()
    desk.fetching(member="n", connection="other", max_wait_ms=0)
    hang_up_while_it_waits(desk, desk.fetching(1, along={0: [(0, 1, [ACCEPT])]}, max_wait_ms=500))
    wait_and_notice(desk, 500)
    assert desk.states() == [(0, 1, "ACKNOWLEDGED", 1), (2, 4, "AVAILABLE", 1)]


@pytest.mark.behaviour("SF-6")
def test_more_fetches_of_clients_that_have_gone_than_a_broker_keeps(desk, monkeypatch):
    monkeypatch.setattr(abandoned_fetches, "MOST", 2)
    waiting = {name: desk.fetching(member=name, connection=name) for name in ("a", "b", "c")}
    for name, one in waiting.items():
        hang_up_while_it_waits(desk, one, name)
    assert desk.state.share_partitions.sessions == 1
    assert len(desk.state.fetch_purgatory) == 1
    wait_and_notice(desk, 500)
    assert (desk.state.share_partitions.sessions, len(desk.state.fetch_purgatory)) == (0, 0)
    hang_up_while_it_waits(desk, desk.fetching())
    assert desk.state.share_partitions.sessions == 1


@pytest.mark.behaviour("SF-14")
def test_a_first_fetch_that_can_not_wait_is_told_nothing(desk):
    desk.fill(FIVE)
    assert parts(desk.fetch(max_wait_ms=0)) == {}
    assert ranges(desk.fetch(1, max_wait_ms=0)) == [(0, 4, 1)]


@pytest.mark.behaviour("SF-14")
@pytest.mark.parametrize(
    ("reset", "first"), [("earliest", 0), ("latest", 3), ("by_duration:PT1H", 1), ("by_duration:P1DT0.5S", 0)]
)
def test_where_a_group_begins(desk, reset, first):
    for hours in (3, 1, 0):
        desk.fill(batch(b"v", timestamp=desk.broker_ms - hours * 3_600_000))
    desk.begin_at_first("g", share_auto_offset_reset=reset)
    waiting = desk.fetching(max_records=1, min_bytes=1)
    desk.fill(FIVE)
    answer = later(waiting) if isinstance(waiting, Deferred) else waiting
    assert ranges(answer)[0][0] == first


@pytest.mark.behaviour("SF-14")
def test_no_record_is_young_enough(desk):
    desk.fill(batch(b"v", timestamp=desk.broker_ms - 7_200_000))
    desk.begin_at_first("g", share_auto_offset_reset="by_duration:PT1H")
    assert parts(desk.fetch())[0].error_code == ErrorCode.OFFSET_NOT_AVAILABLE


@pytest.mark.behaviour("SF-15")
def test_nobody_has_made_the_share_partition_known(desk):
    desk.fill(FIVE)
    assert parts(desk.fetch(group="stranger"))[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert desk.acknowledge(1, (0, 0, [ACCEPT]), group="stranger").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- what comes along --------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-18")
def test_acknowledgements_come_along(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=5)
    answer = desk.fetch(1, along={0: [(0, 2, [ACCEPT]), (3, 4, [RELEASE])]})
    assert parts(answer)[0].acknowledge_error_code == 0
    assert ranges(answer) == [(5, 9, 1)]
    wrong = desk.fetch(2, along={0: [(0, 2, [ACCEPT]), (20, 20, [ACCEPT])]})
    assert ranges(wrong) == [(3, 4, 2)]
    told = parts(wrong)[0]
    assert told.acknowledge_error_code == ErrorCode.INVALID_REQUEST
    assert told.acknowledge_error_message == (
        "Batch record not found. The first offset in request is past acquired records."
    )


@pytest.mark.behaviour("SF-18")
@pytest.mark.parametrize(("wait_ms", "given"), [(1, []), (100, [(0, 4, 2)])])
def test_who_hardly_waits_is_answered_before_it_is_written(desk, wait_ms, given):
    desk.fill(FIVE)
    desk.fetch()
    outcome = desk.fetching(1, along={0: [(0, 4, [RELEASE])]}, min_bytes=1_000, max_wait_ms=wait_ms)
    assert later(outcome) is None
    desk.wait_until(wait_ms)
    answer = later(outcome)
    assert (ranges(answer), parts(answer)[0].acknowledge_error_code) == (given, 0)
    assert desk.states() == [(0, 4, "ACQUIRED", 2) if given else (0, 4, "AVAILABLE", 1)]


@pytest.mark.behaviour("SF-4")
def test_an_acknowledgement_overtakes_a_fetch_that_waits(desk):
    desk.fill(FIVE)
    desk.fetch()
    waiting = desk.fetching(1, connection="d")
    desk.acknowledge(2, (0, 4, [ACCEPT]))
    desk.fill(FIVE)
    answer = later(waiting)
    assert answer is not None
    assert (answer.error_code, parts(answer)) == (ErrorCode.INVALID_SHARE_SESSION_EPOCH, {})


@pytest.mark.behaviour("SF-18")
def test_a_fetch_waits_for_what_it_acknowledges(desk):
    desk.fill(FIVE, FIVE)
    desk.fetch(max_records=5)
    desk.state.share_partitions.hold_acknowledgements("g")
    outcome = desk.fetching(1, along={0: [(0, 4, [REJECT])]})
    assert later(outcome) is None
    assert desk.states() == [(0, 4, "ARCHIVED", 1), (5, 9, "ACQUIRED", 1)]
    desk.state.share_partitions.release_acknowledgements("g", desk.broker_ms, desk.timer_ms)
    assert ranges(later(outcome)) == [(5, 9, 1)]


@pytest.mark.behaviour("SF-18")
@pytest.mark.parametrize("released_first", [True, False])
def test_a_fetch_waits_for_records_and_for_what_it_acknowledges(desk, released_first):
    desk.fill(FIVE)
    desk.fetch()
    desk.state.share_partitions.hold_acknowledgements("g")
    outcome = desk.fetching(1, along={0: [(0, 4, [ACCEPT])]})
    steps = [
        lambda: desk.state.share_partitions.release_acknowledgements("g", desk.broker_ms, desk.timer_ms),
        lambda: desk.fill(FIVE),
    ]
    first, second = steps if released_first else reversed(steps)
    first()
    assert later(outcome) is None
    second()
    assert ranges(later(outcome)) == [(5, 9, 1)]


@pytest.mark.behaviour("SF-20", "AK-9")
def test_how_long_a_lock_lasts_is_told(desk):
    assert desk.fetch(partitions=()).acquisition_lock_timeout_ms == 30_000
    desk.begin_at_first("g", share_record_lock_duration_ms=20_000)
    assert desk.acknowledging(1, {}).acquisition_lock_timeout_ms == 20_000
    desk.begin_at_first("g", share_record_lock_duration_ms=1_000)
    assert desk.fetch(0, partitions=()).acquisition_lock_timeout_ms == 15_000  # the broker's least


# -- nodes -------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("SF-21", "AK-10")
def test_the_wrong_node_names_the_leader():
    desk = ShareDesk(nodes=2)
    move_leader(desk.state, desk.orders, 0, 2, (desk.broker_ms, desk.timer_ms))
    answer = desk.fetch()
    told = parts(answer)[0]
    epoch = desk.orders.partitions[0].leader_epoch
    assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert told.current_leader == LeaderIdAndEpoch(2, epoch)
    assert [(one.node_id, one.host, one.port) for one in answer.node_endpoints] == [(2, "127.0.0.1", 9093)]


@pytest.mark.behaviour("SF-27")
def test_a_new_leader_knows_what_was_written():
    desk = ShareDesk(nodes=2)
    move_leader(desk.state, desk.orders, 0, 1, (desk.broker_ms, desk.timer_ms))
    desk.fill(FIVE)
    desk.fetch()
    desk.acknowledge(1, (0, 1, [ACCEPT]), (2, 2, [RELEASE]))
    desk.acknowledge(2, (3, 3, [REJECT]))
    move_leader(desk.state, desk.orders, 0, 2, (desk.broker_ms, desk.timer_ms))
    assert desk.acknowledge(3, (4, 4, [ACCEPT])).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    desk.node_id = 2
    assert ranges(desk.fetch(connection="d")) == [(2, 2, 2), (4, 4, 1)]


@pytest.mark.behaviour("SF-26")
def test_many_partitions_are_looked_at_in_parts():
    desk = ShareDesk()
    outcome = desk.fetching(partitions=range(5_000))
    assert isinstance(outcome, Deferred)
    assert outcome.reply is None
    for _ in range(100):
        desk.wait_until(0)
    assert later(outcome) is None  # for records of partition 0
    desk.wait_until(500)
    answer = parts(later(outcome))
    assert len(answer) == 5_000
    assert {one.error_code for one in answer.values()} == {0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
