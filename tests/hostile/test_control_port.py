"""The control port asked by who means no good: a Kafka client beside it waits no longer than for anybody's requests."""

from __future__ import annotations

import socket
import struct
from contextlib import ExitStack

import httpx
import pytest

from kafkastub.client import Client
from kafkastub.client.groups import commit
from kafkawire.api import ApiKey
from kafkawire.header import request_header
from kafkawire.messages.metadata_request import MetadataRequest
from tests.hostile.prober import LONGEST_MS
from tests.hostile.waits import shortest_wait
from tests.process.serving import Controlled
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

HEAD = b"POST /v1/clock/advance HTTP/1.1\r\nHost: x\r\n"


def sent(process: Controlled, data: bytes) -> bytes:
    """The first of what is answered to these bytes; empty where the connection ends without a word."""
    with socket.create_connection(("127.0.0.1", int(process.url.rpartition(":")[2])), SECONDS) as client:
        try:
            client.sendall(data)
            return client.recv(4096)
        except ConnectionError:
            return b""


def test_a_body_of_a_million_chunks():
    """250 KB of them, which are read at once, took a fifth of a second, and 6 MB nearly one."""
    body = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n1\r\n" * 1_000_000 + b"0\r\n\r\n"
    with Controlled() as process:
        sent(process, b"GET /v1/clock HTTP/1.1\r\nHost: x\r\n\r\n")
        assert shortest_wait(process.servers, lambda: sent(process, body)) <= LONGEST_MS / 4


def of_many_fields(topics: int) -> bytes:
    """A Produce request without an answer: six bytes for each topic, which is an object when it is decoded."""
    body = b"\xff\xff\0\0" + struct.pack(">ii", 1000, topics) + bytes(6 * topics)
    header = request_header(ApiKey.PRODUCE, 3, 1, "x", False)
    return struct.pack(">i", len(header) + len(body)) + header + body


def sent_to_kafka(process: Controlled, frame: bytes, times: int) -> None:
    with RawClient(process.servers) as client:
        for _ in range(times):
            client.socket.sendall(frame)
        client.exchange(ApiKey.API_VERSIONS, 0, b"")


def test_a_journal_of_requests_with_many_fields():
    """Twenty of them were looked through in one go."""
    with Controlled() as process:
        sent_to_kafka(process, of_many_fields(2600), 60)
        ask = b"GET /v1/journal?group=nobody HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert shortest_wait(process.servers, lambda: sent(process, ask)) <= LONGEST_MS / 2


def test_a_request_of_many_fields_while_many_wait_for_another():
    """Each of those who waited took it apart before it was served: four seconds of them."""
    wait = b"GET /v1/journal/wait?group=nobody&timeout=60 HTTP/1.1\r\nHost: x\r\n\r\n"
    with Controlled() as process, ExitStack() as waiting:
        address = "127.0.0.1", int(process.url.rpartition(":")[2])

        def is_refused() -> bool:
            """Whether there is no place for one more; one that has a place keeps it."""
            one = waiting.enter_context(socket.create_connection(address, 1))
            one.sendall(wait)
            try:
                return one.recv(4096).startswith(b"HTTP/1.1 429")
            except TimeoutError:
                return False

        for _ in range(64):
            waiting.enter_context(socket.create_connection(address)).sendall(wait)
        until(is_refused, "all of them")
        frame = of_many_fields(15_000)
        assert shortest_wait(process.servers, lambda: sent_to_kafka(process, frame, 1)) <= LONGEST_MS


def test_causes_of_large_answers():
    """Each answer was decoded between two requests: of forty thousand partitions that took a fifth of a second."""
    topics = [word for number in range(4) for word in ("--topic", f"wide-{number}:9900")]
    with Controlled(*topics) as process:
        with Client(process.servers) as client:
            for _ in range(5):
                client.ask(MetadataRequest(topics=None), version=9)

        def attack() -> None:
            found = httpx.get(f"{process.url}/v1/causes", timeout=60).json()["causes"]
            # on a slow machine nobody has asked for a while
            assert [one for one in found if not one.startswith("No client sent anything for")] == []

        attack()
        assert shortest_wait(process.servers, attack) <= LONGEST_MS / 4


@pytest.mark.parametrize("path", ["/v1/groups/wide", "/v1/groups/wide/partitions", "/v1/topics/wide"])
def test_a_list_of_ten_thousand(path: str):
    """Each thing in it is made an object first: all of them at once took a fifth of a second."""
    many = 9900
    with Controlled("--topic", f"wide:{many}") as process:
        with Client(process.servers) as client:
            commit(client, "wide", {("wide", index): 1 for index in range(many)})

        def attack() -> None:
            answer = httpx.get(f"{process.url}{path}?limit=10000", timeout=60).json()
            listed = answer.get("offset_list") or answer.get("partition_list") or answer["partitions"]
            assert [one["partition"] for one in listed] == list(range(many))

        attack()
        assert shortest_wait(process.servers, attack) <= LONGEST_MS / 4
