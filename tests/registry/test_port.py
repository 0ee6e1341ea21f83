"""The registry's port: Confluent's paths, media types and error codes, and what is refused for everybody's good."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub, RegistryError
from tests.registry.bench import field, record

ORDER = json.dumps(record(field("id", "long")), separators=(",", ":"))
SECONDS = 60


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(registry=True) as running:
        yield running


@pytest.fixture
def client(stub: KafkaStub) -> Iterator[httpx.Client]:
    with stub.rolled_back(), httpx.Client(base_url=stub.registry.url, timeout=SECONDS) as made:
        yield made


def said(answer: httpx.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()


def refused(answer: httpx.Response) -> tuple[int, int]:
    """Its status and code; there is a sentence."""
    body = answer.json()
    assert list(body) == ["error_code", "message"]
    assert body["message"]
    return answer.status_code, body["error_code"]


def register(client: httpx.Client, subject: str, schema: str = ORDER, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/subjects/{subject}/versions", json={"schema": schema, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_what_is_registered_is_told_in_the_order_of_confluents_registry(client: httpx.Client):
    told = register(client, "orders-value")
    assert list(told) == ["id", "version", "guid", "schemaType", "schema"]
    version = client.get("/subjects/orders-value/versions/latest").json()
    assert list(version) == ["subject", "version", "id", "guid", "schemaType", "schema", "ts", "deleted"]
    by_id = client.get("/schemas/ids/1").json()
    assert list(by_id) == ["guid", "schemaType", "schema", "ts", "deleted"]
    assert list(client.get("/schemas/ids/1?subject=orders-value").json())[:2] == ["subject", "version"]
    assert told["guid"] == version["guid"] == by_id["guid"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/subjects/none/versions", 404, 40401),
        ("/subjects/none/versions/1", 404, 40401),
        ("/subjects/a/versions/9", 404, 40402),
        ("/subjects/a/versions/0", 422, 42202),
        ("/subjects/a/versions/x", 422, 42202),
        ("/schemas/ids/9", 404, 40403),
        ("/schemas/ids/x", 404, 404),
        ("/schemas/guids/x", 404, 40403),
        ("/config/a", 404, 40408),
        ("/mode/a", 404, 40409),
        ("/nothing", 404, 404),
        ("/subjects/a/versions/1/nothing", 404, 404),
        ("/schemas?offset=x", 404, 404),
    ],
)
def test_a_question_without_an_answer(client: httpx.Client, path: str, status: int, code: int):
    register(client, "a")
    assert refused(client.get(path)) == (status, code)


def test_paths_with_something_to_tell(client: httpx.Client, stub: KafkaStub):
    register(client, "a")
    register(client, "b%2Fc")
    cluster = stub._call(lambda: stub._running().state.cluster.cluster_id)
    for path, told in {
        "/": {},
        "/subjects": ["a", "b/c"],
        "/subjects?subjectPrefix=b": ["b/c"],
        "/subjects?offset=1&limit=1": ["b/c"],
        "/subjects/b%2Fc/versions": [1],
        "/subjects/a/versions/1/referencedby": [],
        "/schemas/types": ["JSON", "PROTOBUF", "AVRO"],
        "/schemas/ids/1/subjects": ["a", "b/c"],
        "/schemas/ids/1/versions": [{"subject": "a", "version": 1}, {"subject": "b/c", "version": 1}],
        "/config": {"compatibilityLevel": "BACKWARD"},
        "/config/a?defaultToGlobal=true": {"compatibilityLevel": "BACKWARD"},
        "/mode": {"mode": "READWRITE"},
        "/mode/a?defaultToGlobal=true": {"mode": "READWRITE"},
        "/contexts": ["."],
        "/v1/metadata/version": {"version": "8.4.0", "commitId": "kafkastub"},
        "/v1/metadata/id": {
            "scope": {
                "path": [],
                "clusters": {"kafka-cluster": cluster, "schema-registry-cluster": "schema-registry"},
            }
        },
    }.items():
        assert said(client.get(path)) == (200, told), path
    assert client.get("/schemas/ids/1/schema").text == client.get("/subjects/a/versions/1/schema").text == ORDER
    guid = client.get("/schemas/ids/1").json()["guid"]
    assert client.get(f"/schemas/guids/{guid}").json()["schema"] == ORDER
    assert client.get(f"/schemas/guids/{guid}/ids").json() == [{"context": ".", "id": 1}]
    assert [each["subject"] for each in client.get("/schemas?latestOnly=true").json()] == ["a", "b/c"]


def test_versions_come_and_go(client: httpx.Client):
    register(client, "a")
    register(client, "a", json.dumps(record(field("id", "long"), field("n", "int", default=0))))
    assert said(client.delete("/subjects/a/versions/1")) == (200, 1)
    for query, told in (
        ("", [2]),
        ("?deleted=true", [1, 2]),
        ("?deletedOnly=true", [1]),
        ("?deletedAsNegative=true", [-1, 2]),
    ):
        assert client.get(f"/subjects/a/versions{query}").json() == told
    assert refused(client.delete("/subjects/a/versions/1")) == (404, 40406)
    assert said(client.delete("/subjects/a/versions/1?permanent=true")) == (200, 1)
    assert said(client.delete("/subjects/a")) == (200, [2])
    assert client.get("/subjects").json() == []
    assert client.get("/subjects?deleted=true").json() == client.get("/subjects?deletedOnly=true").json() == ["a"]
    assert said(client.delete("/subjects/a?permanent=true")) == (200, [2])


def test_compatibility_is_asked_for_and_set(client: httpx.Client):
    register(client, "a")
    other = {"schema": ORDER.replace("long", "string")}
    assert client.post("/compatibility/subjects/a/versions/latest", json=other).json() == {"is_compatible": False}
    verbose = client.post("/compatibility/subjects/a/versions?verbose=true", json=other).json()
    assert "TYPE_MISMATCH" in verbose["messages"][0]
    assert refused(client.post("/compatibility/subjects/a/versions/9", json=other)) == (404, 40402)
    assert refused(client.post("/compatibility/subjects/a/versions/1", json={"schema": "{"})) == (422, 42201)
    broken = client.post("/compatibility/subjects/a/versions/1?verbose=true", json={"schema": "{"}).json()
    assert broken["is_compatible"] is False
    assert refused(client.post("/subjects/a/versions", json=other)) == (409, 40901)
    assert said(client.put("/config/a", json={"compatibility": "none"})) == (200, {"compatibility": "NONE"})
    assert said(client.get("/config/a")) == (200, {"compatibilityLevel": "NONE"})
    assert refused(client.put("/config/a", json={"compatibility": "SOME"})) == (422, 42203)
    assert register(client, "a", other["schema"])["version"] == 2
    assert said(client.delete("/config/a")) == (200, {"compatibilityLevel": "NONE"})
    assert refused(client.delete("/config/a")) == (404, 40401)


def test_a_context_stands_in_front_of_a_path_or_of_a_name(client: httpx.Client):
    register(client, ":.staging:a")
    for path in ("/contexts/.staging/subjects/a/versions/1", "/subjects/:.staging:a/versions/1"):
        assert client.get(path).json()["subject"] == ":.staging:a"
    assert client.get("/contexts/.staging/subjects").json() == [":.staging:a"]
    assert client.get("/contexts/.staging/schemas/ids/1").status_code == 200
    assert client.get("/contexts").json() == [".", ".staging"]
    assert client.get("/subjects?subjectPrefix=").json() == []


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("*/*", "application/vnd.schemaregistry.v1+json"),
        ("application/json", "application/json"),
        ("text/html, application/*;q=0.5", "application/vnd.schemaregistry.v1+json"),
        (
            "application/vnd.schemaregistry+json;q=0.9, application/json;q=0.1",
            "application/vnd.schemaregistry+json",
        ),
    ],
)
def test_the_media_type_is_the_one_that_is_liked_most(client: httpx.Client, accept: str, media: str):
    assert client.get("/subjects", headers={"accept": accept}).headers["content-type"] == media


def test_what_cannot_be_read_is_refused(client: httpx.Client):
    place = "/subjects/a/versions"
    assert client.get("/subjects", headers={"accept": "text/html"}).status_code == 406
    assert refused(client.put("/subjects")) == (405, 405)
    assert refused(client.post(place, content=b"{}", headers={"content-type": "text/plain"})) == (415, 415)
    for body, answer in (
        (b"{", (400, 400)),
        (b"[" * 200_000, (400, 400)),
        (b"[]", (422, 422)),
        (b'{"schema":5}', (422, 422)),
        (b'{"schema":"int","version":"x"}', (422, 422)),
        (b'{"schema":""}', (422, 42201)),
        (b"{}", (422, 42201)),
    ):
        assert refused(client.post(place, content=body, headers={"content-type": "application/json"})) == answer, body
    assert client.get("/subjects").json() == []


def test_a_field_that_nobody_knows_is_left_alone(client: httpx.Client):
    assert register(client, "a", future=True)["id"] == 1


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_schemas_without_a_bottom_are_refused_and_the_broker_goes_on(client: httpx.Client, kind: str):
    deep = {
        "AVRO": '{"type":"array","items":' * 5000 + '"int"' + "}" * 5000,
        "JSON": '{"not":' * 5000 + "{}" + "}" * 5000,
        "PROTOBUF": 'syntax = "proto3"; ' + "message A { " * 1000 + "}" * 1000,
    }[kind]
    answer = client.post("/subjects/a/versions", json={"schema": deep, "schemaType": kind})
    assert refused(answer) == (422, 42201)
    assert register(client, "a")["id"] == 1


def test_a_schema_that_is_too_large_for_the_topic_is_refused():
    large = record(field("a", "int", doc="x" * 5000))
    with KafkaStub(registry=True, config={"message.max.bytes": 5000}) as small:
        with pytest.raises(RegistryError, match="too large") as refusal:
            small.registry.register("a", large)
        assert (refusal.value.status, refusal.value.code) == (422, 42209)
        assert small.registry.subjects() == []


def test_a_body_that_is_too_large_is_not_read(client: httpx.Client):
    assert refused(client.post("/subjects/a/versions", content=b" " * (5 << 20))) == (413, 413)


def test_a_page_of_another_site_may_not_ask(client: httpx.Client):
    assert client.get("/subjects", headers={"host": "evil.example"}).status_code == 403
    assert client.get("/subjects", headers={"origin": "http://evil.example"}).status_code == 403


def test_nothing_is_fetched_for_a_reference(client: httpx.Client):
    schema = json.dumps({"$ref": "http://127.0.0.1:9/other.json"})
    answer = client.post("/subjects/a/versions", json={"schema": schema, "schemaType": "JSON"})
    assert refused(answer) == (422, 42201)
    assert "nothing is fetched" in answer.json()["message"]


def test_a_large_schema_is_registered_beside_the_loop(client: httpx.Client):
    fields = [field(f"field_{at}", "long", default=0) for at in range(2000)]
    told = register(client, "large", json.dumps(record(*fields)))
    assert register(client, "large", json.dumps(record(*fields))) == {**told, **_kept(client)}
    broken = json.dumps(record(*fields))[:-1]
    assert refused(client.post("/subjects/large/versions", json={"schema": broken})) == (422, 42201)


def _kept(client: httpx.Client) -> dict[str, Any]:
    entry = client.get("/subjects/large/versions/1").json()
    return {name: entry[name] for name in ("ts", "deleted")}


def test_a_small_request_that_takes_long_holds_nobody_up(client: httpx.Client, stub: KafkaStub):
    """Of 10 KB, but each of 150 alternatives is compared with 150 others."""
    first, second = (
        json.dumps({"oneOf": [{"type": "object", "properties": {f"a{at}": {"type": kind}}} for at in range(150)]})
        for kind in ("string", "integer")
    )
    register(client, "many", first, schemaType="JSON")
    answers: list[httpx.Response] = []
    longest = 0.0

    def ask() -> None:
        answers.append(client.post("/subjects/many/versions", json={"schema": second, "schemaType": "JSON"}))

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        begin = perf_counter()
        stub.leader_of("_schemas", 0)
        longest = max(longest, perf_counter() - begin)
    assert refused(answers[0]) == (409, 40901)
    assert longest < answers[0].elapsed.total_seconds() / 2
