"""Clients that write until the broker is killed, and remember what they were told."""

from __future__ import annotations

import threading
from random import Random
from types import TracebackType
from typing import Self

from kafkawire.errors import ErrorCode
from tests.persistence.speaker import Speaker

TOPIC = "orders"
REFUSED = b"refused"


class Writer:
    """What one client has sent and was told, over all of its connections: it alone writes to its group and partition.

    It commits ever higher offsets, produces numbered records, and now and then asks for what must be refused.
    """

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self.group = f"group-{number}"
        self.random = Random(f"{seed}/{number}")
        self.committed = (-1, -1)
        """The highest offset acknowledged, and the highest sent."""
        self.produced = (0, 0)
        """How many records are acknowledged, and how many were sent."""

    def write(self, speaker: Speaker) -> None:
        """One request. ConnectionError, OSError where the broker is gone."""
        choice = self.random.random()
        if choice < 0.45:
            offset = max(self.committed) + 1
            self.committed = self.committed[0], offset
            assert speaker.commit(self.group, TOPIC, {self.number: offset}) == [0]
            self.committed = offset, offset
        elif choice < 0.85:
            first, count = max(self.produced), self.random.randint(1, 4)
            self.produced = self.produced[0], first + count
            values = [b"%d" % number for number in range(first, first + count)]
            assert speaker.produce(TOPIC, self.number, *values) == (0, first)
            self.produced = first + count, first + count
        elif choice < 0.92:
            codes = speaker.commit(self.group, TOPIC, {self.number: 1 << 40}, metadata="x" * 5000)
            assert codes == [ErrorCode.OFFSET_METADATA_TOO_LARGE]
        else:
            code, _ = speaker.produce(TOPIC, self.number, REFUSED * 500)
            assert code == ErrorCode.MESSAGE_TOO_LARGE

    def check(self, speaker: Speaker) -> None:
        """After a restart: nothing acknowledged is missing, nothing refused is there; what was under way may be."""
        acknowledged, sent = self.committed
        (offset,) = speaker.committed(self.group, TOPIC, [self.number])
        assert acknowledged <= offset <= sent, f"{self.group}: {acknowledged} was acknowledged, {offset} is there"
        self.committed = offset, offset
        acknowledged, sent = self.produced
        values = speaker.values(TOPIC, self.number)
        assert values == [b"%d" % number for number in range(len(values))]
        assert acknowledged <= len(values) <= sent, f"{acknowledged} of {TOPIC}-{self.number} were acknowledged"
        self.produced = len(values), len(values)


class Load:
    """All writers at once, a thread and a connection each, until the broker is gone or `stop`."""

    def __init__(self, servers: str, writers: list[Writer]) -> None:
        self._servers = servers
        self._acknowledged = threading.Semaphore(0)
        self._stopping = False
        self._failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(writer,)) for writer in writers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        for thread in self._threads:
            thread.join()
        if error is None and self._failures:
            raise self._failures[0]

    def wait_for(self, answers: int) -> None:
        """Until so many requests have been answered."""
        for _ in range(answers):
            assert self._acknowledged.acquire(timeout=60) or self._failures, "no answer in a minute"

    def _run(self, writer: Writer) -> None:
        try:
            with Speaker(self._servers) as speaker:
                while not self._stopping:
                    writer.write(speaker)
                    self._acknowledged.release()
        except OSError:
            pass  # the broker was killed
        except BaseException as failure:
            self._failures.append(failure)
            self._acknowledged.release(1 << 20)
