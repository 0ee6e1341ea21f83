"""Every test is of one part, and what is named as long is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts import ATTACKS, FIRST, LONG, NIGHTLY, OF_NO_PART, PARTS, part_of

TESTS = Path(__file__).parent
A_FILE = "def test_it(): pass\n"


@pytest.mark.parametrize("name", [*LONG, *ATTACKS, *OF_NO_PART, *FIRST])
def test_what_is_named_is_there(name: str) -> None:
    assert (TESTS / name).is_dir() if name.endswith("/") else (TESTS / name).is_file()


@pytest.mark.parametrize("name", NIGHTLY)
def test_what_runs_at_night_is_there(name: str) -> None:
    file, _, function = name.partition("::")
    assert f"def {function or 'test_'}" in (TESTS / file).read_text()


def test_what_runs_at_night_can_be_left_out(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.parts import pytest_addoption, pytest_collection_modifyitems")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    name, _, function = next(one for one in NIGHTLY if "::" in one).partition("::")
    path = pytester.path / "tests" / name
    path.parent.mkdir(parents=True)
    path.write_text(f"def {function}(): pass\ndef test_other(): pass\n")
    assert names(pytester.runpytest("--collect-only", "-q")) == {function, "test_other"}
    assert names(pytester.runpytest("--collect-only", "-q", "--without-nightly")) == {"test_other"}


def names(run: pytest.RunResult) -> set[str]:
    return {line.rpartition("::")[2] for line in run.outlines if "::" in line}


def test_a_test_is_of_one_part(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.parts import pytest_addoption, pytest_ignore_collect")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    for name in ("page/test_looks.py", "server/test_timers.py", "pipeline/test_lag.py", "hostile/test_crowds.py"):
        path = pytester.path / "tests" / name
        path.parent.mkdir(parents=True)
        path.write_text(A_FILE)
    parts = {}
    for part in PARTS:
        found = pytester.runpytest("--collect-only", "-q", "--part", part).outlines
        parts[part] = [line.partition("::")[0] for line in found if "::" in line]
    assert parts == {
        "quick": ["tests/server/test_timers.py"],
        "long": ["tests/page/test_looks.py"],
        "attacks": ["tests/hostile/test_crowds.py"],
    }
    everything = pytester.runpytest("--collect-only", "-q").outlines
    assert sum("::" in line for line in everything) == 4


def test_a_name_is_long_only_where_it_is_the_same() -> None:
    assert part_of("tests/plugin/test_chaos.py") == "long"
    assert part_of("tests/plugin/test_chaos_too.py") == "quick"
    assert part_of("tests/pipeline/test_lag.py") is None


def test_what_takes_long_and_what_asks_the_jvm_comes_first(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.parts import pytest_collection_modifyitems")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    with_jvm = "import pytest\n@pytest.fixture\ndef jvm(): pass\ndef test_other(): pass\ndef test_it(jvm): pass\n"
    for name, text in (("a.py", A_FILE), ("b.py", with_jvm), (FIRST[0], A_FILE)):
        path = pytester.path / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f"test_{path.name.removeprefix('test_')}").write_text(text)
    found = [line for line in pytester.runpytest("--collect-only", "-q").outlines if "::" in line]
    assert len(found) == 4
    assert set(found[:2]) == {"tests/test_b.py::test_it", f"tests/{FIRST[0]}::test_it"}
