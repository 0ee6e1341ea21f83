"""Older releases of Apache Kafka depart from the catalogue only where a case says so."""

from __future__ import annotations

import pytest

from kafkastub_conformance.model import Run, Status
from kafkastub_conformance.release import LATEST, checked_release, since
from kafkastub_conformance.running import conform
from tests.conformance.document import OLDER
from tests.conformance.sample import is_chosen
from tests.conformance.told import told
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_kafka import ApacheKafka


@pytest.mark.oracle
@pytest.mark.parametrize("release", OLDER)
def test_an_older_apache_kafka_departs_only_where_cases_say_so(release: str):
    def is_later(run: Run) -> bool:
        return is_chosen(run) and since(run.case, checked_release(release))

    with ApacheKafka(config=APACHE_CONFIG, release=release) as kafka:
        outcome = conform(kafka.bootstrap_servers, "kafka", select=is_chosen)
        later = conform(kafka.bootstrap_servers, "kafka", release=LATEST, timeout=2, select=is_later)
    assert outcome.release == release.rpartition(".")[0]
    assert not outcome.bad, told(outcome)
    played = [result for result in later.results if result.status is not Status.SKIPPED]
    assert {result.run.case.id for result in played} == {result.run.case.id for result in later.bad}
