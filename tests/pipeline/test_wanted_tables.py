"""`run --tables`: what is asked for is what it would be among all, nothing else is made, and what was there stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AclOperation

from kafkastub import KafkaStub
from kafkastub_pipeline import here, settings
from kafkastub_pipeline.settings import Settings
from tests.expiry.wire import Wire
from tests.pipeline.acls import CLIENTS, LOG, WITHOUT_ENTRY_OPEN, allow, topic
from tests.pipeline.log import MINUTE
from tests.pipeline.raw import commit, saved
from tests.pipeline.script import played, steps
from tests.pipeline.test_again import _run
from tests.pipeline.test_bad_input import command, sentence
from tests.pipeline.test_report import text_of
from tests.pipeline.test_shares import member_from_the_beginning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PRESENT = {"offset_current", "expiry_forecast", "lag", "stale_offsets"}
ASKED = "run", "--retention-minutes", "600,60"
MAKERS = "kafkastub_pipeline.tables.all_tables"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "RECORDS", 10_000)


def useless(*_: object, **__: object) -> Any:
    raise AssertionError("nothing that is asked for is made of this")


@pytest.mark.usefixtures("small")
def test_what_is_asked_for_is_as_among_all_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    with played(steps(7, 20, 80)) as on:
        on.stub.journal.to_parquet(tmp_path / "journal.parquet")
        known = {"bootstrap_servers": on.stub.bootstrap_servers, "journal": str(tmp_path / "journal.parquet")}

        def only(out: str, names: Any, *unused: str) -> dict[str, Any]:
            with monkeypatch.context() as patch:
                for one in unused:
                    patch.setattr(one, useless)
                return _run(spark, tmp_path / out, tables=names, **known)

        every = _run(spark, tmp_path / "out", **known)
        assert min(len(every[name]) for name in ("deletion_audit", "offset_current", "lag")) > 3
        others = "findings", "ends", "share_partitions", "protocol_coverage", "offset_events", "group_timeline"
        found = only("present", ["present"], *(f"{MAKERS}.{one}" for one in others))
        assert found == {name: every[name] for name in PRESENT}
        names = "deletion_audit", "protocol_coverage"
        others = "offset_current", "pending", "next_records", "missing", "ends", "group_events"
        found = only("past", names, *(f"{MAKERS}.{one}" for one in others))
        assert found == {name: every[name] for name in names}
        found = only("log", " group_events,decode_errors", "kafkastub_pipeline.run.snapshot", f"{MAKERS}.findings")
        assert found == {name: every[name] for name in ("group_events", "decode_errors")}

        again = _run(spark, tmp_path / "out", tables={"stale_offsets"}, stale_after_minutes=0, **known)
    assert {name for name in every if again[name] != every[name]} == {"stale_offsets"}
    assert again.keys() == every.keys()


def test_the_command_says_what_it_has_made(
    capsys: pytest.CaptureFixture[str], spark: SparkSession, tmp_path: Path
) -> None:
    """By workers; what was not asked for was never there. The records are kept all the same."""
    raw, out = saved(tmp_path / "raw", [commit("billing", "orders", 0, at * MINUTE) for at in range(9)]), tmp_path / "o"
    assert command(*ASKED, "--raw", raw, "--out", str(out), "--tables", "lag,expiry_forecast", "--keep-records") == 0
    assert capsys.readouterr().out == f"2 tables in {out}: expiry_forecast, lag\n"
    assert sorted(path.name for path in out.iterdir()) == ["decoded_records", "expiry_forecast", "lag"]
    assert spark.read.parquet(str(out / "decoded_records")).where("place is null").count() == 9


@pytest.mark.usefixtures("small", "spark")
def test_a_day_has_what_was_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Other days, and other tables of the same day, stay; the page of a day says what it lacks."""
    raw, out = saved(tmp_path / "raw", [commit("billing", "orders", 0, at * MINUTE) for at in range(9)]), tmp_path / "o"
    for day, names in (("01", "offset_events"), ("02", "lag"), ("02", "expiry_forecast")):
        where = "--raw", raw, "--out", str(out), "--append-day", f"2026-01-{day}"
        assert command(*ASKED, *where, "--tables", names) == 0
    assert sorted(path.relative_to(out).as_posix() for path in out.glob("*/day=*")) == [
        "expiry_forecast/day=2026-01-02",
        "lag/day=2026-01-02",
        "offset_events/day=2026-01-01",
    ]
    assert command("report", "--out", str(out)) == 0
    page = (out / "report.html").read_text()
    assert '<section id="lag">' in page
    assert '<section id="audit">' not in page
    text = " ".join(text_of(page).split())
    assert "With --now 1970-01-01T00:08:00.000+00:00 --append-day 2026-01-02 such a table is made" in text
    assert "The table deletion_audit has nothing of this day. It is made by kafkastub-pipeline run" in text
    capsys.readouterr()
    assert command(*ASKED, "--raw", raw, "--out", str(out), "--tables", "stale_offsets") == 2
    assert "has the table offset_events by days" in sentence(capsys)


