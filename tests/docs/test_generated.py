"""The documents that are written from the code say what the code does."""

from __future__ import annotations

import pytest

from tests.docs.generated import DOCS, DOCUMENTS


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_what_the_code_says(name: str):
    assert (DOCS / name).read_text() == DOCUMENTS[name](), "run `make docs`"
