"""Changes that are written down one by one: others do not wait the longer the more there are already."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.prober import LONGEST_MS, probing
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving


def test_transactional_ids_by_the_thousand(tmp_path: Path):
    with Serving("--data-dir", str(tmp_path)) as serving, Speaker(serving.servers) as speaker:

        def longest() -> float:
            with probing(serving.servers) as prober:
                for number in range(1500):
                    speaker.producer_id(f"payments-{number}")
            return prober.longest_ms

        assert min(longest() for _ in range(3)) <= LONGEST_MS
