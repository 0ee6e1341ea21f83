"""A little that stands for a lot: compressed bytes, expressions, names to be looked up."""

from __future__ import annotations

import itertools
import time

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kafkawire.messages.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import ProduceResponse
from kafkawire.messages.push_telemetry_request import PushTelemetryRequest
from kafkawire.messages.push_telemetry_response import PushTelemetryResponse
from kafkawire.records import NewRecord, build_batch, compress
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

FLAT_MB = 200
HUGE = 200 << 20
_METRICS = 16


def alter(client: RawClient, kind: int, name: str, key: str, value: str) -> tuple[int, str | None]:
    """Set one entry of a resource's configuration: error code and text."""
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, [AlterableConfig(key, 0, value)])])
    data = client.exchange(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, encode(request, 1))
    response = decode(IncrementalAlterConfigsResponse, 1, data).responses[0]
    return response.error_code, response.error_message


@linux
@pytest.mark.behaviour("PT-6")
def test_telemetry_that_is_large_once_unpacked():
    with Serving() as process, RawClient(process.servers) as client:
        before, number = memory_mb(process), itertools.count(1)

        def attack() -> None:
            assert {pushed(client, next(number) << 32) for _ in range(20)} == {ErrorCode.TELEMETRY_TOO_LARGE}

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert memory_mb(process) - before < FLAT_MB


TELEMETRY = compress(4, bytes(HUGE))


def pushed(client: RawClient, number: int) -> int:
    """What a new instance is answered that pushes some kilobytes of zstd."""
    instance = number.to_bytes(16, "big")
    asked = encode(GetTelemetrySubscriptionsRequest(instance), 0)
    data = client.exchange(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, asked)
    known = decode(GetTelemetrySubscriptionsResponse, 0, data)
    push = PushTelemetryRequest(known.client_instance_id, known.subscription_id, compression_type=4, metrics=TELEMETRY)
    answer = decode(PushTelemetryResponse, 0, client.exchange(ApiKey.PUSH_TELEMETRY, 0, encode(push, 0)))
    return int(answer.error_code)


@linux
@pytest.mark.behaviour("PR-25")
def test_batches_for_a_compacted_topic_that_are_large_once_unpacked():
    now = int(time.time() * 1000)
    batch = build_batch([NewRecord(b"k", bytes(HUGE), now)], compression=4)
    small = build_batch([NewRecord(b"k", bytes(1 << 20), now)], compression=4)
    with Serving("--topic", "compacted:20") as process, RawClient(process.servers) as client:
        assert alter(client, 2, "compacted", "cleanup.policy", "compact") == (ErrorCode.NONE, None)
        before = memory_mb(process)

        def attack() -> None:
            answers = produced(client, [batch] * 20)
            assert {code for code, _ in answers} == {ErrorCode.MESSAGE_TOO_LARGE}
            assert all("33554432 bytes" in text for _, text in answers)

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert produced(client, [small] * 20) == [(ErrorCode.NONE, "")] * 20
        assert memory_mb(process) - before < FLAT_MB


def produced(client: RawClient, batches: list[bytes]) -> list[tuple[int, str]]:
    """Error code and text of each partition from 0 on."""
    data = [PartitionProduceData(index, batch) for index, batch in enumerate(batches)]
    request = ProduceRequest(None, -1, 1000, [TopicProduceData("compacted", partition_data=data)])
    answer = decode(ProduceResponse, 9, client.exchange(ApiKey.PRODUCE, 9, encode(request, 9)))
    return [(one.error_code, one.error_message or "") for one in answer.responses[0].partition_responses]


@pytest.mark.behaviour("TS-1")
@pytest.mark.parametrize("expression", ["(a+)+b", "(a|a)*b", "(.*.*.*.*.*)*b", "(a?){90}a{90}b"])
def test_an_expression_that_has_many_ways_to_fail(expression: str):
    with Serving() as process, RawClient(process.servers) as client:
        assert alter(client, _METRICS, "all", "match", f"client_id={expression}")[0] == ErrorCode.NONE
        asked = encode(GetTelemetrySubscriptionsRequest(bytes(16)), 0)

        def attack() -> None:
            client.send(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, asked, True, client_id="a" * 250)
            assert client.receive() is not None

        assert shortest_wait(process.servers, attack) <= LONGEST_MS


def test_names_that_are_looked_up():
    """A name server may need seconds for each of them; `.invalid` is nobody's."""
    number = itertools.count()
    with Serving() as process, RawClient(process.servers) as client:

        def attack() -> None:
            names = ",".join(f"nobody-{next(number)}.invalid:1" for _ in range(50))
            changed = alter(client, 4, "", "max.connections.per.ip.overrides", f"{names},127.0.0.1:100")
            assert changed == (ErrorCode.NONE, None)

        assert shortest_wait(process.servers, attack) <= LONGEST_MS
        assert process.stop(15)[0] == 0
