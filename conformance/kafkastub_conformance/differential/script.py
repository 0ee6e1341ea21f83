"""How a scenario is made: a script asks through its play, and what the broker answers is the scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkastub_conformance.differential.broker import Broker
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.stage import Stage
from kafkastub_conformance.model import Frame

GROUPS = G1, G2, G3 = "<p>g1", "<p>g2", "<p>g3"

MEMBERS = ("m1", "m2", "m3", "m4")
"""Ids that members of newer groups choose for themselves; what assignors do depends on them."""

OWN = ("<p>x1", "<p>x2", "<p>x3")
"""Topics of a scenario's own, which come and go, and whose ids nobody knows before."""


@dataclass(frozen=True)
class Script:
    """`run` plays it; `groups`, `transactional_ids` and the groups of newer types are watched.

    `config` is the name of broker settings, for the tests' own use.
    """

    name: str
    run: Callable[[Play], object]
    groups: tuple[str, ...] = (G1,)
    config: str = "plain"
    transactional_ids: tuple[str, ...] = ()
    consumer_groups: tuple[str, ...] = ()
    share_groups: tuple[str, ...] = ()
    streams_groups: tuple[str, ...] = ()

    def play(self, broker: Broker) -> tuple[Scenario, list[Frame]]:
        """Play it on the broker that knows: the scenario that comes of it, and the frames that went over the wire."""
        scenario = Scenario(self.name, list(self.groups), self.config, ignore=sorted(broker.ignore))
        scenario.transactional_ids = list(self.transactional_ids)
        scenario.consumer_groups = list(self.consumer_groups)
        scenario.share_groups = list(self.share_groups)
        scenario.streams_groups = list(self.streams_groups)
        with Stage(broker, scenario) as stage:
            self.run(Play(stage, scenario))
        return scenario, stage.frames
