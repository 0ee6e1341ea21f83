"""Random lives of a share partition as lines of text, played on ours; SharePartitions.java plays them on Kafka's.

A line is a command, and each has one line of answer: what came of it, and all that can be seen of the partition then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kafkastub.share_coordinator.state_batches import ReadState, StateBatch
from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.dead_letters import CLIENT_REJECT, DeadLetter
from kafkastub.share_partitions.in_flight import InFlightBatch, Run
from kafkastub.share_partitions.log_batches import AbortedTransaction, LogBatch
from kafkastub.share_partitions.partition import SharePartition
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import RecordState
from kafkastub.share_partitions.transition import Transition
from kafkawire.errors import KafkaError

MEMBERS = ("m1", "m2", "m3")
_DONE_BY = {
    "N": "_begin",
    "A": "_acquire",
    "K": "_acknowledge",
    "R": "_release",
    "T": "_wait",
    "L": "_log_start",
    "H": "_hold",
    "W": "_end_hold",
    "D": "_letters_done",
}
"""Command -> method. Its words: see SharePartitions.java."""


@dataclass
class Log:
    """What there is to read: batches with gaps, as compaction leaves them, and aborted transactions."""

    batches: list[LogBatch] = field(default_factory=list)
    aborted: list[tuple[AbortedTransaction, int]] = field(default_factory=list)
    end: int = 0

    def append(self, count: int, producer_id: int = -1, *, abort: bool = False) -> None:
        last = self.end + count - 1
        self.batches.append(LogBatch(self.end, last, producer_id, producer_id >= 0, abort))
        self.end = last + 1

    def abort(self, chance: random.Random) -> None:
        """A transaction that is aborted, with others' batches between its own."""
        producer_id, first = chance.randint(1, 2), self.end
        for _ in range(chance.randint(1, 3)):
            self.append(chance.randint(1, 4), producer_id)
            if chance.random() < 0.4:
                self.append(chance.randint(1, 4), chance.choice([-1, 3 - producer_id]))
        self.append(1, producer_id, abort=True)
        self.aborted.append((AbortedTransaction(producer_id, first), self.end - 1))

    def read(self, offset: int, most: int) -> tuple[list[LogBatch], list[AbortedTransaction]]:
        found = [batch for batch in self.batches if batch.last_offset >= offset][:most]
        last = found[-1].last_offset if found else -1
        return found, [one for one, marker in self.aborted if marker >= offset and one.first_offset <= last]


