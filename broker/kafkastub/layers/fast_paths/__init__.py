"""From the frame to the answer's bytes, past decoder, handler and encoder: for requests that come every day.

A fast path is open as long as nobody has put anything between a route and the handler that it passes by: a guard, or a
wait for the disk, closes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkastub.layers.fast_paths import add_partitions_to_txn, end_txn, offset_commit, produce
from kafkastub.layers.fast_paths.contract import FastPathOf
from kafkawire.api import ApiKey

FAST_PATHS: Final[Mapping[ApiKey, FastPathOf]] = {
    ApiKey.PRODUCE: FastPathOf(produce.fast_path, alike=True),
    ApiKey.OFFSET_COMMIT: FastPathOf(offset_commit.fast_path),
    ApiKey.ADD_PARTITIONS_TO_TXN: FastPathOf(add_partitions_to_txn.fast_path, alike=True),
    ApiKey.END_TXN: FastPathOf(end_txn.fast_path, alike=True),
}
