"""What is known of topics that could not be created, beside Kafka's own class."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkastub.state.streams_internal_topics import CreationErrors
from tests.oracle.apache_kafka import run_java


@pytest.mark.oracle
def test_errors_are_known_for_as_long_as_in_kafka():
    chance = random.Random(1072)
    lines: list[str] = []
    found: list[str] = []
    forgotten = 0
    for _ in range(200):
        most = chance.choice((1, 3, 1000))
        errors, now = CreationErrors(most), 0
        lines.append(f"N {most}")
        names = [f"app-{i}-changelog" for i in range(chance.choice((1, 4, 30)))]
        for step in range(100):
            now += chance.choice((1, 1, 5, 40))
            if chance.random() < 0.6:
                name, ttl_ms = chance.choice(names), chance.choice((50, 100))
                ttl_ms += (step - now - ttl_ms) % 101  # no two end at once: it is open which of them would go first
                lines.append(f"P {now} {name} {ttl_ms} why{step}")
                errors.put(name, f"why{step}", ttl_ms, now)
            else:
                asked = chance.sample(names, chance.randint(1, len(names)))
                lines.append(f"G {now} {','.join(asked)}")
                known = errors.of(asked, now)
                forgotten += len(known) < len(asked)
                found.append(f"{{{', '.join(f'{name}={text}' for name, text in known.items())}}}")
    done = run_java(Path(__file__).with_name("ErrorCaches.java"), stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == found
    assert forgotten > 1000


def test_what_is_known_is_bounded():
    errors = CreationErrors(2)
    for number in range(10):
        errors.put(f"t{number}", "no", 100, number)
    assert errors.of([f"t{number}" for number in range(10)], 10) == {"t8": "no", "t9": "no"}
    for number in range(10):  # the same one again and again
        errors.put("t9", str(number), 100, 200 * number)
    assert errors.of(["t8", "t9"], 1850) == {"t9": "9"}
    assert errors.of(["t9"], 1900) == {}
