"""The histories of docs/guarantees.md: each is played, and what the check says of it is what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkastub.guarantees import CATALOG
from tests.guarantees.history import found, played

PAGE = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text()
SECTIONS = dict(re.findall(r"^#### `(\w+)`\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL))
HISTORIES = [
    (name, number, text)
    for name, section in SECTIONS.items()
    for number, text in enumerate(re.findall(r"```history\n(.*?)```", section, re.DOTALL))
]
RELATIONS = {name for name, one in CATALOG.items() if one.family == "relations"}


@pytest.mark.parametrize(
    ("name", "number", "text"), HISTORIES, ids=[f"{name}-{number}" for name, number, _ in HISTORIES]
)
def test_a_history_shows_what_the_page_says(name: str, number: int, text: str):
    verdict, wanted = played(text)
    assert found(verdict) == wanted, str(verdict)


@pytest.mark.parametrize("name", CATALOG.keys() - RELATIONS)
def test_each_guarantee_has_a_history_that_breaks_it(name: str):
    assert name in re.findall(r"-> (?:notices )?(\w+)", SECTIONS[name])


@pytest.mark.parametrize("name", CATALOG.keys() - RELATIONS)
def test_the_page_says_what_the_catalog_says(name: str):
    section = " ".join(SECTIONS[name].split())
    assert CATALOG[name].says in section
    assert CATALOG[name].blind in section
    assert ("Reported as a notice." in section) is not CATALOG[name].fails
