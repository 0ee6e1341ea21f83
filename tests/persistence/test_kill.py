"""kill -9 at any point: nothing acknowledged is missing, nothing refused appears."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.persistence.load import TOPIC, Load, Writer
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving

WRITERS = 4


def _kill_and_look(directory: Path, flush: str, points: int, seed: int) -> None:
    random = Random(seed)
    writers = [Writer(number, seed) for number in range(WRITERS)]
    options = ["--data-dir", str(directory), "--config", f"kafkastub.flush={flush}", "message.max.bytes=2000"]
    for point in range(points + 1):
        with Serving(*options, "--topic", f"{TOPIC}:{WRITERS}") as process:
            if point:
                with Speaker(process.servers) as speaker:
                    for writer in writers:
                        writer.check(speaker)
            if point < points:
                with Load(process.servers, writers) as load:
                    load.wait_for(random.randint(1, 300))
                    process.process.kill()
                    process.process.wait()
    assert all(writer.produced[0] and writer.committed[0] >= 0 for writer in writers)


@pytest.mark.parametrize("flush", ["message", "never"])
def test_a_killed_broker_has_all_that_it_acknowledged(flush: str, tmp_path: Path) -> None:
    _kill_and_look(tmp_path, flush, points=6, seed=20260101)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_two_hundred_points(seed: int, tmp_path: Path) -> None:
    _kill_and_look(tmp_path, "message", points=50, seed=seed)
