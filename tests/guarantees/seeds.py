"""The correct workers under chaos, one seed after the other: a check finds nothing with any of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from kafkastub import Verdict
from tests.chaos.orders import COUNT

SEEDS: Final = int(os.environ.get("CHECK_SEEDS", "3"))
_ENOUGH: Final = 10
"""Seeds that fail; behind them no other is tried."""


def every_seed(verdict_of: Callable[[int], Verdict]) -> None:
    """Try all seeds, and name each one that fails: with a finding, with too few records seen, or without an end."""
    failed: list[str] = []
    for seed in range(SEEDS):
        try:
            verdict = verdict_of(seed)
        except AssertionError as error:  # GroupTimeout is one
            failed.append("\n".join([f"seed {seed} has no end: {error!r}", *getattr(error, "__notes__", ())]))
        else:
            if not verdict.ok:
                failed.append(f"seed {seed}: {verdict}")
            elif verdict.looked_at["records given"] < COUNT:
                failed.append(f"seed {seed}: the check saw only {verdict.looked_at}")
        if len(failed) == _ENOUGH:
            break
    assert not failed, "\n\n".join(failed)
