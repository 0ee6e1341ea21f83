"""Every behaviour in a handler's checklist has a test, and every test that names one names a line that exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HANDLERS = ROOT / "broker" / "kafkastub" / "handlers"
_LINE = re.compile(r"^([A-Z]{2}-\d+)\b", re.MULTILINE)


def checklists() -> dict[str, str]:
    """Behaviour id -> module, from the docstrings."""
    found: dict[str, str] = {}
    for path in sorted(HANDLERS.glob("k[0-9]*.py")):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        for name in _LINE.findall(text):
            assert name not in found, f"{name} stands in {found[name]} and in {path.name}"
            found[name] = path.name
    return found


def claims() -> Iterator[tuple[str, str]]:
    """(behaviour id, test file) for every `pytest.mark.behaviour` in the tests."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "behaviour":
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        yield argument.value, str(path.relative_to(ROOT))


def test_every_handler_has_a_checklist():
    listed = set(checklists().values())
    modules = {path.name for path in HANDLERS.glob("k[0-9]*.py")}
    assert modules - listed == set()


def test_every_behaviour_has_a_test():
    missing = checklists().keys() - {name for name, _ in claims()}
    assert sorted(missing) == []


def test_no_test_names_a_behaviour_that_does_not_exist():
    known = checklists()
    assert [(name, path) for name, path in claims() if name not in known] == []