class Ours:
    """A share partition of ours, and who drives it; answers as SharePartitions.java does."""

    def __init__(self) -> None:
        self.now = 0
        self.holds = False
        self.held: list[Transition] = []
        self.letters: list[DeadLetter] = []
        self.wrote: list[str] = []
        self.sent: list[str] = []
        self.settings = ShareSettings()
        self.partition = SharePartition("g", bytes(16), 0, lambda: self.settings, 0)

    def play(self, line: str) -> str:
        words = line.split(" ")
        try:
            answer = getattr(self, _DONE_BY[words[0]])(*words[1:])
        except KafkaError as error:
            answer = f"{error.code.name} {error.message}"
        return f"{answer} | {self._seen()}"

    def _begin(
        self, lock: str, limit: str, locks: str, renew: str, dlq: str, first: str, start: str, batches: str
    ) -> str:
        self.settings = ShareSettings(int(lock), int(limit), int(locks), renew == "1", dlq == "1")
        kept = []
        for one in [] if batches == "-" else batches.split(","):
            offsets, state = one.split(":")
            kept.append(StateBatch(*map(int, offsets.split("-")), *map(int, state.split("x"))))
        self._send(self.partition.load(ReadState(3, int(start), -1, kept), int(first)))
        return ""

    def _acquire(self, member: str, mode: str, size: str, most: str, offset: str, batches: str, aborted: str) -> str:
        read = []
        for one in [] if batches == "-" else batches.split(","):
            kind = next((kind for kind in "ta" if kind in one), "")
            offsets, _, producer = one.partition(kind or " ")
            base, last = map(int, offsets.split("-"))
            read.append(LogBatch(base, last, int(producer or -1), bool(kind), kind == "a"))
        given_up = []
        for one in [] if aborted == "-" else aborted.split(","):
            producer, first = one.split("@")
            given_up.append(AbortedTransaction(int(producer), int(first)))
        got = self.partition.acquire(member, int(mode), int(size), int(most), int(offset), read, self.now, given_up)
        return ",".join(f"{first}-{last}x{count}" for first, last, count in got)

    def _acknowledge(self, member: str, batches: str) -> str:
        said = []
        for one in batches.split(","):
            offsets, types = one.split(":")
            first, last = map(int, offsets.split("-"))
            said.append(AcknowledgementBatch(first, last, [int(kind) for kind in types]))
        self._begun(self.partition.acknowledge(member, said, self.now))
        return "ok"

    def _release(self, member: str) -> str:
        self._begun(self.partition.release(member))
        return "ok"

    def _wait(self, ms: str) -> str:
        until = self.now + int(ms)
        while (at := self.partition.next_lock_deadline()) is not None and at <= until:
            self.now = max(self.now, at)
            self._begun(self.partition.expire_locks(self.now))
        self.now = until
        return ""

    def _log_start(self, offset: str) -> str:
        self.partition.log_start_moved(int(offset))
        return ""

    def _hold(self) -> str:
        self.holds = True
        return ""

    def _end_hold(self, good: str) -> str:
        self.holds = False
        held, self.held = self.held, []
        for transition in held:
            end = self.partition.commit if good == "1" else self.partition.roll_back
            self._send(end(transition))
        return ""

    def _letters_done(self) -> str:
        letters, self.letters = self.letters, []
        for letter in letters:
            self._begun(self.partition.dead_letter_done(letter))
        return ""

    def _begun(self, transition: Transition) -> None:
        for first, last, state, count in transition.writes:
            self.wrote += [f"{offset}:{int(state)}x{count}" for offset in range(first, last + 1)]
        if self.holds:
            self.held.append(transition)
        else:
            self._send(self.partition.commit(transition))

    def _send(self, letters: Sequence[DeadLetter]) -> None:
        self.letters += letters
        for first, last, count, cause in letters:
            why = "r" if cause == CLIENT_REJECT else "c"
            self.sent += [f"{offset}x{count}{why}" for offset in range(first, last + 1)]

    def _seen(self) -> str:
        partition = self.partition
        batches = "".join(map(_batch, partition.in_flight.batches))
        following = partition.next_fetch_offset()
        seen = (
            f"{partition.start_offset}..{partition.end_offset} done {partition.delivery_complete_count}"
            f" next {following}{' can ' if partition.can_acquire() else ' full '}{batches}"
            f" wrote {','.join(sorted(self.wrote))} sent {','.join(sorted(self.sent))}"
        )
        self.wrote, self.sent = [], []
        return seen


def _batch(batch: InFlightBatch) -> str:
    if not batch.by_offset:
        return f"[{batch.first}-{batch.last} {_run(batch.runs[0])}]"
    text, last = [], ""
    for run in batch.runs:
        if (now := _run(run)) != last:
            text.append(f"{run.first}:{now}")
        last = now
    return f"[{' '.join(text)} ..{batch.last}]"


def _run(run: Run) -> str:
    lock = "" if run.locked_until is None else f"!{run.locked_until}"
    return f"{int(run.state)}x{run.delivery_count}{run.member_id}{lock}{'' if run.pieces is None else '~'}"


# -- what is played ----------------------------------------------------------------------------------------------------


