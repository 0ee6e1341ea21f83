"""Random scenarios of many clients on two brokers, and where their answers differ.

    kafkastub conform --bootstrap-servers localhost:9092 --against localhost:9093

`replayed` is what the tests use that this prints: a scenario with the answers that are expected, on any broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkastub_conformance.differential.broker import ANSWER_SECONDS, visiting
from kafkastub_conformance.differential.compare import Difference
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.scenario import Scenario

__all__ = ["Difference", "Scenario", "replayed"]


def replayed(
    scenario: Scenario | Mapping[str, Any], bootstrap_servers: str, timeout: float = ANSWER_SECONDS
) -> Difference | None:
    """Where the broker at `bootstrap_servers` (HOST:PORT) first answers otherwise than the scenario expects, or None.

    What the scenario makes there has names of its own and is removed again.

    Args:
        timeout: seconds that an answer may take.

    Raises ValueError for what is no scenario or no address, ClientError, NotReady and Lost where the broker cannot be
    asked, NotThere for what a guest does not ask.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_json(scenario)
    with visiting(bootstrap_servers, timeout=timeout) as broker:
        return replay(scenario, broker, timeout)
