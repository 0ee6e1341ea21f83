"""The run: a broker, all clients, trouble by a seed; at the end what was sampled is judged."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.chaos import workers
from tests.matrix.share_scenario import BROKER_CONFIG
from tests.soak.clients import all_of, topics
from tests.soak.elsewhere import Page, Programs, open_page
from tests.soak.sampling import COUNTED, Sampler
from tests.soak.series import Judged, judged, progress
from tests.soak.served import HISTORY, Served
from tests.soak.troubling import NODES, Trouble
from tests.soak.working import Stubborn, Working, at_rest

SEED: Final = 20261130
RETENTION_MS: Final = 300_000
CONFIG: Final[dict[str, object]] = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 1000,
    "group.consumer.heartbeat.interval.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 1000,
    "group.share.heartbeat.interval.ms": 1000,
    "group.share.assignment.interval.ms": 0,
    "group.streams.min.heartbeat.interval.ms": 1000,
    "group.streams.heartbeat.interval.ms": 1000,
    "group.streams.initial.rebalance.delay.ms": 0,
    "default.replication.factor": NODES,
    "offsets.topic.replication.factor": NODES,
    "transaction.state.log.replication.factor": NODES,
    "share.coordinator.state.topic.replication.factor": NODES,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "share.coordinator.state.topic.num.partitions": 4,
    "log.retention.ms": RETENTION_MS,
    "log.retention.check.interval.ms": 15_000,
    "log.roll.ms": 60_000,
    "offsets.retention.check.interval.ms": 15_000,
    "kafkastub.offsets.history.records": HISTORY,
    **BROKER_CONFIG,
}
"""With it, all that a broker keeps has reached its bound before the second sixth of an hour."""
JOURNAL: Final = 2000
_CHAOS_PART: Final = 0.6
"""Of a cycle; in the rest the clients come to rest, and the programs play."""
_BAD: Final = re.compile(r"\berror\b|Traceback|\bcritical\b", re.IGNORECASE)
"""Of a line of the broker's log."""
KITS: Final = ("kcat", "python", "java", "go", "node", "rust")


@dataclass
class Soak:
    """What a run has found.

    Attributes:
        clients: of each, how many records came back in each sixth of the time.
        wrong: everything that must not be, apart from what only the end of a long run shows.
    """

    seconds: float
    samples: list[dict[str, Any]]
    series: list[Judged]
    clients: dict[str, list[int]]
    failures: dict[str, dict[str, int]]
    trouble: dict[str, int]
    programs: dict[str, int]
    missing: dict[str, str]
    kinds: list[tuple[float, dict[str, int]]]
    processor: float
    """Share of a core that the broker had."""
    wrong: list[str] = field(default_factory=list)

    @property
    def at_the_end(self) -> list[str]:
        """Series that are higher at the end than they may be, and clients that stand still there, in sentences."""
        risen = [
            f"{one.series.name} is not flat: {one.second:.4g} in the second sixth, {one.last:.4g} in the last"
            for one in self.series
            if not one.flat
        ]
        return risen + [
            f"{name} made no progress in the last sixth" for name, row in self.clients.items() if not row[-1]
        ]


def soak(
    minutes: float,
    cycle_seconds: float,
    *,
    kits: tuple[str, ...] = KITS,
    jvms: bool = True,
    page: bool = True,
    seed: int = SEED,
    counted: int = COUNTED,
    say: Callable[[str], None],
) -> Soak:
    """Run for so many minutes.

    Args:
        cycle_seconds: from one change of the faults to the next.
        kits: toolchains of tests/matrix whose programs play.
        jvms: whether Java's clients take part.
        counted: samples from one look at all objects to the next.
    """
    workers.PATIENCE = 10.0  # a busy machine is no bug of theirs
    config = [f"{name}={value}" for name, value in CONFIG.items()]
    options = ["--nodes", str(NODES), "--journal-entries", str(JOURNAL), "--config", *config]
    with Served(*options) as served, contextlib.ExitStack() as stack:
        trouble = Trouble(served.url, seed)
        clients, missing = all_of(trouble.servers(), stack, jvms)
        programs = Programs(served.servers, kits)
        trouble.clients = clients
        trouble.create({**topics(clients), "unowned": 1})
        browser = stack.enter_context(open_page(served.url)) if page else None
        run = _Run(served, clients, trouble, programs, browser, Sampler(served, clients, counted), say)
        run.go(60 * minutes, cycle_seconds)
        return run.found({**missing, **programs.missing})


