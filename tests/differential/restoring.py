"""The features of a fresh broker, had again between two scenarios."""

from __future__ import annotations

from kafkastub_conformance.differential.broker import Ask
from tests.differential.access import take_away

UPGRADE, UNSAFE_DOWNGRADE = 1, 3


class Restored:
    """Takes entries, quotas and users away, and gives features the levels that they had at first."""

    def __init__(self) -> None:
        self.levels: dict[str, int] | None = None

    def __call__(self, ask: Ask) -> None:
        take_away(ask)
        now = _levels(ask)
        if self.levels is None:
            self.levels = now
        rows = [
            {
                "feature": name,
                "max_version_level": self.levels.get(name, 0),
                "upgrade_type": UPGRADE if self.levels.get(name, 0) > now.get(name, 0) else UNSAFE_DOWNGRADE,
            }
            for name in sorted(self.levels.keys() | now.keys())
            if self.levels.get(name, 0) != now.get(name, 0)
        ]
        if rows:
            answer = ask("UpdateFeatures", {"timeout_ms": 60000, "feature_updates": rows})
            assert not answer.get("error_code"), answer


def _levels(ask: Ask) -> dict[str, int]:
    body = {"client_software_name": "differential", "client_software_version": "1"}
    told = ask("ApiVersions", body).get("finalized_features", ())
    return {one["name"]: one["max_version_level"] for one in told}
