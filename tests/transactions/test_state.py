"""Transactions in their broker: what is decided is written, markers follow, and who writes joins."""

from __future__ import annotations

import pytest

from kafkastub.metadata import TRANSACTION_STATE
from kafkastub.state.leadership import move_leader, node_started, node_stopped
from kafkastub.state.loading import load, unload
from kafkastub.state.topics import delete_topics
from kafkawire.errors import ErrorCode
from tests.handlers.desk import Desk
from tests.transactions.desk import Writer, committed, log, stable_to

NOT_THERE = ErrorCode.NOT_ENOUGH_REPLICAS


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.topic("orders", 3)
    return desk


def now(desk: Desk) -> tuple[int, int]:
    return desk.broker_ms, desk.timer_ms


def test_a_transaction_is_read_when_it_is_committed(desk: Desk):
    producer = Writer(desk)
    assert producer.write(b"a", b"b") == ErrorCode.NONE
    assert committed(desk) == []
    assert stable_to(desk) == 0
    producer.ends()
    assert committed(desk) == [b"a", b"b"]
    producer.write(b"c")
    producer.ends(commit=False)
    assert committed(desk) == [b"a", b"b"]
    assert stable_to(desk) == log(desk).high_watermark == 5


def test_a_producer_before_version_12_joins_by_asking(desk: Desk):
    producer = Writer(desk)
    assert producer.write(b"a", version=9) == ErrorCode.INVALID_TXN_STATE
    assert producer.write(b"a", version=11) == ErrorCode.TRANSACTION_ABORTABLE
    assert producer.add({"orders": [0]}) == [("orders", 0, 0)]
    assert producer.write(b"a", version=9) == ErrorCode.NONE
    assert producer.write(b"a", partition=1, version=9) == ErrorCode.INVALID_TXN_STATE
    producer.end(version=3)
    assert committed(desk) == [b"a"]


def test_without_verification_nobody_has_to_ask():
    desk = Desk({"transaction.partition.verification.enable": "false"})
    desk.topic("orders", 1)
    producer = Writer(desk)
    assert producer.write(b"a", version=9) == ErrorCode.NONE
    assert stable_to(desk) == 0


def test_held_markers_keep_the_transaction_in_between(desk: Desk):
    producer = Writer(desk)
    producer.write(b"a")
    producer.hold()
    producer.ends()
    assert (producer.state, committed(desk), stable_to(desk)) == ("PrepareCommit", [], 0)
    assert desk.state.transactions.under_way == {"tx": [("orders", 0)]}
    assert producer.write(b"b", version=11) == NOT_THERE  # later ones wait a while: test_retries
    producer.release()
    assert (producer.state, committed(desk)) == ("CompleteCommit", [b"a"])
    assert producer.write(b"b") == ErrorCode.NONE
    assert desk.state.transactions.held == frozenset()


def test_many_partitions_end_in_their_own_time(desk: Desk):
    desk.topic("wide", 1000)
    producer = Writer(desk)
    producer.add({"wide": list(range(1000))})
    producer.end(version=3)
    assert producer.state == "PrepareCommit"
    rounds = 0
    while producer.state == "PrepareCommit":
        deadline = desk.state.next_event()
        assert deadline is not None
        assert deadline <= desk.timer_ms
        desk.state.expire(*now(desk))
        rounds += 1
    assert 5 <= rounds <= 20


def test_the_partitions_of_a_topic_that_was_deleted_need_no_marker(desk: Desk):
    desk.topic("other")
    producer = Writer(desk)
    producer.write(b"a")
    producer.write(b"x", topic="other")
    producer.hold()
    producer.ends()
    delete_topics(desk.state, ["other"], desk.broker_ms)
    producer.release()
    assert (producer.state, committed(desk)) == ("CompleteCommit", [b"a"])


