"""A method of clients/rust sends and returns what the description says of its request, and says it with types."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest

from tests.clients_faces.faces import CLIENTS
from tests.clients_faces.test_faces import DOCS

PARTS = (CLIENTS / "rust" / "src" / "parts.rs").read_text()


class Method(NamedTuple):
    """A method that sends one request."""

    name: str
    takes: str
    returns: str
    body: str


def methods() -> dict[tuple[str, str], Method]:
    """By request. The answer's type is the one that is named where it is read, otherwise that of the method."""
    found = {}
    for name, takes, returns, body in re.findall(
        r"^    pub fn (\w+)\(&?self(.*?)\) -> ([^\n]*?) \{\n(.*?)^    \}", PARTS, re.DOTALL | re.MULTILINE
    ):
        for method, path in re.findall(r'"(GET|POST|PUT|DELETE)",\s*"(/[^"]*)"', body):
            read = re.search(r"json::<(\w+)>|let \w+: (\w+) =", body)
            answer = (read[1] or read[2]) if read else re.sub(r"^Result<(.*)>$", r"\1", returns)
            assert (method, path) not in found, f"two methods send {method} {path}"
            found[method, path] = Method(name, " ".join(takes.split()), answer, body)
    return found


METHODS = methods()
OPERATIONS = [
    pytest.param(method.upper(), path, operation, id=operation["operationId"])
    for path, described in json.loads((DOCS / "openapi.json").read_text())["paths"].items()
    for method, operation in described.items()
]


def named(content: dict[str, Any]) -> str | None:
    """The schema of a body or an answer in JSON, null or not."""
    schema = content.get("application/json", {}).get("schema", {})
    (one,) = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    return one["$ref"].rsplit("/", 1)[1] if "$ref" in one else one.get("title")


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_a_method_is_typed_as_its_request_is_described(method: str, path: str, operation: dict[str, Any]):
    made = METHODS[method, path]
    (answer,) = [said for status, said in operation["responses"].items() if status.startswith("2")]
    expected = named(answer["content"])
    assert (
        made.returns == expected
        if expected
        else made.returns in {"Stream", "Vec<u8>", "String"} or "Entry" in made.returns
    )
    if "requestBody" in operation and "application/json" in operation["requestBody"]["content"]:
        body = named(operation["requestBody"]["content"])
        assert f"{body}" in made.takes or f"{body}::new(" in made.body
    if any(parameter["in"] == "query" for parameter in operation.get("parameters", ())):
        parameters = "".join(word.capitalize() for word in operation["operationId"].split("_")) + "Params"
        assert parameters in made.takes or f"{parameters}::new(" in made.body
        assert ".query(" in made.body
