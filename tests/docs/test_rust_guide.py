"""The examples of docs/rust.md are those that run in examples/rust."""

from __future__ import annotations

import re
import textwrap

import pytest

from tests.docs.generated import DOCS

BLOCKS = re.findall(r"```rust\n(.*?)```", (DOCS / "rust.md").read_text(), re.DOTALL)
RUN = (DOCS.parent / "examples" / "rust" / "tests" / "guide.rs").read_text()


def plain(text: str) -> str:
    """The text without the indentation of its lines."""
    return "\n".join(line.strip() for line in textwrap.dedent(text).strip().splitlines())


def test_there_are_examples():
    assert len(BLOCKS) == 3


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_is_run(block: str):
    assert plain(block) in plain(RUN)
