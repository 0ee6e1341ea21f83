"""Streams groups in snapshots: what their records say is there again, and their members go on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub, Snapshot
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, TaskIds
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from tests.handlers.streams_club import repartitioned
from tests.offsets_topic.history import Player

CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": 2,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
}


def beat(on: Player, member: str, epoch: int = 0, **more: Any) -> StreamsGroupHeartbeatResponse:
    if epoch == 0:
        more = {"topology": repartitioned(), "rebalance_timeout_ms": 60_000, "process_id": member, **more}
    tasks = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    answer = on.ask(
        StreamsGroupHeartbeatRequest("g", member, epoch, **(tasks | more)), 1, StreamsGroupHeartbeatResponse
    )
    assert answer.error_code == 0, answer
    return answer


def told(on: Player) -> Any:
    (group,) = on.ask(StreamsGroupDescribeRequest(["g"]), 1, StreamsGroupDescribeResponse).groups
    about = group.group_state, group.group_epoch, group.assignment_epoch
    return about, sorted(map(repr, group.members))


@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_group_is_there_again_with_its_members(tmp_path: Path, in_a_file: bool) -> None:
    with KafkaStub(topics={"orders": 4, "customers": 3}, config=CONFIG) as stub:
        with closing(Player(stub.bootstrap_servers)) as on:
            on.await_coordinator("g")
            beat(on, "a")
            epoch = beat(on, "a", 2).member_epoch
            beat(on, "b")
            before = told(on)
            assert (before[0], epoch) == (("Reconciling", 4, 4), 3)
            saved = stub.snapshot()
            beat(on, "b", -1)
            beat(on, "a", -1)
            assert told(on)[0] == ("Empty", 6, 6)
        if in_a_file:
            saved.save(tmp_path / "saved")
            saved = Snapshot.load(tmp_path / "saved")
        stub.restore(saved)
        with closing(Player(stub.bootstrap_servers)) as on:
            assert told(on) == before
            beat(on, "a", 3)
            answer = beat(on, "a", 3)
            assert answer.member_epoch == 4, "nothing has to be let go of any more"
            answer = beat(on, "b", 4)
            assert sum(len(one.partitions) for one in answer.active_tasks or ()) == 3
            assert told(on)[0] == ("Stable", 4, 4)


def test_a_broker_made_of_a_snapshot_has_the_group(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 4, "customers": 3}, config=CONFIG) as stub:
        with closing(Player(stub.bootstrap_servers)) as on:
            on.await_coordinator("g")
            beat(on, "a")
            before = told(on)
        stub.snapshot().save(tmp_path / "saved")
    with KafkaStub(snapshot=tmp_path / "saved", config=CONFIG) as stub, closing(Player(stub.bootstrap_servers)) as on:
        assert told(on) == before
        assert [TaskIds(one.subtopology_id, one.partitions) for one in beat(on, "a", 2).active_tasks or ()]
