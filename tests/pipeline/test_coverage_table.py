"""What a journal's requests become in `protocol_coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.tables.coverage import Advertised

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
DDL = (
    "kind string, broker_ms bigint, client_id string, software_name string, software_version string, api_key smallint,"
    " api string, api_version smallint, errors array<struct<code: smallint, name: string, count: bigint>>"
)
NONE, MOVED = {"code": 0, "name": "NONE"}, {"code": 16, "name": "NOT_COORDINATOR"}
LIBRDKAFKA, JAVA = ("worker", "librdkafka", "2.3.0"), ("admin", None, None)
START = 1_800_000_000_000
JOURNAL = [
    ("request", START + 2, *LIBRDKAFKA, 8, "OffsetCommit", 8, [{**NONE, "count": 3}, {**MOVED, "count": 2}]),
    ("request", START + 1, *LIBRDKAFKA, 8, "OffsetCommit", 8, [{**NONE, "count": 4}]),
    ("request", START + 3, *JAVA, 8, "OffsetCommit", 8, [{**NONE, "count": 1}]),
    ("request", START + 4, *JAVA, 8, "OffsetCommit", 9, None),
    ("request", START + 5, *JAVA, 77, "Invented", 1, [{**NONE, "count": 1}]),
    ("request", START, "kafkastub-pipeline", "librdkafka", "2.3.0", 32, "DescribeConfigs", 1, [{**NONE, "count": 1}]),
    ("request", START, "consumer-kafkastub-pipeline-1", None, None, 1, "Fetch", 4, [{**NONE, "count": 1}]),
    ("state", START, *JAVA, 8, "OffsetCommit", 8, [{**NONE, "count": 100}]),
]
OFFERED: Advertised = {8: ("OffsetCommit", 8, 10), 47: ("OffsetDelete", 0, 0)}


def told(spark: SparkSession, offered: Advertised | None) -> dict[tuple[str, int, int | None], Any]:
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.coverage import protocol_coverage

    journal = local_table(spark, JOURNAL, DDL).selectExpr("*", "timestamp_millis(broker_ms) broker_time")
    found = protocol_coverage(spark, journal, offered).collect()
    assert {int(row.complete_since.timestamp() * 1000) for row in found} == {START + 1}
    return {(row.api, row.api_version, row.error_code): row for row in found}


def test_what_was_asked_and_what_was_not(spark: SparkSession) -> None:
    found = told(spark, OFFERED)
    columns = "requests", "count", "clients", "advertised", "exercised", "error"
    mine = "librdkafka 2.3.0 worker"
    assert {place: tuple(row[name] for name in columns) for place, row in found.items()} == {
        ("OffsetCommit", 8, 0): (3, 8, ["admin", mine], True, True, "NONE"),
        ("OffsetCommit", 8, 16): (1, 2, [mine], True, True, "NOT_COORDINATOR"),
        ("OffsetCommit", 9, None): (1, 0, ["admin"], True, True, None),
        ("OffsetCommit", 10, None): (0, 0, [], True, False, None),
        ("OffsetDelete", 0, None): (0, 0, [], True, False, None),
        ("Invented", 1, 0): (1, 1, ["admin"], False, True, "NONE"),
    }


def test_without_a_broker_nobody_knows_what_it_has(spark: SparkSession) -> None:
    found = told(spark, None)
    assert set(found) == {
        ("OffsetCommit", 8, 0),
        ("OffsetCommit", 8, 16),
        ("OffsetCommit", 9, None),
        ("Invented", 1, 0),
    }
    assert {row.advertised for row in found.values()} == {None}
    assert {row.exercised for row in found.values()} == {True}
