"""Which seeds of random scenarios are played beside Apache Kafka: all of `make oracle`, or every nth with EVERY=n."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Final

EVERY: Final = int(os.environ.get("KAFKASTUB_EVERY_SEED") or 1)


def played(seeds: range, always: Collection[int] = ()) -> Sequence[int]:
    """Those of them that are played; `always` has those without which something that seeds are about is left out."""
    return sorted({*seeds[::EVERY], *always})
