"""When a broker is quiet: nobody asks for anything but what is asked for again and again."""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import Final

from kafkastub.journal.naming import api_key
from kafkastub.journal.ring import Outcome, Raw

POLLS: Final = (
    "Fetch", "ShareFetch", "Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat",
    "Metadata", "GetTelemetrySubscriptions", "PushTelemetry",
)  # fmt: skip
"""What clients ask for again and again while there is nothing to do."""

_key = struct.Struct(">h").unpack_from


def ignored_keys(names: Collection[str]) -> frozenset[int]:
    """Their numbers. Raises ValueError for an API that there is not."""
    if isinstance(names, str):
        raise ValueError(f"ignoring={names!r} is refused: expected names of APIs, [{names!r}]")
    return frozenset(map(api_key, names))


def check_quiet(seconds: object, timeout: object) -> None:
    """Raises ValueError, with one sentence."""
    for name, value in (("seconds", seconds), ("timeout", timeout)):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 86400:
            raise ValueError(f"{name}={value!r} is refused: expected seconds from 0 to 86400")


def counts(raw: Raw, ignored: Collection[int]) -> bool:
    """Whether it is a request that ends the quiet."""
    if raw.outcome is Outcome.CLOCK or raw.end - raw.start < 2:
        return False
    return _key(raw.data, raw.start)[0] not in ignored
