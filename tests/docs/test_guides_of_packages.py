"""The examples of docs/go.md, docs/rust.md and docs/typescript.md are those that run in examples/."""

from __future__ import annotations

import re
import textwrap

import pytest

from tests.docs.generated import DOCS

EXAMPLES = DOCS.parent / "examples"
RUN_BY = {
    ("go.md", "go"): ("go/sent_test.go", "go/guide_test.go"),
    ("rust.md", "rust"): ("rust/tests/guide.rs", "rust/tests/tokio.rs"),
    ("typescript.md", "ts"): ("node/sent.test.ts", "node/guide.test.ts"),
}
CONFIGURES = re.compile(r"^// vitest\.config|^import _ ", re.MULTILINE)
"""What is no test: a runner's configuration, an import alone."""
BLOCKS = [
    pytest.param(files, block, id=f"{page} {number}")
    for (page, language), files in RUN_BY.items()
    for number, block in enumerate(re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL))
    if not CONFIGURES.match(block)
]


def plain(text: str) -> str:
    """The text without indentation, and without the lines of Go that say what a test does with an error."""
    lines = (line.strip() for line in textwrap.dedent(text).strip().splitlines())
    return "\n".join(line for line in lines if line != "check(t, err)")


def test_there_are_examples():
    assert len(BLOCKS) == 8


@pytest.mark.parametrize(("files", "block"), BLOCKS)
def test_an_example_is_run(files: tuple[str, ...], block: str):
    assert any(plain(block) in plain((EXAMPLES / file).read_text()) for file in files)
