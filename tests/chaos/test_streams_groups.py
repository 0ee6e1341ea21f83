"""Instances of a Kafka Streams application under chaos: each task has one of them, once it is over, whatever was met.

They do what Kafka's StreamsGroupHeartbeatRequestManager does: behind a connection that is lost, or an error that
passes, everything is said again; who is fenced or unknown joins anew. Tasks whose answer is lost are never told again,
by Kafka neither: that is nothing that a correct client survives.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from kafkastub import KafkaStub
from kafkastub.client import ConnectionClosed
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from tests.streams_instance import QUICK, ROLES, Instance, settle, words

PASSING = {
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}
ANEW = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}
EVERY = {(part, partition) for part in "01" for partition in range(4)}


def beat(instance: Instance) -> ErrorCode | None:
    """The error that was met; None where the connection was lost."""
    try:
        code = ErrorCode(instance.beat().error_code)
    except (ConnectionClosed, OSError):
        return None
    if code in ANEW:
        instance.epoch, instance.tasks = 0, {role: [] for role in ROLES}
    assert code in PASSING | ANEW | {ErrorCode.NONE}, code
    return code


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_tasks_have_one_instance_each_once_it_is_over(seed: int, level: int) -> None:
    with (
        KafkaStub(topics={"lines": 4}, config=QUICK, nodes=2, chaos=seed, chaos_level=level) as stub,
        ExitStack() as all_,
    ):
        instances = [
            all_.enter_context(Instance(stub.bootstrap_servers, name, topology=words())) for name in ("a", "b", "c")
        ]
        for _ in range(60):
            for instance in instances:
                beat(instance)
        stub.chaos.stop()
        for _ in range(3):
            for instance in instances:
                beat(instance)
        settle(*instances)
        (group,) = (one for name, one in stub.streams_groups.items() if name == "app")
        assert group.state == "Stable"
        found = Counter(
            (one.subtopology_id, partition)
            for instance in instances
            for one in instance.tasks["active_tasks"]
            for partition in one.partitions
        )
        assert found == Counter(EVERY)


@pytest.mark.parametrize("seed", range(3))
def test_no_session_ends_of_who_does_not_come_back(seed: int) -> None:
    """Kafka Streams that asks for its offsets then is told UNKNOWN_MEMBER_ID, and ends for good."""
    with (
        KafkaStub(topics={"lines": 4}, config=QUICK, chaos=seed, chaos_level=3) as stub,
        Instance(stub.bootstrap_servers, "a") as instance,
    ):
        for _ in range(300):
            beat(instance)
        acts = [act.what for act in stub.chaos.acts]
    assert not [act for act in acts if "the session of" in act]


def test_heartbeats_meet_something() -> None:
    with KafkaStub(topics={"lines": 4}, config=QUICK, chaos=1, chaos_level=3) as stub:
        with Instance(stub.bootstrap_servers, "a") as instance:
            assert ErrorCode.NONE in {beat(instance) for _ in range(200)}
        acts = [act.what for act in stub.chaos.acts]
    assert any(ApiKey.STREAMS_GROUP_HEARTBEAT.camel in act for act in acts)
