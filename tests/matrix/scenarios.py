"""The scenarios by the protocol of their groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.matrix.scenario import CLASSIC, CONSUMER, CONSUMER_STEPS, STEPS, Step
from tests.matrix.share_scenario import SHARE_STEPS

SHARE: Final = "share"
SCENARIOS: Final[Mapping[str, tuple[Step, ...]]] = {CLASSIC: STEPS, CONSUMER: CONSUMER_STEPS, SHARE: SHARE_STEPS}


def steps_of(protocol: str) -> tuple[Step, ...]:
    """The scenario of a protocol: classic, consumer or share."""
    return SCENARIOS[protocol]
