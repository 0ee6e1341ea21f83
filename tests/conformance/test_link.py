"""The connection that the suite and comparisons ask over: what came in time is kept, what went over it remembered."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from kafkastub.client import ConnectionClosed, NotABroker, TimedOut
from kafkastub_conformance.link import Link, remembered

ANSWER = struct.pack(">iih", 6, 1, 25)
"""To a Heartbeat 0 with the correlation id 1: UNKNOWN_MEMBER_ID."""


@contextmanager
def somebody(say: Callable[[socket.socket], None]) -> Iterator[Link]:
    """A link to whoever says so, once it has been asked something."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()

        def answer() -> None:
            accepted, _ = server.accept()
            with accepted:
                accepted.recv(1000)
                say(accepted)

        thread = threading.Thread(target=answer)
        thread.start()
        with Link(host, port, 10, "c1", time.monotonic() + 60, remembered()) as link:
            link.request("Heartbeat", 0, {"group_id": "g", "generation_id": 1, "member_id": "m"})
            yield link
        thread.join()


@pytest.mark.parametrize("first", [1, 4, 7])
def test_the_part_of_an_answer_that_came_in_time_is_kept(first: int):
    go_on = threading.Event()

    def say(to: socket.socket) -> None:
        to.sendall(ANSWER[:first])
        assert go_on.wait(10)
        to.sendall(ANSWER[first:])

    with somebody(say) as link:
        with pytest.raises(TimedOut, match="Heartbeat v0"):
            link.next_answer(0.2)
        go_on.set()
        frame = link.next_answer(10)
    assert frame.answer == ANSWER[4:]
    assert frame.body() == ANSWER[8:]
    assert not link.waiting


def test_who_waits_for_no_time_gets_what_is_there():
    with somebody(lambda to: to.sendall(ANSWER)) as link:
        assert link.arrives(10)
        frame = None
        while frame is None:  # the bytes may come in several parts
            with suppress(TimedOut):
                frame = link.next_answer(0)
            assert frame is not None or link.arrives(10)
        assert frame.answer == ANSWER[4:]


def test_an_answer_to_something_else_is_told_with_what_was_asked():
    other = ANSWER.replace(b"\1", b"\7")
    problem = "answers Heartbeat v0 with another correlation id: 00000007"
    with somebody(lambda to: to.sendall(other)) as link, pytest.raises(NotABroker, match=problem):
        link.next_answer(10)


def test_all_that_had_no_answer_when_the_connection_ended_is_marked():
    with somebody(lambda to: None) as link:
        asked = list(link.waiting)
        with pytest.raises(ConnectionClosed):
            link.next_answer(10)
    assert [frame.closed for frame in asked] == [True]
