"""The marker's `check=`: a test that passes fails with what the application did to its records."""

from __future__ import annotations

import pytest

SKIPS = """
from kafkastub.client import Client
from kafkastub.client.groups import commit
from confluent_kafka import Consumer, TopicPartition

def work(stub, begin):
    for number in range(10):
        stub.produce("orders", str(number))
    settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "billing", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("orders", 0, begin)])
    while consumer.poll(1) is None:
        pass
    consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
    consumer.commit(offsets=[TopicPartition("orders", 0, 10)], asynchronous=False)
    consumer.close()
"""


def test_a_test_that_passes_fails_with_the_findings(run):
    result = run(
        SKIPS
        + """
@pytest.mark.kafka_stub(topics=["orders"], check=True)
def test_it(kafka_stub):
    work(kafka_stub, 6)

@pytest.mark.kafka_stub(topics=["orders"], check=True)
def test_that_is_right(kafka_stub):
    work(kafka_stub, 0)

@pytest.mark.kafka_stub(topics=["orders"])
def test_that_is_not_checked(kafka_stub):
    work(kafka_stub, 6)

@pytest.mark.kafka_stub(topics=["orders"], check=["left behind"])
def test_of_another_guarantee(kafka_stub):
    work(kafka_stub, 6)

@pytest.mark.kafka_stub(topics=["orders"], check="skipped")
def test_of_the_factory(kafka_stub_factory):
    work(kafka_stub_factory(), 6)

@pytest.mark.kafka_stub(topics=["orders"], check=True)
def test_that_fails_by_itself(kafka_stub):
    work(kafka_stub, 6)
    assert not "by itself"
"""
    )
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines(
        [
            "the test's assertions hold, its application does not keep the guarantees: 1 finding *",
            "skipped: orders-0 offsets 0-5 of group billing *",
            "*>* committed 10 *rdkafka*",
        ]
    )
    result.stdout.fnmatch_lines(["*Captured guarantees call*", "skipped: orders-0 offsets 0-5 of group billing *"])


def test_an_ini_entry_checks_all_tests(run):
    source = (
        SKIPS
        + """
@pytest.mark.kafka_stub(topics=["orders"])
def test_it(kafka_stub):
    work(kafka_stub, 6)

@pytest.mark.kafka_stub(topics=["orders"], check=False)
def test_that_is_left_out(kafka_stub):
    work(kafka_stub, 6)
"""
    )
    run(source, "-o", "kafka_stub_check=true").assert_outcomes(passed=1, failed=1)
    run(source, "-o", "kafka_stub_check=left_behind, out_of_order").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("marker", "fixture", "why"),
    [
        ("check='skiped'", "kafka_stub", "*did you mean 'skipped'?*"),
        ("check=7", "kafka_stub", "*check=7*True, or names*"),
        ("check=True", "kafka_stub_server", "*(check=…) cannot change kafka_stub_server*take kafka_stub*"),
    ],
)
def test_what_cannot_be_is_refused(run, marker: str, fixture: str, why: str):
    result = run(f"""
@pytest.mark.kafka_stub({marker})
def test_it({fixture}):
    pass
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([why])
