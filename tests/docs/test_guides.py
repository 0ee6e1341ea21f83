"""The guides whose examples need nothing around them: each block of Python runs as it is, alone."""

from __future__ import annotations

import re

import pytest

from tests.docs.generated import DOCS

GUIDES = ("guarantees.md", "journal.md", "limits.md", "logs.md", "nodes.md", "proxy.md", "quotas.md", "registry.md")
BLOCKS = [
    pytest.param(block, id=f"{guide} {number}")
    for guide in GUIDES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", (DOCS / guide).read_text(), re.DOTALL), start=1)
]


ELSEWHERE = {
    "as-version.md", "chaos.md", "cli.md", "coming-from.md", "consumer-groups.md", "control.md", "differential.md",
    "faults.md", "incident.md", "pytest.md", "python.md", "security.md", "share-groups.md", "spark.md",
    "streams-groups.md", "transactions.md", "tutorial.md", "without-sleeps.md",
}  # fmt: skip
"""Their examples run in tests of their own."""


def test_no_guide_with_examples_is_left_out():
    assert {path.name for path in DOCS.glob("*.md") if "```python" in path.read_text()} == {*GUIDES, *ELSEWHERE}


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_of_a_guide_runs(block: str):
    exec(compile(block, "a guide", "exec"), {})
