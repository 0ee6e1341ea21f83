"""Java's consumers go from the classic protocol to the new one and back, one by one and under load."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.oracle.apache_kafka import ApacheKafka, run_java

CONFIG: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.assignment.interval.ms": 0,
}
PROGRAM = Path(__file__).parent / "RollingUpgrade.java"
STAGES = [
    "all classic: Classic",
    *(f"worker {i} consumer: Consumer" for i in range(3)),
    "worker 0 classic: Consumer",
    "worker 1 classic: Consumer",
    "worker 2 classic: Classic",
    "lost 0, again 0",
]
KINDS = [("RangeAssignor", "dynamic"), ("CooperativeStickyAssignor", "dynamic"), ("RangeAssignor", "static")]


def rolled(servers: str, assignor: str, kind: str) -> list[str]:
    ran = run_java(PROGRAM, servers, f"rolling-{uuid.uuid4().hex[:8]}", assignor, kind, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize(("assignor", "kind"), KINDS)
def test_no_record_is_lost_and_none_is_read_again_after_its_commit(assignor: str, kind: str):
    with KafkaStub(config=CONFIG) as stub:
        assert rolled(stub.bootstrap_servers, assignor, kind) == STAGES


@pytest.mark.oracle
@pytest.mark.parametrize(("assignor", "kind"), KINDS)
def test_apache_kafka_rolls_the_same_way(assignor: str, kind: str):
    with ApacheKafka(config=CONFIG) as kafka:
        assert rolled(kafka.bootstrap_servers, assignor, kind) == STAGES
