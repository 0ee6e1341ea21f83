"""From a frame to a handler and back: what handlers are told, and what becomes of what they raise."""

from __future__ import annotations

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.framing import frame
from kafkawire.header import request_header
from tests.server.bench import FAIL, REFUSE, SPEECHLESS, Bench, api_versions, heartbeat


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


@pytest.mark.parametrize("version", range(5))
def test_a_handler_is_told_who_asks_what(bench: Bench, version: int):
    bench.connection.receive(heartbeat(77, client_id="somebody", version=version))
    (context,) = bench.served
    assert (context.api_key, context.api_version, context.correlation_id) == (ApiKey.HEARTBEAT, version, 77)
    assert (context.client_id, context.client_host) == ("somebody", "/127.0.0.1")
    assert (context.principal, context.listener, context.node_id) == ("User:ANONYMOUS", "PLAINTEXT", 1)
    assert context.state is bench.dispatcher.state


def test_client_ids_are_those_of_each_request(bench: Bench):
    names = ["a", "b", None, "", "a", "ü" * 100, "b", None]
    bench.receive(*(heartbeat(i, client_id=name) for i, name in enumerate(names)))
    assert [context.client_id for context in bench.served] == names


def test_a_client_id_that_is_not_utf_8_is_read_as_java_reads_it(bench: Bench):
    for raw in (b"a\xff", b"\xed\xa0\x80b"):
        bench.receive(heartbeat(1, client_id="zz" + "z" * (len(raw) - 2)).replace(b"z" * len(raw), raw))
    assert [context.client_id for context in bench.served] == ["a\ufffd", "\ufffdb"]


@pytest.mark.parametrize("tags", [b"\0", b"\1\5\2ab", b"\2\5\0\5\0"])
def test_tags_in_a_header_are_skipped(bench: Bench, tags: bytes):
    whole = heartbeat(5, version=4)
    header = request_header(ApiKey.HEARTBEAT, 4, 5, "client", False)
    body = whole[4 + len(header) + 1 :]
    assert len(bench.receive(frame(header + tags + body))) == 1


def test_answers_of_flexible_versions_have_a_tag_section_in_the_header(bench: Bench):
    bench.connection.receive(heartbeat(5, version=3) + heartbeat(6, version=4))
    assert b"".join(bench.connection.out) == frame(bytes.fromhex("00000005 00000000 0000")) + frame(
        bytes.fromhex("00000006 00 00000000 0000 00")
    )


@pytest.mark.parametrize("version", range(5))
def test_the_answer_to_api_versions_has_none(bench: Bench, version: int):
    body = b"\0\1\1\0" if version >= 3 else b""
    bench.connection.receive(api_versions(7, version, body))
    size = {0: 6, 1: 10, 2: 10}.get(version, 8)
    assert b"".join(bench.connection.out)[:10] == frame(bytes(4 + size))[:4] + bytes.fromhex("00000007 0000")


def test_what_a_handler_raises_becomes_its_answer(bench: Bench):
    assert bench.receive(heartbeat(1, REFUSE), heartbeat(2)) == [(1, ErrorCode.NOT_COORDINATOR), (2, 0)]
    assert bench.log.lines == []


def test_a_bug_in_a_handler_is_an_answer_and_one_line_with_the_peer(bench: Bench):
    assert bench.receive(heartbeat(1, FAIL), heartbeat(2)) == [(1, ErrorCode.UNKNOWN_SERVER_ERROR), (2, 0)]
    ((level, event, fields),) = bench.log.lines
    assert (level, event) == ("exception", "handler failed")
    assert fields == {"api": "Heartbeat", "version": 3, "peer": "127.0.0.1:5555"}


def test_where_there_is_no_error_answer_the_connection_ends(bench: Bench):
    assert bench.receive(heartbeat(1, SPEECHLESS), heartbeat(2)) == []
    assert bench.connection.closing
    assert [(level, event) for level, event, _ in bench.log.lines] == [("exception", "no error answer")]


@pytest.mark.parametrize("version", [5, 6, 32767, -1, -32768])
def test_api_versions_of_any_unknown_version_is_refused_in_version_0(bench: Bench, version: int):
    bench.connection.receive(api_versions(7, version, b"\0" if version > 0 else b""))
    assert b"".join(bench.connection.out) == frame(bytes.fromhex("00000007 0023 00000001 0012 0000 0004"))
    assert not bench.served


def test_a_client_cannot_make_the_broker_remember_without_bound(bench: Bench):
    for version in range(5, 5000):
        bench.connection.receive(api_versions(7, version, b"\0"))
        bench.connection.out = []
    assert len(bench.dispatcher._routes) <= 1000


@pytest.mark.parametrize("rest", [b"", b"\1", b"\1\5\x09a"])
def test_api_versions_of_the_future_has_a_header_nevertheless(bench: Bench, rest: bytes):
    """Kafka reads its header, tags included, as of every version from 3 on."""
    bench.connection.receive(api_versions(7, 9, rest))
    assert bench.connection.closing
    assert bench.connection.out == []
