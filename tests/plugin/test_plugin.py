"""The pytest plugin as a project of its own sees it: each test runs a pytest of its own on a small test file."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import list_groups
from kafkastub.client.topics import names


def test_the_closest_marker_wins_and_topics_add_up(run):
    run("""
pytestmark = pytest.mark.kafka_stub(topics={"everywhere": 1}, config={"num.partitions": 5}, retention_minutes=60)

@pytest.mark.kafka_stub(topics={"inner": 2})
class TestBoth:
    def test_of_the_class(self, kafka_stub):
        assert topics(kafka_stub) == {"everywhere": 1, "inner": 2}

    @pytest.mark.kafka_stub(topics=["everywhere", "mine"], profile="kafka", retention_minutes=1)
    def test_of_its_own(self, kafka_stub):
        assert topics(kafka_stub) == {"everywhere": 1, "inner": 2, "mine": 1}
""").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("marker", "sentence"),
    [
        ("retention=3", "@pytest.mark.kafka_stub has no retention=; it has topics, config, retention_minutes,*"),
        ("3", "@pytest.mark.kafka_stub takes keywords only, for example topics={'orders': 3}"),
        ("topics=5", "@pytest.mark.kafka_stub(topics=5): expected names with their partitions,*"),
        ("topics='orders'", "@pytest.mark.kafka_stub(topics='orders'): expected names with their partitions,*"),
        ("retention_minutes=0", "*offsets.retention.minutes*"),
    ],
)
def test_a_marker_that_cannot_be_is_refused(run, marker: str, sentence: str):
    result = run(f"@pytest.mark.kafka_stub({marker})\ndef test_it(kafka_stub): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{sentence}"])


EXPIRY = """
from confluent_kafka import Consumer, TopicPartition

@pytest.mark.kafka_stub(topics=["orders"])
def test_it(kafka_stub, kafka_clock):
    consumer = Consumer({"bootstrap.servers": kafka_stub.bootstrap_servers, "group.id": "g"})
    kafka_clock.freeze()
    consumer.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    consumer.close()
    kafka_clock.advance(minutes=2)
    assert kafka_stub.metrics()["offset-expirations"] == 0
    kafka_clock.advance(minutes=1)
    assert kafka_stub.metrics()["offset-expirations"] == 1
"""


def test_options_win_over_ini_entries(run):
    run(EXPIRY, "--kafka-stub-retention-minutes=3", ini="kafka_stub_retention_minutes = 9").assert_outcomes(passed=1)


def test_ini_entries_of_configuration(run):
    run(EXPIRY, ini="kafka_stub_config =\n    offsets.retention.minutes=3\n").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "sentence"),
    [
        ("kafka_stub_retention_minutes = soon", "kafka_stub_retention_minutes = soon: expected a number of minutes"),
        ("kafka_stub_config = soon", "kafka_stub_config 'soon': expected KEY=VALUE"),
        ("kafka_stub_config = offset.retention.minutes=5", "*is offsets.retention.minutes meant?"),
    ],
)
def test_ini_entries_that_cannot_be_are_refused(run, ini: str, sentence: str):
    result = run("def test_it(kafka_stub): pass", ini=ini)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{sentence}"])


@pytest.mark.parametrize(
    ("arguments", "ini", "sentence"),
    [
        ((), "kafka_stub_journal_lines = some", "kafka_stub_journal_lines = some: expected a number of requests, *"),
        (("--kafka-stub-bootstrap=localhost",), "", "*'localhost' is not an address: expected HOST:PORT"),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_sentence(run, arguments: tuple[str, ...], ini: str, sentence: str):
    result = run("def test_it(kafka_stub): pass", *arguments, ini=ini)
    (result.stderr if ini else result.stdout).fnmatch_lines([f"*{sentence}"])
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_the_server_is_shared_and_its_topics_are_not(run):
    run("""
seen = []

@pytest.mark.kafka_stub(partitions=3)
@pytest.mark.parametrize("n", range(3))
def test_it(kafka_stub_server, kafka_topic, kafka_group, n):
    assert topics(kafka_stub_server)[kafka_topic] == 3
    seen.append((kafka_stub_server.port, kafka_topic, kafka_group))
    ports, names, groups = map(set, zip(*seen))
    assert (len(ports), len(names), len(groups)) == (1, n + 1, n + 1)
""").assert_outcomes(passed=3)


def test_a_factory_makes_any_number(run):
    run("""
def test_it(kafka_stub_factory):
    one, other = kafka_stub_factory(topics={"a": 1}), kafka_stub_factory(topics={"b": 2}, profile="kafka")
    assert (topics(one), topics(other)) == ({"a": 1}, {"b": 2})
