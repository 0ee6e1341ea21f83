"""Apache Kafka passes the catalogue of released Kafka, alone, with an authorizer, and as a cluster."""

from __future__ import annotations

import pytest

from kafkastub_conformance.cases.acls import PRESENT
from kafkastub_conformance.model import Status
from kafkastub_conformance.running import conform
from tests.conformance.document import CLUSTERED, EXPIRING, SECURED
from tests.conformance.sample import is_chosen
from tests.conformance.told import skipped, told
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_cluster import ApacheCluster
from tests.oracle.apache_kafka import ApacheKafka
from tests.oracle.sample import EVERY

pytestmark = pytest.mark.oracle


def test_apache_kafka_passes_every_case(apache_kafka: ApacheKafka):
    outcome = conform(apache_kafka.bootstrap_servers, "kafka", slow=True, select=is_chosen)
    assert not outcome.bad, told(outcome)
    assert outcome.count(Status.PASSED) > 1000 / EVERY


def test_apache_kafka_with_an_authorizer_and_a_short_retention():
    with ApacheKafka(config={**APACHE_CONFIG, **SECURED, **EXPIRING}) as kafka:
        outcome = conform(kafka.bootstrap_servers, "kafka", slow=True, chosen="Acls/ or OffsetCommit/expires")
    assert not outcome.bad, told(outcome)
    assert skipped(outcome).keys() == {PRESENT}


def test_a_cluster_of_apache_kafka():
    with ApacheCluster(2, APACHE_CONFIG) as cluster:
        outcome = conform(cluster.nodes[2].bootstrap_servers, "kafka", chosen=CLUSTERED)
    assert not outcome.bad, told(outcome)
    assert skipped(outcome) == {}
