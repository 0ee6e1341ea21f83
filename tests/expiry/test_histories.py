"""Random histories against the tables of the KIPs: some hundreds here, as many as fit an hour in `make soak`."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.expiry.machine import Histories

TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=300, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.soak
def test_histories_for_as_long_as_one_likes():
    """KAFKASTUB_SOAK_SECONDS, an hour by default. Each round has new seeds."""
    seconds = float(os.environ.get("KAFKASTUB_SOAK_SECONDS", "3600"))
    rounds = settings(
        max_examples=200,
        stateful_step_count=80,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run_state_machine_as_test(Histories, settings=rounds)
