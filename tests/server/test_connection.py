"""A connection, bytes in and bytes out: order, what holds it back, and what ends it."""

from __future__ import annotations

import random
import struct
import sys

import pytest

from kafkawire.framing import frame
from tests.server.bench import (
    DEFER,
    DONE,
    END,
    LIMIT,
    REPLY,
    SILENT,
    UNWRITABLE,
    Bench,
    api_versions,
    heartbeat,
)

TOO_LARGE = struct.pack(">i", LIMIT + 1)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def ids(answers: list[tuple[int, int]]) -> list[int]:
    return [correlation_id for correlation_id, _ in answers]


def test_pipelined_requests_are_answered_in_their_order(bench: Bench):
    many = list(range(1, 1001))
    assert ids(bench.receive(*map(heartbeat, many))) == many
    assert bench.connection.pending == 0


def test_a_connection_with_much_to_do_gives_others_their_turn(bench: Bench):
    bench.connection.receive(b"".join(map(heartbeat, range(1000))))
    assert len(bench.served) < 1000
    assert bench.woken
    assert len(bench.sent()) == 1000


@pytest.mark.parametrize("seed", range(20))
def test_any_pieces_give_the_same_answers(bench: Bench, seed: int):
    rng = random.Random(seed)
    data = b"".join(heartbeat(i, rng.choice([REPLY, REPLY, DONE, SILENT])) for i in range(60))
    answers, whole = [], ids(bench.receive(data))
    while data:
        size = rng.choice([1, 2, 3, 4, 5, 30, 100, 500])
        answers += ids(bench.receive(data[:size]))
        data = data[size:]
    assert answers == whole
    assert len(whole) < 60
    assert bench.connection.pending == 0


def test_half_a_frame_waits_and_is_counted(bench: Bench):
    whole = heartbeat(1)
    assert bench.receive(whole[:-3]) == []
    assert bench.connection.pending == len(whole) - 3
    assert ids(bench.receive(whole[-3:] + heartbeat(2)[:2])) == [1]
    assert bench.connection.pending == 2


def test_a_deferred_reply_holds_later_requests_back(bench: Bench):
    assert ids(bench.receive(heartbeat(1), heartbeat(2, DEFER), heartbeat(3), heartbeat(4, DEFER), heartbeat(5))) == [1]
    assert len(bench.served) == 2
    assert bench.connection.muted
    assert ids(bench.receive(heartbeat(6))) == []
    assert bench.connection.pending > 0
    bench.deferred[0].complete(27)
    assert bench.sent() == [(2, 27), (3, 0)]
    bench.deferred[1].complete(0)
    assert ids(bench.sent()) == [4, 5, 6]
    assert not bench.connection.muted
    assert bench.connection.pending == 0


def test_frames_without_a_byte_count_too_while_they_wait(bench: Bench):
    """A client that sent nothing else could have had any number of them kept."""
    bench.receive(heartbeat(1, DEFER), *[frame(b"")] * 1000)
    assert bench.connection.queued >= 1000 * sys.getsizeof(b"")
    bench.deferred[0].complete(0)
    assert ids(bench.sent()) == [1]
    assert bench.connection.closing


def test_a_deferred_reply_that_is_there_holds_nothing_back(bench: Bench):
    assert bench.receive(heartbeat(1, DONE), heartbeat(2)) == [(1, 6), (2, 0)]


def test_a_deferred_reply_in_pieces(bench: Bench):
    """Half a frame behind the request that waits."""
    assert bench.receive(heartbeat(1, DEFER) + heartbeat(2)[:9]) == []
    bench.deferred[0].complete(0)
    assert ids(bench.sent()) == [1]
    assert ids(bench.receive(heartbeat(2)[9:])) == [2]


def test_silence_is_no_answer_and_holds_nothing_back(bench: Bench):
    assert ids(bench.receive(heartbeat(1, SILENT), heartbeat(2), heartbeat(3, SILENT))) == [2]


