"""`kafkastub proxy`: its ready line, its end, its options, and what it refuses."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaProxy, KafkaStub, replay
from kafkastub.client import Client
from kafkastub.client.records import produce
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.records import NewRecord
from tests.waiting import SECONDS, until

READY = re.compile(r"kafkastub ready on (127\.0\.0\.1:\d+) \(proxy to (127\.0\.0\.1:\d+)\)\n")


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}) as running:
        yield running


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "kafkastub.cli", "proxy", *options]


@contextmanager
def running(*options: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, where it listens, and the URL of its control port."""
    process = subprocess.Popen(command(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = READY.fullmatch(line)
        assert found is not None, (line, process.stderr and process.stderr.read())
        url = process.stdout.readline().split()[-1] if "--control-port" in options else ""
        yield process, found[1], url
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def asked(url: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
        return json.load(answer)


def refused(url: str, method: str = "GET") -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(url, b"{}" if method == "POST" else None, method=method))
    return error.value.code, json.load(error.value)["error"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_answers_and_ends_with_a_signal(stub: KafkaStub, number: int) -> None:
    with running("--to", stub.bootstrap_servers, "--port", "0") as (process, servers, _):
        with Client(servers) as client:
            produce(client, "orders", 0, [NewRecord(None, b"v", 0)])
        process.send_signal(number)
        assert process.wait(SECONDS) == 0
    assert [record.value for record in stub.records("orders")] == [b"v"]


def test_rules_chaos_and_the_control_port(stub: KafkaStub, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("- {api: Produce, error: NOT_LEADER_OR_FOLLOWER, times: 1, name: first}\n")
    options = ["--faults", str(rules), "--chaos", "1", "--control-port", "0"]
    with running("--to", stub.bootstrap_servers, "--port", "0", *options) as (_, servers, url):
        with Client(servers) as client:
            produce(client, "orders", 0, [NewRecord(None, b"v", 0)])
        assert [(one["id"], one["hits"]) for one in asked(f"{url}/v1/faults")["faults"]] == [("first", 1)]
        assert asked(f"{url}/v1/chaos")["running"]
        added = asked(f"{url}/v1/faults", {"api": "Produce", "topic": "orders", "hold": "before"})
        assert asked(f"{url}/v1/faults/{added['id']}", method="DELETE") == {"removed": 1}
        entries = asked(f"{url}/v1/journal?api=Produce")["entries"]
        assert next(entry["fault"] for entry in entries) == "first"
        assert asked(f"{url}/health")["status"] == "healthy"
        assert asked(f"{url}/v1/summary")["cluster"] == stub.bootstrap_servers


@pytest.fixture
def url(stub: KafkaStub) -> Iterator[str]:
    """The control port of a proxy in this process: it has the application that the command's has."""
    with KafkaProxy(stub.bootstrap_servers, control_port=0) as proxy:
        yield proxy.control_url


def test_topics_records_and_groups_over_http_are_the_clusters(stub: KafkaStub, url: str) -> None:
    assert asked(f"{url}/v1/topics", {"name": "made", "partitions": 2})["partitions"] == 2
    written = asked(f"{url}/v1/topics/made/records", {"records": [{"value": "one", "partition": 1}]})
    assert written == {"records": [{"partition": 1, "offset": 0}]}
    found = asked(f"{url}/v1/topics/made/records?partition=1&until_end=1")["records"]
    assert [one["value"] for one in found] == ["one"]
    assert asked(f"{url}/v1/topics/made/wait?records=1")["records"] == 1
    stub.commit("g", {("made", 1): 0})
    assert asked(f"{url}/v1/groups/g")["lag"] == 1
    assert asked(f"{url}/v1/groups/g/wait?state=Empty")["state"] == "Empty"
    assert asked(f"{url}/v1/groups/g", method="DELETE")["group"] == "g"
    assert asked(f"{url}/v1/topics/made", method="DELETE")["name"] == "made"
    assert refused(f"{url}/v1/topics/made") == (404, "topic 'made' does not exist")
    assert refused(f"{url}/v1/groups/none/wait?state=Stable&timeout=0")[0] == 408
    assert len(asked(f"{url}/v1/nodes")["nodes"]) == 1


def test_why_clients_wait_is_told_from_what_passes(stub: KafkaStub) -> None:
    with KafkaProxy(stub.bootstrap_servers, control_port=0) as proxy:
        with Client(proxy.bootstrap_servers, client_id="shipping") as client:
            wanted = [MetadataRequestTopic(name="order")]
            client.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), version=9)
        (cause,) = asked(f"{proxy.control_url}/v1/causes")["causes"]
        assert cause == "The cluster had no topic 'order' when shipping asked for it once."
        assert asked(f"{proxy.control_url}/v1/causes?seconds=0.000001")["causes"] == []


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("clock", "GET"), ("clock/advance", "POST"), ("snapshots", "POST"), ("broker", "GET"),
        ("transactions/shop/release", "POST"), ("share-groups/g/hold-acknowledgements", "POST"), ("quotas", "GET"),
        ("acls", "GET"), ("configs", "GET"), ("reset", "POST"), ("leaders/elect", "POST"), ("nodes/1/stop", "POST"),
        ("groups/g/target", "PUT"), ("topics/t/search", "GET"), ("hanging-transactions", "GET"), ("advertised", "GET"),
    ],
)  # fmt: skip
def test_what_only_a_stub_can_do_is_refused_in_a_sentence(url: str, path: str, method: str) -> None:
    status, said = refused(f"{url}/v1/{path}", method)
    assert status == 501
    name = path.partition("/")[0]
    assert said.startswith(f"{name} needs a stub, and this is a proxy in front of a cluster: ")


