"""docs/pipeline.md says what the tables have."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test-pipeline installs it")

from tests.pipeline.documented import PAGE, SPARK, rendered, rendered_formats


def test_the_page_is_what_the_columns_say() -> None:
    text = PAGE.read_text()
    assert text == rendered(text), "run python -m tests.pipeline.documented"


def test_the_data_sources_are_documented_with_their_columns() -> None:
    text = SPARK.read_text()
    assert text == rendered_formats(text), "run python -m tests.pipeline.documented"
