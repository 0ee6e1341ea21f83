"""docs/public.md: the names that versions keep stable (docs/compatibility.md), taken from the code."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import kafkastub
from kafkastub.cli import COMMANDS, parser
from kafkastub.config.own import OWN, PROFILE
from kafkastub.pytest_plugin import options
from tests.docs.openapi import of_launcher, openapi
from tests.docs.site.reference import PAGES


def public() -> str:
    """The document."""
    lines = [
        "# The public interface",
        "",
        "Written by `make docs` from the code. [compatibility.md](compatibility.md) has the promises about these",
        "names. Names that are not listed here can change in any version.",
    ]
    for title, found in (
        ("Python", _python()),
        ("pytest", _pytest()),
        ("HTTP: the control port", _http(openapi())),
        ("HTTP: the launcher", _http(of_launcher())),
        ("Command line", _commands()),
        ("Configuration", [f"- `{name}`" for name in sorted((*OWN, *PROFILE))]),
    ):
        lines += ["", f"## {title}", "", *found]
    return "\n".join(lines) + "\n"


def _python() -> Iterator[str]:
    yield f"- `kafkastub`: {', '.join(f'`{name}`' for name in kafkastub.__all__)}"
    for _, _, names in PAGES.values():
        for name in names:
            module, _, attribute = name.rpartition(".")
            found = getattr(importlib.import_module(module), attribute)
            if not isinstance(found, type):
                yield f"- `{attribute}({_parameters(found)})`"
                continue
            yield f"- `{attribute}`" + "".join(f"\n    - {member}" for member in _members(found))


def _members(owner: type) -> Iterator[str]:
    if issubclass(owner, BaseException):
        return
    if "__init__" in vars(owner) and not dataclasses.is_dataclass(owner):
        yield f"`({_parameters(owner.__init__)})`"
    if dataclasses.is_dataclass(owner):
        yield from (f"`{field.name}`" for field in dataclasses.fields(owner) if not field.name.startswith("_"))
    for name in sorted(dir(owner)):
        if name.startswith("_") or not _is_ours(owner, name):
            continue
        member = inspect.getattr_static(owner, name)
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        yield f"`{name}({_parameters(member)})`" if inspect.isfunction(member) else f"`{name}`"


def _is_ours(owner: type, name: str) -> bool:
    """Whether it is no field, which is listed by then, and nothing of a class of Python's own."""
    if dataclasses.is_dataclass(owner) and name in {field.name for field in dataclasses.fields(owner)}:
        return False
    home = next(one for one in owner.__mro__ if name in vars(one))
    return home.__module__.startswith("kafkastub")


def _parameters(function: Any) -> str:
    """Names and kinds, without types and defaults: those are in the reference."""
    written = []
    star = False
    for one in inspect.signature(function).parameters.values():
        if one.name in ("self", "cls") or one.name.startswith("_"):
            continue
        if one.kind is one.KEYWORD_ONLY and not star:
            star = True
            written.append("*")
        star = star or one.kind is one.VAR_POSITIONAL
        prefix = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        written.append(f"{prefix}{one.name}{'' if one.default is one.empty else '=…'}")
    return ", ".join(written)


def _pytest() -> Iterator[str]:
    keywords = ", ".join(f"`{field.name}`" for field in dataclasses.fields(options.Wanted))
    yield f"- the keywords of `@pytest.mark.kafka_stub`: {keywords}"
    yield "- the fixtures and options of [pytest.md](pytest.md)"


def _http(description: str) -> Iterator[str]:
    import json

    for path, methods in sorted(json.loads(description)["paths"].items()):
        yield f"- `{path}`: {', '.join(sorted(method.upper() for method in methods))}"


def _commands() -> Iterator[str]:
    for command in COMMANDS:
        whole = parser(command)
        yield from _command(f"kafkastub {command}", _subparsers(whole)[command])


def _command(name: str, of: argparse.ArgumentParser) -> Iterator[str]:
    found = _subparsers(of)
    if not found:
        given = [option for action in of._actions for option in action.option_strings[-1:] if option != "--help"]
        yield f"- `{name}`" + (f": {', '.join(f'`{option}`' for option in given)}" if given else "")
    for action, below in found.items():
        yield from _command(f"{name} {action}", below)


def _subparsers(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
