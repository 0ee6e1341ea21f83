"""`kafkastub launcher` as a suite in another language runs it: a process with its line, its pipe and its requests."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

COMMAND: Final = Path(sys.executable).parent / "kafkastub"
READY: Final = re.compile(r"kafkastub launcher ready on (http://127\.0\.0\.1:\d+) \(token (\S+)\)\n")
SECONDS: Final = 60


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: Any

    @property
    def error(self) -> str:
        return str(self.body["error"])


class Launching:
    """A running launcher; leaving the block closes its standard input, and waits for its end."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "launcher", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        ready = READY.fullmatch(line)
        assert ready, line
        self.url, self.token = ready[1], ready[2]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            assert self.end() == 0
        finally:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()

    def end(self) -> int:
        """Close its standard input; gives the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> Answer:
        return ask(self.url, method, path, body, self.token if token is None else token)

    def start(self, **options: object) -> dict[str, Any]:
        """A stub that is started."""
        status, body = self.ask("POST", "/v1/stubs", options)
        assert status == 201, body
        started: dict[str, Any] = body
        return started


def ask(url: str, method: str, path: str, body: object = None, token: str = "") -> Answer:
    """Without a token where it is empty."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=SECONDS)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return Answer(answer.status, json.loads(answer.read()))
    finally:
        connection.close()
