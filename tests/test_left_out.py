"""On a machine without some tool, what can run there runs, and the end says what could not."""

from __future__ import annotations

import pytest

from tests.left_out import left_out

LACKING = """
import pytest
@pytest.mark.parametrize("number", range(3))
def test_with_a_jvm(number):
    pytest.skip("java is not on the PATH: Apache Kafka needs a JDK 17 (openjdk-17-jdk-headless)")
def test_with_kcat():
    pytest.skip("this machine has no kcat")
def test_of_a_day():
    pytest.skip("not today")
def test_that_runs():
    pass
"""


def test_what_was_left_out_is_said_with_how_to_get_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.left_out import pytest_terminal_summary")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(LACKING)
    *_, line, last = pytester.runpytest("-p", "no:randomly", "-ra").outlines
    assert line == (
        "left out: 4 tests, for which this machine lacks JDK 17 (apt-get install openjdk-17-jdk-headless); "
        "kcat (apt-get install kcat)"
    )
    assert "1 passed, 5 skipped" in last


@pytest.mark.parametrize(
    ("reason", "tool"),
    [
        ("mvn is not on the PATH: Apache Kafka's jars are resolved with Maven 3.6.3 or later (maven)", "Maven"),
        ("this machine has no go", "Go"),
        ("this machine has no Go toolchain", "Go"),
        ("this machine has no mvn", "Maven"),
        ("this machine has no keytool", "JDK 17"),
        ("no Chromium here: apt-get install chromium-headless-shell", "Chromium"),
        ("this machine has no node", "Node.js"),
        ("this machine has no cargo", "Cargo"),
    ],
)
def test_each_tool_is_known(reason: str, tool: str) -> None:
    assert left_out([reason]).startswith(f"left out: 1 test, for which this machine lacks {tool} (")


@pytest.mark.parametrize("reason", ["this machine has no IPv6", "not today", "this client has no such codec"])
def test_what_no_tool_would_bring_is_not_named(reason: str) -> None:
    assert left_out([reason]) == ""
