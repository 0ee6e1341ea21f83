"""Which seeds of random scenarios are played beside Apache Kafka: all of `make oracle`, or every nth with EVERY=n.

Streams groups have too few of them: of twelve, every fifth would leave out what a seed is about.
"""

from __future__ import annotations

import os
from typing import Final

EVERY: Final = int(os.environ.get("KAFKASTUB_EVERY_SEED") or 1)


def played(seeds: range) -> range:
    """Those of them that are played."""
    return seeds[::EVERY]
