"""The image, built and run by a real engine (`make test-docker`)."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from tests.waiting import until

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parent.parent.parent
BUILD = ["-f", "docker/Dockerfile", "-t", "kafkastub", "."]
COMPOSE = ["compose", "-f", "docker/compose.yml", "-p", "kafkastub-test"]
PROXY = ["compose", "-f", "docker/proxy.yml", "-p", "kafkastub-proxy-test"]
AS_MANY_SET_IT = {
    "KAFKA_NODE_ID": "7",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "7@localhost:9093",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "PLAINTEXT",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_HEAP_OPTS": "-Xmx512m",
    "KAFKA_NUM_PARTITIONS": "5",
}
"""What a compose file for the image apache/kafka commonly has."""


def docker(*arguments: str, check: bool = True, **environment: str) -> str:
    done = subprocess.run(
        ["docker", *arguments],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert not check or done.returncode == 0, f"docker {' '.join(arguments)}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="session", autouse=True)
def images() -> None:
    if shutil.which("docker") is None or not docker("info", "--format", "{{.ServerVersion}}", check=False):
        pytest.skip("no container engine answers; docker/engine.sh starts one")
    docker("build", "--network=host", *BUILD)
    docker("build", "--network=host", "-f", "docker/client.Dockerfile", "-t", "kafkastub-client", "docker")


@pytest.fixture
def run() -> Iterator[object]:
    """Starts a container of the image with an environment; gives its id and the host's port of its port 9092."""
    started: list[str] = []

    def run(*command: str, **environment: str) -> tuple[str, int]:
        port = free_port()
        environment.setdefault("KAFKA_ADVERTISED_LISTENERS", f"PLAINTEXT://localhost:{port}")
        given = [part for name, value in environment.items() for part in ("-e", f"{name}={value}")]
        started.append(docker("run", "-d", "-p", f"{port}:9092", *given, "kafkastub", *command))
        return started[-1], port

    yield run
    for container in started:
        docker("rm", "-f", container, check=False)


def next_value(consumer: Consumer) -> bytes:
    for _ in range(60):
        message = consumer.poll(1)
        if message is not None:
            assert message.error() is None
            return bytes(message.value() or b"")
    raise AssertionError("no message within a minute")


def health(container: str) -> str:
    return docker("inspect", "-f", "{{.State.Health.Status}}", container)


def topics(port: int) -> dict[str, int]:
    listed = AdminClient({"bootstrap.servers": f"localhost:{port}"}).list_topics(timeout=30).topics
    return {name: len(topic.partitions) for name, topic in listed.items()}


def test_the_image_is_small_and_nobodys(capsys: pytest.CaptureFixture[str]):
    (image,) = json.loads(docker("image", "inspect", "kafkastub"))
    with capsys.disabled():
        print(f"\nthe image has {image['Size'] / 1e6:.0f} MB")
    assert image["Size"] < 400e6
    assert docker("run", "--rm", "--entrypoint", "id", "kafkastub", "-u") == "10001"
    assert image["Config"]["Healthcheck"]["Test"][0] == "CMD"


