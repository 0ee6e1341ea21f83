"""docs/kips.md names only what exists."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.kips import TABLES
from tests.test_behaviours import checklists

TESTS = Path(__file__).parent.parent


def names() -> set[str]:
    return {name for rows in TABLES.values() for row in rows for name in row.shown_by}


def test_every_test_that_is_named_exists():
    source = "\n".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)\(", source))
    assert sorted(name for name in names() if name.startswith("test_") and name not in defined) == []


def test_every_behaviour_that_is_named_exists():
    exist = checklists()
    assert sorted(name for name in names() if not name.startswith("test_") and name not in exist) == []


def test_a_statement_without_proof_has_a_reason():
    assert [row for rows in TABLES.values() for row in rows if not row.shown_by and not row.remark] == []
