"""docs/style.md: the pages that follow it have none of the phrases that its table replaces."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from kafkastub.cli import COMMANDS, parser
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
PAGES: Final = (
    "CONTRIBUTING.md", "README.md", "SECURITY.md", "examples/README.md", *(f"docs/{name}.md" for name in (
        "architecture", "as-version", "binary", "chaos", "cli", "coming-from", "compatibility",
        "consumer-groups", "control", "differential", "docker", "faults", "fidelity", "go", "guarantees",
        "installation", "java", "journal", "launcher",
        "limits", "logs", "nodes", "page", "proxy", "pytest", "python", "quotas", "registry", "security", "serve",
        "share-groups", "streams-groups", "transactions", "tutorial", "typescript", "without-sleeps",
    )),
)  # fmt: skip
"""Those that have been rewritten. A page that is added here stays plain."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_was_rewritten_stays_plain(page: str) -> None:
    text = re.sub(r"`[^`\n]*`", "`code`", prose((ROOT / page).read_text()))
    found = [f"{page}:{text.count(chr(10), 0, one.start()) + 1}: {one[0]!r}" for one in PHRASES.finditer(text)]
    assert found == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_stays_plain(command: str) -> None:
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
