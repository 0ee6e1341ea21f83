"""`kafkastub conform`: statuses, reports and lists."""

from __future__ import annotations

import json
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
    assert "36 passed" in out


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


def test_the_list_needs_no_broker():
    status, out, _ = run("conform", "--list", "-k", "OffsetDelete")
    assert status == 0
    assert "OffsetDelete/unknown-group" in out
    assert "OffsetCommit/" not in out


def test_the_list_depends_on_the_profile():
    lists = {profile: run("conform", "--list", "--profile", profile)[1] for profile in ("kafka", "kips")}
    assert "empty-group-id-of-the-draft" in lists["kips"]
    assert "empty-group-id-of-the-draft" not in lists["kafka"]


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
