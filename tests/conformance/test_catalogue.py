"""The whole catalogue: the stub passes it in both profiles, and each case says what it shows and where that is from."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from kafkastub import KafkaStub
from kafkastub.guarantees import CATALOG
from kafkastub.handlers.registry import registrations
from kafkastub_conformance.broker import ALONE
from kafkastub_conformance.cases.acls import MISSING, PRESENT
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import PROFILES, Status
from kafkastub_conformance.registry import catalogue, plan
from kafkastub_conformance.running import conform
from tests.conformance.anomalies import DOCUMENT, NOT_SHOWN
from tests.conformance.anomalies import cases as anomalies
from tests.conformance.document import CLUSTERED, EXPIRING, SECURED
from tests.conformance.kfake_causes import CAUSES
from tests.conformance.mutants import MUTANTS, ROOT
from tests.conformance.told import skipped, told
from tests.conftest import CONFIG

DUE_TO_THE_BROKER = {ALONE, MISSING}
"""Why a stub of one node without an authorizer need not play a case; others here do."""


@pytest.mark.parametrize("profile", PROFILES)
def test_the_stub_passes_every_case(profile: str):
    with KafkaStub(profile=profile, config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, profile, clock=stub.clock)
    assert not outcome.bad, told(outcome)
    assert outcome.count(Status.PASSED) > 2000
    assert skipped(outcome).keys() <= DUE_TO_THE_BROKER
    assert outcome.left == []


def test_a_stub_with_an_authorizer_passes_the_cases_that_ask_for_one():
    with KafkaStub(profile="kafka", config={**CONFIG, **SECURED}) as stub:
        outcome = conform(stub.bootstrap_servers, chosen="Acls/")
    assert not outcome.bad, told(outcome)
    assert skipped(outcome).keys() == {PRESENT}
    assert outcome.left == []


def test_a_cluster_passes_the_cases_that_ask_for_one():
    with KafkaStub(profile="kafka", config=CONFIG, nodes=3) as stub:
        outcome = conform(stub.bootstrap_servers.split(",")[1], chosen=CLUSTERED)
    assert not outcome.bad, told(outcome)
    assert skipped(outcome) == {}


@pytest.mark.soak
@pytest.mark.parametrize("profile", PROFILES)
def test_the_stub_passes_the_slow_cases(profile: str):
    with KafkaStub(profile=profile, config={**CONFIG, **EXPIRING}) as stub:
        outcome = conform(stub.bootstrap_servers, profile, slow=True, select=lambda run: run.case.slow)
    assert skipped(outcome) == {}
    assert outcome.results
    assert not outcome.bad, told(outcome)


def test_an_api_that_has_cases_has_one_for_every_version_that_the_stub_advertises():
    covered = {case.api for case in catalogue()}
    served = {key.camel: (one.first, one.last) for key, one in registrations().items() if one.advertised}
    wanted = {(api, v) for api, (first, last) in served.items() if api in covered for v in range(first, last + 1)}
    assert len(covered) >= 41
    assert wanted - {(run.case.api, run.version) for run in plan(served, "kafka")} == set()


def test_every_case_says_what_it_shows_and_where_that_is_from():
    planned = {one: {run.case.id for run in plan(None, one, slow=True, clock=True)} for one in PROFILES}
    for case in catalogue():
        assert case.shows.endswith("."), case.id
        assert case.source, case.id
        assert case.profile in ("both", *PROFILES), case.id
        assert set(case.also) <= set(KEYS), case.id
        assert case.id in planned["kafka" if case.profile == "both" else case.profile], case.id
        assert bool(case.since) == bool(case.before), case.id


def test_each_guarantee_has_a_case_that_says_what_brokers_allow():
    named = {case.anomaly.guarantee for case in catalogue() if case.anomaly is not None}
    assert named | NOT_SHOWN.keys() == CATALOG.keys()
    assert named.isdisjoint(NOT_SHOWN)


def test_the_page_about_anomalies_has_every_case():
    page = DOCUMENT.read_text()
    rows = [line for line in page.splitlines() if line.startswith("| [`")]
    assert len(rows) == len(anomalies())
    for case, row in zip(anomalies(), rows, strict=True):
        assert case.anomaly is not None
        name, setting, how, shows, *_ = row.strip("| ").split(" | ")
        assert (setting, shows) == (case.anomaly.setting, case.shows)
        assert name == f"[`{case.anomaly.guarantee}`](guarantees.md#{case.anomaly.guarantee})"
        assert ("forbids" in how) is not case.anomaly.allowed


def test_every_cause_of_kfakes_failures_names_cases_that_there_are():
    names = {case.id for case in catalogue()}
    for cause in CAUSES:
        for pattern in cause.cases:
            assert any(fnmatchcase(name, pattern) for name in names), pattern


def test_every_defect_of_make_mutants_can_still_be_planted():
    assert len(MUTANTS) >= 90
    for mutant in MUTANTS:
        source = (ROOT / "broker" / "kafkastub" / mutant.file).read_text()
        times = source.count(mutant.old)
        assert times == 1, f"{mutant.file} has {mutant.old!r} {times} times, not once: write this defect anew"
