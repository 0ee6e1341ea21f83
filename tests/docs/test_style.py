"""docs/style.md: pages, descriptions, help texts and refusals have none of the phrases that its table replaces."""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from kafkastub.cli import COMMANDS, parser
from kafkastub_conformance.registry import catalogue
from tests.docs.site.links import prose
from tests.source_text import parsed

ROOT: Final = Path(__file__).resolve().parents[2]
PHRASES: Final = re.compile(
    r"\b(whoever|who(?:m)? (?:asks|does|wants|comes)|(?:is|are|was|were) told|gives? back|gives? it|tells? of|"
    r"by (?:its|their|the) letter|in (?:its|their) hands?|anew|for the time being|meanwhile|but for|beside|in a row|"
    r"said once|so long|so many|as it comes|in no time|of its own accord)\b",
    re.IGNORECASE,
)
"""Phrases that native readers stumbled over. Write what the table in docs/style.md has in their place."""
REFUSALS: Final = re.compile(r"\b(?:is|are) wanted\b(?! by)|^\s*is no (?!longer|more)[a-z]")
"""In a refusal: write "expected X" and "is not an X"."""
PAGES: Final = sorted(
    str(path.relative_to(ROOT))
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *ROOT.glob("examples/README.md"),
        *ROOT.glob("clients/*/README.md"),
    )
    if path.name != "style.md"
)
"""Every page, written or generated, but for the guide that lists the phrases."""
CODE: Final = re.compile(r"`[^`\n]*`|\b[A-Z]\w+/[\w-]+")
"""Code, and ids of conformance cases."""
DESCRIPTIONS: Final = ("openapi.json", "launcher.json")
ERRORS: Final = sorted(path.parent.name for path in (ROOT / "broker" / "kafkastub").glob("*/__init__.py"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_plain(page: str) -> None:
    text = CODE.sub("`code`", prose((ROOT / page).read_text()))
    found = [f"{page}:{text.count(chr(10), 0, one.start()) + 1}: {one[0]!r}" for one in PHRASES.finditer(text)]
    assert found == []


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_the_description_of_a_port_is_plain(name: str) -> None:
    found = [text for text in _texts(json.loads((ROOT / "docs" / name).read_text())) if PHRASES.search(text)]
    assert found == []


def _texts(given: object) -> Iterator[str]:
    """Every summary and description in a part of an OpenAPI document."""
    if isinstance(given, list):
        for one in given:
            yield from _texts(one)
    if isinstance(given, dict):
        for key, value in given.items():
            if key in ("summary", "description") and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_plain(command: str) -> None:
    found = [text for text in _helps(parser(command)) if PHRASES.search(text)]
    assert found == []


def _helps(of: argparse.ArgumentParser) -> Iterator[str]:
    yield of.description or ""
    for action in of._actions:
        yield str(action.help or "")
        if isinstance(action, argparse._SubParsersAction):
            yield from (str(choice.help or "") for choice in action._choices_actions)
            for below in action.choices.values():
                yield from _helps(below)


@pytest.mark.parametrize("package", ERRORS)
def test_the_refusals_of_a_package_are_plain(package: str) -> None:
    found = []
    for path in sorted((ROOT / "broker" / "kafkastub" / package).rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                said = " ".join(_constants(node.exc.args))
                found += [f"{path.name}:{node.lineno}: {one[0]!r}" for one in PHRASES.finditer(said)]
                found += [f"{path.name}:{node.lineno}: {one[0]!r}" for one in REFUSALS.finditer(said)]
    assert found == []


def _constants(arguments: list[ast.expr]) -> Iterator[str]:
    for argument in arguments:
        for node in ast.walk(argument):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_what_a_conformance_case_shows_is_plain() -> None:
    found = [case.id for case in catalogue() if PHRASES.search(f"{case.shows} {case.before}")]
    assert found == []


@pytest.mark.parametrize("package", ["stub"])
def test_the_docstrings_of_a_package_stay_plain(package: str) -> None:
    found = []
    for path in sorted((ROOT / "broker" / "kafkastub" / package).rglob("*.py")):
        for node in ast.walk(parsed(path)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found += [f"{path.name}:{node.lineno}: {one[0]!r}" for one in PHRASES.finditer(text)]
    assert found == []


def test_the_phrases_are_found() -> None:
    assert PHRASES.findall("Who asks is told it anew, and whoever does not, but for one, gives back.") == [
        "Who asks", "is told", "anew", "whoever", "but for", "gives back",
    ]  # fmt: skip