@dataclass
class _Run:
    served: Served
    clients: list[Working]
    trouble: Trouble
    programs: Programs
    page: Page | None
    sampler: Sampler
    say: Callable[[str], None]
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def go(self, seconds: float, cycle_seconds: float) -> None:
        """All of it."""
        self._look()  # the check follows from its first call
        self.sampler.start()
        for client in self.clients:
            client.start()
        begin = time.monotonic()
        number = 0
        while time.monotonic() < begin + seconds:
            next_one = time.monotonic() + cycle_seconds
            try:
                self._cycle(number, cycle_seconds)
            except Exception as error:  # the others go on, and their samples are worth having
                self._failed(f"cycle {number}: {error!r}")
            number += 1
            self.say(self._line(number, time.monotonic() - begin))
            threading.Event().wait(max(0.0, next_one - time.monotonic()))
        self.seconds = time.monotonic() - begin
        self.sampler.stop()
        self._settled(self._rest)
        for client in self.clients:
            client.stop()
        for client in self.clients:
            client.join(60)
        self._look()

    def _cycle(self, number: int, seconds: float) -> None:
        self.trouble.chaos(number)
        threading.Event().wait(_CHAOS_PART * seconds)
        self.trouble.peace()
        self._settled(self.trouble.once)
        self.programs.once()
        self._look()

    def _rest(self) -> None:
        with at_rest(self.clients):
            self.say("all clients have what was acknowledged")

    def _settled(self, act: Callable[[], object]) -> None:
        """Do what needs clients that are not owed anything."""
        try:
            act()
        except Stubborn as stubborn:
            self._failed(str(stubborn))

    def _failed(self, what: str) -> None:
        self.wrong.append(what)
        self.say(what)

    def _look(self) -> None:
        for finding in self.trouble.findings():
            if finding not in self.wrong:
                self._failed(finding)

    def found(self, missing: dict[str, str]) -> Soak:
        """What has come of it."""
        samples, played = self.sampler.samples, dict(self.programs.played)
        rows = progress(samples)
        wrong = [*self.wrong, *self.programs.wrong, *(sentence for one in self.clients for sentence in one.wrong)]
        for client in self.clients:
            played |= {f"{name} turns": count for name, count in getattr(client, "turns", {}).items()}
        if self.page is not None:
            played["views of the page"] = self.page.looked
            wrong += [f"the page complains: {one}" for one in self.page.complaints[:5]]
            missing = {**missing, **({"page": self.page.missing} if self.page.missing else {})}
        if self.sampler.failure is not None:
            wrong.append(f"the sampler failed: {self.sampler.failure!r}")
        if self.served.process.poll() is not None:
            wrong.append("the broker ended")
        wrong += [f"log: {line}" for line in self.served.stderr.splitlines() if _BAD.search(line)][:20]
        processor = samples[-1]["cpu_seconds"] / self.seconds
        return Soak(
            self.seconds, samples, judged(samples), rows, {one.name: dict(one.errors) for one in self.clients},
            dict(self.trouble.done), played, missing, self.sampler.kinds, processor, wrong,
        )  # fmt: skip

    def _line(self, number: int, seconds: float) -> str:
        last = self.sampler.samples[-1] if self.sampler.samples else {}
        least = min(self.clients, key=lambda one: one.done)
        return (
            f"{seconds / 60:.1f} min, cycle {number}: {sum(one.done for one in self.clients)} records, "
            f"{sum(one.failures for one in self.clients)} clients made again, least: {least.name} with {least.done}, "
            f"{last.get('memory_mb', 0):.1f} MB, p50 {last.get('p50_ms', 0):.2f} ms"
        )
