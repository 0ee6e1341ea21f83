"""Work of the loop's own thread that would hold others up if it were done in one go."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TypeVar

from kafkastub.steps import Steps, a_part

R = TypeVar("R")


async def in_turns(steps: Steps[R], at_once: int = 1) -> R:
    """What comes of the work; others are served whenever so much of it is done."""
    with closing(steps):
        while True:
            found = a_part(steps, at_once)
            if found is not None:
                return found[0]
            await asyncio.sleep(0)
