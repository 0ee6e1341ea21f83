"""Fixtures that belong to a broker are those of the broker that the test uses, or are refused in one sentence."""

from __future__ import annotations

OF_A_BROKER = [
    ("kafka_clock", "clock"),
    ("kafka_faults", "faults"),
    ("kafka_journal", "journal"),
    ("kafka_topic", "create_topic(…)"),
]


def test_they_are_those_of_the_shared_broker(run):
    run("""
def test_it(kafka_stub_server, kafka_clock, kafka_faults, kafka_journal, kafka_topic):
    kafka_clock.freeze()
    assert kafka_stub_server.clock.frozen
    kafka_faults.add(api="Metadata", delay_ms=1)
    assert topics(kafka_stub_server) == {kafka_topic: 1}
    assert [fault.hits > 0 for fault in kafka_stub_server.faults.list()] == [True]
    assert kafka_journal.wait_for(api="Metadata")

def test_nothing_is_left_of_them(kafka_stub_server):
    assert not kafka_stub_server.clock.frozen
    assert kafka_stub_server.faults.list() == []
""").assert_outcomes(passed=2)


def test_the_journal_of_the_shared_broker_begins_with_the_test(run):
    run("""
from kafkastub.client import Client
from kafkastub.client.topics import names

@pytest.fixture
def asked(kafka_stub_server):
    with Client(kafka_stub_server.bootstrap_servers) as client:
        names(client)

@pytest.mark.parametrize("n", range(2))
def test_it(kafka_stub_server, asked, kafka_journal, n):
    assert len(kafka_journal.requests(api="Metadata")) == 1
    assert len(list(kafka_journal)) == len(kafka_journal) == len(kafka_journal.tail(1000))
    assert len(kafka_journal) < len(kafka_stub_server.journal) or n == 0
""").assert_outcomes(passed=2)


def test_the_journal_of_the_tests_own_broker_has_what_its_fixtures_asked(run):
    run("""
from kafkastub.client import Client
from kafkastub.client.topics import names

@pytest.fixture
def asked(kafka_stub):
    with Client(kafka_stub.bootstrap_servers) as client:
        names(client)

def test_it(asked, kafka_journal):
    assert len(kafka_journal.requests(api="Metadata")) == 1
""").assert_outcomes(passed=1)


def test_of_two_brokers_they_are_refused(run):
    result = run("".join(f"def test_{name}(kafka_stub, kafka_stub_server, {name}): pass\n" for name, _ in OF_A_BROKER))
    result.assert_outcomes(errors=4)
    for name, attribute in OF_A_BROKER:
        line = (
            f"*{name} can belong to kafka_stub or to kafka_stub_server, and the test uses both: use only one of them, "
            f"or use kafka_stub.{attribute} or kafka_stub_server.{attribute} instead of {name}"
        )
        result.stdout.fnmatch_lines_random([line])


def test_beside_a_factory_they_are_refused(run):
    result = run("".join(f"def test_{name}(kafka_stub_factory, {name}): pass\n" for name, _ in OF_A_BROKER))
    result.assert_outcomes(errors=4)
    for name, attribute in OF_A_BROKER:
        line = f"*{name} belongs to *test uses kafka_stub_factory: use {attribute} of a broker that the factory made*"
        result.stdout.fnmatch_lines_random([line])


def test_a_broker_that_a_fixture_of_the_test_uses_is_used_by_the_test(run):
    run("""
@pytest.fixture
def producer(kafka_stub_server):
    return kafka_stub_server

def test_it(producer, kafka_clock):
    kafka_clock.freeze()
    assert producer.clock.frozen
""").assert_outcomes(passed=1)


def test_topics_of_the_marker_are_made_on_the_shared_broker(run):
    run("""
pytestmark = pytest.mark.kafka_stub(topics={"orders": 3})

@pytest.mark.parametrize("n", range(2))
def test_it(kafka_stub_server, n):
    assert topics(kafka_stub_server) == {"orders": 3}

@pytest.mark.kafka_stub(topics=["payments"], partitions=2)
def test_more(kafka_stub_server, kafka_topic):
    assert topics(kafka_stub_server) == {"orders": 3, "payments": 1, kafka_topic: 2}
""").assert_outcomes(passed=3)


