"""The smallest chaos as a test file, which imports the test and has the acts."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from kafkastub.faults.acts import as_source
from kafkastub.pytest_plugin.options import MARKER, as_topics
from kafkastub.pytest_plugin.runs import CHAOS

if TYPE_CHECKING:
    from kafkastub.faults import Smallest

_LEFT_OUT: Final = frozenset((MARKER, "parametrize", "skip", "skipif", "xfail", "flaky"))
"""Marks of the test that its smallest form does without, or has anew."""


class File(NamedTuple):
    """A file of Python."""

    name: str
    text: str


def marker(found: Smallest) -> str:
    """What stands above a test."""
    return f"@pytest.mark.kafka_stub(chaos={as_source(found.acts)})"


def test_file(item: pytest.Item, found: Smallest) -> File | None:
    """None for what is no function of Python, as a test of another language is."""
    if not isinstance(item, pytest.Function) or item.module is None:
        return None
    module, name = item.module.__name__, item.originalname
    own, arguments = _fixtures(item)
    lines = [
        f'"""{item.nodeid} fails with these acts and no seed, {found.failed} times of {found.replayed}."""',
        "",
        "import pytest",
        "from kafkastub import ChaosAct",
        "",
        f"import {module} as tested",
        *([f"from {module} import {', '.join(own)}"] if own else []),
        "",
        "",
        *_marks(item),
        *_parameters(item, arguments),
        f"@pytest.mark.kafka_stub({_said(item)}chaos={as_source(found.acts)})",
    ]
    where = "tested" if item.cls is None else f"tested.{item.cls.__qualname__}()"
    waits = "await " if inspect.iscoroutinefunction(item.function) else ""
    given = ", ".join(f"{one}={one}" for one in arguments)
    lines += [
        f"{'async ' if waits else ''}def {name}_smallest({', '.join(arguments)}):",
        f"    {waits}{where}.{name}({given})",
    ]
    return File(f"{name}_smallest.py", "\n".join(lines) + "\n")


def _fixtures(item: pytest.Function) -> tuple[list[str], list[str]]:
    """The fixtures of its module, which another module has to import, and its own arguments."""
    defined = item._fixtureinfo.name2fixturedefs
    own = sorted(
        definition.func.__name__
        for definitions in defined.values()
        for definition in definitions[-1:]
        if getattr(definition.func, "__module__", None) == item.module.__name__
        and hasattr(item.module, definition.func.__name__)
    )
    return own, list(item._fixtureinfo.argnames)


def _marks(item: pytest.Function) -> list[str]:
    """Its marks, but those that are made anew; of the module's and the class's ones, too."""
    lines = []
    for mark in reversed(list(item.iter_markers())):
        if mark.name in _LEFT_OUT:
            continue
        said = [repr(one) for one in mark.args] + [f"{name}={value!r}" for name, value in mark.kwargs.items()]
        if all(map(_is_literal, (*mark.args, *mark.kwargs.values()))):
            lines.append(f"@pytest.mark.{mark.name}" + (f"({', '.join(said)})" if said else ""))
    return lines


def _parameters(item: pytest.Function, arguments: list[str]) -> list[str]:
    """Those that it failed with."""
    lines = []
    defined = item._fixtureinfo.name2fixturedefs
    for name, value in item.callspec.params.items():
        if name == CHAOS:
            continue
        real = any(definition.scope is not None and _is_fixture(definition) for definition in defined.get(name, ()))
        through = ", indirect=True" if real else ""
        if not _is_literal(value):
            lines.append(f"# {name} was {value!r}: write it out")
        if name in arguments or real:
            lines.append(f"@pytest.mark.parametrize({name!r}, [{value!r}]{through})")
    return lines


def _is_fixture(definition: Any) -> bool:
    """Whether somebody has written it: pytest makes one of its own for each parameter that goes to no fixture."""
    return "_pytest" not in str(getattr(definition.func, "__module__", ""))


def _said(item: pytest.Function) -> str:
    """What its markers say of the broker beside chaos."""
    said: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers(MARKER))):
        for name, value in mark.kwargs.items():
            if name == "topics":
                said[name] = {**said.get(name, {}), **as_topics(value)}
            elif name == "config" and isinstance(value, Mapping):
                said[name] = {**said.get(name, {}), **value}
            elif not name.startswith("chaos"):
                said[name] = value
    return "".join(f"{name}={value!r}, " for name, value in said.items())


def _is_literal(value: object) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
