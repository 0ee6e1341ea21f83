"""The whole catalogue: the stub passes it in both profiles, and Apache Kafka passes that of released Kafka."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.conformance.messages import KEYS
from kafkastub.conformance.model import PROFILES, Outcome, Status
from kafkastub.conformance.registry import catalogue, plan
from kafkastub.conformance.reports import text
from kafkastub.conformance.running import conform
from kafkastub.handlers.registry import registrations
from tests.conformance.mutants import MUTANTS, ROOT
from tests.conftest import CONFIG
from tests.oracle.apache_kafka import ApacheKafka

DUE_TO_THE_BROKER = 'the broker has a group "" of somebody else\'s'


def told(outcome: Outcome) -> str:
    return "\n".join(line for result in outcome.bad for line in text.failure(result))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_stub_passes_every_case(profile: str):
    with KafkaStub(profile=profile, config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, profile)
    assert not outcome.bad, told(outcome)
    assert outcome.count(Status.PASSED) > 1000
    assert [result.run.id for result in outcome.results if result.status is Status.SKIPPED] == []
    assert outcome.left == []


@pytest.mark.oracle
def test_apache_kafka_passes_every_case(apache_kafka: ApacheKafka):
    outcome = conform(apache_kafka.bootstrap_servers, "kafka", slow=True)
    assert not outcome.bad, told(outcome)
    assert outcome.count(Status.PASSED) > 1000


@pytest.mark.soak
@pytest.mark.parametrize("profile", PROFILES)
def test_the_stub_passes_the_slow_cases(profile: str):
    with KafkaStub(profile=profile, config=CONFIG) as stub:
        outcome = conform(stub.bootstrap_servers, profile, slow=True, select=lambda run: run.case.slow)
    assert outcome.results
    assert not outcome.bad, told(outcome)


def test_an_api_that_has_cases_has_one_for_every_version_that_the_stub_advertises():
    covered = {case.api for case in catalogue()}
    served = {key.camel: (one.first, one.last) for key, one in registrations().items() if one.advertised}
    wanted = {(api, v) for api, (first, last) in served.items() if api in covered for v in range(first, last + 1)}
    assert len(covered) >= 33
    assert wanted - {(run.case.api, run.version) for run in plan(served, "kafka")} == set()


def test_every_case_says_what_it_shows_and_where_that_is_from():
    for case in catalogue():
        assert case.shows.endswith("."), case.id
        assert case.source, case.id
        assert case.profile in ("both", *PROFILES), case.id
        assert set(case.also) <= set(KEYS), case.id
        assert plan(None, "kafka" if case.profile == "both" else case.profile, slow=True, chosen=case.id), case.id


def test_every_defect_of_make_mutants_can_still_be_planted():
    assert len(MUTANTS) >= 40
    for mutant in MUTANTS:
        source = (ROOT / "broker" / "kafkastub" / mutant.file).read_text()
        assert mutant.old in source, f"{mutant.file} has no {mutant.old!r} any more: write this defect anew"
