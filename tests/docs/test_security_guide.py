"""docs/security.md: its examples run as they are."""

from __future__ import annotations

import re

import pytest

from tests.docs.generated import DOCS

BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "security.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_of_the_guide_runs(block: str):
    exec(compile(block, "docs/security.md", "exec"), {})
