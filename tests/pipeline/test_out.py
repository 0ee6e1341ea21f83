"""Where nothing can be written is told before Spark has anything to do, and nothing is left there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.test_bad_input import command, sentence
from tests.pipeline.test_report import rows, text_of, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Begun(Exception):
    """Work has begun."""


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads, and what draws, fails."""

    def begun(*_: object, **__: object) -> Any:
        raise Begun

    for what in ("run.read_raw", "stream.reached", "report.facts.gathered"):
        monkeypatch.setattr(f"kafkastub_pipeline.{what}", begun)


@pytest.fixture
def mounted(spark: SparkSession, tmp_path: Path) -> str:
    """A file system of Hadoop's whose root is read-only, for root too, and which has a directory that is not."""
    (tmp_path / "mounted").mkdir()
    context: Any = spark._jsc
    name = tmp_path.name.replace("_", "-")
    settings = context.hadoopConfiguration()
    settings.set(f"fs.viewfs.mounttable.{name}.link./mounted", (tmp_path / "mounted").as_uri())
    return f"viewfs://{name}"


def below(path: Path) -> list[str]:
    return sorted(one.relative_to(path).as_posix() for one in path.rglob("*"))


@pytest.mark.usefixtures("no_work")
def test_below_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "a" / "b"):
        said = f"--out {out} cannot be written: {tmp_path}/file is a file, and no directory; name another directory"
        assert command("run", "--raw", "anything", "--out", str(out), "--retention-minutes", "60") == 2
        assert sentence(capsys) == said
        assert command("report", "--tables", str(tmp_path), "--out", str(out / "page.html")) == 2
        assert sentence(capsys) == said.replace(str(out), str(out / "page.html"), 1)
    assert below(tmp_path) == ["file"]


@pytest.mark.usefixtures("no_work")
def test_a_stream_has_two_directories(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.stream import stream

    (tmp_path / "file").write_text("")
    here, there = str(tmp_path / "here"), str(tmp_path / "file" / "there")
    with pytest.raises(PipelineError, match=r"--out .*/there cannot be written: .*/file is a file"):
        stream(spark, "127.0.0.1:1", out=there, checkpoint=here)
    with pytest.raises(PipelineError, match=r"--checkpoint .*/there cannot be written: .*/file is a file"):
        stream(spark, "127.0.0.1:1", out=here, checkpoint=there)
    with pytest.raises(Begun):
        stream(spark, "127.0.0.1:1", out=here, checkpoint=here)
    assert below(tmp_path) == ["file"]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("name", ["[1]", "tables*", "what?", "{a}", "a}"])
def test_what_spark_takes_for_a_pattern(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """It would be written, and not be found again: the command says so before Spark is started."""
    from kafkastub_pipeline import session
    from kafkastub_pipeline.errors import PipelineError
    from kafkastub_pipeline.stream import stream

    out = tmp_path / name
    monkeypatch.delattr(session, "spark_session")
    run = "run", "--raw", "anything", "--retention-minutes", "60"
    for words in (run, ("stream", "--bootstrap-servers", "127.0.0.1:1", "--checkpoint", str(tmp_path / "checkpoint"))):
        assert command(*words, "--out", str(out)) == 2
        assert f"--out {out} has" in (said := sentence(capsys))
        assert said.endswith(
            "in it, which Spark takes for a pattern when it reads what it has written; name another directory"
        )
    with pytest.raises(PipelineError, match="takes for a pattern"):
        stream(spark, "127.0.0.1:1", out=str(out), checkpoint=str(tmp_path / "checkpoint"))
    assert below(tmp_path) == []


@pytest.mark.usefixtures("no_work")
def test_a_file_system_that_refuses(capsys: pytest.CaptureFixture[str], tmp_path: Path, mounted: str) -> None:
    for out, why in (
        (f"{mounted}/out", "does not exist"),
        ("bananas://host/out", 'No FileSystem for scheme "bananas"'),
        ("s3a://lake/out", r"S3AFileSystem not found: .* --packages org\.apache\.hadoop:hadoop-aws:3\.[\d.]+ "),
        ("s3://lake/out", 'No FileSystem for scheme "s3": write s3a://lake/out'),
        ("/proc/out", r"/proc \((No such file or directory|Permission denied)\)"),
    ):
        for words in (("run", "--raw", "x", "--retention-minutes", "60"), ("report", "--tables", str(tmp_path))):
            assert command(*words, "--out", out) == 2
            said = sentence(capsys)
            assert re.fullmatch(f"--out {out} cannot be written: .*{why}.*; name another directory", said), said
    assert below(tmp_path) == ["mounted"]


def test_where_it_can_be_written_nothing_is_left_by_asking(spark: SparkSession, tmp_path: Path, mounted: str) -> None:
    from kafkastub_pipeline.files import Files, check_writable

    (tmp_path / "there").mkdir()
    for directory in (tmp_path / "there", tmp_path / "to" / "be made", f"{mounted}/mounted", f"{mounted}/mounted/a/b"):
        check_writable(Files(spark), "--out", str(directory))
    assert below(tmp_path) == ["mounted", "there"]


def test_the_page_goes_where_its_tables_are(spark: SparkSession, tmp_path: Path, mounted: str) -> None:
    """On any file system, and in the place of the page of before."""
    page = tmp_path / "mounted" / "out" / "report.html"
    write(spark, page.parent, "offset_current", rows()["offset_current"])
    page.write_text("of before")
    assert command("report", "--out", f"{mounted}/mounted/out") == 0
    assert "5 groups with offsets" in " ".join(text_of(page.read_text()).split())
