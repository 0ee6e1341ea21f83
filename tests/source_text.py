"""The project's own source, read by tests."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def parsed(path: Path) -> ast.Module:
    """The file's syntax tree.

    The collector has to rest meanwhile. What it throws away may say something to the log (a future whose exception
    nobody asked for), the log writes a traceback, a traceback parses its lines to mark them, and CPython 3.11 then
    refuses the outer tree: "AST constructor recursion depth mismatch" (CPython's gh-106905).
    """
    resting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        if resting:
            gc.enable()
