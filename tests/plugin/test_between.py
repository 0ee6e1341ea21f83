"""What a test finds of those before it: nothing, on request; and else it is told whose it was."""

from __future__ import annotations

SEED = """
@pytest.fixture(scope="session")
def kafka_stub_seed():
    def fill(stub):
        stub.create_topic("orders")
        stub.produce("orders", "seed")
    return fill

def values(stub):
    return [record.value for record in stub.records("orders")]
"""


def test_each_test_begins_with_the_seed(run):
    run(f"""{SEED}
@pytest.mark.parametrize("n", range(3))
def test_it(kafka_stub_seeded, n, kafka_faults, kafka_journal):
    assert values(kafka_stub_seeded) == [b"seed"]
    assert kafka_stub_seeded.faults.list() == []
    assert len(kafka_journal) == 0
    kafka_stub_seeded.produce("orders", f"{{n}}")
    kafka_stub_seeded.create_topic("other")
    kafka_stub_seeded.clock.advance(days=1)
    kafka_stub_seeded.faults.add(api="Produce", delay_ms=1)
    assert topics(kafka_stub_seeded) == {{"orders": 1, "other": 1}}
""").assert_outcomes(passed=3)


def test_the_seed_may_be_a_file(run, tmp_path):
    run(f"""
from kafkastub import KafkaStub

@pytest.fixture(scope="session")
def kafka_stub_seed():
    with KafkaStub(topics=["orders"]) as stub:
        stub.produce("orders", "seed")
        stub.snapshot().save({str(tmp_path / "seed")!r})
    return {str(tmp_path / "seed")!r}

def test_it(kafka_stub_seeded, kafka_topic):
    assert topics(kafka_stub_seeded) == {{"orders": 1, kafka_topic: 1}}
""").assert_outcomes(passed=1)


def test_without_a_seed_it_is_said_what_is_missing(run):
    result = run("def test_it(kafka_stub_seeded):\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*define a fixture kafka_stub_seed with scope='session'*"])


def test_what_is_no_seed_is_refused(run):
    result = run("""
@pytest.fixture(scope="session")
def kafka_stub_seed():
    return 5

def test_it(kafka_stub_seeded):
    pass
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*kafka_stub_seed returns 5: expected a function that receives the stub *"])


def test_a_second_seed_is_refused_instead_of_left_out(run, pytester):
    pytester.makepyfile(
        test_second="""
import pytest

@pytest.fixture(scope="session")
def kafka_stub_seed():
    return lambda stub: stub.create_topic("payments")

def test_it(kafka_stub_seeded):
    pass
"""
    )
    result = run(SEED + "def test_first(kafka_stub_seeded):\n    assert values(kafka_stub_seeded) == [b'seed']\n")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*this kafka_stub_seed is not the one that *: define it once *, in conftest.py"])


def test_the_seeded_broker_cannot_be_a_real_cluster(run):
    result = run("def test_it(kafka_stub_seeded):\n    pass\n" + SEED, "--kafka-stub-bootstrap=127.0.0.1:1")
    result.assert_outcomes(skipped=1)


def test_the_shared_broker_is_put_back_where_the_marker_says_so(run):
    run("""
@pytest.mark.kafka_stub(topics={"orders": 2}, restore=True)
def test_one(kafka_stub_server):
    kafka_stub_server.produce("orders", "gone")
    assert topics(kafka_stub_server) == {"orders": 2}

def test_nothing_is_left(kafka_stub_server):
    assert topics(kafka_stub_server) == {}
""").assert_outcomes(passed=2)


def test_own_topics_and_groups_are_gone_behind_the_test(run):
    run("""
@pytest.mark.kafka_stub(topics={"orders": 2}, own=True)
def test_one(kafka_stub_server, kafka_prefix):
    assert topics(kafka_stub_server) == {f"{kafka_prefix}orders": 2}
    kafka_stub_server.create_topic(f"{kafka_prefix}more")
    kafka_stub_server.commit(f"{kafka_prefix}worker", {(f"{kafka_prefix}orders", 0): 0})

@pytest.mark.kafka_stub(topics=["orders"], own=True)
def test_nothing_is_left(kafka_stub_server, kafka_prefix):
    assert topics(kafka_stub_server).keys() == {"__consumer_offsets", f"{kafka_prefix}orders"}
    assert not list(kafka_stub_server.groups)
""").assert_outcomes(passed=2)


def test_a_failure_tells_what_tests_before_it_have_left(run):
    result = run("""
def test_one(kafka_stub_server, kafka_topic):
    kafka_stub_server.create_topic("orders")
    kafka_stub_server.commit("worker", {("orders", 0): 0})

def test_two(kafka_stub_server):
    assert topics(kafka_stub_server) == {}
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*left on kafka_stub_server by tests before*",
            "group 'worker' of *test_one",
            "topic 'orders' of *test_one",
        ]
    )
    assert "topic 'test_one-" not in result.stdout.str(), "kafka_topic is in nobody's way"


def test_what_was_removed_meanwhile_is_not_told(run):
    result = run("""
def test_one(kafka_stub_server):
    kafka_stub_server.create_topic("orders")

def test_two(kafka_stub_server):
    admin = AdminClient({"bootstrap.servers": kafka_stub_server.bootstrap_servers})
    admin.delete_topics(["orders"])["orders"].result(30)

def test_three(kafka_stub_server):
    assert False
""")
    result.assert_outcomes(passed=2, failed=1)
    assert "left on kafka_stub_server" not in result.stdout.str()