""").assert_outcomes(passed=1)


def test_a_broker_is_fresh_and_gone_afterwards(run):
    run("""
import socket
ports = []

@pytest.mark.parametrize("n", range(3))
def test_it(kafka_stub, kafka_topic, n):
    assert topics(kafka_stub) == {kafka_topic: 1}
    for port in ports:
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
    ports.append(kafka_stub.port)
""").assert_outcomes(passed=3)


@pytest.mark.parametrize("loop", ["asyncio", "anyio"])
def test_async_tests_on_either_plugin(run, loop: str):
    run(f"""
from aiokafka import AIOKafkaProducer

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.{loop}
async def test_it(kafka_stub, kafka_topic):
    async with AIOKafkaProducer(bootstrap_servers=kafka_stub.bootstrap_servers) as producer:
        assert (await producer.send_and_wait(kafka_topic, b"x")).offset == 0
""").assert_outcomes(passed=1)


def test_nothing_of_the_broker_is_imported_before_it_is_used(run):
    run(
        """
import sys

def test_it():
    loaded = {name for name in sys.modules if name.split(".")[0] in ("kafkastub", "kafkawire", "uvloop", "kio")}
    plugin = "kafkastub.pytest_plugin"
    assert loaded == {"kafkastub", plugin, f"{plugin}.closing", f"{plugin}.options", f"{plugin}.runs"}
""",
        as_installed=True,
    ).assert_outcomes(passed=1)


REAL = """
@pytest.mark.kafka_stub(topics={"orders": 2})
def test_plain(kafka_stub):
    assert topics(kafka_stub)["orders"] == 2

def test_names(kafka_stub_server, kafka_topic, kafka_group):
    assert topics(kafka_stub_server)[kafka_topic] == 1

def test_faults(kafka_stub, kafka_faults, kafka_topic):
    with kafka_faults.add(api="Metadata", delay_ms=1) as fault:
        assert topics(kafka_stub)[kafka_topic] == 1
        assert fault.hits

def test_journal(kafka_stub_server, kafka_journal, kafka_topic):
    topics(kafka_stub_server)
    assert kafka_journal.wait_for(api="Metadata", client_id="rdkafka")

def test_records_and_offsets(kafka_stub, kafka_topic, kafka_group):
    kafka_stub.produce(kafka_topic, "v")
    assert [one.value for one in kafka_stub.records.wait(kafka_topic)] == [b"v"]
    kafka_stub.commit(kafka_group, {(kafka_topic, 0): 0})
    assert kafka_stub.lag(kafka_group) == {(kafka_topic, 0): 1}
    kafka_stub.wait_group(kafka_group, state="Empty", members=0, timeout=60)

@pytest.mark.kafka_stub(chaos=7)
def test_chaos(kafka_stub):
    assert kafka_stub.chaos.seed == 7
    assert topics(kafka_stub) is not None

def test_clock(kafka_clock):
    raise AssertionError

def test_metrics(kafka_stub):
    kafka_stub.metrics()
    raise AssertionError

def test_factory(kafka_stub_factory):
    raise AssertionError

@pytest.mark.kafka_stub(retention_minutes=3)
def test_particular(kafka_stub):
    raise AssertionError
"""


@pytest.mark.parametrize("how", ["option", "environment"])
def test_the_same_tests_on_a_real_cluster(run, servers: str, how: str, monkeypatch: pytest.MonkeyPatch):
    if how == "environment":
        monkeypatch.setenv("KAFKA_STUB_BOOTSTRAP", servers)
        result = run(REAL)
    else:
        result = run(REAL, f"--kafka-stub-bootstrap={servers}")
    result.assert_outcomes(passed=6, skipped=4)
    for what in ("kafka_stub.clock", "kafka_stub.metrics", "kafka_stub_factory", "retention_minutes= of the marker"):
        result.stdout.fnmatch_lines([f"*{what} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {servers}*"])


AGAIN = """
from confluent_kafka import Consumer, TopicPartition

@pytest.mark.kafka_stub(topics=["orders"])
@pytest.mark.parametrize("n", range(2))
def test_it(kafka_stub, n):
    kafka_stub.produce("orders", f"order {n}")
    kafka_stub.create_topic("bills")
    assert [one.value for one in kafka_stub.records("orders")] == [f"order {n}".encode()]
    consumer = Consumer({"bootstrap.servers": kafka_stub.bootstrap_servers, "group.id": "shipping"})
    place = [TopicPartition("orders", 0, 1)]
    assert consumer.committed(place, timeout=30)[0].offset == -1001
    consumer.commit(offsets=place, asynchronous=False)
    consumer.commit(offsets=[TopicPartition("kept", 0, 1)], asynchronous=False)
    consumer.close()

