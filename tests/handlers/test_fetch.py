"""Fetch: limits, waiting, sessions, errors."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkastub.metadata import Topic
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.state.leadership import move_leader
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.end_txn_response import EndTxnResponse
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from kafkawire.messages.fetch_response import EpochEndOffset, FetchResponse, LeaderIdAndEpoch, PartitionData
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.init_producer_id_response import InitProducerIdResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from tests.handlers.desk import Desk, altered, answered, batch

Z = bytes(16)
ONE = len(batch(b"v"))
"""Bytes of a batch of one record with a one-byte value."""


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic(partitions=3)
    return desk


def want(offset: int = 0, partition: int = 0, max_bytes: int = 1 << 20, **more: Any) -> FetchPartition:
    return FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes, **more)


def request(*wanted: FetchPartition, topic: str = "orders", topic_id: bytes = Z, **more: Any) -> FetchRequest:
    settings: dict[str, Any] = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, **more}
    topics = [FetchTopic(topic=topic, topic_id=topic_id, partitions=wanted)] if wanted else []
    return FetchRequest(**{"session_epoch": -1, "topics": topics, **settings})


def fetch(desk: Desk, asked: FetchRequest, version: int = 12) -> FetchResponse:
    return desk.ask(version, asked, FetchResponse)


def parts(response: FetchResponse) -> list[PartitionData]:
    return [one for topic in response.responses for one in topic.partitions]


def only(response: FetchResponse) -> PartitionData:
    (one,) = parts(response)
    return one


def sizes(response: FetchResponse) -> list[int]:
    return [len(one.records or b"") for one in parts(response)]  # type: ignore[arg-type]


def numbered(*batches: bytes) -> bytes:
    """The batches of one record each, as they come back from offset 0."""
    return b"".join(altered(one, fix_crc=False, base_offset=n, leader_epoch=0) for n, one in enumerate(batches))


def failed(code: ErrorCode, **more: Any) -> PartitionData:
    """A partition that was read in vain."""
    settings = {"high_watermark": -1, "aborted_transactions": None, "records": b"", **more}
    return PartitionData(error_code=code, **settings)


@pytest.mark.behaviour("FE-1")
@pytest.mark.parametrize("version", range(4, 19))
def test_records_come_back_at_every_version(version: int):
    desk = Desk()
    topic = desk.topic()
    desk.fill(batch(b"a"), batch(b"b"))
    answer = fetch(desk, request(want(), topic_id=topic.topic_id), version)
    assert (answer.error_code, answer.session_id) == (ErrorCode.NONE, 0)
    assert only(answer) == PartitionData(
        high_watermark=2,
        last_stable_offset=2,
        log_start_offset=0 if version >= 5 else -1,
        aborted_transactions=None,
        records=numbered(batch(b"a"), batch(b"b")),
    )


@pytest.mark.behaviour("FE-1")
def test_an_offset_within_a_batch_gives_the_whole_batch(desk: Desk):
    desk.fill(batch(b"a", b"b", b"c"), batch(b"d"))
    assert sizes(fetch(desk, request(want(1)))) == [len(batch(b"a", b"b", b"c")) + ONE]
    assert sizes(fetch(desk, request(want(3)))) == [ONE]
    assert sizes(fetch(desk, request(want(4)))) == [0]


@pytest.mark.behaviour("FE-2")
@pytest.mark.parametrize("limits", [{"max_bytes": 10}, {}])
def test_the_first_batch_comes_whatever_the_limits(desk: Desk, limits: dict[str, int]):
    desk.fill(batch(b"a"), batch(b"b"))
    asked = request(want(0, 1), want(0, 0, 10 if not limits else 1 << 20), **limits)
    assert sizes(fetch(desk, asked)) == [0, ONE]


@pytest.mark.behaviour("FE-3")
def test_limits_cut_within_a_batch(desk: Desk):
    desk.fill(batch(b"a"), batch(b"b"))
    whole = numbered(batch(b"a"), batch(b"b"))
    assert only(fetch(desk, request(want(max_bytes=ONE + 10)))).records == whole[: ONE + 10]
    assert only(fetch(desk, request(want(), max_bytes=ONE + 11))).records == whole[: ONE + 11]


@pytest.mark.behaviour("FE-3")
def test_later_partitions_have_what_the_earlier_ones_left(desk: Desk):
    for partition in range(3):
        desk.fill(batch(b"a"), batch(b"b"), partition=partition)
    asked = [want(partition=n) for n in range(3)]
    assert sizes(fetch(desk, request(*asked, max_bytes=2 * ONE - 1))) == [2 * ONE - 1, 0, 0]
    assert sizes(fetch(desk, request(*asked, max_bytes=3 * ONE + 5))) == [2 * ONE, ONE + 5, 0]
    small = [want(), want(partition=1, max_bytes=ONE - 1), want(partition=2)]
    assert sizes(fetch(desk, request(*small))) == [2 * ONE, 0, 2 * ONE]


@pytest.mark.behaviour("FE-3")
def test_the_broker_has_a_limit_of_its_own():
    desk = Desk({"fetch.max.bytes": 1024})
    desk.topic()
    desk.fill(batch(bytes(600)), batch(bytes(600)))
    assert sizes(fetch(desk, request(want()))) == [1024]


def park(desk: Desk, asked: FetchRequest, version: int = 12) -> Deferred:
    outcome = desk.outcome(ApiKey.FETCH, version, asked)
    assert isinstance(outcome, Deferred)
    assert not outcome.done
    return outcome


@pytest.mark.behaviour("FE-4", "PR-22")
def test_an_append_releases_who_waits_for_it(desk: Desk):
    waiting = park(desk, request(want(), want(partition=1), max_wait_ms=500))
    desk.fill(batch(b"a"), partition=2)
    assert not waiting.done
    desk.fill(batch(b"a"), partition=1)
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert sizes(answer) == [0, ONE]
    assert desk.state.next_deadline() is None


@pytest.mark.behaviour("FE-4")
def test_the_wait_ends_with_what_there_is(desk: Desk):
    desk.fill(batch(b"a"))
    waiting = park(desk, request(want(), max_wait_ms=500, min_bytes=ONE + 1))
    assert desk.state.next_deadline() == 500
    desk.wait_until(499)
    assert not waiting.done
    desk.wait_until(500)
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert sizes(answer) == [ONE]


@pytest.mark.behaviour("FE-4")
def test_min_bytes_is_gathered_over_partitions(desk: Desk):
    waiting = park(desk, request(want(), want(partition=1), max_wait_ms=500, min_bytes=2 * ONE))
    desk.fill(batch(b"a"))
    assert not waiting.done
    desk.fill(batch(b"a"), partition=1)
    assert waiting.done


@pytest.mark.behaviour("FE-4")
def test_min_bytes_counts_no_more_than_max_bytes(desk: Desk):
    desk.fill(batch(b"a"))
    assert sizes(fetch(desk, request(want(), max_wait_ms=500, min_bytes=1 << 30, max_bytes=ONE))) == [ONE]


@pytest.mark.behaviour("FE-4")
def test_the_deletion_of_the_topic_releases_too(desk: Desk):
    waiting = park(desk, request(want(), max_wait_ms=500))
    desk.delete("orders")
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert only(answer) == failed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.mark.behaviour("FE-4")
def test_a_new_leader_releases_too():
    desk = Desk(nodes=2)
    topic = desk.topic()
    desk.node_id = topic.partitions[0].leader
    waiting = park(desk, request(want(), max_wait_ms=500), version=10)
    move_leader(desk.state, topic, 0, 3 - desk.node_id, (desk.broker_ms, desk.timer_ms))
    answer = answered(waiting, 10, FetchResponse)
    assert answer is not None
    assert only(answer) == failed(ErrorCode.NOT_LEADER_OR_FOLLOWER)


@pytest.mark.behaviour("FE-4")
def test_who_has_gone_is_forgotten(desk: Desk):
    waiting = park(desk, request(want(), max_wait_ms=500))
    waiting.abandon()
    assert len(desk.state.fetch_purgatory) == 0
    assert desk.state.next_deadline() is None
    desk.fill(batch(b"a"))
    assert not waiting.done


@pytest.mark.behaviour("FE-4")
def test_who_has_gone_is_forgotten_while_somebody_waits_for_less_long(desk: Desk):
    """Nothing of their requests is kept for the 24 days that they wanted to wait."""
    park(desk, request(want(partition=1), max_wait_ms=500))
    gone: list[weakref.ref[object]] = []
    for _ in range(30):
        waiting = park(desk, request(want(), max_wait_ms=2**31 - 1))
        gone.append(weakref.ref(waiting.lower))
        waiting.abandon()
    del waiting
    assert len(desk.state.fetch_purgatory) == 1
    assert [one for one in gone if one() is not None] == []
    assert desk.state.next_deadline() == 500


@pytest.mark.behaviour("FE-4")
def test_thousands_of_fetches_that_were_released_leave_nothing_behind(desk: Desk):
    for number in range(300):
        park(desk, request(want(number), max_wait_ms=1000))
        desk.fill(batch(b"a"))
    assert len(desk.state.fetch_purgatory) == 0
    assert desk.state.next_deadline() is None


@pytest.mark.behaviour("FE-5")
def test_nobody_waits_beside_an_error(desk: Desk):
    assert parts(fetch(desk, request(max_wait_ms=500))) == []
    both = fetch(desk, request(want(), want(99, 1), max_wait_ms=500))
    assert [one.error_code for one in parts(both)] == [ErrorCode.NONE, ErrorCode.OFFSET_OUT_OF_RANGE]
    assert sizes(fetch(desk, request(want(), max_wait_ms=500, min_bytes=0))) == [0]


@pytest.mark.behaviour("FE-5")
def test_an_unknown_partition_does_not_end_the_wait_for_the_others(desk: Desk):
    waiting = park(desk, request(want(), want(partition=9), max_wait_ms=500))
    desk.wait_until(500)
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert [one.error_code for one in parts(answer)] == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


@pytest.mark.behaviour("FE-6")
@pytest.mark.parametrize("offset", [-1, 0, 1, 5])
def test_an_offset_out_of_range(desk: Desk, offset: int):
    desk.fill(batch(b"a", b"b", b"c", b"d"))
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    log = desk.state.logs.log(topic.topic_id, 0)
    assert log is not None
    log.delete_records_before(2)
    assert only(fetch(desk, request(want(offset)))) == failed(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert only(fetch(desk, request(want(2)))).log_start_offset == 2


@pytest.mark.behaviour("FE-7")
def test_what_does_not_exist_comes_last(desk: Desk):
    unknown = {"aborted_transactions": ()}
    asked = request(want(partition=9), want())
    assert parts(fetch(desk, asked))[1] == failed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, partition_index=9, **unknown)
    assert only(fetch(desk, request(want(), topic="nope"))) == failed(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, **unknown)
    for topic_id in (Z, b"x" * 16):
        missing = fetch(desk, request(want(), topic_id=topic_id), 13)
        assert only(missing) == failed(ErrorCode.UNKNOWN_TOPIC_ID, **unknown)
        assert missing.responses[0].topic_id == topic_id


def the_topic(desk: Desk) -> Topic:
    topic = desk.state.cluster.topic("orders")
    assert topic is not None
    return topic


@pytest.mark.behaviour("FE-8")
def test_the_clients_leader_epoch_has_to_be_the_partitions(desk: Desk):
    the_topic(desk).partitions[0].leader_epoch = 3
    told = {epoch: only(fetch(desk, request(want(current_leader_epoch=epoch)))).error_code for epoch in (2, 3, 4, -1)}
    assert told == {
        2: ErrorCode.FENCED_LEADER_EPOCH,
        3: ErrorCode.NONE,
        4: ErrorCode.UNKNOWN_LEADER_EPOCH,
        -1: ErrorCode.NONE,
    }


@pytest.mark.behaviour("FE-9")
def test_who_has_read_beyond_the_end_of_its_epoch_is_told_where_that_was(desk: Desk):
    desk.fill(batch(b"a"), batch(b"b"))
    log = desk.state.logs.log(the_topic(desk).topic_id, 0)
    assert log is not None
    log.become_leader(2)
    the_topic(desk).partitions[0].leader_epoch = 2
    desk.fill(batch(b"c"))

    def diverging(offset: int, epoch: int) -> EpochEndOffset:
        answer = only(fetch(desk, request(want(offset, last_fetched_epoch=epoch), max_wait_ms=500)))
        assert answer.error_code == ErrorCode.NONE
        return answer.diverging_epoch

    assert diverging(3, 0) == EpochEndOffset(0, 2)
    assert diverging(9, 2) == EpochEndOffset(2, 3)
    assert diverging(2, 1) == EpochEndOffset(0, 2)
    assert diverging(2, 0) == EpochEndOffset(-1, -1)
    unknown = only(fetch(desk, request(want(0, last_fetched_epoch=7))))
    assert unknown.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    log.delete_records_before(1)
    gone = only(fetch(desk, request(want(0, last_fetched_epoch=1))))
    assert gone.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.behaviour("FE-19")
@pytest.mark.parametrize("version", [12, 13])
def test_a_topic_that_has_gone_from_a_session_was_told_to_who_may_not_read_it(version: int):
    desk = Desk({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
    topic_id, authorizer = desk.topic().topic_id, desk.state.authorizer
    assert authorizer is not None
    read = Acl(
        ResourceType.TOPIC, "orders", PatternType.LITERAL, "User:ANONYMOUS", "*", Operation.READ, Permission.ALLOW
    )
    authorizer.add(read)
    session = fetch(desk, request(want(), topic_id=topic_id, session_epoch=0), version).session_id
    desk.delete("orders")
    codes = [only(fetch(desk, incremental(session, 1), version)).error_code]
    authorizer.replace([])
    codes.append(only(fetch(desk, incremental(session, 2), version)).error_code)
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.TOPIC_AUTHORIZATION_FAILED]


@pytest.mark.behaviour("FE-9")
def test_a_session_that_goes_on_in_an_older_version_has_no_word_for_that_end(desk: Desk):
    full = fetch(desk, request(want(1, last_fetched_epoch=0), session_epoch=0), 12)
    assert only(full).diverging_epoch == EpochEndOffset(0, 0)
    older = fetch(desk, incremental(full.session_id, 1), 11)
    assert (older.error_code, older.session_id) == (ErrorCode.UNSUPPORTED_VERSION, full.session_id)
    assert parts(older) == []


def incremental(session: int, epoch: int, *wanted: FetchPartition, forget: Sequence[int] = ()) -> FetchRequest:
    forgotten = [ForgottenTopic(topic="orders", partitions=forget)] if forget else []
    return request(*wanted, session_id=session, session_epoch=epoch, forgotten_topics_data=forgotten)


@pytest.mark.behaviour("FE-10")
def test_a_session_tells_only_news(desk: Desk):
    full = fetch(desk, request(want(), want(partition=1), session_epoch=0))
    session = full.session_id
    assert session > 0
    assert len(parts(full)) == 2
    assert fetch(desk, incremental(session, 1)) == FetchResponse(session_id=session)
    desk.fill(batch(b"a"), partition=1)
    told = only(fetch(desk, incremental(session, 2)))
    assert (told.partition_index, told.high_watermark) == (1, 1)
    assert parts(fetch(desk, incremental(session, 3, want(1, 1)))) == []
    added = only(fetch(desk, incremental(session, 4, want(partition=2))))
    assert (added.partition_index, added.high_watermark) == (2, 0)
    for epoch in (5, 6):
        broken = only(fetch(desk, incremental(session, epoch, want(99))))
        assert (broken.partition_index, broken.error_code) == (0, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert only(fetch(desk, incremental(session, 7, want(0)))).high_watermark == 0
    assert parts(fetch(desk, incremental(session, 8, forget=[0, 1]))) == []


@pytest.mark.behaviour("FE-10")
def test_a_busy_partition_goes_to_the_end_of_the_line(desk: Desk):
    for partition in range(3):
        desk.fill(batch(b"a"), batch(b"b"), partition=partition)
    asked = [want(partition=n) for n in range(3)]
    session = fetch(desk, request(*asked, session_epoch=0, max_bytes=1)).session_id
    served = []
    for epoch in range(1, 5):
        again = incremental(session, epoch)
        again.max_bytes = 1
        served += [one.partition_index for one in parts(fetch(desk, again)) if one.records]
    assert served == [0, 1, 2, 0]


@pytest.mark.behaviour("FE-10")
def test_session_errors(desk: Desk):
    session = fetch(desk, request(want(), session_epoch=0)).session_id
    assert fetch(desk, incremental(session + 1, 1)) == FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert fetch(desk, incremental(session, 2)) == FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    assert fetch(desk, incremental(session, 1), 13) == FetchResponse(error_code=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
    assert fetch(desk, incremental(session, 1)).error_code == ErrorCode.NONE


@pytest.mark.behaviour("FE-10")
def test_a_parked_fetch_whose_session_went_on_without_it(desk: Desk):
    session = fetch(desk, request(want(), session_epoch=0)).session_id
    asked = incremental(session, 1)
    asked.max_wait_ms = 500
    waiting = park(desk, asked)
    fetch(desk, incremental(session, 2))
    desk.wait_until(500)
    assert answered(waiting, 12, FetchResponse) == FetchResponse(
        error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=session
    )


@pytest.mark.behaviour("FE-11")
def test_a_session_ends(desk: Desk):
    gone = FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    first = fetch(desk, request(want(), session_epoch=0)).session_id
    assert fetch(desk, incremental(first, 1, forget=[0])) == FetchResponse()
    assert fetch(desk, incremental(first, 2)) == gone
    second = fetch(desk, request(want(), session_epoch=0)).session_id
    assert fetch(desk, incremental(second, -1)) == FetchResponse()
    assert fetch(desk, incremental(second, 1)) == gone


@pytest.mark.behaviour("FE-11")
@pytest.mark.parametrize("version", [9, 12])
def test_a_session_that_ends_answers_what_is_added_and_forgotten_at_once(desk: Desk, version: int):
    gone = FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    session = fetch(desk, request(want(), session_epoch=0), version).session_id
    answer = fetch(desk, incremental(session, 1, want(partition=1), want(partition=77), forget=[0, 1, 77]), version)
    assert answer.session_id == 0
    assert [(one.partition_index, one.error_code) for one in parts(answer)] == [
        (1, ErrorCode.NONE),
        (77, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert fetch(desk, incremental(session, 2), version) == gone


@pytest.mark.behaviour("FE-12")
def test_sessions_are_limited(desk: Desk):
    desk.state.fetch_purgatory.sessions_of(1).slots = 2
    first, second, third = (fetch(desk, request(want(), session_epoch=0)).session_id for _ in range(3))
    assert first > 0
    assert second > 0
    assert third == 0
    desk.timer_ms = 100_000
    fetch(desk, incremental(first, 1))
    desk.timer_ms = 120_001
    assert fetch(desk, request(want(), session_epoch=0)).session_id > 0
    assert fetch(desk, incremental(second, 1)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    larger = fetch(desk, request(want(), want(partition=1), session_epoch=0)).session_id
    assert larger > 0
    assert fetch(desk, incremental(first, 2)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.behaviour("FE-13")
def test_isolation_levels(desk: Desk):
    desk.fill(batch(b"a"))
    committed = only(fetch(desk, request(want(), isolation_level=1)))
    assert committed.records == numbered(batch(b"a"))
    assert committed.aborted_transactions == ()
    assert only(fetch(desk, request(want(), isolation_level=0))).aborted_transactions is None
    desk.fill(batch(b"a"), partition=1)
    unfit = [want(), want(partition=1, max_bytes=5), want(partition=2, max_bytes=0)]
    told = [one.aborted_transactions for one in parts(fetch(desk, request(*unfit, isolation_level=1)))]
    assert told == [(), None, ()]
    assert fetch(desk, request(want(), isolation_level=2)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.behaviour("FE-14")
def test_there_are_no_followers(desk: Desk):
    topic_id = the_topic(desk).topic_id
    for replica_id in (0, 1):
        assert only(fetch(desk, request(want(), replica_id=replica_id))) == failed(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    named = request(want(current_leader_epoch=0), replica_id=7)
    assert only(fetch(desk, named)) == failed(ErrorCode.UNKNOWN_LEADER_EPOCH)
    newer = request(want(), topic_id=topic_id, replica_state=ReplicaState(1, 1))
    assert only(fetch(desk, newer, 15)) == failed(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert only(fetch(desk, request(want(), replica_id=-2))).error_code == ErrorCode.NONE


@pytest.mark.behaviour("FE-15")
@pytest.mark.parametrize("version", [15, 16])
def test_who_does_not_lead_says_who_does(version: int):
    desk = Desk(nodes=2)
    topic = desk.topic()
    leader = topic.partitions[0].leader
    desk.node_id = 3 - leader
    answer = fetch(desk, request(want(), topic_id=topic.topic_id), version)
    hint = LeaderIdAndEpoch(leader, 0) if version >= 16 else LeaderIdAndEpoch()
    assert only(answer) == failed(ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader=hint)
    assert [node.port for node in answer.node_endpoints] == ([9091 + leader] if version >= 16 else [])


@pytest.mark.behaviour("FE-16")
def test_a_partition_named_twice_is_answered_once(desk: Desk):
    desk.fill(batch(b"a"), batch(b"b"))
    assert sizes(fetch(desk, request(want(0), want(1)))) == [ONE]


@pytest.mark.behaviour("FE-17")
def test_errors_of_the_whole_request(desk: Desk):
    unknown = ErrorCode.UNKNOWN_SERVER_ERROR
    old = fetch(desk, request(want(), isolation_level=9))
    assert old.error_code == unknown
    assert only(old) == failed(unknown, aborted_transactions=())
    new = fetch(desk, request(want(), isolation_level=9), 13)
    assert new == FetchResponse(error_code=unknown)


@pytest.mark.behaviour("FE-7")
def test_unknown_ids_come_before_unknown_partitions(desk: Desk):
    topic = the_topic(desk)
    asked = request(want(partition=9), topic_id=topic.topic_id)
    asked.topics = [*asked.topics, *request(want(), topic_id=b"x" * 16).topics]
    assert [one.topic_id for one in fetch(desk, asked, 13).responses] == [b"x" * 16, topic.topic_id]


@pytest.mark.behaviour("FE-7")
def test_a_topic_deleted_under_a_session_is_an_unknown_topic(desk: Desk):
    topic_id = the_topic(desk).topic_id
    session = fetch(desk, request(want(), topic_id=topic_id, session_epoch=0), 13).session_id
    desk.delete("orders")
    assert only(fetch(desk, incremental(session, 1), 13)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    anew = fetch(desk, request(want(), topic_id=topic_id, session_epoch=0), 13)
    assert only(anew).error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.behaviour("FE-10")
def test_a_wrong_epoch_is_told_before_a_mixture_of_ids_and_names(desk: Desk):
    session = fetch(desk, request(want(), session_epoch=0)).session_id
    assert fetch(desk, incremental(session, 2), 13).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


@pytest.mark.behaviour("FE-12")
def test_the_number_of_sessions_is_a_configuration():
    desk = Desk({"max.incremental.fetch.session.cache.slots": 1})
    desk.topic()
    assert [fetch(desk, request(want(), session_epoch=0)).session_id > 0 for _ in range(2)] == [True, False]


@pytest.mark.behaviour("PR-22")
def test_a_fetch_that_waited_for_several_partitions_was_given_the_first_one_of_a_produce(desk: Desk):
    """Kafka appends all of a request before it looks after who waits: ReplicaManager.appendRecords."""
    asked = request(want(), want(partition=1), want(partition=2), max_wait_ms=1000)
    waiting = desk.outcome(ApiKey.FETCH, 12, asked)
    data = [TopicProduceData("orders", Z, [PartitionProduceData(index, batch(b"v")) for index in (0, 2)])]
    desk.ask(9, ProduceRequest(None, -1, 1000, data), ProduceResponse)
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert [bool(size) for size in sizes(answer)] == [True, False, True]


@pytest.mark.behaviour("FE-23")
def test_a_fetch_that_waited_for_a_transaction_was_given_the_partition_of_its_first_marker(desk: Desk):
    """KafkaApis.handleWriteTxnMarkersRequest appends a marker to all its partitions at once."""
    desk.ask(4, FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), FindCoordinatorResponse)
    producer = desk.ask(4, InitProducerIdRequest("tx", 60_000), InitProducerIdResponse)
    who = producer.producer_id, producer.producer_epoch
    records = batch(b"v", producer_id=who[0], producer_epoch=who[1], base_sequence=0, attributes=0x10)
    data = [TopicProduceData("orders", Z, [PartitionProduceData(index, records) for index in (0, 2)])]
    desk.ask(12, ProduceRequest("tx", -1, 1000, data), ProduceResponse)
    waiting = desk.outcome(ApiKey.FETCH, 12, request(want(), want(partition=2), max_wait_ms=1000, isolation_level=1))
    assert desk.ask(5, EndTxnRequest("tx", *who, True), EndTxnResponse).error_code == 0
    answer = answered(waiting, 12, FetchResponse)
    assert answer is not None
    assert [bool(size) for size in sizes(answer)] == [True, True]
