"""The features of a cluster: which levels are supported, and which one is finalized (KIP-584, KIP-1022).

Kafka: ``FeatureControlManager``, ``QuorumFeatures``, ``Feature``, ``MetadataVersion``. Pure state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Final

from kafkawire.java_order import string_map_order

METADATA: Final = "metadata.version"
KRAFT: Final = "kraft.version"
TRANSACTION: Final = "transaction.version"
"""Came with 4.0, as did the text of today about metadata.version."""
ELIGIBLE: Final = "eligible.leader.replicas.version"
SHARE: Final = "share.version"
_METADATA_CHANGED: Final = frozenset((1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33))
"""The levels of metadata.version that brought something which the level before cannot hold."""
_LEAST_METADATA: Final = (4, "3.3-IV0")
"""What a release of 3.x goes down to at most."""
_FIRST_METADATA: Final = (7, "3.3-IV3")
"""What every other feature needs."""
_NEEDS: Final[Mapping[tuple[str, int], tuple[str, int]]] = {(ELIGIBLE, 1): (METADATA, 23)}


class UpgradeType(IntEnum):
    """Kafka: ``FeatureUpdate.UpgradeType``; every other number is unknown."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


Update = tuple[str, int, int]
"""A feature's name, the level that it is to have, and an upgrade type."""


class Features:
    """What is supported does not change; what is finalized does, by `update`.

    Attributes:
        supported: name to the lowest and highest level.
        finalized: name to level, without those of level 0. Not changed in place.
    """

    def __init__(
        self, levels: Mapping[str, tuple[int, int, int]], controller_id: int, *, static_quorum: bool = False
    ) -> None:
        """`levels`: the lowest and highest supported level, and the one at the start. A static quorum begins at 0."""
        self.supported: dict[str, tuple[int, int]] = {name: (low, high) for name, (low, high, _) in levels.items()}
        self.finalized: dict[str, int] = {
            name: level for name, (_, _, level) in levels.items() if level and not (static_quorum and name == KRAFT)
        }
        self._at_first = self.finalized
        self._today = TRANSACTION in self.supported
        """Whether the controllers are of 4.0 or later: those before know no level of kraft.version."""
        self._controller_id = controller_id

    def level(self, name: str) -> int:
        """The finalized one; 0 where the feature is off, or there is none of the name."""
        return self.finalized.get(name, 0)

    def refusals(
        self,
        updates: Iterable[Update],
        *,
        all_of_them: bool = False,
        order: Callable[[Iterable[str]], list[str]] = string_map_order,
    ) -> dict[str, str]:
        """Feature to what speaks against its update, in the order in which Kafka looks at them.

        The first alone, unless `all_of_them` are asked for. Of a feature that is named twice the last update counts.
        `order` puts names in the order of a Java map.
        """
        wanted = _by_name(updates)
        proposed = self.finalized | {name: level for name, (level, _) in wanted.items()}
        found: dict[str, str] = {}
        for name in order(wanted):
            problem = self._refusal(name, *wanted[name], proposed)
            if problem is not None:
                found[name] = problem
                if not all_of_them:
                    break
        return found

    def update(self, updates: Iterable[Update]) -> bool:
        """Do what nothing speaks against; whether any feature has another level now."""
        wanted = {name: level for name, (level, _) in _by_name(updates).items() if self._today or name != KRAFT}
        levels = self.finalized | wanted
        changed = {name: level for name, level in levels.items() if level} != self.finalized
        if changed:
            self.finalized = {name: level for name, level in levels.items() if level}
        return changed

    def _refusal(self, name: str, level: int, kind: int, proposed: Mapping[str, int]) -> str | None:
        """Why not, in Kafka's order and words."""

        def because(why: str) -> str:
            return f"Invalid update version {level} for feature {name}. {why}"

        now, downgrade = self.level(name), kind != UpgradeType.UPGRADE
        if name == KRAFT and not self._today:
            now = 0
        if kind not in frozenset(UpgradeType):
            return because("The controller does not support the given upgrade type.")
        if level < 0:
            return because("A feature version cannot be less than 0.")
        low, high = self.supported.get(name, (0, 0))
        if not low <= level <= high:
            if not high:
                return because(f"Local controller {self._controller_id} does not support this feature.")
            return because(f"Local controller {self._controller_id} only supports versions {low}-{high}")
        if level < now and not downgrade:
            return because(
                "Can't downgrade the version of this feature without setting the upgrade type to either safe or "
                "unsafe downgrade."
            )
        if level > now and downgrade:
            return because("Can't downgrade to a newer version.")
        if name == METADATA:
            return self._metadata_refusal(level, unsafe=kind == UpgradeType.UNSAFE_DOWNGRADE)
        if name == KRAFT:
            return because("Can't downgrade the version of this feature.") if level < now else None
        if name not in self.supported and self._today:
            return because(f"Feature {name} not found.")
        problem = _unmet(name, level, proposed)
        return None if problem is None else because(problem)

    def _metadata_refusal(self, level: int, *, unsafe: bool) -> str | None:
        now, (least, shown) = self.level(METADATA), _LEAST_METADATA
        if level < least and not self._today:
            return f"Invalid metadata.version {level}. Unable to set a metadata.version less than {shown}"
        if not any(one in _METADATA_CHANGED for one in range(level + 1, now + 1)):
            return None
        why = "Refusing to perform the requested downgrade because it might delete metadata information."
        if unsafe:
            why = "Unsafe metadata downgrade is not supported in this version."
        if not self._today:
            return f"Invalid metadata.version {level}. {why}"
        return f"Unsupported metadata.version downgrade from {now} to {level}. {why}"

    # -- what outlives the process -------------------------------------------------------------------------------

    def document(self) -> dict[str, int]:
        """The levels that are not those of the start, 0 for a feature that is off."""
        return {name: level for name in self.supported if (level := self.level(name)) != self._at_first.get(name, 0)}

    def restore(self, levels: Mapping[str, int]) -> None:
        """As `document` gave them. What is not supported (any more) stays as it was at the start."""
        known = {name: level for name, level in levels.items() if self._supports(name, level)}
        self.finalized = {name: level for name, level in (self._at_first | known).items() if level}

    def _supports(self, name: str, level: int) -> bool:
        low, high = self.supported.get(name, (0, -1))
        return low <= level <= high


def _by_name(updates: Iterable[Update]) -> dict[str, tuple[int, int]]:
    return {name: (level, kind) for name, level, kind in updates}


def _unmet(name: str, level: int, proposed: Mapping[str, int]) -> str | None:
    """What a level needs and has not, once everything is as proposed (Kafka: ``Feature.validateVersion``)."""
    least, shown = _FIRST_METADATA
    if level >= 1 and proposed.get(METADATA, 0) < least:
        return f"{name} could not be set to {level} because it depends on metadata.version={least} ({shown})"
    if (name, level) in _NEEDS:
        other, needed = _NEEDS[name, level]
        if proposed.get(other, 0) < needed:
            return f"{name} could not be set to {level} because it depends on {other} level {needed}"
    return None
