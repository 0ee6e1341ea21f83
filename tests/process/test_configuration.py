"""`kafkastub serve --config … --config-file …`: what is accepted, refused, ignored."""

from __future__ import annotations

import json
from pathlib import Path
from signal import SIGTERM

import pytest

from tests.ports import reserved_port
from tests.process.serving import Serving, refused

KRAFT_PROPERTIES = """\
# As Kafka's own config/server.properties, one node that is broker and controller.

process.roles=broker,controller
node.id=7
controller.quorum.bootstrap.servers=localhost:9093

listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,\\
    SASL_SSL:SASL_SSL

num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600

log.dirs=/tmp/kraft-combined-logs
num.partitions=4
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
! log.flush.interval.messages=10000
log.retention.hours=168
log.segment.bytes = 1073741824
log.retention.check.interval.ms:300000
"""


@pytest.fixture
def properties(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(KRAFT_PROPERTIES)
    return path


def auto_created(process: Serving) -> int:
    """Number of partitions of a topic that comes into being by being asked for."""
    [topic] = process.metadata("surprise").topics
    return len(topic.partitions)


def test_the_server_properties_of_a_real_kafka_work(properties: Path) -> None:
    with Serving("--config-file", str(properties)) as process:
        assert auto_created(process) == 4
        assert [node.node_id for node in process.metadata().brokers] == [7]
        assert process.stop(SIGTERM)[0] == 0
        # what the user may rely on and does not get: the file's listeners (--port was given) and its directory
        [directory, listeners] = process.stderr.splitlines()
        assert "log.dirs" in directory
        assert "listeners" in listeners


def test_the_command_line_wins_over_the_file(properties: Path) -> None:
    with Serving("--config", "num.partitions=2", "--config-file", str(properties)) as process:
        assert auto_created(process) == 2


def test_several_configurations_can_follow_one_option() -> None:
    with Serving("--config", "num.partitions=2", "node.id=3", "--config", "log.retention.hours=1") as process:
        assert auto_created(process) == 2
        assert [node.node_id for node in process.metadata().brokers] == [3]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--config", "offsets.retention.minutes=0"], "offsets.retention.minutes=0"),
        (["--config", "offsets.retention.minutes=soon"], "offsets.retention.minutes=soon"),
        (["--config", "offsets.retention.minutes=-1", "--profile", "kafka"], "offsets.retention.minutes=-1"),
        (["--config", "log.cleanup.policy=sometimes"], "log.cleanup.policy=sometimes"),
        (["--config", "auto.create.topics.enable=maybe"], "auto.create.topics.enable=maybe"),
        (["--config", "num.partitions=0"], "num.partitions=0"),
        (["--config", "num.partitions=99999999999"], "num.partitions=99999999999"),
        (["--config", "compression.type=brotli"], "compression.type=brotli"),
        (["--config", "nonsense"], "nonsense"),
        (["--config", "=1"], "=1"),
        (["--config-file", "no/such/server.properties"], "no/such/server.properties"),
        (["--config-file", "/"], "/"),
        (["--topic", "orders"], "orders"),
        (["--topic", "orders:none"], "orders:none"),
        (["--topic", "orders:0"], "orders:0"),
        (["--topic", "orders:²"], "orders:²"),
        (["--topic", "no spaces:1"], "no spaces"),
        (["--topic", ".:1"], "'.'"),
        (["--topic", f"{'x' * 250}:1"], "249"),
        (["--advertised", "nowhere"], "nowhere"),
        (["--advertised", "host:99999"], "host:99999"),
    ],
    ids=lambda value: None if isinstance(value, list) else value[:30],
)
def test_what_kafka_would_refuse_is_refused_in_one_sentence(args: list[str], named: str) -> None:
    status, said = refused("--port", "0", *args)
    assert status == 2
    assert said.startswith("kafkastub: ")
    assert said.count("\n") == 1
    assert named in said


@pytest.mark.parametrize(
    ("option", "value"), [("--port", "70000"), ("--port", "-1"), ("--profile", "none"), ("--log-level", "loud")]
)
def test_an_option_that_makes_no_sense_is_refused(option: str, value: str) -> None:
    status, said = refused(option, value)
    assert status == 2
    assert "Traceback" not in said
    assert value in said.splitlines()[-1]


def test_minus_one_is_accepted_for_the_retention_of_offsets_by_the_kips() -> None:
    with Serving("--config", "offsets.retention.minutes=-1", "--profile", "kips") as process:
        process.metadata()


def test_a_key_that_kafka_has_not_is_one_warning_and_ignored(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("zookeeper.connect=localhost:2181\nnum.partitions=3\n")
    with Serving("--config-file", str(path), "--config", "no.such.key=1", "--log-format", "json") as process:
        assert auto_created(process) == 3
        lines = [json.loads(line) for line in process.stderr.splitlines()]
        assert [line["level"] for line in lines] == ["warning", "warning"]
        assert "zookeeper.connect" in str(lines[0])
        assert "no.such.key" in str(lines[1])


def test_log_lines_in_json_are_one_object_each() -> None:
    with Serving("--log-format", "json", "--config", "no.such.key=a\nb", "other.key=\u00fc") as process:
        process.metadata()
        assert process.stop(SIGTERM)[0] == 0
        lines = [json.loads(line) for line in process.stderr.splitlines()]
    assert [line["event"] for line in lines if line["level"] == "warning"] != []
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)


def test_log_lines_for_people_are_one_line_each_without_colours() -> None:
    with Serving("--config", "no.such.key=1") as process:
        [line] = process.stderr.splitlines()
        assert "no.such.key" in line
        assert "\x1b" not in line


def test_the_log_level_leaves_out_what_is_below_it() -> None:
    with Serving("--config", "no.such.key=1", "--log-level", "error") as process:
        process.metadata()
        assert process.stderr == ""


def test_a_topic_given_twice_is_refused() -> None:
    assert refused("--topic", "a:1", "b:1", "a:2") == (2, "kafkastub: --topic 'a' is given twice: a:1 and a:2\n")


def test_more_racks_than_nodes_are_refused() -> None:
    why = "--racks names 3 racks: at most 2 are allowed, one for each node; leave some out, or raise --nodes"
    assert refused("--nodes", "2", "--racks", "a", "b", "c", "--port", "0") == (2, f"kafkastub: {why}\n")


@pytest.mark.parametrize("option", ["--host", "--data-dir"])
def test_an_empty_value_is_refused(option: str) -> None:
    status, said = refused(option, "")
    assert status == 2
    assert f"argument {option}: it is empty: " in said.splitlines()[-1]


def test_the_profile_that_allows_it_is_named() -> None:
    status, said = refused("--profile", "kafka", "--config", "offsets.retention.minutes=-1")
    assert (status, "profile kips" in said) == (2, True)


def test_an_older_release_says_what_it_lacks() -> None:
    with Serving("--as-version", "2.8") as process:
        assert "serving as Apache Kafka 2.8" in process.stderr
        assert "Produce 0-2" in process.stderr


def test_an_unknown_release_is_refused() -> None:
    status, said = refused("--as-version", "1.0")
    assert (status, said.count("\n")) == (2, 1)
    assert "a release from 2.1 to 4.4" in said


def test_a_full_disk_for_the_ready_line_does_not_matter() -> None:
    with (
        reserved_port() as port,
        Path("/dev/full").open("w") as full,
        Serving("--port", str(port), full=full) as process,
    ):
        process.await_answer(port)
        assert process.stop(SIGTERM)[0] == 0
        assert process.stderr == ""
