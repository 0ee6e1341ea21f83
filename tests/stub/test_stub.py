"""`KafkaStub`: a broker inside the process of a test."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer

from kafkastub import ConfigError, KafkaStub, StubError, TopicError
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.ports import reserved_port
from tests.process.serving import metadata
from tests.rawclient import RawClient


def topics(stub: KafkaStub) -> dict[str, int]:
    """What a client is told: names and numbers of partitions."""
    return {topic.name: len(topic.partitions) for topic in metadata(stub.bootstrap_servers).topics}


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Whatever the test does, it leaves no thread and no open file or socket behind."""
    with KafkaStub():
        pass  # libuv opens a pipe with the first loop of a process, and keeps it
    gc.collect()
    gc.freeze()  # what there is by now is looked at once: that takes a third of a second
    threads, files = set(threading.enumerate()), open_files()
    yield
    gc.collect()
    assert set(threading.enumerate()) - threads == set()
    assert open_files() - files == set()


def open_files() -> set[str]:
    """Sockets, pipes, epoll and event descriptors and files of this process."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208 - one of them is the listing's own
        try:
            found.add(f"{descriptor} {Path(f'/proc/self/fd/{descriptor}').readlink()}")
        except FileNotFoundError:
            continue
    return found


# -- its life


def test_it_serves_while_the_block_lasts(nothing_left: None) -> None:
    with KafkaStub(topics={"orders": 3}) as stub:
        host, port, servers = stub.host, stub.port, stub.bootstrap_servers
        assert (host, servers) == ("127.0.0.1", f"127.0.0.1:{port}")
        assert topics(stub) == {"orders": 3}
    with pytest.raises(ConnectionRefusedError):
        RawClient(servers)


async def test_it_serves_while_the_async_block_lasts(nothing_left: None) -> None:
    async with KafkaStub(topics={"orders": 3}) as stub:
        servers = stub.bootstrap_servers
        async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
            await producer.send_and_wait("orders", b"value", partition=2)
    with pytest.raises(ConnectionRefusedError):
        RawClient(servers)


@pytest.mark.parametrize("loops", ["asyncio", "uvloop"])
def test_it_works_under_any_event_loop(nothing_left: None, loops: str) -> None:
    async def scenario() -> list[bytes | None]:
        async with KafkaStub(topics={"orders": 1}) as stub:
            async with AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers) as producer:
                await producer.send_and_wait("orders", b"value")
            consumer = AIOKafkaConsumer(
                "orders", bootstrap_servers=stub.bootstrap_servers, auto_offset_reset="earliest"
            )
            async with consumer:
                return [(await consumer.getone()).value]

    run: Callable[..., list[bytes | None]] = asyncio.run
    if loops == "uvloop":
        run = pytest.importorskip("uvloop").run
    assert run(scenario()) == [b"value"]


def test_blocking_clients_in_the_same_thread_are_served(nothing_left: None) -> None:
    with KafkaStub(topics={"orders": 1}, config={"group.initial.rebalance.delay.ms": 0}) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        producer.produce("orders", b"value")
        assert producer.flush(20) == 0
        producer.close()
        consumer = Consumer(
            {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["orders"])
        message = consumer.poll(20)
        consumer.close()
    assert message is not None
    assert message.value() == b"value"


def test_an_exception_in_the_block_closes_it_and_goes_on(nothing_left: None) -> None:
    servers = []

    def fail() -> None:
        with KafkaStub() as stub:
            servers.append(stub.bootstrap_servers)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with pytest.raises(ConnectionRefusedError):
        RawClient(*servers)


def test_clients_that_stay_connected_and_wait_are_cut_off(nothing_left: None) -> None:
    with ExitStack() as stack:
        with KafkaStub(topics={"orders": 1}) as stub:
            idle, joining, fetching = (
                stack.enter_context(closing(RawClient(stub.bootstrap_servers))) for _ in range(3)
            )
            protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
            join = JoinGroupRequest(
                group_id="g", session_timeout_ms=10000, rebalance_timeout_ms=60000, protocol_type="consumer",
                protocols=[protocol],
            )  # fmt: skip
            joining.send(11, 3, encode(join, 3))
            partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
            fetch = FetchRequest(
                max_wait_ms=60000, min_bytes=1, max_bytes=1000, session_epoch=-1,
                topics=[FetchTopic(topic="orders", partitions=[partition])],
            )  # fmt: skip
            fetching.send(1, 11, encode(fetch, 11))
            metadata(stub.bootstrap_servers)
        assert [client.receive() for client in (idle, joining, fetching)] == [None, None, None]


def test_many_live_side_by_side_and_know_nothing_of_each_other(nothing_left: None) -> None:
    with ExitStack() as stack:
        stubs = [stack.enter_context(KafkaStub(topics={f"topic-{number}": 1})) for number in range(20)]
        assert len({stub.port for stub in stubs}) == 20
        assert [topics(stub) for stub in stubs] == [{f"topic-{number}": 1} for number in range(20)]
        assert len({metadata(stub.bootstrap_servers).cluster_id for stub in stubs}) == 20


def test_closing_twice_or_never_started_does_no_harm(nothing_left: None) -> None:
    stub = KafkaStub()
    stub.close()
    stub.start()
    stub.close()
    stub.close()


def test_a_closed_one_can_be_started_again_and_is_blank(nothing_left: None) -> None:
    stub = KafkaStub(topics={"orders": 1})
    with stub:
        stub.create_topic("more")
        assert topics(stub) == {"orders": 1, "more": 1}
    with stub:
        assert topics(stub) == {"orders": 1}


def test_one_that_does_not_run_says_so(nothing_left: None) -> None:
    stub = KafkaStub()
    for use in (lambda: stub.bootstrap_servers, lambda: stub.port, lambda: stub.create_topic("orders")):
        with pytest.raises(StubError, match="not running"):
            use()
    with stub:
        assert stub.bootstrap_servers in repr(stub)
        with pytest.raises(StubError, match="running already"):
            stub.start()
        assert topics(stub) == {}
    assert "not running" in repr(stub)


def test_a_program_that_forgets_to_close_it_ends_all_the_same() -> None:
    program = "from kafkastub import KafkaStub; print(KafkaStub().start().port > 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


# -- what it is given


def test_a_port_that_is_taken_is_one_sentence(nothing_left: None) -> None:
    with reserved_port() as port:
        with (
            socket.create_server(("127.0.0.1", port)),
            pytest.raises(OSError, match=f"port {port} on 127.0.0.1 is taken") as caught,
        ):
            KafkaStub(port=port).start()
        assert "\n" not in str(caught.value)
        with KafkaStub(port=port) as stub:
            assert stub.port == port


def test_clients_are_told_the_advertised_address(nothing_left: None) -> None:
    with KafkaStub(advertised="broker.example:19092") as stub:
        [node] = metadata(f"127.0.0.1:{stub.port}").brokers
        assert (node.host, node.port) == ("broker.example", 19092)
        assert stub.bootstrap_servers == "broker.example:19092"


@pytest.mark.parametrize("advertised", ["nowhere", ":9092", "host:", "host:70000"])
def test_an_advertised_address_that_is_none_is_refused(advertised: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        KafkaStub(advertised=advertised)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"offsets.retention.minutes": 0}, "offsets.retention.minutes=0 is refused"),
        ({"offsets.retention.minutes": "soon"}, "offsets.retention.minutes=soon is refused"),
        ({"log.cleanup.policy": "sometimes"}, "log.cleanup.policy=sometimes is refused"),
        ({"auto.create.topics.enable": "maybe"}, "auto.create.topics.enable=maybe is refused"),
    ],
)
def test_a_configuration_that_kafka_would_refuse_is_refused_in_one_sentence(
    config: dict[str, object], text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        KafkaStub(config=config)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def test_the_configuration_takes_effect(nothing_left: None) -> None:
    with KafkaStub(config={"num.partitions": 5, "auto.create.topics.enable": True, "node.id": "9"}) as stub:
        answer = metadata(stub.bootstrap_servers, "surprise")
        assert len(answer.topics[0].partitions) == 5
        assert [node.node_id for node in answer.brokers] == [9]
    with KafkaStub(config={"auto.create.topics.enable": False}) as stub:
        [topic] = metadata(stub.bootstrap_servers, "surprise").topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_key_that_kafka_has_not_is_one_warning_and_ignored(
    nothing_left: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub(config={"no.such.key": 1}) as stub:
        topics(stub)
    [record] = [record for record in caplog.records if record.name == "kafkastub"]
    assert record.levelname == "WARNING"
    assert "no.such.key" in record.getMessage()


@pytest.mark.parametrize("key", ["max.connections", "listener.name.plaintext.max.connections"])
def test_a_limit_that_lets_nobody_in_is_one_warning(
    nothing_left: None, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub(config={key: 0}):
        [record] = [record for record in caplog.records if record.name == "kafkastub"]
    assert record.levelname == "WARNING"
    assert f"{key}=0 lets nobody in: raise it, or leave it out" in record.getMessage()


def test_infinite_retention_is_a_matter_of_the_profile() -> None:
    forever = {"offsets.retention.minutes": -1}
    KafkaStub(config=forever, profile="kips")
    with pytest.raises(ConfigError, match=r"offsets\.retention\.minutes=-1"):
        KafkaStub(config=forever, profile="kafka")
    with pytest.raises(ValueError, match="kraft"):
        KafkaStub(profile="kraft")


# -- topics


def test_a_topic_that_is_created_is_there_at_once(nothing_left: None) -> None:
    with KafkaStub() as stub:
        stub.create_topic("orders", partitions=4, configs={"cleanup.policy": "compact"})
        assert topics(stub) == {"orders": 4}


@pytest.mark.parametrize(
    ("name", "partitions", "configs", "code"),
    [
        ("orders", 1, None, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("no spaces", 1, None, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("", 1, None, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("x" * 250, 1, None, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("more", 0, None, ErrorCode.INVALID_PARTITIONS),
        ("more", 1, {"no.such.config": "1"}, ErrorCode.INVALID_CONFIG),
        ("more", 1, {"retention.ms": "-7"}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_topic_that_kafka_would_refuse_is_refused(
    nothing_left: None, name: str, partitions: int, configs: dict[str, str] | None, code: ErrorCode
) -> None:
    with KafkaStub(topics={"orders": 1}) as stub:
        with pytest.raises(TopicError) as caught:
            stub.create_topic(name, partitions, configs)
        assert caught.value.code == code
        assert str(caught.value)
        assert topics(stub) == {"orders": 1}


def test_a_refused_topic_at_the_start_leaves_nothing_running(nothing_left: None) -> None:
    with pytest.raises(TopicError) as caught:
        KafkaStub(topics={"fine": 1, "no spaces": 1}).start()
    assert caught.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_topics_can_be_created_from_many_threads(nothing_left: None) -> None:
    with KafkaStub() as stub:
        threads = [threading.Thread(target=stub.create_topic, args=(f"topic-{number}",)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert topics(stub) == {f"topic-{number}": 1 for number in range(16)}


def test_a_topic_that_is_created_while_it_closes_is_created_or_refused(nothing_left: None) -> None:
    stub = KafkaStub().start()
    created: list[int] = []
    refused: list[Exception] = []

    def create() -> None:
        try:
            for number in range(100_000):
                stub.create_topic(f"topic-{number}")
                created.append(number)
        except StubError as error:
            refused.append(error)

    thread = threading.Thread(target=create)
    thread.start()
    while not created:
        topics(stub)
    stub.close()
    thread.join()
    assert len(refused) == 1
