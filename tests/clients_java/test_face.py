"""The Java client has every route of the control port, with every parameter and field."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest


def _generator() -> ModuleType:
    """The generator, which is a script of the Java client and in no package."""
    path = Path(__file__).parents[2] / "clients" / "java" / "tools" / "generate.py"
    spec = spec_from_file_location("generator_of_the_java_client", path)
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate: Final = _generator()
DESCRIPTION: Final[dict[str, Any]] = json.loads(generate.DESCRIPTION.read_text())
ROUTES: Final = [(method, path) for path, methods in DESCRIPTION["paths"].items() for method in methods]
CALLS: Final = [
    call
    for file in sorted((generate.SOURCES / "control").glob("*.java"))
    if file.name != "Route.java"
    for call in re.findall(r"port\s*\.call\(\s*(Route\..*?;)", file.read_text(), re.DOTALL)
]
"""What the client's methods send: from the name of the route to the end of the statement."""

BY_A_DURATION: Final = {"by", "days", "hours", "minutes", "seconds"}
"""Ways to say how far the clock is to go. A Duration says them all."""


def _calls(method: str, path: str) -> str:
    name = generate.constant(method, path)
    return "".join(call for call in CALLS if re.match(rf"Route\.{name}\b", call))


def _operation(method: str, path: str) -> dict[str, Any]:
    operation: dict[str, Any] = DESCRIPTION["paths"][path][method]
    return operation


def _body(operation: dict[str, Any]) -> set[str]:
    """The fields of the body that an operation takes."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    found, _ = generate.alternatives(content.get("schema", {}))
    schema = found[0]
    if "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return set(schema.get("properties", {}))


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda value: value.replace("/", " "))
def test_a_route_is_called_with_all_that_it_takes(method: str, path: str):
    calls = _calls(method, path)
    assert calls, f"no method of the Java client calls {method.upper()} {path}"
    operation = _operation(method, path)
    said = set(re.findall(r'\.(?:query|field)\("(\w+)"', calls))
    if re.search(r"\.query\([a-z]", calls):  # an object of a class that the generator has written
        (name,) = [name for name, some in generate.QUERIES.items() if (method, path) in some]
        apart = generate.APART.get(name, set())
        said |= {one["name"] for one in operation.get("parameters", []) if one["name"] not in apart}
    if ".fields(" in calls:
        said |= _body(operation) - {"timeout"}
    if ".until(" in calls:
        said.add("timeout")
    if path == "/v1/clock/advance":
        said |= BY_A_DURATION
    query = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
    assert query | _body(operation) <= said
    if "application/octet-stream" in operation.get("requestBody", {}).get("content", {}):
        assert ".content(" in calls


def test_what_is_generated_is_what_is_committed():
    wanted = generate.files()
    assert generate.generated() == set(wanted), "run `python clients/java/tools/generate.py`"
    for path, text in wanted.items():
        assert path.read_text() == text, f"{path.name}: run `python clients/java/tools/generate.py`"


def test_no_call_is_left_of_a_route_that_has_gone():
    names = {generate.constant(method, path) for method, path in ROUTES}
    assert {re.match(r"Route\.(\w+)", call)[1] for call in CALLS} == names  # type: ignore[index]


OF_ITS_OWN: Final = {"check", "control_allowed_hosts", "control_host", "control_port", "control_token"} | {
    "registry_host", "registry_port",
}  # fmt: skip
"""Options of the launcher that a Java test hardly needs: `option("control_port", 9090)` sets them."""


def test_the_builder_has_the_options_of_the_launcher():
    launcher = json.loads(generate.DESCRIPTION.with_name("launcher.json").read_text())
    options = set(launcher["components"]["schemas"]["StubOptions"]["properties"])
    builder = (generate.SOURCES / "KafkaStub.java").read_text()
    said = set(re.findall(r'(?:with|found\.put)\("(\w+)"', builder))
    assert said | OF_ITS_OWN == options


def test_the_packages_have_the_version_of_the_broker():
    version = generate.DESCRIPTION.parents[1] / "broker" / "kafkastub" / "version.py"
    (ours,) = re.findall(r'__version__ = "(.+)"', version.read_text())
    java = generate.HERE.parent
    poms = [pom for pom in java.rglob("pom.xml") if "target" not in pom.parts]
    assert len(poms) > 8
    for pom in poms:
        text = pom.read_text()
        found = re.findall(r"<artifactId>kafkastub-[\w-]+</artifactId>\s*<version>([^$<]+)</version>", text)
        assert set(found) <= {ours}, pom
    assert f"<version>{ours}</version>" in (java / "pom.xml").read_text()
