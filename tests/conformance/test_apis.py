"""Every API of the release is in every report: what was played, what has no case, what the broker does not have."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

from kafkastub import KafkaStub
from kafkastub.config.releases import APIS, LATEST
from kafkastub_conformance import registry
from kafkastub_conformance.apis import apis
from kafkastub_conformance.cluster import Cluster
from kafkastub_conformance.reports import rendered, text
from kafkastub_conformance.running import conform
from kafkawire.api import ApiKey
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG

KEYS = [int(one.partition(":")[0]) for one in APIS[LATEST].split()]
NAMES = {ApiKey(key).camel for key in KEYS}
STRANGE = 1999
"""Of an API that nobody knows."""
LACKING = "StreamsGroupDescribe"
"""What the broker is said not to have."""
EXPECTED = {
    "Heartbeat": ("played", {"passed": 5, "failed": 5}),
    "FindCoordinator": ("played", {"passed": 34}),
    "DescribeAcls": ("skipped", {"skipped": 3}),
    "Produce": ("not played", {}),
    "GetTelemetrySubscriptions": ("not played", {}),  # which is answered, and not advertised
    "OffsetDelete": ("no case", {}),
    f"API {STRANGE}": ("no case", {}),
    LACKING: ("not served", {}),
}


@dataclass
class Reports:
    """Of one run, in every form."""

    shown: dict[str, tuple[str, dict[str, int]]]
    json: str
    html: str
    junit: str
    text: str
    short: str


@pytest.fixture(scope="module")
def reports() -> Reports:
    """Of a broker with an API that we do not know, and without one of the release.

    The suite has no case for one of those that it has.
    """
    prepare, catalogue = Cluster.prepare, registry.catalogue()

    def and_more(cluster: Cluster) -> None:
        prepare(cluster)
        cluster.strange = {STRANGE: (0, 3)}
        del cluster.advertised[LACKING], cluster.served[LACKING]

    fewer = tuple(case for case in catalogue if case.api != "OffsetDelete")
    chosen = "Heartbeat/unknown-group or Heartbeat/empty or FindCoordinator or DescribeAcls/matching"
    with pytest.MonkeyPatch.context() as patched, KafkaStub(profile="kafka", config=CONFIG) as stub:
        patched.setattr(Cluster, "prepare", and_more)
        for module in ("registry", "apis"):
            patched.setattr(f"kafkastub_conformance.{module}.catalogue", lambda: fewer)
        with stub.faults.add(api="Heartbeat", error="INVALID_GROUP_ID"):
            outcome = conform(stub.bootstrap_servers, chosen=chosen)
        shown = {
            api.name: (api.shown.value, {status.value: n for status, n in api.runs.items() if n})
            for api in apis(outcome)
        }
        forms = [rendered(form, outcome) for form in (".json", ".html", ".xml")]
        lines = ["\n".join(text.every_api(outcome, named)) for named in (True, False)]
    return Reports(shown, *forms, *lines)


def test_what_is_shown_of_each(reports: Reports):
    assert reports.shown.keys() == NAMES | {f"API {STRANGE}"}
    assert {name: reports.shown[name] for name in EXPECTED} == EXPECTED


def test_the_document_for_programs_has_them(reports: Reports):
    listed = {one["api"]: one for one in json.loads(reports.json)["apis"]}
    assert [one["key"] for one in listed.values()] == [*KEYS, STRANGE]
    told = {name: (one["shown"], {kind: n for kind, n in one["runs"].items() if n}) for name, one in listed.items()}
    assert told == reports.shown
    assert (listed["Heartbeat"]["release"], listed["Heartbeat"]["served"]) == ([0, 4], [0, 4])
    assert (listed[LACKING]["release"], listed[LACKING]["served"]) == ([0, 1], None)
    assert (listed[f"API {STRANGE}"]["release"], listed[f"API {STRANGE}"]["served"]) == (None, [0, 3])
    assert (listed["Heartbeat"]["cases"] > 2, listed["OffsetDelete"]["cases"]) == (True, 0)


def test_the_page_has_them(reports: Reports):
    section = reports.html.partition('id="every-api-of-the-release"')[2].partition("</section>")[0]
    rows = re.findall(r"<tr><td>(.*?)</tr>", section)
    plain = [re.sub(r"(<[^>]*>)+", "|", row).strip("|") for row in rows]
    found = {row.partition("|")[0]: row for row in plain}
    assert found.keys() == reports.shown.keys()
    assert found["Heartbeat"].startswith("Heartbeat|12|v0–4|v0–4|")
    assert found["Heartbeat"].endswith("|5 passed, 5 failed")
    assert re.fullmatch(rf"{LACKING}\|89\|v0–1\|–\|\d+\|not advertised", found[LACKING])
    assert found["OffsetDelete"] == "OffsetDelete|47|v0|v0|0|advertised, without a case in the suite"
    assert 'href="#every-api-of-the-release"' in reports.html


def test_build_servers_show_what_has_no_case_as_skipped(reports: Reports):
    suites = {suite.get("name"): suite for suite in ElementTree.fromstring(reports.junit)}
    unplayed = suites["APIs without a case"]
    silent = {name for name, (shown, _) in reports.shown.items() if shown in ("no case", "not served")}
    assert {case.get("name") for case in unplayed} == silent
    reasons = {case.get("name"): skipped.get("message") for case in unplayed for skipped in case}
    assert (reasons["OffsetDelete"], reasons[LACKING]) == (
        "advertised, without a case in the suite",
        "not advertised",
    )
    assert unplayed.get("skipped") == unplayed.get("tests") == str(len(silent))


def test_the_lines_have_them(reports: Reports):
    assert reports.text.startswith(f"the {len(KEYS)} APIs of Apache Kafka {LATEST}, and API {STRANGE}:\n")
    assert set(re.findall(r"\w+", reports.text)) >= NAMES
    whole = " ".join(reports.text.split())
    assert "2 played, with the runs that passed: FindCoordinator 34, Heartbeat 5 of 10" in whole
    unplayed = re.search(r"\d+ advertised, without a case in the suite: (.*?) \d+ not advertised", whole)
    assert unplayed
    assert {"OffsetDelete", f"API {STRANGE}"} <= set(unplayed[1].split(", "))
    assert max(map(len, reports.text.splitlines())) <= 120
    short = reports.short.splitlines()
    assert len(short) == 6
    assert re.search(r"^  \d+ not advertised$", short[-1])


def test_the_command_says_it_in_front_of_its_last_line():
    with KafkaStub(config=CONFIG) as stub:
        _, out, _ = run("conform", "--bootstrap-servers", stub.bootstrap_servers, "-k", "Heartbeat/unknown-group")
        address = stub.bootstrap_servers
    lines = out.splitlines()
    assert lines[0] == f"the {len(KEYS)} APIs of Apache Kafka {LATEST}:"
    assert lines[1] == "  1 played, with the runs that passed: Heartbeat 5"
    assert re.search(r"^  \d+ advertised, none of their cases played$", lines[-2])
    assert lines[-1].startswith(address)