def test_a_transaction_times_out_and_its_records_are_nobodys(desk: Desk):
    producer = Writer(desk, timeout_ms=5000)
    producer.write(b"a")
    assert desk.state.next_event() == 5000
    desk.wait_until(4999)
    assert producer.state == "Ongoing"
    desk.wait_until(5000)
    assert (producer.state, committed(desk)) == ("CompleteAbort", [])
    assert stable_to(desk) == 2
    assert producer.write(b"b") == ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_id_that_nobody_uses_is_forgotten_at_the_next_round():
    desk = Desk(
        {"transactional.id.expiration.ms": 1000, "transaction.remove.expired.transaction.cleanup.interval.ms": 60}
    )
    desk.state.start_sweeping(0)
    Writer(desk)
    desk.broker_ms += 999
    desk.wait_until(60)
    assert desk.state.transactions.coordinator.knows("tx")
    desk.broker_ms += 1
    assert desk.state.next_deadline() == 120
    desk.wait_until(119)
    assert desk.state.transactions.coordinator.knows("tx")
    desk.wait_until(120)
    assert not desk.state.transactions.coordinator.knows("tx")


@pytest.mark.parametrize("commit", [True, False])
def test_a_coordinator_that_was_away_goes_on_from_its_log(desk: Desk, commit: bool):
    producer, other = Writer(desk), Writer(desk, "other")
    other.write(b"open", partition=1)
    producer.write(b"a")
    producer.hold()
    producer.ends(commit)
    unload(desk.state, *now(desk))
    assert producer.write(b"b", partition=2) == NOT_THERE
    desk.state.transactions._markers.held.clear()
    assert load(desk.state, lambda: now(desk))
    assert producer.state == ("CompleteCommit" if commit else "CompleteAbort")
    assert committed(desk) == ([b"a"] if commit else [])
    assert other.write(b"more", partition=1) == ErrorCode.NONE
    other.ends()
    assert committed(desk, partition=1) == [b"open", b"more"]


def test_a_marker_waits_for_the_leader():
    desk = Desk(nodes=2)
    desk.topic("orders", 4)
    producer = Writer(desk) if _leads(desk, "tx") == 1 else _on_node_2(desk)
    topic = desk.state.cluster.topics["orders"]
    away = next(one.index for one in topic.partitions if one.leader == 2)
    here = next(one.index for one in topic.partitions if one.leader == 1)
    for partition in (away, here):
        desk.node_id = topic.partitions[partition].leader
        producer.write(b"a", partition=partition)
    desk.node_id = 1
    node_stopped(desk.state, 2, now(desk))
    producer.ends()
    assert (producer.state, desk.state.transactions.under_way) == ("PrepareCommit", {"tx": [("orders", away)]})
    assert committed(desk, partition=here) == [b"a"]
    node_started(desk.state, 2, now(desk))
    assert producer.state == "CompleteCommit"
    desk.node_id = 2
    assert committed(desk, partition=away) == [b"a"]


def _leads(desk: Desk, name: str) -> int:
    from kafkastub.state.transactional_ids import coordinates, ensure_transactions_topic

    ensure_transactions_topic(desk.state)
    return 1 if coordinates(desk.state, 1, name) else 2


def _on_node_2(desk: Desk) -> Writer:
    move_transactions(desk, "tx", 1)
    return Writer(desk)


def move_transactions(desk: Desk, name: str, node: int) -> None:
    """Let another node coordinate a transactional id."""
    from kafkastub.coordinator import partition_for

    topic = desk.state.cluster.topics[TRANSACTION_STATE]
    move_leader(desk.state, topic, partition_for(name, len(topic.partitions)), node, now(desk))


def test_the_coordinator_moves_while_markers_are_under_way():
    desk = Desk(nodes=2)
    desk.topic("orders", 1)
    assert _leads(desk, "tx")
    producer = Writer(desk)
    for node in (2, 1):
        move_transactions(desk, "tx", node)
    producer.write(b"a")
    producer.hold()
    producer.ends()
    epoch = desk.state.transactions._coordinator_epoch("tx")
    move_transactions(desk, "tx", 2)
    assert desk.state.transactions._coordinator_epoch("tx") == epoch + 1
    producer.release()
    assert (producer.state, committed(desk)) == ("CompleteCommit", [b"a"])
    (entry,) = log(desk).producers()
    assert entry.coordinator_epoch == epoch + 1
