"""All hand-made scenarios: importing this fills `scripts.SCRIPTS`."""

from __future__ import annotations

from tests.differential import handmade_groups, handmade_liveness, handmade_members, handmade_offsets, handmade_wire
from tests.differential.scripts import SCRIPTS

__all__ = ["SCRIPTS"]

MODULES = (handmade_members, handmade_liveness, handmade_offsets, handmade_groups, handmade_wire)
"""Named so that the imports are seen to be of use."""
