"""How many there are of each: a dictionary without zeros."""

from __future__ import annotations

from typing import TypeVar

Key = TypeVar("Key", str, int)


def increase(counts: dict[Key, int], key: Key) -> None:
    """One more."""
    counts[key] = counts.get(key, 0) + 1


def decrease(counts: dict[Key, int], key: Key) -> None:
    """One less; at none the key is gone."""
    count = counts.get(key, 0)
    if count > 1:
        counts[key] = count - 1
    else:
        counts.pop(key, None)
