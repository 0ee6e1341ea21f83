"""Record what Apache Kafka does in these scenarios: `python -m tests.consumer_groups.record_migrations`."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

from tests.consumer_groups.migration_player import Player
from tests.consumer_groups.migrations import CONFIG, SCENARIOS, TOPICS
from tests.oracle.apache_kafka import ApacheKafka

FOLDER = Path(__file__).parent / "golden"


def played(name: str, port: int) -> list[str]:
    """The lines of a scenario on the broker at a port of this machine."""
    with Player(port, f"{name.replace('_', '-')}-{uuid.uuid4().hex[:6]}", TOPICS) as player:
        SCENARIOS[name](player)
        return player.lines


def recorded(name: str) -> list[str]:
    """The lines of a scenario on Apache Kafka 4.4.0."""
    return (FOLDER / f"{name}.txt").read_text().splitlines()


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    with ApacheKafka(config=CONFIG) as kafka:
        for name in SCENARIOS:
            (FOLDER / f"{name}.txt").write_text("".join(f"{line}\n" for line in played(name, kafka.port)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