def test_a_topic_of_the_shared_broker_with_other_partitions_is_refused(run):
    result = run("""
@pytest.mark.kafka_stub(topics=["orders"])
def test_one(kafka_stub_server): pass

@pytest.mark.kafka_stub(topics={"orders": 3})
def test_other(kafka_stub_server): pass
""")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*'orders': 3*: on kafka_stub_server, which all tests share, orders has 1 by now; *"])


def test_what_cannot_be_said_of_a_shared_broker_is_refused(run):
    result = run("""
@pytest.mark.kafka_stub(config={"group.max.size": 2})
class TestIt:
    def test_it(self, kafka_stub_server): pass

    def test_of_its_own(self, kafka_stub): pass

    def test_both(self, kafka_stub_server, kafka_stub): pass

@pytest.mark.kafka_stub(retention_minutes=5)
def test_retention(kafka_stub_server): pass

@pytest.mark.kafka_stub(nodes=3)
def test_nodes(kafka_stub_server): pass
""")
    result.assert_outcomes(passed=2, errors=3)
    said = "cannot change kafka_stub_server, which all tests share: take kafka_stub"
    for line in (
        f"(config=…) {said}, or say it for all tests with --kafka-stub-config",
        f"(retention_minutes=…) {said}, or say it for all tests with --kafka-stub-retention-minutes",
        f"(nodes=…) {said}",
    ):
        result.stdout.fnmatch_lines_random([f"*@pytest.mark.kafka_stub{line}"])


def test_the_marker_holds_for_brokers_of_the_factory(run):
    run("""
@pytest.mark.kafka_stub(topics=["orders"], config={"num.partitions": 2}, nodes=2)
def test_it(kafka_stub_factory):
    one, other = kafka_stub_factory(), kafka_stub_factory(topics=["mine"], nodes=1)
    assert (topics(one), topics(other)) == ({"orders": 1}, {"mine": 1})
    assert (one.bootstrap_servers.count(","), other.bootstrap_servers.count(",")) == (1, 0)
""").assert_outcomes(passed=1)


def test_a_marker_that_cannot_be_says_what_is_meant(run):
    markers = {
        "topic={'orders': 3}": "has no topic=; it has topics,*; is topics meant?",
        "users={'alice': 'x'}": "has no users=; *; a broker with users= is made by the fixture kafka_stub_factory, *",
        "config='group.max.size=2'": "(config='group.max.size=2'): expected names with their values,*",
        "config={'group.max.sice': 2}": "group.max.sice is refused: Kafka has no such name; is group.max.size meant?",
    }
    tests = (f"@pytest.mark.kafka_stub({said})\ndef test_{n}(kafka_stub): pass\n" for n, said in enumerate(markers))
    result = run("".join(tests))
    result.assert_outcomes(errors=4)
    for sentence in markers.values():
        result.stdout.fnmatch_lines_random([f"*{sentence}"])


def test_two_workers_have_a_shared_broker_each(run):
    run(
        """
@pytest.mark.kafka_stub(topics={"orders": 2})
@pytest.mark.parametrize("n", range(6))
def test_it(kafka_stub_server, kafka_clock, n):
    assert topics(kafka_stub_server) == {"orders": 2}
    kafka_clock.freeze()
    assert kafka_stub_server.clock.frozen
""",
        "-p",
        "xdist",
        "-n",
        "2",
    ).assert_outcomes(passed=6)


SHARED = """
@pytest.mark.kafka_stub(topics={"orders": 2})
def test_topics(kafka_stub_server):
    assert topics(kafka_stub_server)["orders"] == 2

@pytest.mark.kafka_stub(retention_minutes=3)
def test_particular(kafka_stub_server):
    raise AssertionError

def test_clock(kafka_stub_server, kafka_clock):
    raise AssertionError
"""


def test_a_shared_broker_that_is_a_real_cluster(run, servers: str):
    result = run(SHARED, f"--kafka-stub-bootstrap={servers}")
    result.assert_outcomes(passed=1, skipped=2)
    for what in ("retention_minutes= of the marker", "kafka_stub.clock"):
        result.stdout.fnmatch_lines([f"*{what} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {servers}*"])
