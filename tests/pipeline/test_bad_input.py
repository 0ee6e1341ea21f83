"""What a user can get wrong: one sentence and a status, and nothing that looks whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from tests.expiry.wire import Wire

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


def test_no_permission(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """To describe the log is not to read it; who may not even describe it does not see it."""
    from confluent_kafka.admin import (
        AclBinding,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    config: dict[str, object] = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }

    def allowed(user: str) -> None:
        pattern = ResourceType.TOPIC, "__consumer_offsets", ResourcePatternType.LITERAL
        entry = AclBinding(*pattern, f"User:{user}", "*", AclOperation.DESCRIBE, AclPermissionType.ALLOW)
        for answer in admin.create_acls([entry]).values():
            answer.result(60)

    with KafkaStub(config=config, topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("group", {("orders", 0): 0})
        admin = AdminClient({"bootstrap.servers": stub.bootstrap_servers, "log_level": 0})
        where = "--bootstrap-servers", stub.bootstrap_servers, "--out", str(tmp_path / "out")
        allowed("somebody else")
        assert command("run", *where, "--retention-minutes", "60") == 2
        assert "there is no topic __consumer_offsets" in sentence(capsys)
        allowed("ANONYMOUS")
        assert command("run", *where, "--retention-minutes", "60") == 2
        assert "needs the permission Read on the topic, and has Describe" in sentence(capsys)
    assert not (tmp_path / "out").exists()


def test_a_broker_that_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafkastub_pipeline import cluster

    monkeypatch.setattr(cluster.reached, "__defaults__", ((), 1.0))
    with KafkaStub() as stub:
        gone = stub.bootstrap_servers
    where = "--bootstrap-servers", gone, "--out", str(tmp_path / "out")
    assert command("run", *where, "--retention-minutes", "60") == 2
    assert f"no broker answers at {gone}" in sentence(capsys)


def test_nothing_to_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command("run", "--out", str(tmp_path), "--retention-minutes", "60") == 2
    assert "give --bootstrap-servers, --raw or --records" in sentence(capsys)


@pytest.mark.parametrize(
    "wrong", [("--retention-minutes", "0"), ("--retention-minutes", "7d"), ("--now", "tomorrow"), ("--probes", "-1")]
)
def test_arguments(capsys: pytest.CaptureFixture[str], tmp_path: Path, wrong: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command("run", "--raw", str(tmp_path), "--out", str(tmp_path), "--retention-minutes", "60", *wrong)
    assert ended.value.code == 2
    assert repr(wrong[1]) in capsys.readouterr().err or wrong[1] == "-1"


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


def test_a_report_of_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    del spark
    assert command("report", "--out", str(tmp_path / "nowhere")) == 2
    assert "nowhere" in sentence(capsys)
