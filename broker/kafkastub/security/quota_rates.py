"""How much of something happens in a second, and how long a client has to wait: Kafka's arithmetic of quotas.

`Rate` sums up in samples of one window each and divides by the time that they cover (Kafka: ``Rate``, ``SampledStat``,
``QuotaUtils``). `TokenBucket` holds credits that come back at the rate of the quota (``TokenBucket``, KIP-599). Times
are milliseconds of a clock that does not run backwards.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

LONGEST_MS: Final = 0x7FFFFFFF
"""What fits into throttle_time_ms."""


class Windows(NamedTuple):
    """`quota.window.num` and `quota.window.size.seconds`, or what the controller has of them."""

    number: int
    size_ms: int


class _Sample:
    __slots__ = ("began", "last", "value")

    def __init__(self, now: int) -> None:
        self.reset(now)

    def reset(self, now: int) -> None:
        self.began = self.last = now
        self.value = 0.0


class Rate:
    """What one client uses of something, per second."""

    __slots__ = ("_current", "_samples", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now: int) -> None:
        """So much was used, or, if negative, was not used after all."""
        sample = self._sample(now)
        sample.value += value
        sample.last = now

    def over(self, bound: float, now: int) -> int:
        """Milliseconds until the rate is down to `bound` if nothing is used meanwhile; 0 where it is not above."""
        number, size_ms = self._windows
        age = number * size_ms
        for sample in self._samples:
            if now - sample.last >= age:
                sample.reset(now)
        total = sum(sample.value for sample in self._samples)
        covered = self._covered(now)
        rate = total / (covered / 1000)
        if rate <= bound:
            return 0
        return rounded((rate - bound) / bound * covered) if bound else LONGEST_MS

    def _sample(self, now: int) -> _Sample:
        """The one that is under way. There is one more of them than windows: the oldest may reach into the first."""
        samples = self._samples
        if not samples:
            samples.append(_Sample(now))
            return samples[0]
        sample = samples[self._current]
        if now - sample.began < self._windows.size_ms:
            return sample
        self._current = (self._current + 1) % (self._windows.number + 1)
        if self._current == len(samples):
            samples.append(_Sample(now))
        else:
            samples[self._current].reset(now)
        return samples[self._current]

    def _covered(self, now: int) -> int:
        """Milliseconds: all whole windows, even if fewer have passed yet, and what there is of the last one."""
        number, size_ms = self._windows
        elapsed = now - min((sample.began for sample in self._samples), default=now)
        missing = number - 1 - elapsed // size_ms
        if missing > 0:
            elapsed += missing * size_ms
        return max(elapsed, 1)


class TokenBucket:
    """Credits of one client: at most what the quota allows in all windows, which is what it begins with."""

    __slots__ = ("_filled_at", "_tokens", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._tokens = math.inf
        self._filled_at = 0

    def record(self, value: float, bound: float, now: int) -> None:
        """So many were spent; there may be less than none afterwards."""
        self._fill(bound, now)
        self._tokens = min(self._most(bound), self._tokens - value)

    def over(self, bound: float, now: int) -> int:
        """Milliseconds until there are no debts any more; 0 where there are none."""
        self._fill(bound, now)
        if not self._tokens < 0:
            return 0
        return rounded(-self._tokens / bound * 1000)

    def _fill(self, bound: float, now: int) -> None:
        self._tokens = min(self._most(bound), self._tokens + bound * (now - self._filled_at) / 1000)
        self._filled_at = now

    def _most(self, bound: float) -> float:
        return self._windows.number * (self._windows.size_ms / 1000) * bound


def rounded(ms: float) -> int:
    """As Java's ``Math.round``; no longer than a client can be told (Kafka overflows then)."""
    if math.isnan(ms):
        return 0
    return int(min(math.floor(ms + 0.5), LONGEST_MS)) if ms < LONGEST_MS else LONGEST_MS
