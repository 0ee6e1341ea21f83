"""docs/pytest.md: its tests run as they are, its tables are whole."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from kafkastub.pytest_plugin.options import Wanted
from tests.conftest import OF_A_USER
from tests.docs.generated import DOCS

GUIDE = (DOCS / "pytest.md").read_text()
BLOCKS = dict(re.findall(r"```python\n# (test_\w+)\.py\n(.*?)```", GUIDE, re.DOTALL))


def test_every_example_has_the_name_of_a_file():
    assert len(BLOCKS) == GUIDE.count("```python")


@pytest.mark.parametrize("name", BLOCKS)
def test_a_test_of_the_guide_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.delenv("KAFKA_STUB_BOOTSTRAP", raising=False)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(**{name: BLOCKS[name]})
    pytester.runpytest_subprocess(*OF_A_USER, "-W", "error").assert_outcomes(passed=1)


def test_the_tables_name_every_keyword_fixture_and_option(pytester: pytest.Pytester):
    named = set(re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE))
    plugin = pytester.runpytest_subprocess(*OF_A_USER, "--fixtures").stdout.str()
    fixtures = set(re.findall(r"^(kafka_\w+)", plugin, re.MULTILINE))
    assert named == {each.name for each in fields(Wanted)} | fixtures
    options = pytester.runpytest_subprocess(*OF_A_USER, "--help").stdout.str()
    assert set(re.findall(r"--kafka-stub-[a-z-]+", GUIDE)) == set(re.findall(r"--kafka-stub-[a-z-]+", options))