@pytest.mark.kafka_stub(topics=["orders"], own=True)
def test_own(kafka_stub_server, kafka_prefix):
    assert kafka_prefix + "orders" in topics(kafka_stub_server)
"""


def test_what_a_test_makes_on_a_real_cluster_goes_with_it(run):
    """A stub is new for each test; so are these topics and groups, and what was there before stays."""
    with KafkaStub(topics={"kept": 1}) as cluster:
        cluster.commit("old", {("kept", 0): 1})
        run(AGAIN, f"--kafka-stub-bootstrap={cluster.bootstrap_servers}").assert_outcomes(passed=3)
        with Client(cluster.bootstrap_servers) as client:
            assert {one for one in names(client) if not one.startswith("__")} == {"kept"}
            assert [one.group_id for one in list_groups(client)] == ["old"]


def test_a_failure_shows_the_last_requests(run):
    result = run("""
@pytest.mark.kafka_stub(topics={"orders": 1})
def test_it(kafka_stub):
    assert topics(kafka_stub) == {}
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*last requests of kafka_stub*", "*ApiVersions*", "*Metadata*"])


def test_a_stub_that_was_closed_before_still_lets_its_test_report(run):
    run("def test_it(kafka_stub):\n    kafka_stub.close()\n    assert topics is None").assert_outcomes(failed=1)


HEARTBEATS = """
from kafkastub.client import Client
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest

def told(stub):
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="one",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    with Client(stub.bootstrap_servers) as client:
        answer = client.ask_coordinator("g", request)
    return answer.error_code, answer.heartbeat_interval_ms

def test_quick(kafka_stub):
    assert told(kafka_stub) == (0, 100)

@pytest.mark.kafka_stub(config={"group.consumer.min.heartbeat.interval.ms": 3000})
def test_of_its_own(kafka_stub):
    assert told(kafka_stub) == (0, 5000)

def test_of_an_argument_s_own(kafka_stub_factory):
    assert told(kafka_stub_factory(config={"group.consumer.heartbeat.interval.ms": 7000})) == (0, 7000)
"""


def test_members_of_the_consumer_protocol_speak_often_unless_the_test_says_how_often(run):
    run(HEARTBEATS).assert_outcomes(passed=3)


SHARE_HEARTBEATS = """
from kafkastub.client import Client
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest

def told(stub):
    request = ShareGroupHeartbeatRequest(group_id="g", member_id="one", subscribed_topic_names=["orders"])
    with Client(stub.bootstrap_servers) as client:
        answer = client.ask_coordinator("g", request)
    return answer.error_code, answer.heartbeat_interval_ms

@pytest.mark.kafka_stub(config={"group.consumer.min.heartbeat.interval.ms": 3000})
def test_quick(kafka_stub):
    assert told(kafka_stub) == (0, 100)

@pytest.mark.kafka_stub(config={"group.share.min.heartbeat.interval.ms": 3000})
def test_of_its_own(kafka_stub):
    assert told(kafka_stub) == (0, 5000)
"""


def test_members_of_share_groups_speak_often_unless_the_test_says_how_often(run):
    run(SHARE_HEARTBEATS).assert_outcomes(passed=2)


STREAMS_HEARTBEATS = """
from kafkastub.client import Client
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest, Subtopology, Topology

def told(stub):
    request = StreamsGroupHeartbeatRequest(
        group_id="g",
        member_id="one",
        rebalance_timeout_ms=60_000,
        process_id="p",
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        topology=Topology(0, [Subtopology("0", source_topics=["orders"])]),
    )
    with Client(stub.bootstrap_servers) as client:
        answer = client.ask_coordinator("g", request)
    return answer.error_code, answer.heartbeat_interval_ms

@pytest.mark.kafka_stub(config={"group.share.min.heartbeat.interval.ms": 3000})
def test_quick(kafka_stub):
    assert told(kafka_stub) == (0, 100)

@pytest.mark.kafka_stub(config={"group.streams.min.heartbeat.interval.ms": 3000})
def test_of_its_own(kafka_stub):
    assert told(kafka_stub) == (0, 5000)
"""


def test_members_of_streams_groups_speak_often_unless_the_test_says_how_often(run):
    run(STREAMS_HEARTBEATS).assert_outcomes(passed=2)
