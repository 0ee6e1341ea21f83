"""What is stale: topics that a live group left, topics that are gone, and what nobody has used for long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")
DAY = 86_400_000
NOW = 1_800_000_000_000
WEEK = 7 * DAY
DDL = (
    "group_id string, topic string, `partition` int, group_type string, group_state string, protocol_type string,"
    " subscribed array<string>, commit_ms bigint, state_ms bigint, topic_missing boolean, lag_records bigint"
)
KINDS = {
    "simple": ("simple", None, None, None),
    "empty": ("classic", "Empty", "consumer", []),
    "live": ("classic", "Stable", "consumer", ["orders"]),
    "unclear": ("classic", "Stable", "consumer", None),
    "connect": ("classic", "Stable", "connect", None),
    "modern": ("consumer", "Stable", "consumer", ["orders"]),
    "modern empty": ("consumer", "Empty", "consumer", []),
}


def told(
    spark: SparkSession, offsets: list[tuple[Any, ...]], stale_after_ms: int = WEEK, past: bool = False
) -> dict[tuple[str, str], Any]:
    """The table by group and topic. An offset: kind, group, topic, commit's time, and, if need be, when the group came
    into its state, and whether the topic is gone."""
    from kafkastub_pipeline.session import local_table
    from kafkastub_pipeline.tables.stale import stale_offsets

    rows = []
    for kind, group, topic, commit_ms, *more in offsets:
        state_ms, missing = (*more, None, None)[:2]
        rows.append((group, topic, 0, *KINDS[kind], commit_ms, state_ms, missing, 3))
    found = stale_offsets(local_table(spark, rows, DDL), "b:9092", NOW, stale_after_ms, past).collect()
    return {(row.group_id, row.topic): row for row in found}


def test_a_nightly_job_is_not_stale(spark: SparkSession) -> None:
    found = told(
        spark,
        [
            ("simple", "nightly", "orders", NOW - DAY),
            ("simple", "just now", "orders", NOW),
            ("simple", "years ago", "orders", NOW - 400 * DAY),
            ("simple", "a week ago", "orders", NOW - WEEK),
            ("simple", "a moment less", "orders", NOW - WEEK + 1),
            ("empty", "stopped for the night", "orders", NOW - DAY, NOW - DAY // 2),
            ("empty", "no news until yesterday", "orders", NOW - 30 * DAY, NOW - DAY),
            ("empty", "left for good", "orders", NOW - 30 * DAY, NOW - 20 * DAY),
            ("empty", "set by hand", "orders", NOW - DAY, NOW - 20 * DAY),
            ("modern empty", "kip-848", "orders", NOW - 8 * DAY),
        ],
    )
    assert {(group, row.why) for (group, _), row in found.items()} == {
        ("years ago", "simple group"),
        ("a week ago", "simple group"),
        ("left for good", "empty group"),
        ("kip-848", "empty group"),
    }
    assert all(row.deletable and "--delete-offsets" in row.command for row in found.values())
    left = found["left for good", "orders"]
    assert left.age_seconds == 30 * 86_400
    assert int(left.unused_since.timestamp() * 1000) == NOW - 20 * DAY
    assert len(told(spark, [("simple", "now", "orders", NOW)], stale_after_ms=0)) == 1


def test_what_a_live_group_left_is_stale_at_once(spark: SparkSession) -> None:
    found = told(
        spark,
        [
            ("live", "workers", "orders", NOW - 30 * DAY),
            ("live", "workers", "audit", NOW),
            ("modern", "modern", "orders", NOW - 30 * DAY),
            ("modern", "modern", "audit", NOW),
            ("unclear", "unclear", "audit", NOW - 30 * DAY),
            ("connect", "connect", "audit", NOW - 30 * DAY),
        ],
    )
    assert {place: (row.why, row.deletable) for place, row in found.items()} == {
        ("workers", "audit"): ("unsubscribed", True),
        ("modern", "audit"): ("unsubscribed", True),
    }


def test_topics_that_are_gone(spark: SparkSession) -> None:
    found = told(
        spark,
        [
            ("simple", "simple", "gone", NOW, None, True),
            ("live", "workers", "gone", NOW, None, True),
            ("connect", "connect", "gone", NOW, None, True),
            ("simple", "", "gone", NOW, None, True),
            ("simple", "simple", "unknown", NOW, None, None),
            ("simple", "simple", "there", NOW, None, False),
        ],
    )
    assert {place[0]: (row.why, row.deletable, row.error) for place, row in found.items()} == {
        "simple": ("no such topic", False, "UNKNOWN_TOPIC_OR_PARTITION"),
        "workers": ("no such topic", False, "UNKNOWN_TOPIC_OR_PARTITION"),
        "connect": ("no such topic", False, "NON_EMPTY_GROUP"),
        "": ("no such topic", False, "INVALID_GROUP_ID"),
    }
    assert {topic for _, topic in found} == {"gone"}


def test_a_view_of_the_past_has_no_commands(spark: SparkSession) -> None:
    (row,) = told(spark, [("live", "workers", "audit", NOW)], past=True).values()
    assert (row.why, row.deletable, row.error, row.command) == ("unsubscribed", None, None, None)


def test_a_name_that_no_shell_passes_on_has_no_command(spark: SparkSession) -> None:
    """Bash leaves out NUL, and a tool of C ends a word there: the command would delete offsets of another group."""
    found = told(spark, [("live", "orders\0x", "audit", NOW), ("live", "orders", "audit", NOW)])
    assert (found["orders\0x", "audit"].deletable, found["orders\0x", "audit"].command) == (True, None)
    assert "--group 'orders' " in found["orders", "audit"].command


def test_the_option_is_in_days(capsys: pytest.CaptureFixture[str]) -> None:
    from kafkastub_pipeline.cli import parser

    asked = ["run", "--raw", "in", "--out", "out", "--retention-minutes", "60"]
    assert parser().parse_args(asked).stale_after == 7
    assert parser().parse_args([*asked, "--stale-after", "0.5"]).stale_after == 0.5
    for wrong in ("-1", "nan", "a week", "1e9"):
        with pytest.raises(SystemExit):
            parser().parse_args([*asked, f"--stale-after={wrong}"])
        assert "is not a number of days" in capsys.readouterr().err
