"""Logs are looked after every log.retention.check.interval.ms of timer time; an idle broker is not woken for it."""

from __future__ import annotations

from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.list_offsets_response import ListOffsetsResponse
from tests.handlers.desk import START_MS, Desk, batch

MINUTES = 60_000
EARLIEST = -2


def earliest(desk: Desk) -> int:
    asked = ListOffsetsTopic(name="orders", partitions=[ListOffsetsPartition(partition_index=0, timestamp=EARLIEST)])
    answer = desk.ask(7, ListOffsetsRequest(replica_id=-1, topics=[asked]), ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


def test_logs_are_looked_after_at_intervals_of_timer_time():
    desk = Desk({"log.retention.check.interval.ms": 5 * MINUTES})
    desk.state.start_sweeping(0)
    desk.topic(retention_ms="1000")
    desk.fill(batch(b"old"))
    desk.broker_ms = START_MS + 1001
    assert desk.state.next_deadline() == 5 * MINUTES
    desk.wait_until(5 * MINUTES - 1)
    assert earliest(desk) == 0
    desk.wait_until(5 * MINUTES)
    assert earliest(desk) == 1
    assert desk.state.next_deadline() == 10 * MINUTES


def test_nobody_is_woken_where_nothing_perishes():
    desk = Desk({"log.retention.check.interval.ms": 5 * MINUTES, "offsets.retention.check.interval.ms": 10 * MINUTES})
    desk.state.start_sweeping(0)
    desk.topic()
    desk.fill(batch(b"old"))
    assert desk.state.next_deadline() == 10 * MINUTES


def test_a_topic_that_becomes_perishable_later_is_looked_after():
    desk = Desk({"log.retention.check.interval.ms": 5 * MINUTES})
    desk.state.start_sweeping(0)
    desk.wait_until(60 * MINUTES)
    desk.topic(retention_ms="1000")
    desk.fill(batch(b"old"))
    desk.broker_ms = START_MS + 1001
    due = desk.state.next_deadline()
    assert due is not None
    assert due <= 65 * MINUTES
    desk.wait_until(65 * MINUTES)
    assert earliest(desk) == 1
