"""The registry of hand-made scenarios. A script asks through its play; what Apache Kafka answers is the scenario."""

from __future__ import annotations

from collections.abc import Callable

from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, G2, G3, Script
from kafkastub_conformance.messages import versions

__all__ = ["G1", "G2", "G3", "SCRIPTS", "Script", "each_version", "script"]

SCRIPTS: dict[str, Script] = {}


def script(
    name: str, groups: tuple[str, ...] = (G1,), config: str = "plain"
) -> Callable[[Callable[[Play], object]], Callable[[Play], object]]:
    """Register a function as one scenario."""

    def register(run: Callable[[Play], object]) -> Callable[[Play], object]:
        _add(Script(name, run, groups, config))
        return run

    return register


def each_version(
    name: str, api: str, groups: tuple[str, ...] = (G1,), config: str = "plain", since: int = 0
) -> Callable[[Callable[[Play, int], object]], Callable[[Play, int], object]]:
    """Register a function as one scenario for every version of an api, from `since` on."""

    def register(run: Callable[[Play, int], object]) -> Callable[[Play, int], object]:
        for version in versions(api):
            if version >= since:
                _add(Script(f"{name}-v{version}", _at(run, version), groups, config))
        return run

    return register


def _at(run: Callable[[Play, int], object], version: int) -> Callable[[Play], object]:
    return lambda play: run(play, version)


def _add(one: Script) -> None:
    assert one.name not in SCRIPTS, one.name
    SCRIPTS[one.name] = one
