"""What a user can get wrong: one sentence and a status, and nothing that looks whole."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def test_no_permission(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    """To describe the log is not to read it; who may not describe it does not see it; Java's client has a group."""
    del spark
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
        "offsets.topic.num.partitions": 2,
    }
    log = ResourceType.TOPIC, "__consumer_offsets", ResourcePatternType.LITERAL
    groups = ResourceType.GROUP, "kafkastub-pipeline", ResourcePatternType.PREFIXED

    def allowed(user: str, on: Any = log, operation: AclOperation = AclOperation.DESCRIBE) -> None:
        entry = AclBinding(*on, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
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
        allowed("ANONYMOUS", operation=AclOperation.READ)
        allowed("somebody else", groups)
        assert command("run", *where, "--retention-minutes", "60") == 2
        said = sentence(capsys)
        assert "needs the permission Describe, or Read, on the groups whose names begin with kafkastub-pipeline" in said
        assert "--operation Describe --group kafkastub-pipeline --resource-pattern-type prefixed" in said
        assert not (tmp_path / "out").exists()
        allowed("ANONYMOUS", groups)  # which is enough, for Java's client too
        more = "--checkpoint", str(tmp_path / "checkpoint"), "--available-now"
        assert command("stream", *where, *more) == 0


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_each_way_of_not_being_reached_is_told_by_its_cause(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where it is certain, nobody waits for the half minute that a slow broker is given."""
    sasl = "--client-config", "security.protocol=SASL_PLAINTEXT", "--client-config", "sasl.mechanism=PLAIN"
    user = "--client-config", "sasl.username=alice", "--client-config", "sasl.password=wrong"
    gone = f"127.0.0.1:{unused_port()}"
    with KafkaStub(users={"alice": "right"}) as stub:
        here = stub.bootstrap_servers
        for servers, more, words in (
            (gone, (), f"no broker answers at {gone}: Connect to .* failed: Connection refused"),
            (here, (*sasl, *user), f"{here} refuses the user: .*Invalid username or password"),
            (here, (), f"no broker answers at {here}: every connection is closed at once; check .*security.protocol"),
            (here, ("--client-config", "security.protocol=SSL"), "SSL handshake failed"),
            (here, ("--client-config", "security.protocol=TLS"), 'Invalid value "TLS" for .*"security.protocol"'),
            (here, ("--client-config", "bananas=1"), "bananas is no property"),
            ("localhost", (), "--bootstrap-servers 'localhost' is not HOST:PORT"),
        ):
            begun = time.monotonic()
            where = "--bootstrap-servers", servers, "--out", str(tmp_path / "out")
            assert command("run", *where, "--retention-minutes", "60", *more) == 2
            assert time.monotonic() - begun < 15, words  # 30 s is for what may still answer
            assert re.search(words, said := sentence(capsys)), said


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


def test_for_ever_may_come_first() -> None:
    """`-1,60` looks like an option to argparse."""
    from kafkastub_pipeline.cli import _negatives_joined, parser

    for given in (["--retention-minutes", "-1,60"], ["--retention-minutes=-1,60"]):
        options = parser().parse_args(_negatives_joined(["run", "--out", "x", *given]))
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


def test_a_report_of_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, spark: SparkSession) -> None:
    del spark
    assert command("report", "--out", str(tmp_path / "nowhere")) == 2
    assert "nowhere" in sentence(capsys)