def test_whatever_a_stub_is_asked_a_proxy_answers_or_refuses(url: str) -> None:
    with KafkaStub(control_port=0) as other:
        paths = asked(f"{other.control_url}/openapi.json")["paths"]
        for path, operations in paths.items():
            asked_for = re.sub(r"\{\w+\}", "7", path)
            if asked_for.endswith("/events") or "get" not in operations or not path.startswith("/v1/"):
                continue
            status, said = told(f"{url}{asked_for}?timeout=0")
            assert status != 500, (asked_for, said)
            assert "there is nothing at" not in said, (asked_for, said)


def told(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["error"]


def test_the_journal_of_an_application_is_replayed_on_a_stub(stub: KafkaStub, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    options = ["--journal", str(folder), "--journal-bytes", "1M"]
    with running("--to", stub.bootstrap_servers, "--port", "0", *options) as (process, servers, _):
        with Client(servers) as client:
            for number in range(400):
                produce(client, "orders", 0, [NewRecord(None, bytes(1000), number)])
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert 500_000 < size < 1_500_000
    with KafkaStub(topics={"orders": 1}) as fresh:
        came = replay(folder, fresh)
        assert came.differences == []
        assert 100 < came.answers < 1_200
        assert len(fresh.records("orders")) > 50


def run(*options: str) -> tuple[int, str]:
    done = subprocess.run(command(*options), capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stderr


def test_a_cluster_that_does_not_answer_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
    status, said = run("--to", nobody, "--port", "0")
    assert status == 2
    assert said == (
        f"kafkastub: the cluster at {nobody} does not answer: nobody listens at {nobody}: connection refused\n"
    )


def test_it_waits_for_a_cluster_that_starts_later() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    process = subprocess.Popen(
        command("--to", f"127.0.0.1:{port}", "--port", "0", "--wait", str(SECONDS)), stdout=subprocess.PIPE, text=True
    )
    try:
        with KafkaStub(port=port):
            assert process.stdout is not None
            assert READY.fullmatch(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "kafka"], "'kafka' is not an address: expected HOST:PORT, for example localhost:9092"),
        (["--to", "a:1", "--config", "num.partitions=3"], "'num.partitions=3' is not a configuration of a proxy"),
        (
            ["--to", "a:1", "--command-config", "/nowhere"],
            "configuration file /nowhere can't be read: No such file or directory",
        ),
        (
            ["--to", "a:1", "--journal-bytes", "many"],
            "'many' is not a size: expected 1M and more, for example",
        ),
        (["--to", "a:1", "--faults", "/nowhere"], "/nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused(options: list[str], said: str) -> None:
    status, told = run(*options, "--port", "0")
    assert status == 2
    assert said in told


def test_a_port_that_is_taken_is_told(stub: KafkaStub) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, said = run("--to", stub.bootstrap_servers, "--port", str(port))
    assert status == 2
    assert f"port {port} on 127.0.0.1 is taken by another process" in said


def test_connections_of_a_cluster_that_dies_end_and_come_back_with_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        KafkaStub(port=port, topics={"orders": 1}) as first,
        running("--to", f"127.0.0.1:{port}", "--port", "0") as (_, servers, _),
    ):
        host, _, here = servers.rpartition(":")
        with socket.create_connection((host, int(here)), SECONDS) as sock:
            until(lambda: first._running().connections[0], "a connection")
            first.close()
            assert sock.recv(1) == b""
        with KafkaStub(port=port, topics={"orders": 1}):

            def works() -> bool:
                try:
                    with Client(servers, 5) as client:
                        produce(client, "orders", 0, [NewRecord(None, b"v", 0)])
                except Exception:
                    return False
                return True

            until(works, "a cluster that is back")
