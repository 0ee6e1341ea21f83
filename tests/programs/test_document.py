"""docs/programs.md says of every program what came of it on both brokers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.programs import document
from tests.programs.document import KAFKA, PROXY, STUB, Run, different
from tests.programs.library import PROGRAMS


def ran(number: int, broker: str, *lines: str, failed: str = "", missing: str = "") -> Run:
    spoke = {"EndTxn": [4, 5]} if broker == STUB else {}
    return Run(PROGRAMS[number].name, "1.2.3", broker, list(lines), 1.24, failed, missing, spoke)


def test_every_program_has_a_name_of_its_own_and_a_pinned_version() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert all(re.match(r"\d+\.\d+\.\d+\b", program.version()) for program in PROGRAMS)


def test_the_document_is_written_from_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RESULTS", "DOCUMENT"):
        monkeypatch.setattr(document, name, tmp_path / name)
    runs = [
        ran(0, KAFKA, "10 records, each once"),
        ran(0, STUB, "10 records, each once"),
        ran(1, STUB, "10 records", failed="2 records\nare lost"),
        ran(1, KAFKA, "10 records"),
        ran(2, STUB, "9 records"),
        ran(2, KAFKA, "10 records"),
        ran(3, STUB, missing="this machine has no go"),
        ran(3, KAFKA, missing="this machine has no go"),
    ]
    document.write(runs)
    text = document.DOCUMENT.read_text()
    results = {line.split(" | ")[0][2:]: line.split(" | ")[3:] for line in text.splitlines() if "| 1.2.3 |" in line}
    assert results == {
        PROGRAMS[0].name: ["✓ the same on both", "1.2", "1.2 |"],
        PROGRAMS[1].name: ["✗ on the stub", "1.2", "1.2 |"],
        PROGRAMS[2].name: ["the results differ", "1.2", "1.2 |"],
        PROGRAMS[3].name: ["not run on the stub, not run on Apache Kafka", "1.2", "1.2 |"],
    }
    assert f"- {PROGRAMS[1].name} on the stub: 2 records are lost" in text
    assert f"- {PROGRAMS[0].name}: 10 records, each once." in text
    assert f"| {PROGRAMS[0].name} | EndTxn 4, 5 |" in text
    assert "0 min 10 s" in text
    assert [run["program"] for run in json.loads(document.RESULTS.read_text())["runs"]] == [
        program.name for program in PROGRAMS[:4] for _ in range(2)
    ]


def test_programs_that_were_not_played_keep_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RESULTS", "DOCUMENT"):
        monkeypatch.setattr(document, name, tmp_path / name)
    document.write([ran(0, STUB, "a"), ran(0, KAFKA, "a"), ran(1, STUB, "b"), ran(1, KAFKA, "b")])
    document.write([ran(0, STUB, "a", failed="it fell"), ran(0, KAFKA, "a")])
    rows = [line for line in document.DOCUMENT.read_text().splitlines() if "| 1.2.3 |" in line]
    assert [row.split(" | ")[3] for row in rows] == ["✗ on the stub", "✓ the same on both"]


def test_only_runs_that_passed_on_both_are_compared() -> None:
    assert different([ran(0, STUB, "a"), ran(0, KAFKA, "a")]) == []
    assert different([ran(0, STUB, "a", failed="it fell"), ran(0, KAFKA, "b")]) == []
    odd = ran(0, STUB, "a")
    assert different([odd, ran(0, KAFKA, "b"), ran(1, STUB, "c")]) == [odd]
    through = ran(0, PROXY, "b")
    assert different([ran(0, KAFKA, "a"), through]) == [through]
