"""`python -m tests.quotas.record` writes down what a new Apache Kafka 4.4.0 answers to all the questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.oracle.apache_kafka import ApacheKafka
from tests.quotas.talking import answers

RECORDED = Path(__file__).with_name("recorded.json")


def recorded() -> list[Any]:
    return list(json.loads(RECORDED.read_text()))


if __name__ == "__main__":
    with ApacheKafka() as kafka:
        RECORDED.write_text("[\n" + ",\n".join(map(json.dumps, answers(kafka.bootstrap_servers))) + "\n]\n")
