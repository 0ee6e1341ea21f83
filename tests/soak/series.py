"""What is sampled of the broker, and whether it stays where it is."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

PARTS: Final = 6
"""Of the whole time: the first is the one in which everything fills."""


@dataclass(frozen=True)
class Series:
    """One number over time.

    It is flat if the median of the last sixth is at most `factor` times that of the second sixth, and `more` above.

    Attributes:
        name: as a plot has it.
        key: of a sample.
        budget: whether it fails a run. The others are shown.
    """

    name: str
    unit: str
    key: str
    factor: float
    more: float
    budget: bool = True


SERIES: Final = (
    Series("memory", "MB", "memory_mb", 1.05, 4),
    Series("objects", "of the collector", "objects", 1.05, 5000),
    Series("blocks", "of Python's allocator", "blocks", 1.05, 50_000, budget=False),
    Series("allocated", "MB of the C library", "allocated_mb", 1.05, 4, budget=False),
    Series("free", "MB of the C library", "free_mb", 1.05, 4, budget=False),
    Series("tasks", "of asyncio", "tasks", 1.2, 10),
    Series("timers", "armed deadlines", "timers", 1.2, 10),
    Series("descriptors", "open", "descriptors", 1.2, 10),
    Series("median request", "ms", "p50_ms", 1.5, 0.5),
    Series("99th percentile", "ms", "p99_ms", 2.0, 10),
    Series("connections", "of clients", "connections", 1.2, 10),
    Series("groups", "of all types", "groups", 1.2, 5),
    Series("offsets", "committed", "offsets", 1.2, 20),
    Series("transactional ids", "known", "transactions", 1.2, 5),
    Series("share records", "in flight", "in_flight", 1.5, 100),
)


@dataclass(frozen=True)
class Judged:
    """A series with the medians of its first, second and last sixth."""

    series: Series
    first: float
    second: float
    last: float

    @property
    def limit(self) -> float:
        return self.series.factor * self.second + self.series.more

    @property
    def flat(self) -> bool:
        return self.last <= self.limit or not self.series.budget


def judged(samples: Sequence[dict[str, Any]]) -> list[Judged]:
    """Each series by its samples, which are in the order of their time."""
    found = []
    for series in SERIES:
        parts = [[one[series.key] for one in part if series.key in one] for part in sixths(samples)]
        medians = [statistics.median(part) if part else 0.0 for part in parts]
        found.append(Judged(series, medians[0], medians[1], medians[-1]))
    return found


def sixths(samples: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The samples of each sixth of the time."""
    begin, end = samples[0]["at"], samples[-1]["at"]
    parts: list[list[dict[str, Any]]] = [[] for _ in range(PARTS)]
    for sample in samples:
        parts[min(int(PARTS * (sample["at"] - begin) / (end - begin)), PARTS - 1)].append(sample)
    return parts


def progress(samples: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """Of each client, the records that came back in each sixth."""
    ends = [part[-1]["done"] for part in sixths(samples) if part]
    starts = [dict.fromkeys(ends[0], 0), *ends]
    return {name: [end[name] - start[name] for start, end in zip(starts, ends, strict=False)] for name in ends[0]}


def each_minute(samples: Sequence[dict[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """Minutes, and the median of each."""
    minutes: dict[int, list[float]] = {}
    for sample in samples:
        if key in sample:
            minutes.setdefault(int(sample["at"] // 60), []).append(sample[key])
    return [minute + 1.0 for minute in minutes], [statistics.median(values) for values in minutes.values()]
