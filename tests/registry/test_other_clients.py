"""Clients of a schema registry in Go and JavaScript: each registers, evolves, is refused and reads an old value.

What they write is read by the stub, and what one of them has written the other would have written.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from kafkastub import KafkaStub
from tests.oracle.jars import MissingTool
from tests.toolchains import CACHE, Unavailable, build_go, changed, need, run

SOURCES: Final = Path(__file__).with_name("clients")
BUILT: Final = CACHE / "registry" / "clients"
SECONDS: Final = 120
ONE: Final = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
TWO: Final = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},'
    '{"name":"note","type":["null","string"],"default":null}]}'
)
ASKED: Final = {
    "one": ONE,
    "two": TWO,
    "refused": ONE.replace("long", "string"),
    "json": '{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}',
    "protobuf": 'syntax = "proto3";\npackage shop;\n\nmessage Order {\n  int64 id = 1;\n}\n',
}


def franz_go() -> list[str]:
    need("go")
    build_go(SOURCES / "go", BUILT / "go")
    return [str(BUILT / "go" / "registryclients")]


def kafkajs() -> list[str]:
    need("npm")
    need("node")
    target = BUILT / "javascript"
    with changed(target, SOURCES / "javascript") as differs:
        if differs:
            shutil.copytree(SOURCES / "javascript", target, dirs_exist_ok=True)
            run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], target)
    return ["node", str(target / "schemas.cjs")]


def play(build: Callable[[], list[str]], url: str) -> dict[str, Any]:
    try:
        command = build()
    except Unavailable as missing:
        raise MissingTool(str(missing)) from None
    done = subprocess.run([*command, url, json.dumps(ASKED)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_franz_go() -> None:
    with KafkaStub(registry=True, topics={"orders": 1, "json": 1, "protobuf": 1}) as stub:
        seen = play(franz_go, stub.registry.url)
        checked(stub, seen)
        assert (seen["refused"]["code"], seen["unknown"]["code"]) == (40901, 40401)
        stub.produce("protobuf", bytes.fromhex(*seen["written"]["protobuf"]))
        assert values(stub, "protobuf") == [{"id": "7"}]


def test_kafkajs() -> None:
    """Its Protobuf values have no indexes of the message behind the id, so only itself can read them."""
    with KafkaStub(registry=True, topics={"orders": 1, "json": 1, "protobuf": 1}) as stub:
        seen = play(kafkajs, stub.registry.url)
        checked(stub, seen)
        stub.produce("protobuf", bytes.fromhex(*seen["written"]["protobuf"]))
        with pytest.raises(ValueError, match="it ends within the indexes of its message"):
            stub.records("protobuf", by_schema=True)


def checked(stub: KafkaStub, seen: Mapping[str, Any]) -> None:
    """The client saw what it should, and the stub reads what it wrote."""
    assert seen["ids"] == [1, 2, 3, 4]
    assert (seen["latest"], seen["again"]) == (2, 1)
    assert (seen["refused"]["status"], seen["unknown"]["status"]) == (409, 404)
    assert "TYPE_MISMATCH" in seen["refused"]["message"]
    assert (seen["old"]["id"], seen["old"].get("note")) == (7, None)
    assert seen["new"] == {"id": 8, "note": "x"}
    texts = [stub.registry.schema(each).text for each in seen["ids"]]
    assert texts == [ASKED[name] for name in ("one", "two", "json", "protobuf")]
    for topic in ("orders", "json"):
        for value in seen["written"][topic]:
            stub.produce(topic, bytes.fromhex(value))
    assert values(stub, "orders") == [{"id": 7}, {"id": 8, "note": "x"}]
    assert values(stub, "json") == [{"id": 7}]


def values(stub: KafkaStub, topic: str) -> list[Any]:
    return [one.value for one in stub.records(topic, by_schema=True)]