def test_close_ends_the_connection_behind_the_answers_before_it(bench: Bench):
    assert ids(bench.receive(heartbeat(1), heartbeat(2, END), heartbeat(3))) == [1]
    assert bench.connection.closing
    assert bench.connection.reason is None
    assert len(bench.served) == 2


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (frame(b""), "a request of 0 bytes"),
        (frame(b"\0\x0c\0"), "a request of 3 bytes"),
        (
            frame(b"\0\x0c\0\3\0\0\0\1\0"),
            "Heartbeat v3: request header: message at byte 0: 9 bytes, at least 10 wanted",
        ),
        (frame(b"\0\x63\0\0\0\0\0\1\xff\xff"), "api key 99 (version 0) is not served"),
        (heartbeat(1, version=4).replace(b"\0\x0c\0\4", b"\0\x0c\0\5"), "Heartbeat v5 is not served, only 0 to 4"),
        (
            frame(heartbeat(1)[4:-4]),
            "Heartbeat v3: HeartbeatRequest v3: member_id at byte 7: 2 bytes wanted, 1 left",
        ),
        (TOO_LARGE, f"frame: size at byte 0: {LIMIT + 1} is not within 0 to {LIMIT}"),
        (b"\xff\xff\xff\xff", f"frame: size at byte 0: -1 is not within 0 to {LIMIT}"),
        (b"GET / HTTP/1.1\r\n\r\n", f"frame: size at byte 0: 1195725856 is not within 0 to {LIMIT}"),
    ],
)
@pytest.mark.parametrize("piece", [1, 1000])
def test_what_is_no_request_ends_the_connection_and_says_why(bench: Bench, raw: bytes, reason: str, piece: int):
    data = heartbeat(7) + raw + heartbeat(8)
    answers = [answer for i in range(0, len(data), piece) for answer in bench.receive(data[i : i + piece])]
    assert ids(answers) == [7]
    assert bench.connection.closing
    assert bench.connection.reason == reason
    assert bench.log.lines == []  # the owner of the socket writes the line


@pytest.mark.parametrize(
    "raw", [TOO_LARGE, b"\xff\xff\xff\xff", frame(b"\0\x63\0\0\0\0\0\1\xff\xff"), heartbeat(4, END)]
)
def test_garbage_is_noticed_when_its_turn_comes(bench: Bench, raw: bytes):
    """As Kafka, which does not read on while an answer is under way."""
    assert bench.receive(heartbeat(1), heartbeat(2, DEFER), heartbeat(3), raw, heartbeat(5)) == [(1, 0)]
    assert not bench.connection.closing
    bench.deferred[0].complete(0)
    assert ids(bench.sent()) == [2, 3]
    assert bench.connection.closing
    assert bench.receive(heartbeat(6)) == []


def test_nothing_behind_the_end_of_a_frame_is_read(bench: Bench):
    """A body that would be whole if the next frame belonged to it."""
    whole = heartbeat(1)
    assert bench.receive(frame(whole[4:-2]) + whole) == []
    assert bench.connection.reason is not None
    assert "behind" in bench.connection.reason or "wanted" in bench.connection.reason


def test_what_follows_a_request_in_its_frame_is_ignored(bench: Bench):
    assert ids(bench.receive(frame(heartbeat(1)[4:] + b"\xff\xff"), heartbeat(2))) == [1, 2]


def test_nobody_reads_our_answers(bench: Bench):
    """Requests are kept, not served, until somebody does; then in their order."""
    bench.connection.blocked = True
    assert bench.receive(heartbeat(1), heartbeat(2)) == []
    assert bench.served == []
    assert bench.connection.queued > 0
    bench.connection.blocked = False
    bench.connection.resume()
    assert ids(bench.receive(heartbeat(3))) == [1, 2, 3]
    assert bench.connection.pending == 0


def test_a_client_that_is_gone_is_not_answered(bench: Bench):
    bench.receive(heartbeat(1, DEFER), heartbeat(2), heartbeat(3)[:7])
    bench.connection.lost()
    assert bench.deferred[0].abandoned
    bench.deferred[0].complete(0)
    assert bench.sent() == []
    assert bench.connection.queued == 0
    assert len(bench.served) == 1


def test_an_answer_that_cannot_be_written_ends_the_connection(bench: Bench):
    assert ids(bench.receive(heartbeat(1), heartbeat(2, UNWRITABLE), heartbeat(3))) == [1]
    assert bench.connection.closing
    assert [(level, event) for level, event, _ in bench.log.lines] == [("exception", "a reply cannot be encoded")]


def test_a_deferred_answer_that_cannot_be_written_ends_the_connection(bench: Bench):
    bench.receive(heartbeat(1, DEFER), heartbeat(2))
    bench.deferred[0].complete(2**40)
    assert bench.sent() == []
    assert bench.connection.closing
    assert [(level, event) for level, event, _ in bench.log.lines] == [("exception", "a reply cannot be encoded")]


def test_both_clocks_are_read_when_a_request_is_served(bench: Bench):
    bench.receive(heartbeat(1))
    bench.receive(heartbeat(2, DEFER), heartbeat(3))
    bench.now = (1_700_000_000_500, 5_500)
    bench.deferred[0].complete(0)
    assert ids(bench.sent()) == [2, 3]
    assert [(c.broker_ms, c.timer_ms) for c in bench.served] == [
        (1_700_000_000_000, 5_000),
        (1_700_000_000_000, 5_000),
        (1_700_000_000_500, 5_500),
    ]


def test_api_versions_of_the_future_is_answered_in_version_0_and_the_connection_goes_on(bench: Bench):
    bench.connection.receive(api_versions(7, 9, b"\0anything"))
    assert b"".join(bench.connection.out) == frame(bytes.fromhex("00000007 0023 00000001 0012 0000 0004"))
    bench.connection.out = []
    assert ids(bench.receive(heartbeat(8))) == [8]
