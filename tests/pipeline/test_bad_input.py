"""What a user can get wrong: one sentence and a status, and nothing that looks whole."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from tests.expiry.wire import Wire
from tests.ports import reserved_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def command(*arguments: str) -> int:
    from kafkastub_pipeline.cli import main

    return main(arguments)


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("kafkastub-pipeline: ")]
    assert len(lines) == 1
    assert "Traceback" not in lines[0]
    return lines[0].removeprefix("kafkastub-pipeline: ")


def test_a_cluster_without_the_topic(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with KafkaStub() as stub:
        where = "--bootstrap-servers", stub.bootstrap_servers, "--out", str(tmp_path / "out")
        assert command("run", *where, "--retention-minutes", "60") == 2
    assert "there is no topic __consumer_offsets" in sentence(capsys)
    assert not (tmp_path / "out").exists()


def test_no_permission(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    """To describe the log is not to read it; who may not describe it does not see it; Java's client has a group."""
    del spark
    from confluent_kafka.admin import AclOperation

    from tests.pipeline.acls import CLIENTS, LOG, WITHOUT_ENTRY_OPEN, allow

    config: dict[str, object] = {**WITHOUT_ENTRY_OPEN, "offsets.topic.num.partitions": 2}
    with KafkaStub(config=config, topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        servers = stub.bootstrap_servers
        where = "--bootstrap-servers", servers, "--out", str(tmp_path / "out")
        allow(servers, "somebody else", LOG)
        assert command("run", *where, "--retention-minutes", "60") == 2
        assert "there is no topic __consumer_offsets" in sentence(capsys)
        allow(servers, "ANONYMOUS", LOG)
        assert command("run", *where, "--retention-minutes", "60") == 2
        assert "needs the permission Read on the topic, and has Describe" in sentence(capsys)
        allow(servers, "ANONYMOUS", LOG, AclOperation.READ)
        allow(servers, "somebody else", CLIENTS)
        assert command("run", *where, "--retention-minutes", "60") == 2
        said = sentence(capsys)
        assert "needs the permission Describe, or Read, on the groups whose names begin with kafkastub-pipeline" in said
        assert "--operation Describe --group kafkastub-pipeline --resource-pattern-type prefixed" in said
        assert not (tmp_path / "out").exists()
        allow(servers, "ANONYMOUS", CLIENTS)  # which is enough, for Java's client too
        more = "--checkpoint", str(tmp_path / "checkpoint"), "--available-now"
        assert command("stream", *where, *more) == 0


PATIENCE = 600.0
"""Seconds, in the place of the half minute that a slow broker is given: no machine needs so long to be certain."""


def test_each_way_of_not_being_reached_is_told_by_its_cause(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is certain, nobody waits for what may still come."""
    from kafkastub_pipeline import small_log

    monkeypatch.setattr(small_log, "beginnings", partial(small_log.beginnings, timeout=PATIENCE))
    sasl = "--client-config", "security.protocol=SASL_PLAINTEXT", "--client-config", "sasl.mechanism=PLAIN"
    user = "--client-config", "sasl.username=alice", "--client-config", "sasl.password=wrong"
    with reserved_port() as nobodys, KafkaStub(users={"alice": "right"}) as stub:
        gone = f"127.0.0.1:{nobodys}"
        here = stub.bootstrap_servers
        for servers, more, words in (
            (gone, (), f"no broker answers at {gone}: Connect to .* failed: Connection refused"),
            (here, (*sasl, *user), f"{here} refuses the user: Authentication failed: Invalid username or password"),
            (here, (), f"no broker answers at {here}: every connection is closed at once; check .*security.protocol"),
            (here, ("--client-config", "security.protocol=SSL"), "SSL handshake failed"),
            (here, ("--client-config", "security.protocol=TLS"), 'Invalid value "TLS" for .*"security.protocol"'),
            (here, ("--client-config", "bananas=1"), "bananas is not a property"),
            ("localhost", (), "--bootstrap-servers 'localhost' is not HOST:PORT"),
        ):
            begun = time.monotonic()
            where = "--bootstrap-servers", servers, "--out", str(tmp_path / "out")
            assert command("run", *where, "--retention-minutes", "60", *more) == 2
            assert time.monotonic() - begun < PATIENCE / 2, words
            assert re.search(words, said := sentence(capsys)), said


def test_nothing_to_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command("run", "--out", str(tmp_path), "--retention-minutes", "60") == 2
    assert "give --bootstrap-servers, --raw or --records" in sentence(capsys)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--retention-minutes", "0", "'0' is not a list of minutes"),
        ("--retention-minutes", "7d", "'7d' is not a list of minutes"),
        ("--now", "tomorrow", "'tomorrow' is neither `log` nor a time"),
        ("--probes", "-1", "'-1' is not a number from 0 to"),
        ("--check-interval-ms", "0", "'0' is not a positive number"),
        ("--conf", "spark.ui.enabled", "'spark.ui.enabled' is not KEY=VALUE"),
        ("--packages", "a:b:1,hadoop-aws", "'hadoop-aws' is not GROUP:ARTIFACT:VERSION, such as org.apache.spark:"),
        (
            "--packages",
            "org.apache.hadoop:hadoop-aws:",
            "'org.apache.hadoop:hadoop-aws:' is not GROUP:ARTIFACT:VERSION",
        ),
    ],
)
def test_arguments(capsys: pytest.CaptureFixture[str], option: str, value: str, words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        command("run", "--raw", "in", "--out", "out", "--retention-minutes", "60", f"{option}={value}")
    assert ended.value.code == 2
    assert f"argument {option}: {words}" in capsys.readouterr().err


def test_for_ever_may_come_first() -> None:
    """`-1,60` looks like an option to argparse."""
    from kafkastub_pipeline.cli import parser
    from kafkastub_pipeline.values import negatives_joined

    for given in (["--retention-minutes", "-1,60"], ["--retention-minutes=-1,60"]):
        options = parser().parse_args(negatives_joined(["run", "--out", "x", *given]))
        assert options.retention_minutes == (-1, 60)
    assert command("run", "--out", "x", "--retention-minutes", "-1,60") == 2  # nothing to read


@pytest.mark.usefixtures("spark")
def test_a_truncated_file(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    raw = tmp_path / "raw"
    spark.range(100).selectExpr(
        "cast(null as binary) key",
        "cast(null as binary) value",
        "0 `partition`",
        "id offset",
        "current_timestamp() timestamp",
    ).coalesce(1).write.parquet(str(raw))
    (file,) = raw.glob("*.parquet")
    (raw / f".{file.name}.crc").unlink()
    file.write_bytes(file.read_bytes()[:-200])
    assert command("run", "--raw", str(raw), "--out", str(tmp_path / "out"), "--retention-minutes", "60") == 2
    assert "cannot be read as saved records in Parquet" in sentence(capsys)
    assert not (tmp_path / "out").exists()


def test_other_parquet(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    spark.range(3).write.parquet(str(tmp_path / "raw"))
    assert (
        command("run", "--raw", str(tmp_path / "raw"), "--out", str(tmp_path / "o"), "--retention-minutes", "60") == 2
    )
    assert "is not saved records: it has no column key" in sentence(capsys)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("column", ["partition", "offset", "timestamp"])
def test_records_without_a_place_on_the_log(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    column: str,
    small: bool,
) -> None:
    from kafkastub_pipeline import here

    monkeypatch.setattr(here, "RECORDS", 100 if small else 0)
    records = spark.range(3).selectExpr(
        "cast('a' as binary) key", "key value", "0 `partition`", "id offset", "current_timestamp() timestamp"
    )
    spoilt = [f"if(offset = 1 and '{name}' = '{column}', null, `{name}`) `{name}`" for name in records.columns]
    records.selectExpr(*spoilt).coalesce(1).write.parquet(str(tmp_path / "raw"))
    out = tmp_path / "out"
    assert command("run", "--raw", str(tmp_path / "raw"), "--out", str(out), "--retention-minutes", "60") == 1
    assert f"1 of 3 records that were read together have no {column}" in sentence(capsys)


def test_a_report_of_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    del spark
    assert command("report", "--out", str(tmp_path / "nowhere")) == 2
    assert "nowhere" in sentence(capsys)
