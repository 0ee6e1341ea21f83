"""Texts as long as a request may have them, 32 KB each: read in one pass, and not kept where nothing came of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_configs_request import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kafkawire.messages.alter_configs_response import AlterConfigsResponse
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import FLAT_MB, linux, memory_mb
from tests.process.serving import Serving
from tests.rawclient import RawClient

LONG = 32_767
TRIES = 3
VALUES = {
    "a double": ("min.cleanable.dirty.ratio", "1" * (LONG - 1) + "x"),
    "a double with a point": ("min.cleanable.dirty.ratio", "1" * (LONG // 2) + "." + "1" * (LONG // 2 - 2) + "x"),
    "a whole number": ("retention.ms", "1" * LONG),
    "a list": ("leader.replication.throttled.replicas", "a" + " " * (LONG - 2) + "b"),
    "a list of commas": ("leader.replication.throttled.replicas", "," * LONG),
}
TOPIC, NAMES, ROUNDS = 2, 100, 20


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving(
        "--topic", "orders:1", "--config", "auto.create.topics.enable=false",
        "--config", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "--config", "allow.everyone.if.no.acl.found=true",
    ) as process:  # fmt: skip
        yield process


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_a_configuration_do_not_hold_others_up(serving: Serving, kind: str) -> None:
    name, value = VALUES[kind]
    resource = AlterConfigsResource(TOPIC, "orders", [AlterableConfig(name, value)])
    request = encode(AlterConfigsRequest([resource]), 1)
    longest = []
    for _ in range(TRIES):
        with probing(serving.servers) as prober, RawClient(serving.servers) as client:
            answer = decode(AlterConfigsResponse, 1, client.exchange(ApiKey.ALTER_CONFIGS, 1, request))
        assert answer.responses[0].error_code == ErrorCode.INVALID_CONFIG
        longest.append(prober.longest_ms)
        if longest[-1] <= LONGEST_MS:
            assert "Traceback" not in serving.stderr
            return
    pytest.fail(f"others waited {longest} ms")


@linux
def test_names_that_were_asked_for_once_are_not_kept(serving: Serving) -> None:
    with RawClient(serving.servers) as client:

        def ask(number: int) -> None:
            names = [f"{number} {each}".ljust(LONG - 10, "x") for each in range(NAMES)]
            request = MetadataRequest([MetadataRequestTopic(name=name) for name in names])
            client.exchange(ApiKey.METADATA, 9, encode(request, 9))

        for number in range(3):  # so many fill the journal
            ask(number)
        before = memory_mb(serving)
        for number in range(3, 3 + ROUNDS):
            ask(number)
    assert memory_mb(serving) - before < FLAT_MB
