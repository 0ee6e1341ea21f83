"""Whatever comes over HTTP, the answer is a sentence, and the broker goes on."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.control import app, problems
from tests.control.conftest import Http, commit_for
from tests.rawclient import RawClient

VALUES: list[Any] = [
    None, True, -1, 0, 2**31, 2**63, 2**70, 1e308, "", "a" * 5000, "\0", "\ud800", "ü/%", "1d", [], [[]], {}, {"a": {}},
]  # fmt: skip
PATHS = ["", "0", "1", "-1", str(2**70), "ü", "%00", "%ff", "a%2Fb", ".", "%2e%2e", "a" * 5000, "orders", "g"]


def filled(path: str, value: str) -> str:
    head, brace, rest = path.partition("{")
    return path if not brace else head + value + rest.partition("}")[2]


def bodies(schema: dict[str, Any], operation: dict[str, Any], source: random.Random) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for each in (content, *content.get("anyOf", ())):
        if "$ref" in each:
            content = schema["components"]["schemas"][each["$ref"].rpartition("/")[2]]
    fields = list(content.get("properties", {}))
    made: list[Any] = [*VALUES]
    for _ in range(60 if fields else 0):
        chosen = source.sample(fields, source.randint(1, min(4, len(fields))))
        made.append({name: source.choice(VALUES) for name in chosen})
    return made


def test_no_body_and_no_parameter_gives_a_fault_of_our_own(stub: KafkaStub, http: Http):
    source = random.Random(20461)
    schema = http.good("GET", "/openapi.json")
    commit_for(stub, "g")
    asked = 0
    for path, operations in schema["paths"].items():
        if path == "/v1/journal/follow":
            continue  # it has no end
        for method, operation in operations.items():
            for value in PATHS if "{" in path else [""]:
                for parameters in ("", "?limit=x", "?since=%ff&timeout=0", "?api=%00&timeout=0", "?topic=%ff"):
                    waits = path.endswith("/wait") and "timeout" not in parameters
                    target = filled(path, value) + ("?timeout=0" if waits else parameters)
                    status = http.client.request(method.upper(), target).status_code
                    assert status < 500 or (status == 503 and path == "/health"), (method, target)
                    asked += 1
            for body in bodies(schema, operation, source) if method in ("post", "put") else ():
                content = json.dumps(body).encode()
                answer = http.client.request(method.upper(), filled(path, "1"), content=content)
                assert answer.status_code < 500, (method, path, body, answer.text)
                assert answer.status_code < 400 or answer.json()["error"], (method, path, body)
                asked += 1
        http.client.delete("/v1/faults")
    assert asked > 500
    http.good("POST", "/v1/reset")
    commit_for(stub, "g")
    assert http.get("/health")[0] == 200


def test_names_that_are_no_text_can_be_shown(stub: KafkaStub, http: Http):
    with RawClient(stub.bootstrap_servers) as client:
        client.exchange(18, 0, b"")
        client.socket.sendall(b"\0\0\0\x0b\0\x12\0\0\0\0\0\x07\0\x01\xff")  # ApiVersions of a client called 0xff
        client.receive()
    for path in ("/v1/journal", "/v1/journal/export"):
        assert http.client.get(path).status_code == 200


def test_nodes_have_an_end_and_are_made_one_by_one(stub: KafkaStub, http: Http):
    for number in range(2, 101):
        assert http.good("POST", "/v1/nodes")["node"] == number
    assert http.post("/v1/nodes") == (409, {"error": "there are 100 nodes already: 100 is the most"})
    http.good("POST", "/v1/reset")
    assert len(stub.ports) == 1


DIGITS = "9" * 5000
"""More than Python makes a number of."""


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/v1/journal?since={DIGITS}", 400),
        ("/v1/journal?since=-5", 400),
        (f"/v1/journal?error={DIGITS}", 400),
        ("/v1/journal?error=--5", 400),
        ("/v1/journal?error=-5", 200),
        (f"/v1/journal/{DIGITS}", 404),
        ("/v1/journal/123456789012345678", 404),
        (f"/v1/topics/orders/offset?time={DIGITS}", 400),
        ("/v1/topics/orders/offset?time=--5", 400),
        ("/v1/topics/orders/offset?time=-5", 200),
        (f"/v1/topics/orders/partitions/{DIGITS}/records/0/key", 400),
        (f"/v1/clock/forecast?within={DIGITS}d", 400),
    ],
)
def test_numbers_that_are_none(http: Http, path: str, status: int):
    answer = http.client.get(path)
    assert answer.status_code == status, answer.text
    assert status < 400 or answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("PUT", "/v1/groups/g/target", f'{{"target":{{"a":[{"0," * 400_000}0]}}}}', "target.a.0=0 is refused"),
        ("PUT", "/v1/groups/g/target", '{"target":{"a":[{%s}]}}', "target.a.0.topic is missing, and 'x0' is not known"),
        ("POST", "/v1/topics/orders/records", '{"records":[{%s}]}', "there is no field records.0.x0 here"),
        ("POST", "/v1/topics", "{%s}", "name is missing, and 'x0' is not known here"),
        ("POST", "/v1/clock/advance", "{%s}", "there is no field x0 here"),
        ("POST", "/v1/topics/orders/records", '{"records":[{"headers":{%s}}]}', "records.0.headers="),
    ],
)
def test_many_mistakes_cost_what_a_few_do(stub: KafkaStub, http: Http, method: str, path: str, body: str, said: str):
    """Each that was found cost microseconds and a kilobyte: 400,000 of them were a second and 700 MB."""
    if "%s" in body:
        body %= ",".join(f'"x{number}":0' for number in range(80_000))
    seen: list[int] = []
    was = problems.of_validation
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(app, "of_validation", lambda errors: (seen.append(len(errors)), was(errors))[1])
        answer = http.client.request(method, path, content=body)
        assert answer.status_code == 400
        assert said in answer.json()["error"]
    assert len(seen) == 1
    assert seen[0] <= 50


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/faults", {"api": "Fetch", "hold": [0] * 300_000}),
        ("/v1/faults", {"api": "Fetch", "client_id": {f"k{number}": "v" for number in range(60_000)}}),
        ("/v1/faults", {"api": "Fetch", "node": "x" * 1_000_000}),
        ("/v1/clock/set", {"to": [[] for _ in range(300_000)]}),
        ("/v1/topics", [{}] * 200_000),
    ],
    ids=["list", "map", "text", "lists", "body"],
)
def test_a_refusal_does_not_say_a_megabyte_again(http: Http, path: str, body: Any):
    """It was written out as a whole, for half a second, in which nobody else was served."""
    status, said = http.post(path, body)
    assert status == 400
    assert len(said["error"]) < 1000


def test_what_is_refused_is_named_by_its_beginning():
    assert problems.named("short") == "'short'"
    assert problems.named({"a": [1, None, {"b": "c"}]}) == "{'a': [1, None, {'b': 'c'}]}"
    for value in ("x" * 500, [0] * 500, dict.fromkeys(range(500), 0), [["x" * 300] * 300] * 300):
        assert problems.named(value) == repr(value)[:100] + "…"
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert problems.named(deep) == "[" * 100 + "…"
