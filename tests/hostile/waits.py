"""How long others wait for an attack, on a machine that does other things as well."""

from __future__ import annotations

from collections.abc import Callable

from tests.hostile.prober import LONGEST_MS, probing

TRIES = 5
"""Somebody else's work makes clients wait now and then; what takes long takes long each time."""


def shortest_wait(servers: str, attack: Callable[[], object]) -> float:
    """The longest wait of another client during the attack, in ms: of some tries the best, one if that is good."""
    waits: list[float] = []
    while len(waits) < TRIES and (not waits or waits[-1] > LONGEST_MS):
        with probing(servers) as prober:
            attack()
        waits.append(prober.longest_ms)
    return min(waits)
