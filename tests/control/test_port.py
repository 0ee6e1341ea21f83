"""The port itself: when it is there, what it refuses, how it ends, and its description."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.control.guard import LARGEST_BODY
from kafkastub.server.node_listener import ListenError
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_request import Subtopology, Topology
from tests.control.conftest import Http
from tests.docs.generated import DOCS
from tests.ports import reserved_port
from tests.streams_instance import Instance, settle
from tests.stub.consumers import Player, rounds
from tests.waiting import until


def test_there_is_none_unless_it_is_asked_for():
    script = (
        "import sys\n"
        "from kafkastub import KafkaStub\n"
        "with KafkaStub() as stub:\n"
        "    try:\n"
        "        stub.control_url\n"
        "    except RuntimeError as error:\n"
        "        print(error)\n"
        "print(*sorted({'fastapi', 'uvicorn', 'pydantic', 'kafkastub.control', 'http.client'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "this stub has no control port: start it with control_port=0\n\n"


@pytest.mark.parametrize(
    ("arguments", "error", "names"),
    [
        ({"control_port": "0"}, TypeError, "control_port='0'"),
        ({"control_port": 70000}, ValueError, "control_port=70000"),
        ({"control_port": 0, "control_host": ""}, ValueError, "control_host=''"),
    ],
)
def test_what_is_no_address(arguments: dict[str, Any], error: type[Exception], names: str):
    with pytest.raises(error, match=re.escape(names)):
        KafkaStub(**arguments)


def test_a_port_that_is_taken_leaves_nothing_behind():
    with reserved_port() as port:
        stub = KafkaStub(control_port=port)
        with (
            socket.create_server(("127.0.0.1", port)),
            pytest.raises(ListenError, match="taken by another process"),
        ):
            stub.start()
        with stub:  # nobody listens there now
            assert stub.control_url == f"http://127.0.0.1:{port}"


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(RuntimeError, match=r"pip install 'kafkastub\[control\]'"):
        KafkaStub(control_port=0).start()


def test_closing_leaves_no_thread_and_no_socket():
    before = set(threading.enumerate())
    with KafkaStub(control_port=0) as stub:
        at = stub.control_url
        kept = http.client.HTTPConnection(at.removeprefix("http://"))
        kept.request("GET", "/health")
        assert kept.getresponse().read()
    assert set(threading.enumerate()) <= before
    kept.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(at.rpartition(":")[2])))


def test_several_stubs_have_several_ports():
    with KafkaStub(control_port=0) as one, KafkaStub(control_port=0) as two:
        for stub in (one, two):
            http = Http(stub.control_url)
            with http.client:
                assert http.good("GET", "/health")["bootstrap_servers"] == stub.bootstrap_servers


def raw(stub: KafkaStub, request: bytes) -> tuple[int, Any]:
    """Send bytes; gives the status and the JSON of the answer."""
    port = int(stub.control_url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, json.loads(answer.read())


def test_a_body_that_is_too_large_is_not_read(stub: KafkaStub, http: Http):
    head = f"POST /v1/faults HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_BODY + 1}\r\n\r\n"
    too_large = (413, {"error": f"the body has more than {LARGEST_BODY} bytes"})
    assert raw(stub, head.encode()) == too_large
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    chunked = b"POST /v1/faults HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert raw(stub, chunked + chunk * (LARGEST_BODY // 0x10000) + chunk) == too_large
    assert http.get("/health")[0] == 200


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"{", "the body is not JSON"),
        (b"\xff\xfe", "body"),
        (b"[" * 100_000, "body"),
        (b"NaN", "the body"),
        (b'{"by": ' + b"9" * 10_000 + b"}", "body"),
        (b'{"by": 7}', "by=7"),
        (b'{"days": 1e999}', "days"),
    ],
)
def test_bodies_that_are_none(stub: KafkaStub, http: Http, body: bytes, names: str):
    head = f"POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    status, said = raw(stub, head + body)
    assert (status, names in said["error"], len(said["error"]) < 300) == (400, True, True), said
    assert http.get("/health")[0] == 200


def test_what_is_no_http_ends_its_own_connection_only(stub: KafkaStub, http: Http):
    port = int(stub.control_url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(b"\0\0\0\x0a" * 100)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    assert http.get("/health")[0] == 200


def test_a_form_is_taken_for_json_as_curl_sends_it(http: Http):
    answer = http.client.post(
        "/v1/clock/advance",
        content='{"by": "1h"}',
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 200


def test_the_root_lists_what_there_is(stub: KafkaStub, http: Http):
    told = http.good("GET", "/")
    assert told["bootstrap_servers"] == stub.bootstrap_servers
    assert http.client.get(told["description"]).status_code == 200
    schema = http.good("GET", "/openapi.json")
    assert set(told["requests"]) == {
        f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods
    }
    assert told["requests"]["GET /metrics"] == "Return the metrics in Prometheus' text format"


def test_what_is_not_there(http: Http):
    assert http.get("/v2/clock") == (404, {"error": "there is nothing at /v2/clock: see /docs"})
    assert http.post("/health") == (405, {"error": "/health cannot be asked with POST: see /docs"})


def test_a_fault_of_our_own_is_told_and_logged(
    stub: KafkaStub, http: Http, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(stub._running().state, "meters", broken)
    assert http.get("/metrics") == (500, {"error": "this is a fault of kafkastub: its log has more"})
    assert http.get("/health")[0] == 200
    until(lambda: "a request to the control port failed" in caplog.text, "the log: the answer goes before")


def test_the_description_that_is_checked_in_is_the_one_that_is_served(http: Http):
    assert json.loads((DOCS / "openapi.json").read_text()) == http.good("GET", "/openapi.json"), "run `make docs`"


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def test_the_description_is_valid_and_complete(http: Http):
    schema = http.good("GET", "/openapi.json")
    OpenAPI.model_validate(schema)
    for reference in references(schema):
        place = schema
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            assert "422" not in operation["responses"], (method, path)
            body = operation.get("requestBody")
            kinds = {"application/json", "application/octet-stream"}
            assert body is None or body["content"].keys() & kinds, (method, path)
    assert "HTTPValidationError" not in json.dumps(schema)
    assert set(schema["paths"]["/v1/faults"]["post"]["requestBody"]["content"]["application/json"]["examples"])
    assert "ErrorCode" not in schema["components"]["schemas"]
    assert http.client.get("/docs").status_code == 200


def join_share_group(stub: KafkaStub, member_id: str, group: str) -> None:
    request = ShareGroupHeartbeatRequest(group, member_id, 0, None, ["orders"])
    with Client(stub.bootstrap_servers) as client:
        assert client.ask_coordinator(group, request).error_code == 0


def run_streams(stub: KafkaStub, group: str) -> None:
    """Its one member has task 0-0."""
    if group not in stub.streams_groups:
        stub.create_topic("lines")
        stub.streams_groups.configure(
            group, {"streams.initial.rebalance.delay.ms": 0, "streams.assignment.interval.ms": 0}
        )
    topology = Topology(0, [Subtopology("0", source_topics=["lines"])])
    with Instance(stub.bootstrap_servers, "one", group, topology) as one:
        for _ in range(3):  # chaos may be among them
            settle(one)
    stub.streams_groups.wait(group, timeout=0)


def test_every_example_of_the_description_is_accepted(stub: KafkaStub, http: Http):
    """Bodies only; what they are about is made first."""
    stub.create_topic("unused")
    schema = http.good("GET", "/openapi.json")
    seen = 0
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            examples = [each["value"] for each in content.get("examples", {}).values()]
            reference = content.get("schema", {}).get("$ref")
            if reference is not None:
                examples += schema["components"]["schemas"][reference.rpartition("/")[2]].get("examples", [])
            if examples and path.startswith("/v1/share-groups/"):
                path = path.replace("{group}", "shared")
                join_share_group(stub, "one", group="shared")
            elif examples and path.startswith("/v1/streams-groups/"):
                path = path.replace("{group}", "app")
                run_streams(stub, group="app")
            elif examples and "{group}" in path:
                member = Player(stub, "one", group="{group}")
                rounds(member)
                member.close()
            for example in examples:
                status, said = http.ask(
                    method.upper(), path.replace("{fault_id}", "fault-1").replace("{name}", "unused"), example
                )
                known = status < 300 or "already exists" in said["error"] or "node 2" in said["error"]
                known = known or said.get("code") == "SECURITY_DISABLED"  # ACLs want a broker that has an authorizer
                assert known, (path, example, said)
                seen += 1
    assert seen >= 8


def test_the_port_may_be_on_all_addresses():
    with KafkaStub(control_port=0, control_host="0.0.0.0") as stub:
        assert stub.control_url.startswith("http://127.0.0.1:")
        http = Http(stub.control_url)
        with http.client:
            assert http.get("/health")[0] == 200


def test_behind_a_stub_of_another_process():
    with KafkaStub(process=True, topics={"orders": 1}, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            assert http.good("GET", "/health")["bootstrap_servers"] == stub.bootstrap_servers
            http.good("POST", "/v1/clock/freeze")
            assert stub.clock.now_ms() == http.good("GET", "/v1/clock")["now_ms"]
