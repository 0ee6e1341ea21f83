"""docs/style.md: the pages that follow it have none of the phrases that its table replaces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.docs.site.links import prose

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
        "architecture", "as-version", "chaos", "cli", "coming-from", "compatibility", "consumer-groups", "control",
        "differential", "docker", "faults", "fidelity", "guarantees", "installation", "java", "journal", "launcher",
        "limits", "logs", "nodes", "page", "proxy", "pytest", "python", "quotas", "registry", "security", "serve",
        "share-groups", "streams-groups", "transactions", "tutorial", "without-sleeps",
    )),
)  # fmt: skip
"""Those that have been rewritten. A page that is added here stays plain."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_was_rewritten_stays_plain(page: str) -> None:
    text = re.sub(r"`[^`\n]*`", "`code`", prose((ROOT / page).read_text()))
    found = [f"{page}:{text.count(chr(10), 0, one.start()) + 1}: {one[0]!r}" for one in PHRASES.finditer(text)]
    assert found == []


def test_the_phrases_are_found() -> None:
    assert PHRASES.findall("Who asks is told it anew, and whoever does not, but for one, gives back.") == [
        "Who asks", "is told", "anew", "whoever", "but for", "gives back",
    ]  # fmt: skip
