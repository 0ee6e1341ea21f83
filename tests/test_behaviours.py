"""Every behaviour in a handler's checklist has a test, and every test that names one names a line that exists.

A test that `make test-all` leaves out shows nothing of every day: it does not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.source_text import parsed

ROOT = Path(__file__).parent.parent
HANDLERS = ROOT / "broker" / "kafkastub" / "handlers"
_LINE = re.compile(r"^([A-Z]{2}-\d+)\b", re.MULTILINE)


def checklists() -> dict[str, str]:
    """Behaviour id -> module, from the docstrings."""
    found: dict[str, str] = {}
    for path in sorted(HANDLERS.glob("k[0-9]*.py")):
        text = ast.get_docstring(parsed(path)) or ""
        for name in _LINE.findall(text):
            assert name not in found, f"{name} stands in {found[name]} and in {path.name}"
            found[name] = path.name
    return found


LEFT_OUT = frozenset({"oracle", "oracle_expiry", "soak", "docker", "pipeline"})
"""Marks of tests that `make test-all` does not run."""


def claims() -> Iterator[tuple[str, str, bool]]:
    """(behaviour id, test file, whether `make test-all` runs it) for every test with `pytest.mark.behaviour`."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if "mark.behaviour" not in path.read_text():  # to take all of them apart takes seconds
            continue
        for test in ast.walk(parsed(path)):
            if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                marks = [(_mark(node), node) for decorator in test.decorator_list for node in ast.walk(decorator)]
                counts = LEFT_OUT.isdisjoint(name for name, _ in marks)
                for name, node in marks:
                    if name == "behaviour" and isinstance(node, ast.Call):
                        yield from ((ast.literal_eval(one), str(path.relative_to(ROOT)), counts) for one in node.args)


def _mark(node: ast.AST) -> str:
    """The name of `pytest.mark.NAME` and of a call of it."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else ""


def test_every_handler_has_a_checklist():
    listed = set(checklists().values())
    modules = {path.name for path in HANDLERS.glob("k[0-9]*.py")}
    assert modules - listed == set()


def test_every_behaviour_has_a_test():
    missing = checklists().keys() - {name for name, _, counts in claims() if counts}
    assert sorted(missing) == []


def test_no_test_names_a_behaviour_that_does_not_exist():
    known = checklists()
    assert [(name, path) for name, path, _ in claims() if name not in known] == []