def scenario(chance: random.Random, steps: int) -> Iterator[tuple[str, str]]:
    """A life of one partition: each line, and what ours answers."""
    log, ours = Log(), Ours()

    def play(line: str) -> tuple[str, str]:
        return line, ours.play(line)

    yield play(_beginning(chance, log))
    partition = ours.partition
    for _ in range(steps):
        kind = chance.random()
        member = chance.choice(MEMBERS)
        if kind < 0.4:
            yield play(_acquire(chance, log, member, partition))
        elif kind < 0.7:
            yield play(_acknowledge(chance, member, partition))
        elif kind < 0.75:
            yield play(f"R {member}")
        elif kind < 0.87:
            yield play(f"T {chance.choice([1, 5, 20, 100])}")
        elif kind < 0.9:
            if not ours.holds:
                yield play(f"L {partition.start_offset + chance.randint(-1, 12)}")
        elif kind < 0.93:
            yield play("W " + chance.choice("0111") if ours.holds else "H")
        elif kind < 0.96:
            yield play("D")
        elif ours.holds:
            yield play("W " + chance.choice("01"))


def _beginning(chance: random.Random, log: Log) -> str:
    for _ in range(chance.randint(2, 60)):
        if chance.random() < 0.1:
            log.end += chance.randint(1, 5)  # compacted
        if chance.random() < 0.1:
            log.abort(chance)
        else:
            log.append(chance.choice([1, 1, 2, 3, 5, 10, 20]))
    limit, locks = chance.choice([2, 3, 5, 5, 6]), chance.choice([5, 10, 40, 200])
    kept, start = [], -1
    if chance.random() < 0.4:
        start = offset = chance.randint(0, 10)
        for _ in range(chance.randint(0, 6)):
            offset += chance.choice([0, 0, 0, 1, 4])
            last = offset + chance.choice([0, 1, 4, 9])
            kept.append(f"{offset}-{last}:{chance.choice([0, 0, 2, 4, 4, 3])}x{chance.randint(0, limit)}")
            offset = last + 1
    return (
        f"N {chance.choice([10, 30, 50])} {limit} {locks} {int(chance.random() < 0.8)} {int(chance.random() < 0.3)}"
        f" {chance.choice([0, 0, 5])} {start} {','.join(kept) or '-'}"
    )


def _acquire(chance: random.Random, log: Log, member: str, partition: SharePartition) -> str:
    offset = partition.next_fetch_offset()
    batches, aborted = log.read(offset, chance.choice([1, 2, 5, 20]))
    read = ",".join(_read(batch) for batch in batches) or "-"
    given_up = ",".join(f"{producer}@{first}" for producer, first in aborted) or "-"
    mode, size, most = chance.choice("0001"), chance.choice([1, 3, 10, 100]), chance.choice([1, 2, 5, 10, 100])
    return f"A {member} {mode} {size} {most} {offset} {read} {given_up}"


def _read(batch: LogBatch) -> str:
    kind = "a" if batch.is_abort_marker else "t" if batch.is_transactional else ""
    return f"{batch.base_offset}-{batch.last_offset}{kind}{batch.producer_id if kind else ''}"


def _acknowledge(chance: random.Random, member: str, partition: SharePartition) -> str:
    seen = list(partition.view())
    mine = [one for one in seen if one.member_id == member and one.state is RecordState.ACQUIRED]
    said: list[str] = []
    for one in mine[: chance.choice([1, 2, 5])]:
        first, last = one.first_offset, one.last_offset
        if chance.random() < 0.4:
            first = chance.randint(first, last)
        if chance.random() < 0.4:
            last = chance.randint(first, last)
        said.append(_said(chance, first, last))
    if not said or chance.random() < 0.1:
        first = max(partition.start_offset + chance.randint(-5, 15), 0)
        said.append(_said(chance, first, first + chance.choice([0, 1, 4, 15])))
    if chance.random() < 0.1 and mine:
        said = [_said(chance, mine[0].first_offset, mine[-1].last_offset)]
    return f"K {member} {','.join(said)}"


def _said(chance: random.Random, first: int, last: int) -> str:
    kinds = "1112234" if chance.random() < 0.9 else "011223349"
    if chance.random() < 0.6:
        return f"{first}-{last}:{chance.choice(kinds)}"
    one = chance.choice(kinds)
    types = [one if chance.random() < 0.5 else chance.choice(kinds) for _ in range(first, last + 1)]
    return f"{first}-{last}:{''.join(types)}"
