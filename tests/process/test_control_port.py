"""`kafkastub serve --control-port`: the second line, the end, and what is refused."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.process.serving import SOON, Controlled, refused

SECONDS = 60
"""More than any answer takes, on a busy machine too."""


def asking(process: Controlled) -> httpx.Client:
    return httpx.Client(base_url=process.url, timeout=SECONDS)


def test_two_lines_and_then_both_ports_answer():
    with Controlled("--topic", "orders:3") as process:
        said = httpx.get(f"{process.url}/health", timeout=SECONDS).json()
        assert (said["status"], said["bootstrap_servers"]) == ("healthy", process.servers)
        assert len(process.metadata("orders").topics[0].partitions) == 3


def test_everything_of_the_control_port_is_there_in_a_process():
    with Controlled("--topic", "orders:1") as process:
        process.metadata("orders")
        with asking(process) as client:
            assert client.get("/v1/journal?api=Metadata").json()["entries"]
            assert 'kafkastub_requests_total{api="Metadata",version="12"} 1.0' in client.get("/metrics").text
            assert client.post("/v1/topics", json={"name": "audit"}).status_code == 201
            assert client.post("/v1/reset").json()["topics"] == ["orders"]
            assert client.get("/v1/journal").json()["entries"] == []
            process.metadata("orders")
            assert [each["api"] for each in client.get("/v1/journal").json()["entries"]] == ["Metadata"]
            assert client.get("/v1/config").json()["bootstrap_servers"] == process.servers


def test_faults_of_the_start_are_there_again_after_a_reset(tmp_path: Path):
    (tmp_path / "faults.yaml").write_text("- {api: Fetch, delay_ms: 5, name: slow}\n")
    with Controlled("--faults", str(tmp_path / "faults.yaml")) as process, asking(process) as client:
        for _ in range(2):
            assert [fault["id"] for fault in client.get("/v1/faults").json()["faults"]] == ["slow"]
            client.delete("/v1/faults")
            client.post("/v1/reset")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_whoever_is_there(number: int):
    with Controlled() as process, asking(process) as client:
        client.get("/health")
        client.post("/v1/reset")
        with client.stream("GET", "/v1/journal/follow") as response:
            next(response.iter_lines())
            status, seconds, rest = process.stop(number)
        assert (status, rest) == (0, "")
        assert seconds < SOON
        assert process.stderr == ""


def test_one_with_a_data_directory_is_not_reset_and_with_a_journal_on_disk_neither(tmp_path: Path):
    for option, name in (("--data-dir", "a data directory"), ("--journal", "a journal on disk")):
        with Controlled(option, str(tmp_path / name)) as process:
            answer = httpx.post(f"{process.url}/v1/reset", timeout=SECONDS)
            assert answer.status_code == 409
            assert f"a broker with {name} cannot be reset" in answer.json()["error"]


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, said = refused("--port", "0", "--control-port", str(port))
    assert status == 2
    assert f"the control port cannot be {port} on 127.0.0.1: it is taken by another process" in said


@pytest.mark.parametrize(
    ("args", "names"),
    [(("--control-port", "-1"), "'-1' is not a port"), (("--control-host", ""), "it is empty")],
)
def test_what_is_no_address(args: tuple[str, ...], names: str):
    status, said = refused(*args)
    assert status == 2
    assert names in said
