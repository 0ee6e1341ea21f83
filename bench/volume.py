"""A million offsets: how fast they are committed, 1,000 partitions a request, and what each costs of memory.

Every request is another group's, so nothing is overwritten in the first pass; the passes behind it overwrite
everything, and memory should then stay where it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from bench.cases import COMMIT, PARTITIONS, commit_request, prepare_server
from bench.contestants import Contestant, Unavailable
from bench.frames import BadAnswer, Client, error_codes, frame, read_answer
from bench.load import WINDOW, Request
from bench.placement import undisturbed

PASSES = 3


@dataclass
class Volume:
    """What one contestant did. Bytes an offset are None where they cannot be told."""

    name: str
    offsets: int
    per_second: list[float] = field(default_factory=list)
    """Offsets a second, a number a pass."""
    bytes_each: float | None = None
    bytes_each_at_last: float | None = None
    """Behind the last pass."""


def measure(contestant: Contestant, groups: int) -> Volume:
    """Commit `groups` times 1,000 partitions, three times over. The server must be a fresh one. Raises BadAnswer."""
    found = Volume(contestant.name, groups * PARTITIONS)
    with Client(contestant.host, contestant.port) as client:
        prepare_server(client)
        message = commit_request("bench-volume", PARTITIONS)
        request = Request.prepared(client, message, COMMIT)
        for _ in range(WINDOW):
            client.exchange(frame(message, COMMIT))
        # Group ids of one length keep the answers' size; they hold no group id anyway.
        wires = [frame(commit_request(f"bench-volume-{n:06}", PARTITIONS), COMMIT, n) for n in range(groups)]
        before = _memory(contestant)
        for number in range(PASSES):
            found.per_second.append(_commit_all(client, wires, request.answer_size))
            if number in (0, PASSES - 1):
                after = _memory(contestant)
                if before is not None and after is not None:
                    each = (after - before) / found.offsets
                    found.bytes_each_at_last = each
                    if number == 0:
                        found.bytes_each = each
    return found


def _commit_all(client: Client, wires: list[bytes], answer_size: int) -> float:
    """Offsets a second, a window of requests in flight; every tenth answer is decoded behind the clock's back."""
    kept: list[bytes] = []
    with undisturbed():
        start = perf_counter()
        for wire in wires[:WINDOW]:
            client.socket.sendall(wire)
        for number in range(len(wires)):
            payload = client.read_frame()
            if number + WINDOW < len(wires):
                client.socket.sendall(wires[number + WINDOW])
            kept.append(payload)
        elapsed = perf_counter() - start
    for number in range(0, len(kept), 10):
        answered, answer = read_answer(8, COMMIT, kept[number])
        errors = {code.name for code in error_codes(answer)}
        if errors or answered != number or len(kept[number]) + 4 != answer_size:
            raise BadAnswer(f"commit {number}: id {answered}, {len(kept[number])} bytes, errors {errors or 'none'}")
    return len(wires) * PARTITIONS / elapsed


def _memory(contestant: Contestant) -> int | None:
    try:
        return contestant.resident_bytes()
    except Unavailable:
        return None
