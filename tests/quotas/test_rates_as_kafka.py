"""The arithmetic, against Kafka's own classes: random use, the same waits to the millisecond."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkastub.security.quota_rates import Rate, TokenBucket, Windows
from tests.oracle.apache_kafka import run_java

_METERS = 300
_START = 1_700_000_000_000
"""Kafka's credits begin at nothing in 1970."""


@pytest.mark.oracle
def test_clients_wait_as_long_as_kafka_lets_them():
    chance = random.Random(219)
    lines, found = [], []
    for _ in range(_METERS):
        kind = chance.choice(("rate", "rate", "bucket"))
        windows, seconds = chance.choice(((11, 1), (11, 1), (2, 1), (1, 1), (3, 2), (5, 10)))
        bound = chance.choice((0.5, 1.0, 7.5, 1000.0, 1e6))
        lines.append(f"{kind} {windows} {seconds} {bound}")
        rate, bucket = Rate(Windows(windows, seconds * 1000)), TokenBucket(Windows(windows, seconds * 1000))
        now = _START
        for _ in range(chance.randint(1, 60)):
            now += chance.choice((0, 1, 50, 400, 999, 1000, 1001, 2500, 11_000, 40_000))
            value = round(bound * chance.choice((0.1, 0.5, 1, 1.3, 4, 40)), 3) * chance.choice((1, 1, 1, 1, -0.5))
            lines.append(f"{value} {now}")
            if kind == "rate":
                rate.record(value, now)
                found.append(rate.over(bound, now))
            else:
                bucket.record(value, bound, now)
                found.append(bucket.over(bound, now))
    done = run_java(Path(__file__).with_name("Sensors.java"), stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    wanted = [int(line) for line in done.stdout.split()]
    assert len(wanted) == len(found)
    # sums in another order differ in the last bit, which may turn half a millisecond
    assert [pair for pair in zip(found, wanted, strict=True) if abs(pair[0] - pair[1]) > 1] == []
    assert sum(one == two for one, two in zip(found, wanted, strict=True)) > 0.99 * len(found)
    assert sum(one > 0 for one in found) > len(found) // 10
