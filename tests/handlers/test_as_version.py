"""The stub as an older release: what it advertises, what it takes, and what real clients make of it."""

from __future__ import annotations

import asyncio
import re

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from kafka import KafkaConsumer

from kafkastub import ConfigError, KafkaStub
from kafkastub.client import Client, ConnectionClosed
from kafkastub.client.groups import offsets
from kafkastub.config.own import OWN
from kafkastub.config.releases import APIS, FEATURES, LATEST
from kafkastub.handlers.registry import registrations
from kafkastub.handlers.release import gaps, served_apis
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from kafkawire.messages.fetch_request import FetchRequest
from kafkawire.messages.offset_delete_request import OffsetDeleteRequest
from tests.clients.client import until
from tests.clients.jvm import Jvm
from tests.conftest import CONFIG
from tests.rawclient import RawClient
from tests.waiting import SECONDS

SOME = ["2.1", "2.4", "2.8", "3.3", "3.9", "4.0", "4.3", "4.4"]


def api_versions(stub: KafkaStub, version: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    with RawClient(stub.bootstrap_servers) as client:
        return decode(ApiVersionsResponse, version, client.exchange(18, version, encode(request, version)))


@pytest.mark.behaviour("AV-7")
def test_the_release_decides_what_is_advertised():
    with KafkaStub(as_version="2.8") as stub:
        answer = api_versions(stub, 3)
    ranges = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
    assert ranges[ApiKey.OFFSET_COMMIT] == (2, 8)  # 0 and 1 are gone with Kafka 4
    assert ranges[ApiKey.JOIN_GROUP] == (0, 7)
    assert ranges[ApiKey.FETCH] == (4, 12)
    assert ranges[ApiKey.PRODUCE] == (0, 9)
    assert ApiKey.DESCRIBE_TOPIC_PARTITIONS not in ranges
    assert (answer.supported_features, answer.finalized_features_epoch) == ((), -1)


@pytest.mark.behaviour("AV-7")
@pytest.mark.parametrize(
    ("release", "features"),
    [
        ("3.2", {}),
        ("3.3", {"metadata.version": (1, 7, 7)}),
        ("3.8", {"metadata.version": (1, 20, 20)}),
        ("3.9", {"metadata.version": (1, 21, 21), "kraft.version": (0, 1, 1)}),
        ("4.1", FEATURES["4.1"]),
        ("4.3", FEATURES["4.3"]),
        ("4.4", FEATURES["4.4"]),
    ],
)
def test_its_features_too(release: str, features: dict[str, tuple[int, int, int]]):
    with KafkaStub(as_version=release) as stub:
        version = {api.api_key: api for api in api_versions(stub, 3).api_keys}[ApiKey.API_VERSIONS].max_version
        answer = api_versions(stub, version)
    shown = {name: levels[:2] for name, levels in features.items() if levels[0] or version >= 4}
    assert {row.name: (row.min_version, row.max_version) for row in answer.supported_features} == shown
    now = {name: finalized for name, (_, _, finalized) in features.items() if finalized}
    assert {row.name: row.max_version_level for row in answer.finalized_features} == now
    assert all(row.min_version_level == row.max_version_level for row in answer.finalized_features)


@pytest.mark.behaviour("AV-7")
@pytest.mark.parametrize(("release", "named"), [("2.3", []), ("2.4", [(18, 0, 3)]), ("3.9", [(18, 0, 4)])])
def test_an_unknown_version_of_api_versions_is_told_what_the_release_tells(release: str, named: list[object]):
    with KafkaStub(as_version=release) as stub, RawClient(stub.bootstrap_servers) as client:
        answer = decode(ApiVersionsResponse, 0, client.exchange(18, 9, b"", flexible=True)[0:])
    assert answer.error_code == 35
    assert [(api.api_key, api.min_version, api.max_version) for api in answer.api_keys] == named


@pytest.mark.behaviour("AV-7")
def test_what_the_release_does_not_have_ends_the_connection():
    with KafkaStub(as_version="2.1") as stub:
        for request, version in ((OffsetDeleteRequest(), 0), (FetchRequest(), 11)):
            with Client(stub.bootstrap_servers) as client, pytest.raises(ConnectionClosed):
                client.connection().ask(request, version)
        with Client(stub.bootstrap_servers) as client:
            assert client.connection().ask(FetchRequest(), 10).error_code == 0


@pytest.mark.parametrize("release", SOME)
def test_kafka_python_takes_the_stub_for_a_broker_of_that_time(release: str):
    """It tells releases apart by single APIs that they brought; some of those are not served."""
    with KafkaStub(as_version=release) as stub:
        consumer = KafkaConsumer(bootstrap_servers=stub.bootstrap_servers)
        consumer.topics()
        seen = consumer.config["api_version"]
        consumer.close()
    wanted = tuple(map(int, release.split(".")))
    assert seen[0] == wanted[0]
    assert 0 <= wanted[1] - seen[1] <= 2


@pytest.mark.parametrize("release", SOME)
def test_librdkafka_produces_consumes_and_commits(release: str):
    with KafkaStub(topics={"orders": 1}, config=CONFIG, as_version=release) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        producer.produce("orders", b"one")
        assert producer.flush(SECONDS) == 0
        config = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        consumer = Consumer(config | {"enable.auto.commit": False})
        consumer.subscribe(["orders"])
        message = consumer.poll(SECONDS)
        assert message is not None
        assert message.value() == b"one"
        consumer.commit(message, asynchronous=False)
        assert consumer.committed(consumer.assignment())[0].offset == 1
        consumer.close()


@pytest.mark.parametrize("release", SOME)
async def test_aiokafka_produces_consumes_and_commits(release: str):
    async with asyncio.timeout(SECONDS), KafkaStub(topics={"orders": 1}, config=CONFIG, as_version=release) as stub:
        async with AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers) as producer:
            await producer.send_and_wait("orders", b"one")
        async with AIOKafkaConsumer(
            "orders", bootstrap_servers=stub.bootstrap_servers, group_id="g", auto_offset_reset="earliest"
        ) as consumer:
            assert (await consumer.getone()).value == b"one"
            await consumer.commit()


