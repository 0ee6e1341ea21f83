"""The load generator: one connection, prebuilt frames, answers counted by their size.

Counting bytes instead of parsing keeps the generator cheap, so that what is measured is the server. It rests on every
answer to the same request having the same size: a window of answers is decoded before and another one behind the
measurement (`verify`), and bytes that are no whole number of such answers end the measurement with an error.

Times in nanoseconds, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns

from bench.frames import BadAnswer, Client, error_codes, frame, read_answer
from kafkawire.schema import Message

WINDOW = 64
"""Requests in flight when pipelining."""

READ_SIZE = 1 << 18


@dataclass(frozen=True)
class Request:
    """A prepared request and what its answer is known to look like."""

    message: Message
    version: int
    answer_size: int
    """Length prefix included."""

    @classmethod
    def prepared(cls, client: Client, message: Message, version: int) -> Request:
        """Send it once. Raises BadAnswer when the answer holds an error."""
        client.succeed(message, version)
        return cls(message, version, 4 + len(client.exchange(frame(message, version))))

    def frames(self, count: int) -> list[bytes]:
        """The same request `count` times, correlation ids 0 to count - 1."""
        return [frame(self.message, self.version, number) for number in range(count)]


def round_trips(client: Client, request: Request, seconds: float, limit: int, warm_up: int = 20) -> list[int]:
    """The nanoseconds of each round trip, one request at a time, for so long or so many, whatever ends first."""
    (wire,) = request.frames(1)
    send, receive = client.socket.sendall, client.socket.recv_into
    size, buffer = request.answer_size, bytearray(max(READ_SIZE, request.answer_size))
    prefix = (size - 4).to_bytes(4, "big")
    taken: list[int] = []
    until = 0
    for number in range(warm_up + limit):
        start = perf_counter_ns()
        send(wire)
        got = receive(buffer)
        while got < size:
            got += _more(receive(memoryview(buffer)[got:]))
        end = perf_counter_ns()
        if got != size or buffer[:4] != prefix:
            raise BadAnswer(f"an answer has another size than the first one had ({size} bytes)")
        if number < warm_up:
            until = end + int(seconds * 1e9)
            continue
        taken.append(end - start)
        if end > until:
            break
    return taken


def pipelined(client: Client, request: Request, seconds: float, limit: int) -> float:
    """Requests per second with `WINDOW` of them in flight: each answer makes room for the next request."""
    wire = memoryview(b"".join(request.frames(WINDOW)) * 2)
    length = len(wire) // (2 * WINDOW)
    send, receive = client.socket.sendall, client.socket.recv_into
    size, buffer = request.answer_size, bytearray(max(READ_SIZE, 2 * request.answer_size))
    sent, answered, got = WINDOW, 0, 0
    start = perf_counter_ns()
    until = start + int(seconds * 1e9)
    send(wire[: WINDOW * length])
    while answered < sent:
        got += _more(receive(buffer))
        complete = got // size
        if complete == answered:
            continue
        first, answered, room = answered % WINDOW, complete, complete - answered
        if sent < limit and perf_counter_ns() < until:
            send(wire[first * length : (first + room) * length])
            sent += room
    elapsed = perf_counter_ns() - start
    if got != sent * size:
        raise BadAnswer(f"{sent} answers of {size} bytes were awaited, {got} bytes came")
    return sent * 1e9 / elapsed


def verify(client: Client, request: Request) -> None:
    """The stream is in step and `WINDOW` pipelined answers come in order and without error. Raises BadAnswer."""
    client.socket.sendall(b"".join(request.frames(WINDOW)))
    for number in range(WINDOW):
        payload = client.read_frame()
        answered, answer = read_answer(request.message.API_KEY, request.version, payload)
        errors = {code.name for code in error_codes(answer)}
        if answered != number or errors or len(payload) + 4 != request.answer_size:
            raise BadAnswer(f"answer {number}: id {answered}, {len(payload) + 4} bytes, errors {errors or 'none'}")


def _more(got: int) -> int:
    if not got:
        raise BadAnswer("the server closed the connection")
    return got
