"""docs/differential.md: its example runs, and its table is the one of the code."""

from __future__ import annotations

import re

from kafkastub_conformance.differential import names
from tests.docs.generated import DOCS

GUIDE = (DOCS / "differential.md").read_text()


def test_the_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(block, "differential.md", "exec"), {})


def test_the_table_of_what_is_bound_to_differ_is_that_of_the_code():
    assert names.__doc__ is not None
    table = [line for line in names.__doc__.splitlines() if line.startswith("|")]
    assert "\n".join(table) in GUIDE
