"""`kafkastub conform`: statuses, reports and lists."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        yield stub


class Links(HTMLParser):
    """Where a page's links lead, and what can be led to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links.update(value for name in ("href", "src") if (value := found.get(name)))
        self.places.update(f"#{value}" for value in [found.get("id")] if value)


def test_all_passed_is_status_0(stub: KafkaStub):
    status, out, _ = run("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "DeleteGroups")
    assert status == 0
    assert re.search(r"\b[5-9]\d passed\b", out)
    assert "failed" not in out


def test_a_failure_is_status_1_and_in_every_report(stub: KafkaStub, tmp_path: Path):
    paths = [tmp_path / f"report.{form}" for form in ("html", "json", "xml")]
    reports = [word for path in paths for word in ("--report", str(path))]
    with stub.faults.add(api="Heartbeat", error="ILLEGAL_GENERATION"):
        status, out, _ = run(
            "conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "Heartbeat/unknown-group", *reports
        )
    assert status == 1
    assert "error_code: expected 25 UNKNOWN_MEMBER_ID, got 22 ILLEGAL_GENERATION" in out
    assert "5 failed" in out

    page, document, junit = (path.read_text() for path in paths)
    found = Links(page)
    assert "#heartbeat-unknown-group-v4" in found.places
    assert found.links <= found.places  # and hence nothing from elsewhere
    saved = json.loads(document)
    assert saved["summary"]["failed"] == 5
    assert saved["results"][0]["differences"][0]["path"] == "error_code"
    assert bytes.fromhex(saved["results"][0]["frames"][-1]["request"])[:2] == b"\0\x0c"
    (suite,) = ElementTree.fromstring(junit)
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("Heartbeat", "5", "5")


def test_a_broker_that_is_gone_is_told_once(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub_conformance.running.REVIVAL_SECONDS", 0.1)

    def end() -> None:
        stub.journal.wait_for(api="JoinGroup", timeout=60)
        stub.close()

    thread = threading.Thread(target=end)
    thread.start()
    status, out, _ = run("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "JoinGroup")
    thread.join()
    assert status == 1
    assert out.count("the broker is gone") == 1
    assert re.search(r"^JoinGroup/.* and \d+ more: error\n  the broker is gone$", out, re.MULTILINE)


def test_the_list_needs_no_broker():
    status, out, _ = run("conform", "--list", "-k", "OffsetDelete")
    assert status == 0
    assert "OffsetDelete/unknown-group" in out
    assert "OffsetCommit/" not in out


def test_the_list_depends_on_the_profile():
    lists = {profile: run("conform", "--list", "--profile", profile)[1] for profile in ("kafka", "kips")}
    assert "empty-group-id-of-the-draft" in lists["kips"]
    assert "empty-group-id-of-the-draft" not in lists["kafka"]
    either = run("conform", "--list")[1]
    assert [line.split()[-2:] for line in either.splitlines() if "OffsetCommit/empty-group-id" in line] == [
        [profile, "alone)"] for profile in ("kafka", "kips")
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("conform --list -k (", "-k"),
        ("conform --report out.txt", ".html, .json, .xml"),
        ("conform --report nowhere/out.xml", "there is no folder"),
        ("conform --bootstrap-servers nonsense", "HOST:PORT"),
        ("conform --bootstrap-servers 127.0.0.1:1", "nobody listens"),
    ],
)
def test_what_cannot_be_done_is_status_2_in_one_sentence(line: str, reason: str):
    status, out, error = run(*line.split())
    assert (status, out) == (2, "")
    assert reason in error
    assert len(error.splitlines()) == 1


def test_a_choice_of_nothing_is_status_2(stub: KafkaStub):
    status, _, error = run("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "nonsense")
    assert status == 2
    assert "--list" in error


def test_a_broker_that_lets_groups_wait_is_told_of_once_and_nobody_else():
    slow, quick = ({"group.initial.rebalance.delay.ms": delay} for delay in (2500, 0))
    for config, times in ((slow, 1), (quick, 0)):
        with KafkaStub(profile="kafka", config=config) as stub:
            line = ("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "Heartbeat/unknown-group")
            status, _, error = run(*line)
        assert status == 0
        assert error.count("group.initial.rebalance.delay.ms of this broker is 2500") == times
        assert ("=0" in error) == bool(times)


def test_a_release_skips_what_came_later(stub: KafkaStub, tmp_path: Path):
    report = tmp_path / "report.json"
    line = ("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "unknown-group-since")
    status, out, error = run(*line, "--release", "3.9.1", "--report", str(report))
    assert status == 0
    assert "2 skipped" in out
    assert "measured by Apache Kafka 3.9: 2 runs" in error
    saved = json.loads(report.read_text())
    assert saved["release"] == "3.9"
    assert saved["results"][0]["reason"] == "since Apache Kafka 4.0; before: ILLEGAL_GENERATION at every version"
    assert "2 passed" in run(*line)[1]  # by itself it is measured by the latest


def test_a_stub_that_is_an_older_release_is_measured_by_that():
    with KafkaStub(profile="kafka", config=CONFIG, as_version="3.9") as stub:
        status, out, error = run(
            "conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "ApiVersions/listed or Produce/too-old"
        )
    assert (status, "5 passed, 1 skipped" in out) == (0, True)
    assert "measured by Apache Kafka 3.9" in error


def test_expiry_through_the_control_port():
    with KafkaStub(profile="kafka", config=CONFIG, control_port=0) as stub:
        line = ("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "expiry and v8")
        before = stub.clock.now_ms()
        status, out, _ = run(*line, "--control", stub.control_url)
        assert status == 0
        assert "7 passed" in out
        assert stub.clock.now_ms() - before > 7 * 86_400_000
        assert not stub.clock.frozen
        status, _, error = run(*line, "--control", "http://127.0.0.1:1")
        assert (status, "no control port answers" in error) == (2, True)
        assert run(*line)[0] == 2  # without a clock there is no such case
