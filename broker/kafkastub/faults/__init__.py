"""Faults as data: rules that say which requests meet what, and the plan that matches them.

    FaultRule     one rule, as keyword arguments, as a dict, as YAML
    Plan          the rules of a broker, asked for each request; `server.watching` carries out what it answers
    load_rules    rules from a YAML file
    Chaos         trouble that every correct client survives, decided by a seed
    ChaosAct      one thing that it does; PlayedChaos does a list of them, without a seed
    SCENARIOS     such lists with a name, which correct clients do not survive
    Shrinker      makes such a list smaller as long as a test still fails with it

A request meets at most one fault: of all rules that are due, the one that was added first. Every rule counts every
request that it matches, whoever takes it, so that rules do not change each other's "n-th".
"""

from kafkastub.faults.acts import Act, ChaosAct
from kafkastub.faults.chaos import Chaos
from kafkastub.faults.files import load_rules
from kafkastub.faults.holds import HeldRequest, Holds
from kafkastub.faults.plan import Action, Armed, Plan
from kafkastub.faults.played import PlayedChaos
from kafkastub.faults.rules import FaultError, FaultRule
from kafkastub.faults.scenarios import SCENARIOS, Scenario, scenario_acts
from kafkastub.faults.shrinking import Shrinker, Smallest

__all__ = [
    "SCENARIOS",
    "Act",
    "Action",
    "Armed",
    "Chaos",
    "ChaosAct",
    "FaultError",
    "FaultRule",
    "HeldRequest",
    "Holds",
    "Plan",
    "PlayedChaos",
    "Scenario",
    "Shrinker",
    "Smallest",
    "load_rules",
    "scenario_acts",
]
