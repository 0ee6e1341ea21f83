"""The generated table is what Apache Kafka's jars say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub.config import generate, kafka_table
from kafkastub.config.newer import OF_4_4
from tests.oracle.apache_kafka import run_java

TABLES = ["BROKER", "TOPIC", "GROUP", "CLIENT_METRICS", "INTERNAL", "REQUIRED", "TOPIC_SYNONYMS", "GROUP_SYNONYMS"]


@pytest.mark.oracle
def test_what_came_with_4_4_is_all_that_has_changed_since_4_3():
    older: dict[str, dict[str, object]] = {}
    exec(run_java(Path(generate.__file__).with_name("DumpConfigs.java"), release="4.3.1").stdout, older)
    for name in TABLES[:4]:
        newer = getattr(kafka_table, name)
        assert {key: row for key, row in newer.items() if key not in OF_4_4} == older[name]
    assert set(kafka_table.BROKER) | set(kafka_table.TOPIC) | set(kafka_table.GROUP) >= OF_4_4
    assert not OF_4_4 & {*older["BROKER"], *older["TOPIC"], *older["GROUP"]}


@pytest.mark.oracle
def test_the_table_is_that_of_the_jars():
    printed = run_java(Path(generate.__file__).with_name("DumpConfigs.java"))
    again: dict[str, object] = {}
    exec(printed.stdout, again)
    assert {name: again[name] for name in TABLES} == {name: getattr(kafka_table, name) for name in TABLES}
