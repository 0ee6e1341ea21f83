"""Scenarios with the answers that are expected, on any broker: what printed tests import, and docs/differential.md."""

from __future__ import annotations

from kafkastub_conformance.differential import Difference, Scenario, replayed

__all__ = ["Difference", "Scenario", "replayed"]
