"""`kafkastub conform --against`: a planted difference is found, made short, and told as a test that fails."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafkastub import KafkaStub
from kafkastub_conformance.differential import Scenario, replayed
from kafkastub_conformance.differential.scenario import Step
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG
from tests.differential.visits import everything

GUIDE = Path(__file__).parents[2] / "docs" / "differential.md"


@pytest.fixture
def good() -> Iterator[KafkaStub]:
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        yield stub


@pytest.fixture
def faulty() -> Iterator[KafkaStub]:
    """Of another node id, and used by somebody else, too; offsets of a partition are refused there."""
    with KafkaStub(profile="kafka", config=CONFIG | {"node.id": 7}, topics={"orders": 2}) as stub:
        yield stub


def against(tested: KafkaStub, reference: KafkaStub, *more: str) -> tuple[int, str, str]:
    return run(
        "conform", "--bootstrap-servers", tested.bootstrap_servers, "--against", reference.bootstrap_servers, *more
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--against nonsense", "HOST:PORT"),
        ("--against 127.0.0.1:1", "nobody listens"),
        ("--against 127.0.0.1:1 --slow", "--slow is for the suite"),
        ("--against 127.0.0.1:1 --ignore error_mesage", "--ignore error_mesage: no answer has a field of this name"),
        ("--against 127.0.0.1:1 --ignore error_mesage", "error_message is meant?"),
        ("--against 127.0.0.1:1 --ignore results[0].ErrorCode", "error_code is meant?"),
        ("--against 127.0.0.1:1 --ignore error_code --ignore xyzzy", "--ignore xyzzy: no answer has"),
        ("--against 127.0.0.1:1 --ignore xyzzy", "allowed is one of aborted_transactions, acceptable_recovery_lag,"),
        (f"--against 127.0.0.1:1 --save {__file__}", "cannot be made"),
        ("--seed 5", "--seed is only for comparing two brokers"),
        ("--no-shrink", "--no-shrink is only for comparing two brokers"),
        ("--scenario nowhere.json", "cannot be read"),
        (f"--scenario {__file__}", "is not a scenario"),
    ],
)
def test_what_cannot_be_done_is_status_2_in_one_sentence(line: str, reason: str, good: KafkaStub):
    status, out, error = run("conform", "--bootstrap-servers", good.bootstrap_servers, *line.split())
    assert (status, out) == (2, "")
    assert reason in error
    assert len(error.splitlines()) == 1


def test_a_broker_is_not_compared_with_itself(good: KafkaStub):
    status, _, error = against(good, good)
    assert status == 2
    assert "give another broker" in error


@pytest.mark.parametrize("wrong", [{"api": "Nothing"}, {"version": 99}, {"body": {"group_id": 5}}, {"body": {"x": 1}}])
def test_a_scenario_with_a_wrong_name_is_told(wrong: dict[str, object], good: KafkaStub, tmp_path: Path):
    step = {"on": "c1", "api": "Heartbeat", "version": 3, "body": {}, "answers": [["c1", {}]]} | wrong
    (tmp_path / "by-hand.json").write_text(json.dumps({"name": "by hand", "groups": [], "steps": [step]}))
    status, out, error = run(
        "conform", "--bootstrap-servers", good.bootstrap_servers, "--scenario", str(tmp_path / "by-hand.json")
    )
    assert (status, "Traceback" in out + error) == (1, False)
    assert "it cannot be played" in out


@pytest.mark.parametrize("moment", ["CreateTopics", "SyncGroup"])
@pytest.mark.parametrize("more", [[], ["--against"]])
def test_whoever_is_ended_by_a_signal_cleans_up(more: list[str], moment: str, good: KafkaStub, faulty: KafkaStub):
    command = [sys.executable, "-m", "kafkastub.cli", "conform", "--bootstrap-servers", good.bootstrap_servers]
    more = [*more, faulty.bootstrap_servers] if more else more
    with subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True) as process:
        good.journal.wait_for(api=moment, timeout=60)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert everything(good) == (set(), 0)
    assert everything(faulty) == ({"orders"}, 0)


def test_a_saved_scenario_that_touches_others_is_not_played(good: KafkaStub, tmp_path: Path):
    delete = Step("c1", "DeleteTopics", 3, {"topic_names": ["orders"]}, answers=[("c1", {})])
    Scenario("harm", [], steps=[delete]).save(tmp_path / "harm.json")
    status, out, _ = run(
        "conform", "--bootstrap-servers", good.bootstrap_servers, "--scenario", str(tmp_path / "harm.json")
    )
    assert status == 1
    assert "step 1, DeleteTopics v3 on c1: the topic 'orders' may be somebody's" in out


def test_what_was_seen_before_is_told_in_a_line_that_the_guide_explains(good: KafkaStub, tmp_path: Path):
    heartbeat = Step(
        "c1", "Heartbeat", 3, {"group_id": "<p>g1", "member_id": "m"}, answers=[("c1", {"error_code": 25})]
    )
    for name in ("one", "other"):
        Scenario(name, [], steps=[heartbeat]).save(tmp_path / f"{name}.json")
    saved = [word for name in ("one", "other") for word in ("--scenario", str(tmp_path / f"{name}.json"))]
    with good.faults.add(api="Heartbeat", error="ILLEGAL_GENERATION"):
        status, out, _ = run("conform", "--bootstrap-servers", good.bootstrap_servers, *saved)
    assert (status, out.count("as a test:")) == (1, 1)
    line = r"^\S+: different\n  as \S+: Heartbeat v\d on c\d, answer on c\d.error_code: expected .+, got .+$"
    for text in (out, GUIDE.read_text(encoding="utf-8")):
        assert len(re.findall(line, text, re.MULTILINE)) == 1


KINDS = re.findall(r"[a-z]+", re.findall(r"`--kind (\S+)`", GUIDE.read_text(encoding="utf-8"))[0])


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_that_the_guide_lists_is_played(kind: str, good: KafkaStub, faulty: KafkaStub):
    status, out, error = against(faulty, good, "--kind", kind, "--scenarios", "1", "--steps", "3")
    assert (status, error) == (0, "")
    assert " same" in out


@pytest.mark.parametrize("kind", ["data", "admin"])
def test_topics_are_compared_on_single_nodes_only(kind: str, good: KafkaStub):
    with KafkaStub(profile="kafka", config=CONFIG, nodes=2) as stub:
        status, _, error = against(stub, good, "--kind", kind)
    assert status == 2
    assert f"--kind {kind} compares clusters of one node" in error


def test_a_saved_scenario_is_replayed_against_its_answers_and_against_a_broker(
    good: KafkaStub, faulty: KafkaStub, tmp_path: Path
):
    heartbeat = Step(
        "c1", "Heartbeat", 3, {"group_id": "<p>g1", "member_id": "me"}, answers=[("c1", {"error_code": 25})]
    )
    saved = tmp_path / "saved.json"
    Scenario("heartbeats", [], steps=[heartbeat]).save(saved)
    replay = ("conform", "--bootstrap-servers", faulty.bootstrap_servers, "--scenario", str(saved))
    assert run(*replay)[0] == 0
    assert run(*replay, "--against", good.bootstrap_servers)[0] == 0
    with faulty.faults.add(api="Heartbeat", error="ILLEGAL_GENERATION"):
        for more in ((), ("--against", good.bootstrap_servers)):
            status, out, _ = run(*replay, *more)
            assert status == 1
            assert "answer on c1.error_code: expected 25 UNKNOWN_MEMBER_ID, got 22 ILLEGAL_GENERATION" in out


@pytest.mark.parametrize("name", ["error_message", "client_host", "crc"])
def test_a_field_that_answers_have_is_ignored(name: str, good: KafkaStub, faulty: KafkaStub):
    assert against(faulty, good, "--scenarios", "1", "--steps", "3", "--ignore", name)[0] == 0


@pytest.mark.parametrize("name", ["configs", "value"])
def test_a_field_is_ignored_that_tells_when_a_broker_has_settled(name: str, good: KafkaStub, faulty: KafkaStub):
    more = ("--scenarios", "1", "--steps", "12", "--kind", "data", "--ignore", name)
    assert "1 same" in against(faulty, good, *more)[1]


def test_a_broker_that_is_gone_is_told_once(good: KafkaStub, faulty: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub_conformance.differential.broker.REVIVAL_SECONDS", 0.1)

    def end() -> None:
        faulty.journal.wait_for(api="DescribeGroups", timeout=60)
        faulty.close()

    thread = threading.Thread(target=end)
    thread.start()
    status, out, _ = against(faulty, good, "--scenarios", "100", "--steps", "10")
    thread.join()
    assert status == 1
    assert out.count("is gone") == 1
    assert re.search(r"^groups-\d+ and \d+ more: error\n  the broker under test \(.*\) is gone$", out, re.MULTILINE)
    assert "more; --report tells all" not in out


def test_two_of_the_same_do_not_differ_and_nothing_is_left(good: KafkaStub, faulty: KafkaStub):
    status, out, _ = against(faulty, good, "--scenarios", "1", "--kind", "all", "--steps", "20")
    assert (status, out.count("\n")) == (0, 1)
    assert "7 scenarios" in out
    assert "7 same" in out
    assert everything(faulty) == ({"orders"}, 0)
    assert everything(good) == (set(), 0)


def test_a_planted_difference_is_shrunk_and_told_as_a_test_that_fails(
    good: KafkaStub, faulty: KafkaStub, tmp_path: Path
):
    paths = [tmp_path / f"report.{form}" for form in ("html", "json", "xml")]
    reports = [word for path in paths for word in ("--report", str(path))]
    with faulty.faults.add(api="SyncGroup", error="REBALANCE_IN_PROGRESS") as fault:
        status, out, _ = against(faulty, good, "--scenarios", "2", "--steps", "25", "--save", str(tmp_path), *reports)
        assert status == 1
        assert fault.hits
        source, *_ = sorted(tmp_path.glob("test_groups_*_syncgroup_*.py"))
        printed = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(source)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert printed.returncode == 1, printed.stdout + printed.stderr
        assert "1 failed" in printed.stdout
        scenario = Scenario.load(source.with_name(source.name.removeprefix("test_")).with_suffix(".json"))
        assert len(scenario.steps) <= 3
        assert replayed(scenario, faulty.bootstrap_servers) is not None
    assert source.read_text() in out
    assert replayed(scenario, faulty.bootstrap_servers) is None

    page, document, junit = (path.read_text() for path in paths)
    assert "got</th>" in page
    found = json.loads(document)["results"][0]
    assert found["status"] == "different"
    assert {one["got"] for one in found["differences"]} >= {27}
    for side in ("expected", "got"):
        assert bytes.fromhex(found["frames"][side][-1]["request"])[:2] == b"\0\x0e"
    assert found["frames"]["expected"][-1]["answer"] != found["frames"]["got"][-1]["answer"]
    (suite,) = ElementTree.fromstring(junit)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
