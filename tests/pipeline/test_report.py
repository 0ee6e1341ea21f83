"""The page: everything on it, names that are nothing but names, tables that are missing or empty."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("matplotlib", reason="the pipeline is not installed: make test-pipeline installs it")
pytest.importorskip("jinja2", reason="the pipeline is not installed: make test-pipeline installs it")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MS = int(NOW.timestamp() * 1000)
DAY = timedelta(days=1)
EVIL = "{{ 7*7 }}<img src=x onerror=\"document.title='owned'\"></text></svg><script>document.title='owned'</script>"
ODD = (EVIL, "$\\frac{1}{2}$ & 'quoted' \"twice\"", "turned\u202egnp.exe\x00\x1b[31m", "группа 注文", "")
SECTIONS = (
    "expiry",
    "whatif",
    "timeouts",
    "findings",
    "lag",
    "shares",
    "transactions",
    "guarantees",
    "stale",
    "commands",
    "timeline",
    "audit",
    "coverage",
    "tables",
)
PLOTS = (
    "per day ahead",
    "Records behind",
    "Stale offsets by",
    "States and rebalances",
    "What other timeouts",
    "Rebalances of stormy",
    "by API and version",
    "API and error",
)
CUT = re.compile(r'<p class="soft cut">(.*?)</p>', re.DOTALL)
COMMAND = "kafka-consumer-groups.sh --bootstrap-server b:9092 --delete-offsets --group {} --topic 'orders:0'"


def rows() -> dict[str, list[dict[str, Any]]]:
    """A few rows of every table, by the columns that the page reads."""
    place = [{"group_id": name, "topic": "orders", "partition": n} for name in ODD for n in range(2)]
    expiring = {"rule": "empty", "retention_minutes": 10080, "blocked_by": None}
    unused, left = {"unused_since": NOW - 9 * DAY}, {"group_id": "live", "topic": "orders", "partition": 0}
    audit = {"group_id": "g", "what": "offset", "evidence": "journal"}
    cell = {"api": "OffsetCommit", "api_key": 8, "clients": ["a client"], "advertised": True}
    return {
        "offset_events": [{**one, "event": "commit"} for one in place],
        "group_events": [{"group_id": "g", "event": "GROUP_METADATA"}],
        "decode_errors": [{"reason": f"damaged {EVIL}", "log_partition": 3, "log_offset": 7, "key": b"\0\1k"}],
        "offset_current": place,
        "expiry_forecast": [
            *({**one, **expiring, "expires_at": NOW + n * DAY / 2} for n, one in enumerate(place)),
            {"group_id": "kept", "rule": "none", "blocked_by": "subscribed", "retention_minutes": 10080},
        ],
        "retention_whatif": [
            {**one, "retention_minutes": r, "already": True, "came_back": True, "replayed_on_earliest": 5}
            for one in place
            for r in (60, 10080)
        ],
        "stale_offsets": [
            *(
                {**one, **unused, "why": "empty group", "deletable": True, "command": COMMAND.format("'x'")}
                for one in place
            ),
            {**left, "why": "unsubscribed", "deletable": True, "command": COMMAND.format("'live'"), "lag_records": 9},
            {**left, "partition": 7, "why": "unsubscribed", "deletable": False, "error": "E_86", "lag_records": 9},
            {
                "group_id": "gone",
                "topic": "old",
                "partition": 0,
                "why": "no such topic",
                "deletable": False,
                "error": "E_86",
            },
        ],
        "lag": [{**one, "lag_records": 40_000, "lag_seconds": 7200.0, "lag_method": "next record"} for one in place],
        "group_timeline": [
            {
                "group_id": name,
                "at": NOW - (n + 1) * DAY,
                "until": NOW - n * DAY,
                "state": state,
                "cause": "members joined",
            }
            for name in ODD
            for n, state in enumerate(("Stable", "Empty", "Dead"))
        ],
        "deletion_audit": [
            {**audit, "reason": "expiry", "predicted": True, "late_ms": 17},
            {**audit, "reason": "OffsetDelete", "predicted": False},
        ],
        "share_partitions": [
            {
                **one,
                "lag_records": 40,
                "available": 3,
                "archiving": 2,
                "archived": 7,
                "max_delivery_count": 5,
                "given_up": 9,
                "redelivered": 6,
            }
            for one in place
        ],
        "transactions": [
            {
                "transactional_id": name,
                "status": "open",
                "started_at": NOW - DAY / 24,
                "seconds": 3600.0,
                "timeout_ms": 60_000,
                "hanging": True,
                "producer_id": 7,
            }
            for name in ODD
        ],
        "held_partitions": [
            {
                "topic": "orders",
                "partition": 3,
                "last_stable_offset": 17,
                "high_watermark": 60,
                "records_held": 43,
                "transactional_id": ODD[0],
                "seconds": 3600.0,
                "hanging": True,
            }
        ],
        "session_whatif": [
            {"group_id": name, "timeout_ms": 10_000, "outcome": "removed", "recorded": "kept", "changes": True}
            for name in ODD
        ],
        "transaction_whatif": [
            {"transactional_id": name, "timeout_ms": 1_500, "outcome": "undecided", "changes": None} for name in ODD
        ],
        "lock_whatif": [{"lock_duration_ms": 60_000, "records": 17, "outcome": "released", "changes": False}],
        "findings": [
            *(
                {
                    "finding": finding,
                    "group_id": name,
                    "peak": 12.0,
                    "threshold": 5.0,
                    "count": 14,
                    "until": NOW,
                    "evidence": f"members joined (7), {name}",
                }
                for name in ODD
                for finding in ("rebalance_storm", "commit_rate")
            )
        ],
        "guarantees": [
            {
                "guarantee": "skipped",
                "verdict": "finding",
                "group_id": name,
                "topic": "orders",
                "partition": 0,
                "happened_at": NOW - DAY / 24,
                "cause": f"records were left out by {name}",
                "entries": [4, 9],
            }
            for name in ODD
        ],
        "protocol_coverage": [
            {**cell, "api_version": 8, "error_code": 0, "error": "NONE", "requests": 900, "exercised": True},
            {**cell, "api_version": 8, "error_code": 16, "error": "NOT_COORDINATOR", "requests": 3, "exercised": True},
            {**cell, "api_version": 9, "requests": 0, "exercised": False},
        ],
    }


def write(spark: SparkSession, root: Path, table: str, content: list[dict[str, Any]]) -> None:
    """A table as `run` would have it. Without a job of Spark's, which would take many times as long."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from kafkastub_pipeline.session import arrow_schema
    from kafkastub_pipeline.tables.columns import TABLES

    del spark  # its Java knows the types' names
    ddl = ", ".join(f"`{name}` {type_}" for name, type_, _ in TABLES[table])
    complete_since = NOW - 9 * DAY if table == "lag" else None
    whole = [{"as_of": NOW, "complete_since": complete_since, **one} for one in content]
    (root / table).mkdir(parents=True)
    schema = arrow_schema(ddl)
    pq.write_table(pa.Table.from_pylist(whole, schema), root / table / "part-0.parquet")


