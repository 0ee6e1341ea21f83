"""The whole catalogue: the stub passes it in both profiles, and Apache Kafka passes that of released Kafka."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

import pytest

from kafkastub import KafkaStub
from kafkastub.guarantees import CATALOG
from kafkastub.handlers.registry import registrations
from kafkastub_conformance.broker import ALONE
from kafkastub_conformance.cases.acls import MISSING, PRESENT
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import PROFILES, Outcome, Run, Status
from kafkastub_conformance.registry import catalogue, plan
from kafkastub_conformance.release import LATEST, checked_release, since
from kafkastub_conformance.reports import text
from kafkastub_conformance.running import conform
from tests.conformance.anomalies import DOCUMENT, NOT_SHOWN
from tests.conformance.anomalies import cases as anomalies
from tests.conformance.document import EXPIRING, OLDER, SECURED
from tests.conformance.kfake_causes import CAUSES
from tests.conformance.mutants import MUTANTS, ROOT
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.oracle.apache_cluster import ApacheCluster
from tests.oracle.apache_kafka import ApacheKafka

CLUSTERED = "Reassignments/ or ElectLeaders/ or DescribeCluster/"

DUE_TO_THE_BROKER = {ALONE, MISSING}
"""Why a stub of one node without an authorizer need not play a case; others here do."""


def told(outcome: Outcome) -> str:
    return "\n".join(line for result in outcome.bad for line in text.failure(result))


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


@pytest.mark.oracle
def test_apache_kafka_passes_every_case(apache_kafka: ApacheKafka):
    outcome = conform(apache_kafka.bootstrap_servers, "kafka", slow=True)
    assert not outcome.bad, told(outcome)
    assert outcome.count(Status.PASSED) > 1000


@pytest.mark.oracle
def test_apache_kafka_with_an_authorizer_and_a_short_retention():
    with ApacheKafka(config={**APACHE_CONFIG, **SECURED, **EXPIRING}) as kafka:
        outcome = conform(kafka.bootstrap_servers, "kafka", slow=True, chosen="Acls/ or OffsetCommit/expires")
    assert not outcome.bad, told(outcome)
    assert skipped(outcome).keys() == {PRESENT}


@pytest.mark.oracle
def test_a_cluster_of_apache_kafka():
    with ApacheCluster(2, APACHE_CONFIG) as cluster:
        outcome = conform(cluster.nodes[2].bootstrap_servers, "kafka", chosen=CLUSTERED)
    assert not outcome.bad, told(outcome)
    assert skipped(outcome) == {}


@pytest.mark.oracle
@pytest.mark.parametrize("release", OLDER)
def test_an_older_apache_kafka_departs_only_where_cases_say_so(release: str):
    with ApacheKafka(config=APACHE_CONFIG, release=release) as kafka:
        outcome = conform(kafka.bootstrap_servers, "kafka")
        later = conform(kafka.bootstrap_servers, "kafka", release=LATEST, timeout=2, select=later_than(release))
    assert outcome.release == release.rpartition(".")[0]
    assert not outcome.bad, told(outcome)
    played = [result for result in later.results if result.status is not Status.SKIPPED]
    assert {result.run.case.id for result in played} == {result.run.case.id for result in later.bad}


def later_than(release: str) -> Callable[[Run], bool]:
    """Chooses the cases about what came after a release."""
    return lambda run: since(run.case, checked_release(release))


def skipped(outcome: Outcome) -> dict[str, list[str]]:
    """The runs that were skipped, by reason."""
    found: dict[str, list[str]] = {}
    for result in outcome.results:
        if result.status is Status.SKIPPED:
            found.setdefault(result.reason, []).append(result.run.id)
    return found


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
