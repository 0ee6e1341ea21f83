"""The marker's `chaos=`: a test runs once with each seed, and one that fails prints the seed and what it did."""

from __future__ import annotations

COMMITS = """
from kafkastub.client import Client
from kafkastub.client.groups import commit

def commits(stub, count=40):
    for number in range(count):
        with Client(stub.bootstrap_servers) as client:
            try:
                commit(client, "g", {("orders", 0): number})
            except Exception:
                pass
"""


def test_a_test_runs_once_with_each_seed(run):
    result = run(
        """
@pytest.mark.kafka_stub(topics=["orders"], chaos=range(3), chaos_level=2)
def test_it(kafka_stub):
    assert kafka_stub.chaos.level == 2

def test_another(kafka_stub):
    assert kafka_stub.chaos.seed is None
""",
        "-v",
    )
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_it?chaos-0:2?*", "*test_it?chaos-2:2?*"], consecutive=False)


def test_a_failure_prints_the_seed_and_what_was_done_and_it_is_played_again(run):
    source = (
        COMMITS
        + """
@pytest.mark.kafka_stub(topics=["orders"], chaos=[5], chaos_level=3)
def test_it(kafka_stub):
    commits(kafka_stub)
    assert not kafka_stub.chaos.acts, kafka_stub.chaos.seed
"""
    )
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*chaos of kafka_stub*", "seed 5, level 3: --kafka-stub-chaos-seed 5:3 plays it again", "* OffsetCommit #*"]
    )
    result = run(source, "--kafka-stub-chaos-seed", "6:1", "-v")
    result.stdout.fnmatch_lines(["*test_it?chaos-6?*"])


def test_what_is_no_seed_is_refused(run):
    result = run("""
@pytest.mark.kafka_stub(chaos=["a"])
def test_it(kafka_stub):
    pass
""")
    result.stdout.fnmatch_lines(["*expected a seed, or several: range(20)*"])
    assert run("def test_it(kafka_stub): pass", "--kafka-stub-chaos-seed", "a:b").ret != 0


def test_a_list_of_acts_is_played_once(run):
    result = run(
        """
from kafkastub import ChaosAct
from kafkastub.client import Client
from kafkastub.client.groups import commit

ACTS = [ChaosAct("OffsetCommit", 2, drop="after"), ChaosAct("OffsetCommit", 3, error="NOT_COORDINATOR")]

@pytest.mark.kafka_stub(topics=["orders"], chaos=ACTS)
def test_it(kafka_stub):
    for number in range(5):
        with Client(kafka_stub.bootstrap_servers) as client:
            try:
                commit(client, "g", {("orders", 0): number})
            except Exception:
                pass
    assert [act.again for act in kafka_stub.chaos.acts] == ACTS

@pytest.mark.kafka_stub(chaos=[ACTS[0], 7])
def test_mixed(kafka_stub):
    pass
""",
        "-v",
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*test_it?chaos-acts?*", "*chaos=7 is refused: it must be a seed, *"])


def test_a_failure_prints_nothing_of_the_brokers_of_tests_before(run):
    result = run(
        COMMITS
        + """
@pytest.mark.kafka_stub(topics=["orders"], chaos=range(2), chaos_level=3)
def test_it(kafka_stub):
    commits(kafka_stub)
    assert 0

def test_another():
    assert 0
"""
    )
    result.assert_outcomes(failed=3)
    assert [line for line in result.outlines if "plays it again" in line] == [
        f"seed {seed}, level 3: --kafka-stub-chaos-seed {seed}:3 plays it again" for seed in (0, 1)
    ]


def test_no_option_is_named_that_there_is_not(run):
    result = run("""
@pytest.mark.kafka_stub(chaos=3)
def test_it(kafka_stub_server):
    pass
""")
    result.stdout.fnmatch_lines(["*kafka_stub(chaos=…) cannot change kafka_stub_server, *: take kafka_stub"])
