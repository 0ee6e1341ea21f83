"""librdkafka's transactional producer and consumer, from Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.programs import etl
from tests.programs.stage import Stage


def play(stage: Stage) -> Iterator[str]:
    return etl.play(stage, [sys.executable, str(Path(__file__).with_name("etl.py"))])
