"""Random histories of a schema registry, played on two: their answers are the same, or each difference has a name.

Subjects of a history are its own. Ids are compared by what they stand for: whoever gave an id once gives it again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import httpx

from tests.registry.bench import field, record

LEVELS: Final = (
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE",
)  # fmt: skip
AVRO: Final = (
    record(field("a", "int")),
    record(field("a", "long")),
    record(field("a", "string")),
    record(field("a", "int"), field("b", "string", default="")),
    record(field("a", "int"), field("b", "string")),
    record(field("a", "int"), field("b", ["null", "string"], default=None)),
    record(field("b", "string", default="")),
    record(field("a", {"type": "enum", "name": "E", "symbols": ["X", "Y"]})),
    record(field("a", {"type": "enum", "name": "E", "symbols": ["X"]})),
    record(field("a", {"type": "array", "items": "int"})),
    "string",
    ["null", "int"],
)
JSON: Final = tuple(
    {"type": "object", **more}
    for more in (
        {"properties": {"a": {"type": "integer"}}},
        {"properties": {"a": {"type": "number"}}},
        {"properties": {"a": {"type": "string"}}},
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
        {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "additionalProperties": False},
        {"properties": {"a": {"type": "integer", "minimum": 3}}},
        {"properties": {"a": {"enum": [1, 2]}}},
    )
)
PROTOBUF: Final = tuple(
    f'syntax = "proto3";\nmessage Order {{\n  {body}\n}}\n'
    for body in (
        "int32 a = 1;",
        "int64 a = 1;",
        "string a = 1;",
        "int32 a = 1;\n  string b = 2;",
        "string b = 2;",
        "repeated int32 a = 1;",
        "int32 z = 1;",
    )
)
BROKEN: Final = ('{"type":"record","name":"R"}', "{", '{"type":"nonsense"}')


class Request(NamedTuple):
    """One step of a history."""

    method: str
    path: str
    body: Any = None


class Answer(NamedTuple):
    """What a registry said. `body` has no texts of errors, ids by what they stand for, and schemas without spaces."""

    status: int
    code: int | None
    body: Any


def history(seed: int, kind: str, steps: int) -> Iterator[Request]:
    """The requests of a seed, about three subjects with schemas of one type; of Protobuf without compatibility."""
    chance = random.Random(f"{kind} {seed}")
    subjects = [f"{kind.lower()}-{seed}-{name}" for name in "abc"]
    schemas = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTOBUF}[kind]

    def given(broken: float = 0.03) -> dict[str, Any]:
        schema = chance.choice(BROKEN) if kind == "AVRO" and chance.random() < broken else chance.choice(schemas)
        text = schema if isinstance(schema, str) and kind != "AVRO" else json.dumps(schema)
        if isinstance(schema, str) and schema in BROKEN:
            text = schema
        return {"schema": text} if kind == "AVRO" else {"schema": text, "schemaType": kind}

    def version() -> str:
        return chance.choice(["1", "2", "3", "4", "latest", "latest", "9", "0", "x"])

    plain: list[tuple[int, Callable[[str], Request]]] = [
        (10, lambda name: Request("POST", f"/subjects/{name}/versions", given())),
        (3, lambda name: Request("POST", f"/subjects/{name}", given(0))),
        (2, lambda name: Request("GET", f"/subjects/{name}/versions")),
        (3, lambda name: Request("GET", f"/subjects/{name}/versions/{version()}")),
        (1, lambda name: Request("GET", f"/subjects/{name}/versions/{version()}/schema")),
        (3, lambda name: Request("DELETE", f"/subjects/{name}/versions/{version()}")),
        (2, lambda name: Request("DELETE", f"/subjects/{name}/versions/{version()}?permanent=true")),
        (2, lambda name: Request("DELETE", f"/subjects/{name}")),
        (2, lambda name: Request("DELETE", f"/subjects/{name}?permanent=true")),
        (2, lambda name: Request("GET", "/schemas/ids/{id}")),
        (1, lambda name: Request("GET", "/subjects")),
    ]  # fmt: skip
    of_compatibility: list[tuple[int, Callable[[str], Request]]] = [
        (4, lambda name: Request("PUT", f"/config/{name}", {"compatibility": chance.choice(LEVELS)})),
        (1, lambda name: Request("GET", f"/config/{name}")),
        (1, lambda name: Request("DELETE", f"/config/{name}")),
        (4, lambda name: Request("POST", f"/compatibility/subjects/{name}/versions/{version()}", given(0))),
        (3, lambda name: Request("POST", f"/compatibility/subjects/{name}/versions", given(0))),
    ]
    if kind == "PROTOBUF":
        yield from (Request("PUT", f"/config/{name}", {"compatibility": "NONE"}) for name in subjects)
        of_compatibility = []
    makers = [make for weight, make in (*plain, *of_compatibility) for _ in range(weight)]
    for _ in range(steps):
        yield chance.choice(makers)(chance.choice(subjects))


class Player:
    """One of the registries."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        self._ids: dict[int, str] = {}
        """What each id stands for: the schema with which it was given first."""
        self.newest: int | None = None

    def close(self) -> None:
        self._http.close()

    def play(self, request: Request, prefix: str) -> Answer:
        """`prefix`: what the subjects of the history begin with."""
        path = request.path.replace("{id}", str(self.newest or 999_999_999))
        answer = self._http.request(request.method, path, json=request.body)
        try:
            body = answer.json()
        except ValueError:
            body = answer.text
        if answer.status_code >= 400:
            return Answer(answer.status_code, body.get("error_code") if isinstance(body, dict) else None, None)
        if request.path == "/subjects":
            body = sorted(name for name in body if name.startswith(prefix))
        if isinstance(body, dict) and "id" in body:
            number = body["id"]
            if request.method == "POST" and request.body and "schema" in request.body:
                self._ids.setdefault(number, _without_spaces(request.body["schema"]))
                self.newest = number
            body["id"] = self._ids.get(number, "an id that nobody gave")
        if isinstance(body, dict) and "schema" in body:
            body["schema"] = _without_spaces(body["schema"])
        elif request.path.endswith("/schema"):
            body = _without_spaces(body if isinstance(body, str) else json.dumps(body))
        return Answer(answer.status_code, None, body)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def are_same(one: Answer, other: Answer) -> bool:
    """Whether two answers say the same, as far as both say something."""
    if isinstance(one.body, dict) and isinstance(other.body, dict):
        both = one.body.keys() & other.body.keys()
        return one.status == other.status and all(one.body[name] == other.body[name] for name in both)
    return one == other
