"""/v1/events under those who want too much of it: many streams, one that is never read, a broker that is busy."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest

from kafkastub.client import Client
from kafkastub.client.groups import commit, offsets
from tests.page.scenes import Asking
from tests.process.serving import Controlled
from tests.waiting import SECONDS, until

MANY: Final = 1000
SUBJECTS: Final = "groups,journal,topics,clock"


@pytest.fixture
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "t:1") as process:
        yield process


def opened(url: str, room: int | None = None) -> socket.socket:
    """A connection that has asked for events; with `room` for so many bytes at our side."""
    at = urlsplit(url)
    made = socket.socket()
    if room is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    made.settimeout(SECONDS)
    made.connect((at.hostname, at.port))
    made.sendall(f"GET /v1/events?subjects={SUBJECTS} HTTP/1.1\r\nhost: {at.netloc}\r\n\r\n".encode())
    return made


def commits(servers: str, count: int) -> None:
    with Client(servers) as client:
        for number in range(count):
            commit(client, "g", {("t", 0): number})


def questions(servers: str, count: int) -> None:
    """What the journal has and nothing else keeps."""
    with Client(servers) as client:
        for _ in range(count):
            offsets(client, "g")


def test_of_a_thousand_streams_some_are_served_and_the_others_are_told_why(process: Controlled) -> None:
    with ExitStack() as stack:
        statuses: dict[str, int] = {}
        for _ in range(MANY):
            one = opened(process.url)
            said = one.recv(4000).decode()
            status = said.split(" ", 2)[1]
            statuses[status] = statuses.get(status, 0) + 1
            if status == "429":
                assert "already" in said + ("" if "}" in said else one.recv(4000).decode())
                one.close()
            else:
                stack.callback(one.close)
        assert statuses == {"200": 32, "429": MANY - 32}
        ask = Asking(process.url)
        assert ask("GET", "/health")["status"] == "healthy"
        commits(process.servers, 10)
    with httpx.stream("GET", f"{process.url}/v1/events?subjects=groups", timeout=SECONDS) as response:
        assert response.status_code == 200, "places that were left are given again"
    ask.close()


def test_who_never_reads_costs_nothing_and_keeps_nobody_out() -> None:
    """The journal is kept short, so that nothing else grows by what is asked."""
    with ExitStack() as stack:
        process = stack.enter_context(Controlled("--topic", "t:1", "--journal-entries", "100"))
        for _ in range(20):
            stack.enter_context(opened(process.url, 1024))
        questions(process.servers, 500)
        before = memory(process)
        with httpx.stream("GET", f"{process.url}/v1/events?subjects=groups", timeout=SECONDS) as response:
            lines = response.iter_lines()
            with ThreadPoolExecutor() as threads:
                told = threads.submit(lambda: next(line for line in lines if line.startswith("data: ")))
                for _ in range(60):
                    questions(process.servers, 200)
                    commits(process.servers, 1)
                assert json.loads(told.result(SECONDS).removeprefix("data: "))["subjects"] == ["groups"]
        assert memory(process) - before < 4 << 20, "a dozen bytes for each request and stream were more"


def memory(process: Controlled) -> int:
    """Bytes that the process has in memory now, the journal's 8 MiB among them."""
    pages = Path(f"/proc/{process.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def test_a_busy_broker_is_told_of_a_few_times_a_second(process: Controlled) -> None:
    """However many requests come between: the page asks again for what it shows, and for that four times at most."""
    with httpx.stream("GET", f"{process.url}/v1/events?subjects=groups,journal", timeout=SECONDS) as response:
        began = time.monotonic()
        lines = response.iter_lines()
        assert next(lines).startswith("retry:")
        with ThreadPoolExecutor() as threads:
            busy = threads.submit(commits, process.servers, 1000)
            told = 0
            while not busy.done() or told == 0:
                told += next(lines).startswith("event: changed")
        assert told <= 5 * (time.monotonic() - began) + 2


def test_nothing_is_said_where_nothing_happens_and_nothing_is_looked_at_for_nobody(process: Controlled) -> None:
    ask = Asking(process.url)
    with opened(process.url) as one:
        until(lambda: b"retry" in one.recv(4000), "the beginning")
        one.settimeout(1)
        with pytest.raises(TimeoutError):
            one.recv(1)
        ask("POST", "/v1/clock/freeze")
        one.settimeout(SECONDS)
        assert b'"clock"' in one.recv(4000)
    ask.close()


@pytest.mark.parametrize(
    ("subjects", "sentence"),
    [("nonsense", "'nonsense' is none of"), ("", "name at least one of"), ("groups,", None), ("a" * 2000, "1000")],
)
def test_what_can_be_asked_for(process: Controlled, subjects: str, sentence: str | None) -> None:
    with httpx.stream("GET", f"{process.url}/v1/events", params={"subjects": subjects}, timeout=SECONDS) as response:
        if sentence is None:
            assert response.status_code == 200
        else:
            response.read()
            assert response.status_code == 400
            assert sentence in response.json()["error"]


def test_streams_end_with_the_broker(process: Controlled) -> None:
    with opened(process.url) as one:
        until(lambda: b"retry" in one.recv(4000), "the beginning")
        status, _, _ = process.stop(15)
        assert status == 0
        while one.recv(4000):
            pass
