"""Durations as people write them: `7d`, `90m`, `1h30m`, `250ms`; and how far time goes."""

from __future__ import annotations

import re
from typing import Final

UNITS: Final = {
    "w": 7 * 86_400_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1,
}  # fmt: skip
"""In milliseconds, longest first."""

LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999 in UTC: no date can be later. Broker time lies between 1970 and it."""

_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|[wdhms])", re.ASCII)
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern}\s*)+", re.ASCII)
_LONGEST: Final = 100


def milliseconds(text: str) -> int:
    """A duration in whole milliseconds. Raises ValueError with one sentence."""
    if len(text) > _LONGEST or not _WHOLE.fullmatch(text.strip()):
        raise ValueError(f"{text[:_LONGEST]!r} is not a duration: write it like 7d, 90m, 1h30m or 250ms")
    found = [(float(number), unit) for number, unit in _PART.findall(text)]
    units = [unit for _, unit in found]
    if units != [unit for unit in UNITS if unit in units]:
        raise ValueError(f"{text!r} is not a duration: longer units come first, each of them once, as in 1h30m")
    return round(sum(number * UNITS[unit] for number, unit in found))


def datable(ms: int) -> int:
    """The time, or the nearest one that has a date. A clock that goes on at its end is shown at its end."""
    return min(max(ms, 0), LAST_MS)
