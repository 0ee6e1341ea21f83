"""docs/pipeline.md says what the tables have."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

from tests.pipeline.documented import PAGE, rendered


def test_the_page_is_what_the_columns_say() -> None:
    text = PAGE.read_text()
    assert text == rendered(text), "run python -m tests.pipeline.documented"
