"""docs/control.md: its commands print what stands there, its Python runs, its tables are complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from kafkastub import KafkaStub
from tests.control.conftest import commit_for
from tests.docs.generated import DOCS
from tests.process.serving import COMMAND
from tests.waiting import SECONDS

GUIDE = (DOCS / "control.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def curled(command: str, url: str) -> str:
    """What curl would print, on a machine that has none."""
    body = re.search(r"-d '(.*)'", command)
    (path,) = re.findall(r"127\.0\.0\.1:9090(\S+)", command)
    method = "POST" if body or "-X POST" in command else "GET"
    answer = httpx.request(method, url + path, content=body[1] if body else None, timeout=SECONDS)
    return "" if "/dev/null" in command else answer.text


def timeless(printed: str) -> list[str]:
    """What was printed, without what depends on how long the broker has run: when its next sweeps are."""
    return re.sub(r'_in_ms":\d+', '_in_ms":…', printed).split()


def test_the_commands_print_what_the_guide_shows():
    commands = [part.split("\n", 1) for part in re.split(r"^\$ ", "".join(blocks("console")), flags=re.M) if part]
    assert commands
    with KafkaStub(topics={"orders": 3}, control_port=0) as stub:
        environment: dict[str, Any] = {
            **os.environ,
            "KAFKASTUB_CONTROL": stub.control_url,
            "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}",
        }
        for command, expected in commands:
            if command.startswith("curl") and shutil.which("curl") is None:
                said = curled(command, stub.control_url)
            else:
                line = command.replace("127.0.0.1:9090", stub.control_url.removeprefix("http://"))
                done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True)
                said = done.stdout + done.stderr
            assert timeless(said) == timeless(expected), command


def test_the_python_runs():
    found = blocks("python")
    assert found
    for block in found:
        exec(compile(block, "control.md", "exec"), {})


def test_every_endpoint_is_in_the_table_and_no_other():
    rows = [line.split("|")[1] for line in GUIDE.splitlines() if line.startswith("| ") and "`/" in line.split("|")[1]]
    said = set()
    for row in rows:
        methods: list[str] = []
        for word in re.findall(r"GET|POST|PUT|DELETE|`/[^`]*`", row):
            if word.startswith("`"):
                said |= {(method, word.strip("`")) for method in methods}
                methods = []
            else:
                methods.append(word)
    with KafkaStub(control_port=0) as stub:
        paths = httpx.get(f"{stub.control_url}/openapi.json", timeout=SECONDS).json()["paths"]
    assert said == {(method.upper(), path) for path, methods in paths.items() for method in methods}


def test_every_metric_is_in_the_table_and_no_other():
    named = {name.removesuffix("_total") for name in re.findall(r"`(kafkastub_\w+)`", GUIDE)}
    with KafkaStub(topics={"orders": 1}, control_port=0) as stub:
        commit_for(stub, "shipping")
        text = httpx.get(f"{stub.control_url}/metrics", timeout=SECONDS).text
    families = {family.name for family in text_string_to_metric_families(text)}
    assert named == families
