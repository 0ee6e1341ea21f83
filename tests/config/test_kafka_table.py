"""The generated table is what Apache Kafka's jars say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub.config import generate, kafka_table
from tests.oracle.apache_kafka import run_java

TABLES = ["BROKER", "TOPIC", "GROUP", "CLIENT_METRICS", "INTERNAL", "REQUIRED", "TOPIC_SYNONYMS", "GROUP_SYNONYMS"]


@pytest.mark.oracle
def test_the_table_is_that_of_the_jars():
    printed = run_java(Path(generate.__file__).with_name("DumpConfigs.java"))
    again: dict[str, object] = {}
    exec(printed.stdout, again)
    assert {name: again[name] for name in TABLES} == {name: getattr(kafka_table, name) for name in TABLES}
