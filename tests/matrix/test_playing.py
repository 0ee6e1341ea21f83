"""The runner of the matrix, and what it writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.conftest import CONFIG
from tests.matrix import document
from tests.matrix.clients import CLIENTS, Unavailable, build
from tests.matrix.playing import CANNOT, FAILED, MISSED, PASSED, Result, play
from tests.matrix.scenario import CLASSIC, CONSUMER, CONSUMER_STEPS, STEPS
from tests.matrix.scenarios import SHARE
from tests.matrix.share_scenario import SHARE_STEPS

NAMES = [step.name for step in STEPS]


def played(tmp_path: Path, program: str) -> list[Result]:
    path = tmp_path / "program.py"
    path.write_text(
        "import json, sys\ntell = lambda **line: (print(json.dumps(line), flush=True), input())\n" + program
    )
    with KafkaStub(config=CONFIG) as stub:
        return play([sys.executable, str(path)], stub.bootstrap_servers, "topic", "group")


def test_kcat_plays_what_it_can_of_the_scenario() -> None:
    client = next(one for one in CLIENTS if one.name == "kcat")
    try:
        build(client.kit)
    except Unavailable as missing:
        pytest.skip(str(missing))
    with KafkaStub(config=CONFIG) as stub:
        results = play(client.command(), stub.bootstrap_servers, "topic", "group")
    no_call = "kcat has no administration"
    told = [(one.step, one.verdict, one.why) for one in results]
    assert told[:-2] == [(name, PASSED, "") for name in NAMES[:-2]]
    assert told[-2:] == [(name, CANNOT, no_call) for name in NAMES[-2:]]


def test_what_a_client_cannot_do_is_told_with_its_reason(tmp_path: Path) -> None:
    results = played(tmp_path, f"for step in {NAMES}: tell(step=step, cannot='not its trade')")
    assert {(one.verdict, one.why) for one in results} == {(CANNOT, "not its trade")}


def test_a_program_that_ends_early_fails_its_step_and_is_quoted(tmp_path: Path) -> None:
    results = played(tmp_path, "tell(step='produce', cannot='no')\nsys.exit('nobody listens')")
    assert [one.verdict for one in results] == [CANNOT, FAILED] + [MISSED] * (len(NAMES) - 2)
    assert "nobody listens" in results[1].why


def test_a_program_that_says_what_is_not_so_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.matrix.playing.PATIENCE_SECONDS", 0.1)
    results = played(tmp_path, "tell(step='produce')")
    assert results[0].verdict == FAILED
    assert results[0].why.startswith("the log ends at 0:0 1:0 2:0 3:0 instead of 0:10")


def test_every_client_has_one_pinned_version() -> None:
    assert len({client.name for client in CLIENTS}) == len(CLIENTS) == 12
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", client.version()) for client in CLIENTS)


def test_what_differs_through_the_proxy_is_told_step_by_step() -> None:
    def ran(broker: str, *steps: Result) -> document.Run:
        return document.Run("kcat", "1.7.1", broker, steps=list(steps))

    good, cannot = Result(NAMES[0], PASSED, seconds=1.0), Result(NAMES[1], CANNOT, "no such thing")
    assert document.different([ran(document.KAFKA, good, cannot), ran(document.PROXY, good, cannot)]) == []
    assert document.different([ran(document.KAFKA, good), ran(document.STUB, cannot)]) == []
    lost = Result(NAMES[0], FAILED, "a record is lost", seconds=1.0)
    assert document.different([ran(document.KAFKA, good), ran(document.PROXY, lost)]) == [
        f"kcat, classic, {NAMES[0]}: ('passed', '') and ('failed', 'a record is lost')"
    ]


def test_the_documents_are_written_from_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RESULTS", "DOCUMENT", "CONFORMANCE"):
        monkeypatch.setattr(document, name, tmp_path / name)
    document.CONFORMANCE.write_text(f"# Conformance\n\ntext\n\n{document.SECTION}\n\nold\n")
    steps = [Result(name, PASSED, seconds=0.5) for name in NAMES]
    no_groups = [*steps[:-1], Result(NAMES[-1], CANNOT, "it has no groups")]
    consumer = [Result(step.name, PASSED, seconds=0.5) for step in CONSUMER_STEPS]
    share = [Result(step.name, PASSED, seconds=0.5) for step in SHARE_STEPS[:-1]]
    share.append(Result(SHARE_STEPS[-1].name, PASSED, note="it asks twice"))
    broken = [*no_groups[:-2], Result(NAMES[-2], FAILED, "committed is nothing"), no_groups[-1]]
    runs = [
        document.Run("kcat", "1.7.1", document.KAFKA, steps=no_groups, seconds=2.0),
        document.Run(
            "kcat", "1.7.1", document.STUB, CLASSIC, broken, 1.0, software="librdkafka 2.0.2", spoke={"Fetch": [11]}
        ),
        document.Run("sarama", "1.0.0", document.STUB, steps=steps, seconds=1.0),
        document.Run("sarama", "1.0.0", document.KAFKA, steps=steps, seconds=1.25),
        document.Run("kcat", "1.7.1", document.STUB, CONSUMER, consumer, 3.0, spoke={"ConsumerGroupHeartbeat": [1]}),
        document.Run("kcat", "1.7.1", document.KAFKA, CONSUMER, consumer, 4.0),
        document.Run("kcat", "1.7.1", document.STUB, SHARE, share, 5.0, spoke={"ShareFetch": [2]}),
        document.Run("kcat", "1.7.1", document.KAFKA, SHARE, share, 6.0),
    ]
    document.write(runs, 65)
    ticks = " | ".join("✓" * 7)
    wanted = [
        f"| kcat | program, on librdkafka | 1.7.1 | {ticks} | ✗ on the stub, ✓ on Apache Kafka | – | 1.0 | 2.0 |",
        f"| sarama | Go | 1.0.0 | {ticks} | ✓ | ✓ | 1.0 | 1.2 |",
        f"| kcat | program, on librdkafka | 1.7.1 | {' | '.join('✓' * 12)} | 3.0 | 4.0 |",
        f"| kcat | program, on librdkafka | 1.7.1 | {' | '.join('✓' * len(SHARE_STEPS))} | 5.0 | 6.0 |",
    ]
    for path in (document.DOCUMENT, document.CONFORMANCE):
        lines = path.read_text().splitlines()
        assert [line for line in lines if line.startswith(("| kcat | program", "| sarama | Go"))] == wanted
    clients = document.DOCUMENT.read_text()
    assert "- kcat, delete group: it has no groups." in clients
    assert "- kcat on the stub, delete offsets: committed is nothing" in clients
    assert "| kcat | classic | librdkafka 2.0.2 | Fetch 11 |" in clients
    assert "| kcat | consumer | – | ConsumerGroupHeartbeat 1 |" in clients
    assert "| kcat | share | – | ShareFetch 2 |" in clients
    assert "| return | the member returns" in clients
    assert "| poison | a record is always released" in clients
    assert "- kcat, delete group: it asks twice." in clients
    conformance = document.CONFORMANCE.read_text()
    assert conformance.startswith(f"# Conformance\n\ntext\n\n{document.SECTION}\n\nWritten by")
    assert "old" not in conformance
