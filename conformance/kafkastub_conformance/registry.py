"""The catalogue: `@case(…)` enters a function, `catalogue()` gives all of them, `plan` what is run against a broker."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expression import condition
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import Anomaly, Case, Run
from kafkawire.messages import REQUESTS

Function = Callable[[Broker], None]

_cases: dict[str, Case] = {}


def case(
    api: str,
    shows: str,
    *,
    source: str,
    versions: tuple[int, int] | None = None,
    also: Iterable[str] = (),
    profile: str = "both",
    slow: bool = False,
    since: str = "",
    before: str = "",
    clock: bool = False,
    anomaly: Anomaly | None = None,
    name: str = "",
) -> Callable[[Function], Function]:
    """Enter the decorated function as the case `<api>/<function's name>`. Raises ValueError for an id given twice."""
    if api not in KEYS:
        raise ValueError(f"there is no API {api}")

    def enter(function: Function) -> Function:
        identity = f"{api}/{(name or function.__name__).replace('_', '-')}"
        if identity in _cases:
            raise ValueError(f"there are two cases {identity}")
        _cases[identity] = Case(
            identity, api, shows, source, function, versions, tuple(also), profile, slow, since, before, clock, anomaly
        )
        return function

    return enter


@lru_cache(maxsize=1)
def catalogue() -> tuple[Case, ...]:
    """All cases, by the key of their API and in the order of their source.

    Those of ApiVersions come last: among them is what a broker may not survive.
    """
    package = importlib.import_module("kafkastub_conformance.cases")
    # Not by pkgutil: in a packaged program it sees no modules.
    files = (file for folder in package.__path__ for file in Path(folder).iterdir())
    for module in sorted({file.stem for file in files if file.suffix in (".py", ".pyc") and file.stem != "__init__"}):
        importlib.import_module(f"kafkastub_conformance.cases.{module}")
    return tuple(sorted(_cases.values(), key=lambda one: (one.api == "ApiVersions", KEYS[one.api])))


def plan(
    advertised: Mapping[str, tuple[int, int]] | None,
    profile: str,
    *,
    slow: bool = False,
    clock: bool = False,
    chosen: str = "",
) -> list[Run]:
    """The runs for a broker that has these versions (None: any), in the catalogue's order.

    Args:
        slow: also the cases that wait for real seconds.
        clock: also those that move the broker's time.

    Raises ValueError for a `chosen` that is no condition.
    """
    wanted = condition(chosen)
    runs = [
        Run(one, version)
        for one in catalogue()
        if one.holds_for(profile) and (slow or not one.slow) and (clock or not one.clock)
        for version in _versions(one, advertised)
    ]
    return [run for run in runs if wanted(run.id)]


def _versions(one: Case, advertised: Mapping[str, tuple[int, int]] | None) -> range:
    """What the case holds for, we can encode and the broker has."""
    ours = REQUESTS[KEYS[one.api]][2]
    ranges = [ours, one.versions or ours]
    if advertised is not None:
        ranges.append(advertised.get(one.api, (0, -1)))
    return range(max(first for first, _ in ranges), min(last for _, last in ranges) + 1)


def slug(text: str) -> str:
    """A text as part of an address in a page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
