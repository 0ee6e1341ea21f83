"""What is said of the APIs before any of them is loaded is what their modules register."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import kafkastub.handlers
from kafkastub.handlers.offers import OFFERS, USUAL, Offer
from kafkastub.handlers.registry import registrations

MODULES = [one.name for one in pkgutil.iter_modules(kafkastub.handlers.__path__) if one.name[1:3].isdigit()]


def test_each_module_is_offered_with_what_it_registers() -> None:
    registered = {
        key: Offer(api.module.rpartition(".")[2], api.first, api.last, api.advertised_first, api.advertised)
        for key, api in registrations().items()
    }
    assert dict(OFFERS) == registered
    assert sorted(offer.module for offer in OFFERS.values()) == sorted(MODULES)


def test_they_are_in_the_order_of_keys() -> None:
    assert list(OFFERS) == sorted(OFFERS)
    assert OFFERS.keys() >= set(USUAL)


def test_a_handler_is_loaded_when_it_is_asked_for_and_no_other_one() -> None:
    code = """
import sys
from kafkastub.handlers.registry import is_loaded, registration
from kafkawire.api import ApiKey
assert not is_loaded(ApiKey.HEARTBEAT)
assert registration(ApiKey.HEARTBEAT).last == 4
assert is_loaded(ApiKey.HEARTBEAT)
print(*(name for name in sys.modules if name.startswith("kafkastub.handlers.k")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["kafkastub.handlers.k12_heartbeat"]