@pytest.fixture(scope="module")
def page(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of every table, written as the command writes it."""
    from kafkastub_pipeline.report import write_report

    root = tmp_path_factory.mktemp("tables")
    for table, content in rows().items():
        write(spark, root, table, content)
    target = root / "pages" / "offsets.html"
    assert write_report(spark, str(root), str(target)) == str(target)
    return target


def text_of(page: str) -> str:
    """What a reader reads."""
    return html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)))


def test_the_page_has_everything(page: Path) -> None:
    content = page.read_text()
    for section in SECTIONS:
        assert f'<section id="{section}">' in content
    drawn = r'<div class="{}"><svg .*?</svg>\s*</div>'
    twice = drawn.format("wide") + drawn.format("narrow")
    labels = re.findall(rf'<figure[^>]*aria-label="([^"]+)">{twice}</figure>', content, re.DOTALL)
    assert len(labels) == len(PLOTS)
    for plot in PLOTS:
        assert any(plot in label for label in labels), plot
    text = " ".join(text_of(content).split())
    for said in (
        "As of 2026-01-31 12:00:00 UTC",
        "Complete from 2026-01-22 12:00:00 UTC on",
        "under a retention of 7 d",
        "1 are overdue",
        "next record (10)",
        "because of “subscribed”",
        "NOT_COORDINATOR",
        "E_86",
        "17 ms",
        "partition 3, offset 7",
        "Advertised and never asked: 1 APIs",
        "The 3 things to do now",
        "Abort the transaction that holds orders-3 back",
        "abort --topic orders --partition 3 --start-offset 17",
        "Journal entries 4, 9.",
        "session 10 s 0 5 0",
        "transaction 1,500 ms 0 0 5",
        "record lock 1 min 17 0 0",
        "5 storms of rebalances, and 5 rates of commits",
        "members joined (7)",
        "60 were delivered more than once",
    ):
        assert said in text, said
    assert "is not there" not in text
    assert cuts(content) == []
    assert "The tables are about" not in text


def cuts(page: str) -> list[str]:
    """What the page says of lists that are cut."""
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", "", one)).split()) for one in CUT.findall(page)]


def test_each_list_that_is_cut_says_so(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafkastub_pipeline.report import facts, write_report

    most = {"EXAMPLES": 1, "GROUPS": 2, "TIMELINE_GROUPS": 3, "TIMELINE_EVENTS": 7, "COMMANDS": 4, "CELLS": 2}
    for name, number in most.items():
        monkeypatch.setattr(facts, name, number)
    content = rows()
    content["decode_errors"] += [{**content["decode_errors"][0], "reason": "another"}]
    for table in ("expiry_forecast", "lag", "stale_offsets", "group_timeline", "protocol_coverage", "decode_errors"):
        write(spark, tmp_path, table, content[table])
    page = Path(write_report(spark, None, str(tmp_path))).read_text()
    assert cuts(page) == [
        f"These are {shown} of {among}; the table {table} has all."
        for shown, among, table in (
            (1, "5 groups of which something expires, those that lose an offset first", "expiry_forecast"),
            (2, "5 groups, those that are most behind", "lag"),
            (2, "7 groups, those with most stale offsets", "stale_offsets"),
            (4, "6 commands, those of live groups first", "stale_offsets"),
            (3, "5 groups, the busiest", "group_timeline"),
            (7, "9 events of these groups, the newest", "group_timeline"),
            (2, "3 combinations of API, version and error, the first by their keys", "protocol_coverage"),
            (1, "2 reasons, those of most records", "decode_errors"),
        )
    ]


def test_lists_that_are_as_long_as_may_be_are_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline.report import facts, write_report

    for name, number in {"EXAMPLES": 5, "TIMELINE_GROUPS": 5, "TIMELINE_EVENTS": 15, "CELLS": 3}.items():
        monkeypatch.setattr(facts, name, number)
    for table in ("expiry_forecast", "group_timeline", "protocol_coverage"):
        write(spark, tmp_path, table, rows()[table])
    assert cuts(Path(write_report(spark, None, str(tmp_path))).read_text()) == []


def commands_of(page: str, kind: str) -> list[str]:
    found = re.search(rf'<pre id="commands-{kind}"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1]).strip().splitlines()


def test_commands_are_ready_to_run(page: Path) -> None:
    commands = commands_of(page.read_text(), "idle")
    assert len(commands) == len(ODD)
    assert all(one.endswith(" --topic orders:0,1") for one in commands)
    # A name that would turn the line around is spelt in a way that bash understands and eyes can see.
    assert r"--group $'turned\U0000202egnp.exe\U00000000\U0000001b[31m'" in "\n".join(commands)


def test_what_live_groups_left_is_copied_apart_from_what_may_come_back(page: Path) -> None:
    content = page.read_text()
    assert commands_of(content, "live") == [COMMAND.format("'live'").replace("'orders:0'", "orders:0")]
    assert re.findall(r'data-copy="([^"]+)"', content) == ["commands-live", "commands-idle"]
    text = " ".join(text_of(content).split())
    assert "Those of live groups stand for 18 records of lag that is not real" in text
    assert "the last of these 9 d ago" in text


def test_a_view_of_the_past_offers_no_commands(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.report import write_report

    told = ("deletable", "error", "command")
    past = [{**one, **dict.fromkeys(told)} for one in rows()["stale_offsets"]]
    write(spark, tmp_path, "stale_offsets", past)
    content = Path(write_report(spark, None, str(tmp_path))).read_text()
    assert "data-copy=" not in content
    assert "about a moment of the past" in text_of(content)


def test_bars_are_days_of_the_calendar(spark: SparkSession, tmp_path: Path) -> None:
    """As of Friday afternoon: what goes on Saturday morning is Saturday's, and is within the shade of a weekend."""
    from kafkastub_pipeline.report.facts import gathered
    from kafkastub_pipeline.report.plots import LAYOUTS, expiries

    friday = datetime(2026, 11, 27, 16, 44, tzinfo=UTC)
    midnight = datetime(2026, 11, 28, tzinfo=UTC)
    second = timedelta(seconds=1)
    going = {
        0: [friday + second, midnight - second],
        1: [midnight, midnight + timedelta(hours=10), midnight + DAY - second],
        3: [midnight + 2 * DAY],
        30: [midnight + 29 * DAY, midnight + 4000 * DAY],
    }
    common = {"rule": "empty", "group_id": "g", "as_of": friday, "retention_minutes": 60}
    moments = [friday, *(moment for moments in going.values() for moment in moments)]
    write(spark, tmp_path, "expiry_forecast", [{**common, "expires_at": moment} for moment in moments])
    facts = gathered(spark, str(tmp_path))
    assert facts.expiry is not None
    by_day = facts.expiry["by_day"]
    assert {row["day"]: row["offsets"] for row in by_day} == {day: len(moments) for day, moments in going.items()}
    for layout in LAYOUTS:
        svg = expiries(by_day, friday, layout)
        bars, shades = spans(svg, "fill: var(--s1)"), spans(svg, "fill: var(--line); opacity: 0.45")
        assert len(shades) == 9  # the thirtieth day is a Saturday
        days = bars[:31]  # the legend comes behind them
        weekend = [any(left <= start and end <= right for left, right in shades) for start, end in days]
        assert [day for day, within in enumerate(weekend) if within] == [1, 2, 8, 9, 15, 16, 22, 23, 29]
    assert "Fri 27 Nov" in expiries(by_day, friday)


def test_tables_of_two_runs_are_not_taken_for_one_moment(spark: SparkSession, tmp_path: Path) -> None:
    """A run that was killed: the forecast is two days older than the lag."""
    from kafkastub_pipeline.report import write_report

    place = {"group_id": "g", "topic": "orders", "partition": 0}
    friday = NOW - DAY
    going = {**place, "rule": "simple", "retention_minutes": 60, "as_of": friday, "expires_at": friday + DAY / 4}
    write(spark, tmp_path, "expiry_forecast", [going])
    write(spark, tmp_path, "lag", [{**place, "lag_records": 3, "as_of": friday + 2 * DAY}])
    text = " ".join(text_of(Path(write_report(spark, None, str(tmp_path))).read_text()).split())
    assert "The tables are about 2 moments" in text
    assert f"the first is the rest of {friday:%A, %d %B};" in text
    assert re.search(r"2026-01-30 18:00:00 UTC 6 h 1 simple 3", text)
    assert f"{friday:%a %d %b}" in text


def test_what_goes_first_is_behind_by_what_goes(spark: SparkSession, tmp_path: Path) -> None:
    """Not by what the group keeps."""
    from kafkastub_pipeline.report.facts import gathered

    left, used = ({"group_id": "live", "topic": topic, "partition": 0} for topic in ("left", "used"))
    forecast = [{**left, "rule": "unsubscribed", "expires_at": NOW + DAY}, {**used, "rule": "none"}]
    write(spark, tmp_path, "expiry_forecast", forecast)
    write(spark, tmp_path, "lag", [{**left, "lag_records": 3}, {**used, "lag_records": 60}])
    facts = gathered(spark, str(tmp_path))
    assert facts.expiry is not None
    (row,) = facts.expiry["first"]
    assert (row["offsets"], row["lag_records"]) == (1, 3)


def spans(svg: str, style: str) -> list[tuple[float, float]]:
    """Left and right end of each path with a style, in the order of the plot."""
    found = []
    for path, worn in re.findall(r'<path d="([^"]+)"[^>]*style="([^"]+)"', svg):
        if worn.startswith(style):
            across = [float(x) for x, _ in re.findall(r"([-\d.]+) ([-\d.]+)", path)]
            found.append((min(across), max(across)))
    return found


def test_long_names_are_cut_in_the_middle() -> None:
    """Names of the same family differ in their ends."""
    from kafkastub_pipeline.report.plots import shown

    names = [f"nightly-job-with-a-rather-long-name-{number}" for number in range(8)]
    assert len({shown(name) for name in names}) == 8
    assert shown(names[3]) == "nightly-job-with…ther-long-name-3"[:16] + "…" + names[3][-17:]
    assert [len(shown("x" * n)) for n in (33, 34, 35, 1000)] == [33, 34, 34, 34]
    assert shown("abcdefgh", 5) == "ab…gh"


def test_names_are_nothing_but_names(page: Path) -> None:
    content = page.read_text()
    assert "<img" not in content
    assert content.count("<script>") == content.count("</script>") == 1
    assert content.count("<svg ") == content.count("</svg>") == 2 * len(PLOTS)
    assert "{{ 7*7 }}" in text_of(content)
    assert "\u202e" not in content
    assert "\x00" not in content
    assert "$\\frac{1}{2}$ & 'quoted'" in text_of(content)


def test_the_page_needs_nothing_else(page: Path) -> None:
    content = page.read_text()
    assert not re.search(r'(src|href)="(?!#)', content)
    assert "url(http" not in content
    assert "@import" not in content
    assert "prefers-color-scheme: dark" in content
    for stand_in in ("#010101", "#020101"):
        assert stand_in not in content


def a_browser() -> str:
    browser = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("this machine has no Chromium")
    return browser


MEASURE = """<script>
const texts = [...document.querySelectorAll("svg text")].filter(one => one.getBoundingClientRect().width > 0);
const sizes = texts.map(one => parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.getScreenCTM().a);
const names = [...document.querySelectorAll("#expiry td:first-child")].map(one => one.getBoundingClientRect().width);
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const said = {texts: texts.length, least: Math.min(...sizes), most: Math.max(...sizes), name: Math.min(...names), wide};
document.body.dataset.measured = JSON.stringify(said);
</script>"""


@pytest.mark.parametrize("width", [360, 800])
def test_it_can_be_read_on_a_narrow_screen(page: Path, tmp_path: Path, width: int) -> None:
    """No text of a plot is below ten pixels, nor as large as a heading; names have room; the page itself is not wider
    than the screen."""
    measured = tmp_path / "page.html"
    measured.write_text(page.read_text().replace("</body>", f"{MEASURE}</body>"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [a_browser(), *flags, f"--window-size={width},900", "--dump-dom", measured.as_uri()]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=180).stdout
    found = re.search(r'data-measured="([^"]+)"', shown)
    assert found is not None
    said = json.loads(html.unescape(found[1]))
    assert said["texts"] > 20
    assert said["least"] >= 10, said
    assert said["most"] <= 18, said
    assert said["name"] >= 140, said
    assert said["wide"] == 0, said


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_it(page: Path, tmp_path: Path, dark: bool) -> None:
    browser = a_browser()
    picture = tmp_path / "page.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,4000",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    if dark:
        flags.append("--blink-settings=preferredColorScheme=0")
    subprocess.run(
        [browser, *flags, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True, timeout=180
    )
    assert picture.stat().st_size > 20_000
    shown = subprocess.run(
        [browser, *flags, "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True, timeout=180
    ).stdout
    assert "<title>Consumer offsets as of 2026-01-31 12:00:00 UTC</title>" in shown  # no name ran as a script
    assert shown.count("</svg>") == 2 * len(PLOTS)
    assert re.search(r"<button[^>]*data-copy[^>]*>", shown)


def test_empty_tables_say_so(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.report import write_report

    for table in rows():
        write(spark, tmp_path, table, [])
    content = Path(write_report(spark, None, str(tmp_path))).read_text()
    assert (tmp_path / "report.html").exists()
    text = " ".join(text_of(content).split())
    for said in (
        "No offset is committed",
        "There is nothing to delete",
        "Nothing was deleted",
        "The journal has no requests",
    ):
        assert said in text, said
    assert "<svg" not in content


def test_missing_tables_say_so(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.report import write_report

    write(spark, tmp_path, "offset_current", rows()["offset_current"])
    content = Path(write_report(spark, str(tmp_path), str(tmp_path / "page.html"))).read_text()
    text = " ".join(text_of(content).split())
    assert "5 groups with offsets" in text
    for table in ("expiry_forecast", "retention_whatif", "lag", "stale_offsets", "group_timeline", "protocol_coverage"):
        assert f"The table {table} is not there" in text


def test_a_table_that_is_cut_short_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.report import write_report

    write(spark, tmp_path, "lag", rows()["lag"])
    for file in (tmp_path / "lag").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(PipelineError, match="lag") as raised:
        write_report(spark, str(tmp_path), str(tmp_path / "page.html"))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "page.html").exists()


def test_numbers_as_people_read_them() -> None:
    from kafkastub_pipeline.report.page import minutes, ranges
    from kafkastub_pipeline.report.plots import duration, number

    assert [number(n) for n in (0, 999, 9999, 12_345, 5_000_000, None)] == ["0", "999", "9,999", "12.3 k", "5 M", "–"]
    assert [duration(s) for s in (0, 59, 3600, 5400, 90_000, -30, None)] == [
        "0 s",
        "59 s",
        "1 h",
        "1 h 30 min",
        "1 d 1 h",
        "−30 s",
        "–",
    ]
    assert [minutes(m) for m in (-1, 60, 10_080)] == ["for ever", "1 h", "7 d"]
    assert ranges({0, 1, 2, 5, 7, 8}) == "0–2, 5, 7–8"


@pytest.mark.parametrize(
    "name",
    [*ODD[:2], "turned\u202egnp.exe\x1b[31m", ODD[3], "$(touch owned)", "`touch owned`", "'; touch owned; '", "-rf\n"],
)
@pytest.mark.parametrize("is_stormy", [False, True])
def test_what_is_to_be_done_is_a_command_that_no_name_can_change(tmp_path: Path, name: str, is_stormy: bool) -> None:
    """Run by bash with the tools as functions: the name comes as it is, and nothing else happens."""
    from kafkastub_pipeline.report.facts import Facts
    from kafkastub_pipeline.report.todo import things_to_do

    facts = Facts("tables", NOW)
    facts.held = {"hanging": 1, "first": [{"topic": name, "partition": 3, "last_stable_offset": 17, "records_held": 9}]}
    facts.held["first"][0]["transactional_id"] = name
    first = {"group_id": name, "offsets": 2, "first": NOW + DAY / 2, "last": NOW, "rule": "empty", "lag_records": 4}
    facts.expiry = {"as_of": NOW, "first": [first]}
    server = "kafka-consumer-groups.sh --bootstrap-server 'b:9092' --delete-offsets --group x --topic 'orders:0'"
    storm = {"finding": "rebalance_storm", "group_id": name, "peak": 9.0, "evidence": "members joined (9)"}
    if is_stormy:
        facts.findings = {"first": [storm]}
    stale = {"group_id": name, "topic": "orders", "partitions": [0, 2], "live": True, "command": server}
    facts.stale = {"commands": [stale]}
    found = things_to_do(facts)
    assert [one["title"].split()[0] for one in found] == ["Abort", "Save", "See" if is_stormy else "Delete"]
    tools = "kafka-transactions.sh() { printf '%s\\0' \"$@\"; }; kafka-consumer-groups.sh() { printf '%s\\0' \"$@\"; }"
    of_a_name = found if is_stormy else found[:2]
    for one, option in zip(of_a_name, ("--topic", "--group", "--group"), strict=False):
        script = f"{tools}\n{one['command']}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path, check=True)
        words = done.stdout.decode().split("\0")
        assert words[words.index(option) + 1] == name
        assert words[words.index("--bootstrap-server") + 1] == "b:9092"
    assert list(tmp_path.iterdir()) == []


def test_the_page_begins_with_what_is_to_be_done(page: Path) -> None:
    content = page.read_text()
    assert content.index('id="todo"') < content.index("<nav>")
    assert content.count("<li><b>") == 3


def test_no_command_has_a_name_that_no_shell_passes_on() -> None:
    """Behind NUL a name would be another one."""
    from kafkastub_pipeline.report.facts import Facts
    from kafkastub_pipeline.report.todo import things_to_do

    first = {"group_id": "a\0b", "offsets": 2, "first": NOW, "last": NOW, "rule": "empty", "lag_records": 4}
    facts = Facts("tables", NOW)
    facts.expiry = {"as_of": NOW, "first": [first, {**first, "group_id": "other"}]}
    assert [one["name"] for one in things_to_do(facts)] == ["other"]
