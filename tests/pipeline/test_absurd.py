"""Numbers that can be decoded and mean nothing: no record may end a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.pipeline.raw import commit, generation, modern, saved, tombstone
from tests.pipeline.test_round_trip import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: make test-pipeline installs it")
NOW = 1_800_000_000_000
HOUR = 3_600_000
LEAST, MOST = -(2**63), 2**63 - 1
ABSURD = (LEAST, LEAST + 1, -(2**62), -2, -1, 0, 2**62, MOST - 1, MOST)


def test_a_run_over_absurd_numbers(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.report import write_report
    from kafkastub_pipeline.run import Settings, run

    out = str(tmp_path / "out")
    records = [commit("sound", "orders", 0, NOW - HOUR, offset=0)]
    records += [commit(f"offset {n}", "orders", 0, NOW, offset=n) for n in ABSURD]
    records += [commit(f"time {n}", "orders", 0, NOW, commit_ms=n) for n in ABSURD]
    records += [commit(f"own {n}", "orders", 0, NOW, own=n, version=1) for n in ABSURD]
    for n in ABSURD:
        records += [generation(f"state {n}", NOW, [], state_ms=n, number=n % 2**31)]
        records += [commit(f"state {n}", "orders", 0, NOW, offset=n, commit_ms=n)]
        records += [commit(f"gone {n}", "orders", 2**31 - 1, NOW, offset=n, commit_ms=n, own=n, version=1)]
        records += [tombstone(f"gone {n}", "orders", 2**31 - 1, NOW)]
        records += [
            *modern(f"modern {n}", NOW, ["other"], epoch=-1),
            commit(f"modern {n}", "orders", 0, NOW, own=n, version=1),
        ]
    records += [generation("live", NOW, [subscription("audit")], state_ms=MOST)]
    records += [commit("live", "orders", -(2**31), NOW, offset=MOST, commit_ms=LEAST)]
    raw = saved(tmp_path / "raw", records, first_offset=MOST - len(records))
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("any", {("orders", 0): LEAST})
        settings = Settings(out, stub.bootstrap_servers, raw, retention_minutes=(60, 2**31 - 1, -1), probes=10)
        written = run(spark, settings)
    assert "deletion_audit" in written
    assert rows(spark, Path(out), "decode_errors") == []
    lag = {row.group_id: row for row in rows(spark, Path(out), "lag")}
    assert len(lag) == 5 * len(ABSURD) + 2
    assert (lag["sound"].lag_records, lag["sound"].lag_method) == (0, "none left")
    for n in ABSURD:
        assert lag[f"offset {n}"].lag_records == (0 if n == 0 else None)
        assert lag[f"offset {n}"].topic_recreated is (n > 0)
    forecast = {row.group_id: row for row in rows(spark, Path(out), "expiry_forecast")}
    assert forecast["sound"].expires_at == NOW
    assert {row.complete_since for row in forecast.values()} == {NOW - HOUR}  # the log's first record is gone
    assert forecast[f"time {LEAST}"].expires_at == 0
    assert forecast[f"time {LEAST}"].seconds_left == -NOW / 1000
    stale = {row.group_id: row for row in rows(spark, Path(out), "stale_offsets")}
    assert stale[f"time {LEAST}"].age_seconds is None
    assert f"time {MOST}" not in stale
    assert "What will expire" in Path(write_report(spark, out, str(tmp_path / "page.html"))).read_text()
