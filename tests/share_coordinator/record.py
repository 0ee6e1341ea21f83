"""Record golden/: what Apache Kafka has after the history. `python -m tests.share_coordinator.record`"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.clients.jvm import Jvm
from tests.oracle.apache_kafka import ApacheKafka
from tests.share_coordinator.formatters import printed
from tests.share_coordinator.history import CONFIG, Brokers, play

GOLDEN: Final = Path(__file__).resolve().parent / "golden" / "history.json"


def main() -> None:
    GOLDEN.parent.mkdir(exist_ok=True)
    with ApacheKafka(config=CONFIG) as kafka, closing(Brokers(kafka.bootstrap_servers)) as on:
        on.create()
        play(on)
        found = {
            "topic_ids": {name: topic_id.hex() for name, topic_id in on.topic_ids.items()},
            "told": on.told(),
            "batches": on.batches(),
        }
        with Jvm() as jvm:
            found["printed"] = printed(jvm, kafka.bootstrap_servers)
    GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