def test_compose_up_and_clients_inside_and_outside():
    port = str(free_port())
    try:
        docker(*COMPOSE, "up", "--wait", "--no-build", KAFKASTUB_PORT=port)  # the client inside is healthy: it has read
        producer = Producer({"bootstrap.servers": f"localhost:{port}"})
        producer.produce("payments", "paid")
        assert producer.flush(30) == 0
        consumer = Consumer(
            {"bootstrap.servers": f"localhost:{port}", "group.id": "books", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["orders", "payments"])
        assert {next_value(consumer), next_value(consumer)} == {b"two teapots", b"paid"}
        consumer.close()
    finally:
        docker(*COMPOSE, "down", "-t", "1", KAFKASTUB_PORT=port)


def kafka_image() -> str:
    """Apache's, where it can be had; else the stub stands for the cluster: it takes the same environment."""
    apache = "apache/kafka:4.1.0"
    there = docker("image", "inspect", apache, check=False) not in ("", "[]")
    return apache if there or docker("pull", "-q", apache, check=False) else "kafkastub"


def test_a_proxy_and_an_application_that_knows_it_alone():
    ports = {"KAFKASTUB_CONTROL_PORT": str(free_port()), "KAFKA_IMAGE": kafka_image()}
    try:
        docker(*PROXY, "up", "--wait", "--no-build", **ports)  # the application is healthy: it has read what it wrote
        control = f"http://localhost:{ports['KAFKASTUB_CONTROL_PORT']}"
        with urllib.request.urlopen(f"{control}/v1/journal?api=Produce") as answer:
            produced = json.load(answer)["entries"]
        assert [entry["topics"] for entry in produced] == [["orders"]]
        with urllib.request.urlopen(f"{control}/v1/topics/orders/records") as answer:
            assert [record["value"] for record in json.load(answer)["records"]] == ["two teapots"]
    finally:
        docker(*PROXY, "down", "-t", "1", **ports)


def test_an_environment_for_the_apache_image(run):
    environment = {**AS_MANY_SET_IT, "KAFKA_CREATE_TOPICS": "orders:3,payments:1:1"}
    container, port = run(**environment)
    until(lambda: health(container) == "healthy", "healthy")
    assert topics(port) == {"orders": 3, "payments": 1}
    assert "does not exist" not in docker("logs", container)
    nodes = AdminClient({"bootstrap.servers": f"localhost:{port}"}).list_topics(timeout=30).brokers
    assert list(nodes) == [7]


def test_options_of_serve_follow_the_image(run):
    container, port = run(
        "--topic", "more:2", KAFKA_LISTENERS="PLAINTEXT://:9092", KAFKA_INTER_BROKER_LISTENER_NAME="PLAINTEXT",
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="PLAINTEXT:PLAINTEXT", KAFKASTUB_PROFILE="kafka",
    )  # fmt: skip
    until(lambda: health(container) == "healthy", "healthy")
    assert topics(port) == {"more": 2}
    assert "(profile kafka)" in docker("logs", container)


def test_the_guides_commands_are_those_tried_here():
    said = re.findall(r"^docker .*", (ROOT / "docs" / "docker.md").read_text(), re.MULTILINE)
    build, up, run = (line.removeprefix("docker ").split() for line in said)
    assert build == ["build", *BUILD]
    assert up == [*COMPOSE[:3], "up", "--wait"]
    assert run[:3] == ["run", "-p", "29092:9092"]
    container = docker(*run[:1], "-d", *run[1:])
    try:
        until(lambda: health(container) == "healthy", "healthy")
        assert topics(29092) == {}
    finally:
        docker("rm", "-f", container)


def test_sigterm_ends_it_before_the_engine_has_to(run):
    container, _ = run(KAFKA_ADVERTISED_LISTENERS="HOST://localhost:9092,NETWORK://:19092")
    until(lambda: health(container) == "healthy", "healthy")
    docker("stop", container)  # kills it after ten seconds, and the code is 137 then
    assert docker("inspect", "-f", "{{.State.ExitCode}}", container) == "0"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("KAFKA_CREATE_TOPICS", "orders", "KAFKA_CREATE_TOPICS: 'orders' is not a topic: expected NAME:PARTITIONS"),
        ("KAFKA_NUM_PARTITIONS", "some", "num.partitions"),
        ("KAFKASTUB_PROFILE", "odd", "--profile"),
    ],
)
def test_an_environment_that_cannot_be_is_refused(run, name: str, value: str, sentence: str):
    container, _ = run(**{"KAFKA_ADVERTISED_LISTENERS": "HOST://localhost:9092,NETWORK://:19092", name: value})
    assert docker("wait", container) == "2"
    done = subprocess.run(["docker", "logs", container], capture_output=True, text=True, check=True)
    assert sentence in done.stderr


@pytest.mark.parametrize(("example", "tool"), [("python", "python3"), ("java", "mvn"), ("go", "go"), ("node", "npm")])
def test_the_examples_with_testcontainers_run_it(example: str, tool: str):
    if shutil.which(tool) is None:
        pytest.skip(f"this machine has no {tool}")
    environment = {**os.environ, "KAFKASTUB_ENGINE": "1"}  # nothing is skipped
    command = [sys.executable, "examples/run.py", f"testcontainers/{example}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"testcontainers/{example}: passed" in done.stdout
