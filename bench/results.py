"""What a run found, for the report and as JSON."""

from __future__ import annotations

import dataclasses
import os
import platform
from dataclasses import dataclass, field
from typing import Any

from bench.codec import Timing
from bench.observed import Watching
from bench.page import Pages
from bench.settling import Settled
from bench.snapshots import Snapshots
from bench.sustained import Throughput
from bench.upkeep import Upkeep
from bench.volume import Volume
from bench.wire import Measured


@dataclass
class Results:
    """Everything, empty where it was not selected."""

    machine: dict[str, Any]
    wire: dict[str, Measured] = field(default_factory=dict)
    """By case, then contestant."""
    codec: list[Timing] = field(default_factory=list)
    startup: dict[str, float] = field(default_factory=dict)
    """Milliseconds."""
    settled: list[Settled] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    sustained: dict[str, dict[str, Throughput]] = field(default_factory=dict)
    """By load, then contestant."""
    observed: dict[str, Watching] = field(default_factory=dict)
    checked: dict[str, Watching] = field(default_factory=dict)
    """By case."""
    page: Pages | None = None
    upkeep: Upkeep | None = None
    snapshots: Snapshots | None = None
    absent: dict[str, str] = field(default_factory=dict)
    """Who or what could not take part, and why."""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }
