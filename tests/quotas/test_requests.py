"""DescribeClientQuotas and AlterClientQuotas: the stub says what Apache Kafka 4.4.0 said, and says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from tests.oracle.apache_kafka import ApacheKafka
from tests.quotas.record import recorded
from tests.quotas.talking import Client, answers, questions


def as_json(answer: Any) -> Any:
    return json.loads(json.dumps(answer))


def departures(found: list[Any]) -> list[Any]:
    asked = list(questions())
    wanted = recorded()
    assert len(asked) == len(found) == len(wanted)
    return [(q, one, two) for q, one, two in zip(asked, found, wanted, strict=True) if as_json(one) != two]


@pytest.mark.behaviour("DQ-1", "DQ-2", "DQ-3", "AQ-1", "AQ-2", "AQ-3", "AQ-4", "AQ-5", "AQ-7", "AQ-8")
def test_the_stub_answers_as_recorded():
    with KafkaStub() as stub:
        assert departures(answers(stub.bootstrap_servers)) == []


@pytest.mark.oracle
def test_apache_kafka_answers_as_recorded():
    with ApacheKafka() as kafka:
        assert departures(answers(kafka.bootstrap_servers)) == []


def test_everything_is_asked():
    said = json.dumps(recorded())
    for words in (
        "Invalid empty client quota entity", "Unhandled client quota entity type", "Empty user not supported",
        "Invalid quota entity combination", "is not a valid IP", "Invalid configuration key", "must be greater than 0",
        "too large for a LONG", "too large for an INT", "cannot be a fractional value", "Ignoring duplicate entity",
        "Invalid empty entity type", "cannot appear more than once", "Unsupported entity type", "MATCH_TYPE_EXACT",
        "MATCH_TYPE_DEFAULT", "MATCH_TYPE_SPECIFIED", "Unknown match type", "Invalid entity filter component",
    ):  # fmt: skip
        assert words in said


@pytest.mark.behaviour("AQ-8")
def test_before_4_4_a_share_of_time_may_be_any_number_above_zero():
    with KafkaStub(as_version="4.3") as stub, Client(stub.bootstrap_servers) as client:
        values = (math.nan, math.inf, -math.inf)
        asked = [([("user", f"u{at}")], [("request_percentage", value)]) for at, value in enumerate(values)]
        told = {one[2][0][1]: one[0] for one in client.alter(*asked)}
    assert told == {"u0": 0, "u1": 0, "u2": ErrorCode.INVALID_REQUEST}


@pytest.mark.behaviour("AQ-6")
def test_too_many_changes_are_none(servers: str, unique: Callable[[str], str]):
    entries = [([("user", f"{unique('many')}-{number}")], [("producer_byte_rate", 1e15)]) for number in range(10_001)]
    with Client(servers) as client:
        codes = {tuple(one[:2]) for one in client.alter(*entries)}
        assert codes == {(ErrorCode.POLICY_VIOLATION, "Request parameters do not satisfy the configured policy.")}
        assert client.describe(("user", 0, f"{unique('many')}-0")) == [0, "", []]


@pytest.mark.behaviour("AQ-1")
def test_quotas_are_there_after_a_restart(tmp_path: Path):
    alice = {"user": "alice", "client-id": None}
    with KafkaStub(data_dir=tmp_path) as stub, Client(stub.bootstrap_servers) as client:
        client.set_quota(alice, producer_byte_rate=1000.0, request_percentage=0.5)
        client.set_quota({"ip": None}, connection_creation_rate=100.0)
    with KafkaStub(data_dir=tmp_path, topics={"t": 1}) as stub, Client(stub.bootstrap_servers, "loader") as client:
        assert client.describe()[2] == [
            [[["client-id", None], ["user", "alice"]], [["producer_byte_rate", 1000.0], ["request_percentage", 0.5]]],
            [[["ip", None]], [["connection_creation_rate", 100.0]]],
        ]
        client.set_quota({"user": "ANONYMOUS"}, producer_byte_rate=100.0)
    with KafkaStub(data_dir=tmp_path) as stub, Client(stub.bootstrap_servers, "loader") as client:
        assert client.produce("t", 5000).throttle_ms > 30_000


def test_a_very_long_number_is_no_address():
    with KafkaStub() as stub, Client(stub.bootstrap_servers) as client:
        (answer,) = client.alter(([("ip", "9" * 5_000)], [("connection_creation_rate", 1.0)]))
        assert answer[0] == ErrorCode.INVALID_REQUEST
        assert answer[1].endswith("is not a valid IP or resolvable host.")
