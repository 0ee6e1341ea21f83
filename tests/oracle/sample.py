"""How much is played beside Apache Kafka of what there are many of: all, or every nth with `make oracle EVERY=n`.

These are the seeds of random scenarios, and the cases of the conformance suite.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Final

EVERY: Final = int(os.environ.get("KAFKASTUB_EVERY") or 1)


def played(seeds: range, always: Collection[int] = ()) -> Sequence[int]:
    """Those of them that are played; `always` has those without which something that seeds are about is left out."""
    return sorted({*seeds[::EVERY], *always})