@pytest.mark.parametrize("release", ["2.1", "2.8", "3.9"])
def test_the_java_clients_of_today_work_with_it(jvm: Jvm, release: str):
    with KafkaStub(topics={"orders": 1}, config=CONFIG, as_version=release) as stub:
        config = {"bootstrap.servers": stub.bootstrap_servers}
        jvm.ask("produce", config=config, topic="orders", records=[(0, None, "one", None)])
        reading = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
        jvm.ask("subscribe", consumer=release, config=config | reading, topics=["orders"])
        try:
            until(lambda: bool(jvm.ask("poll", consumer=release, ms=50)), "a record")
            jvm.ask("commit", consumer=release)
        finally:
            jvm.ask("close", consumer=release)
        with Client(stub.bootstrap_servers) as client:
            assert offsets(client, "g")["orders", 0].offset == 1


def test_no_release_is_everything():
    assert served_apis(None) is registrations()


def test_the_newest_release_is_what_we_serve_by_ourselves():
    newest = served_apis(LATEST)
    ours = {key: api for key, api in registrations().items() if key in newest}
    assert {key: (api.first, api.last, api.advertised_first) for key, api in newest.items()} == {
        key: (api.first, api.last, api.advertised_first) for key, api in ours.items()
    }
    assert [gap for gap in gaps(LATEST) if gap.served is not None] == []


def test_the_releases_that_are_accepted_are_those_of_the_table():
    pattern = OWN["kafkastub.as.version"][3][1]
    numbers = [f"{major}.{minor}" for major in range(6) for minor in range(20)]
    assert [number for number in numbers if re.fullmatch(pattern, number)] == list(APIS)


@pytest.mark.parametrize("release", ["1.1", "2.0", "2.9", "4.5", "", "newest", 2.8])
def test_other_releases_are_refused(release: object):
    with pytest.raises(ConfigError, match=r"a release from 2\.1 to 4\.4, for example"):
        KafkaStub(as_version=release)  # type: ignore[arg-type]


@pytest.mark.oracle
def test_the_table_is_that_of_the_jars():
    from tests.oracle.releases import TABLE, table

    assert table() == TABLE.read_text()