THERE_ARE = (
    "there are offset_events, group_events, decode_errors, offset_current, expiry_forecast, retention_whatif,"
    " lock_whatif, transaction_whatif, session_whatif, stale_offsets, lag, group_timeline, findings, partition_owners,"
    " deletion_audit, share_partitions, transactions, held_partitions, guarantees, protocol_coverage; and present for"
    " offset_current, expiry_forecast, lag and stale_offsets"
)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("lags", f"--tables: there is no table 'lags'; {THERE_ARE}"),
        ("lag,", f"--tables: there is no table ''; {THERE_ARE}"),
        ("LAG,a\nb,present", f"--tables: there is no table 'LAG' or 'a\\nb'; {THERE_ARE}"),
        ("x" * 100_000, f"--tables: there is no table '{'x' * 80}…'; {THERE_ARE}"),
        ("", f"--tables names no table; {THERE_ARE}"),
        (" , ", f"--tables names no table; {THERE_ARE}"),
        (
            "lag,protocol_coverage",
            "--tables: protocol_coverage is made of the journal; give --journal, or leave it out",
        ),
        (
            "share_partitions",
            "--tables: share_partitions is made of what a cluster has in __share_group_state; give"
            " --bootstrap-servers, or leave it out",
        ),
    ],
)
def test_what_cannot_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path, names: str, said: str) -> None:
    """Told before Spark is started; there is nothing to read, either."""
    where = "--raw", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")
    assert command(*ASKED, *where, f"--tables={names}") == 2
    assert sentence(capsys) == said
    assert not (tmp_path / "out").exists()


def test_no_table_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """By a program: an empty list is not every table."""
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.run import run

    with pytest.raises(PipelineError, match="--tables names no table; there are offset_events, "):
        run(spark, Settings(str(tmp_path / "out"), raw="nowhere", tables=[]))
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark", "small")
def test_share_groups_that_may_not_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Among all tables that one is left out; by its name it is missed."""
    out = tmp_path / "out"
    with KafkaStub(topics={"orders": 1}, config=dict(WITHOUT_ENTRY_OPEN)) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        stub.produce("orders", b"one")
        assert member_from_the_beginning(stub, "workers", "orders").fetch(1) == 1
        where = "--bootstrap-servers", stub.bootstrap_servers, "--out", str(out), "--probes", "0"
        for on in (LOG, CLIENTS):
            allow(stub.bootstrap_servers, "ANONYMOUS", on, AclOperation.READ)
        allow(stub.bootstrap_servers, "ANONYMOUS", topic("__share_group_state"))
        assert command(*ASKED, *where, "--tables", "lag,share_partitions") == 2
        said = "on which the user needs the permissions Describe and Read; give them, or leave it out"
        assert said in sentence(capsys)
        assert not list(out.glob("*"))
        allow(stub.bootstrap_servers, "ANONYMOUS", topic("__share_group_state"), AclOperation.READ)
        assert command(*ASKED, *where, "--tables", "share_partitions") == 0
    assert capsys.readouterr().out == f"1 table in {out}: share_partitions\n"


def test_share_groups_are_not_read_for_other_tables(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path
) -> None:
    """Neither by the command itself nor by Spark, which needs no Kafka source then."""
    from kafkastub_pipeline import small_log

    raw = saved(tmp_path / "raw", [commit("billing", "orders", 0, at * MINUTE) for at in range(9)])
    with KafkaStub(topics={"orders": 1}, config=dict(WITHOUT_ENTRY_OPEN)) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        stub.produce("orders", b"one")
        assert member_from_the_beginning(stub, "workers", "orders").fetch(1) == 1
        known = {"bootstrap_servers": stub.bootstrap_servers, "raw": raw}
        assert small_log.held(stub.bootstrap_servers, log=False).needs_kafka is True
        assert small_log.held(stub.bootstrap_servers, log=False, shares=False).needs_kafka is False
        monkeypatch.setattr("kafkastub_pipeline.run.read_kafka", useless)
        monkeypatch.setattr("kafkastub_pipeline.small_log._read", useless)
        assert _run(spark, tmp_path / "out", tables="lag", **known).keys() == {"lag"}


def test_every_table_is_one_that_there_is() -> None:
    from kafkastub_pipeline.report.page import SECTIONS
    from kafkastub_pipeline.tables.all_tables import _PARTS
    from kafkastub_pipeline.tables.columns import TABLES

    made = [table for _, tables in _PARTS for table in tables]
    assert sorted(made) == sorted(TABLES)
    assert set(settings.OF_THE_LOG_ALONE) | set(settings.PRESENT) <= set(TABLES)
    assert not settings.NAMES_OF_SEVERAL.keys() & TABLES.keys()
    assert set(TABLES) - {table for _, table, _ in SECTIONS} == {"offset_events", "group_events", "partition_owners"}


@pytest.mark.parametrize(
    ("more", "snapshot"),
    [
        ({}, True),
        ({"tables": "present"}, True),
        ({"tables": "group_timeline,decode_errors"}, False),
        ({"tables": ["lag", "offset_events"]}, True),
        ({"tables": ["retention_whatif"]}, True),
        ({"tables": ["deletion_audit"]}, True),
        ({"tables": ["offset_current"]}, False),
        ({"tables": ["share_partitions"]}, True),
        ({"tables": ["protocol_coverage"]}, False),
    ],
)
def test_the_cluster_is_asked_again_where_that_is_needed(more: dict[str, Any], snapshot: bool) -> None:
    assert Settings("out", **more).needs_snapshot == snapshot
