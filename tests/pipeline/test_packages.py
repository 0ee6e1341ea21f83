"""A package that cannot be had: one sentence with what to do, before anything is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkastub_pipeline import maven
from tests.ports import reserved_port

AWS = "org.apache.hadoop:hadoop-aws:0.0.1"
IVY = """<ivysettings><settings defaultResolver="here"/>
<resolvers><ibiblio name="here" m2compatible="true" root="{root}"/></resolvers></ivysettings>"""


def test_a_package_whose_repository_cannot_be_reached(tmp_path: Path) -> None:
    """As a user starts it; Ivy keeps what it has learnt in a directory of its own."""
    settings, out = tmp_path / "ivy.xml", tmp_path / "out"
    with reserved_port() as port:
        settings.write_text(IVY.format(root=f"http://127.0.0.1:{port}/maven"))
        words = ["run", "--raw", str(tmp_path / "not there"), "--out", str(out), "--retention-minutes", "60"]
        for conf in (f"spark.jars.ivySettings={settings}", f"spark.jars.ivy={tmp_path / 'ivy'}"):
            words += ["--conf", conf]
        command = [sys.executable, "-m", "kafkastub_pipeline", *words, "--packages", AWS]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        f"kafkastub-pipeline: the package {AWS} cannot be had: 127.0.0.1:{port} cannot be reached: Connection refused;"
        " check its name and version in --packages, name another repository with --conf spark.jars.repositories=URL or"
        ' --conf spark.jars.ivySettings=FILE, or put the jars where Spark has its own and give --packages ""\n'
    )
    assert not out.exists()


FAILED = 'Exception in thread "main" java.lang.RuntimeException: ['


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            ["unresolved dependency: a#b_2.13;1.0: not found"],
            "the package a:b_2.13:1.0 cannot be had: no repository has",
        ),
        (
            ["unresolved dependency: a#b;1: not found, unresolved dependency: c#d;2.0-M1: not found"],
            "the package a:b:1, c:d:2.0-M1 cannot be had",
        ),
        (["download failed: org.x#sdk;2.24.6!sdk.jar(bundle)"], "the package org.x:sdk:2.24.6 cannot be had"),
    ],
)
def test_what_ivy_says(said: list[str], words: str) -> None:
    told = maven.not_to_be_had(["\tmodule not found: other#thing;9", *(f"{FAILED}{one}]" for one in said), "\tat x"])
    assert told is not None
    assert told.startswith(words)


def test_what_is_no_package() -> None:
    assert maven.not_to_be_had(["Error: Could not find or load main class", f"{FAILED}requirement failed]"]) is None
    assert maven.malformed("") is None
    assert maven.malformed("org/artifact/1,a:b:1") is None
    assert maven.wanted("a:b:1", with_kafka=True) == f"{maven.kafka()},a:b:1"
    assert maven.wanted("", with_kafka=True) == ""


@pytest.mark.parametrize(
    ("spark", "source"),
    [("4.0.5", "4.0.0"), ("4.1.4", "4.1.1"), ("4.2.1", "4.2.0"), ("4.3.0", "4.3.0"), ("5.0.0", "5.0.0")],
)
def test_the_kafka_source_of_a_release_of_spark(spark: str, source: str) -> None:
    assert maven.kafka(spark) == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{source}"


def test_a_kafka_source_that_no_repository_has_leaves_other_ways() -> None:
    told = maven.not_to_be_had([f"{FAILED}unresolved dependency: org.apache.spark#spark-sql-kafka-0-10_2.13;9.0: x]"])
    assert told is not None
    assert "saved records (--raw)" in told
    assert 'format("kafka_offsets")' in told


@pytest.mark.parametrize(
    ("format_", "spark", "words"),
    [
        ("delta", "4.2.1", "--packages io.delta:delta-spark_4.2_2.13:4.4.0"),
        ("iceberg", "4.1.4", "--packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"),
        ("iceberg", "4.2.1", "no package that is known to work with Spark 4.2.1, but has for 4.0 and 4.1"),
        ("delta", "4.3.0", "no package that is known to work with Spark 4.3.0, but has for 4.0 and 4.1 and 4.2"),
    ],
)
def test_the_package_of_a_format(format_: str, spark: str, words: str) -> None:
    assert words in maven.lake(format_, spark)
