"""Which schemas a new one is compared with, and in which direction: the seven levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafkastub.registry.types import Parsed

DIFFERENT_TYPE = "Incompatible because of different schema type"


def why_incompatible(level: str, policy: str, new: Parsed, previous: Sequence[Callable[[], Parsed]]) -> list[str]:
    """What is in the way, in sentences; empty where nothing is. `previous` are the versions, from the first on.

    At a level that is not transitive only the latest counts. Raises TooComplex, InvalidSchema.
    """
    if level == "NONE" or not previous:
        return []
    for make in reversed(previous if level.endswith("_TRANSITIVE") else previous[-1:]):
        old = make()
        if type(new) is not type(old):
            return [DIFFERENT_TYPE]
        found: list[str] = []
        if level.startswith(("BACKWARD", "FULL")):
            found += new.why_not_after(old, policy)
        if level.startswith(("FORWARD", "FULL")):
            found += old.why_not_after(new, policy)
        if found:
            return found
    return []
