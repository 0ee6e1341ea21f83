"""The figures of docs/performance.md: how they are measured, told and drawn."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from bench.performance_page import PAGE, with_section
from bench.plots import short
from bench.scale import SIZES, measure
from bench.scale_report import PICTURE, Scale, picture, table

FOUND = [
    Scale("groups", 100, 1000.0, 20.0, sweep_ms=0.5, restart_us=30.0, one_more=1.0),
    Scale("groups", 200, 900.0, 21.0, sweep_ms=0.5, restart_us=31.0, one_more=1.1),
    Scale("connections", 1000, 4000.0, 100.0, one_more=1.0),
]


@pytest.mark.parametrize("kind", ["groups", "partitions"])
def test_a_few_things_of_a_kind_are_measured(kind: str) -> None:
    found = measure(kind, 1000)
    assert (found.kind, found.count) == (kind, 1000)
    assert found.fill_us > 0
    assert found.restart_us is not None
    assert found.restart_us > 0
    assert found.sweep_ms is not None
    assert found.one_more is not None


def test_the_table_has_a_row_for_each_size() -> None:
    lines = table(FOUND).splitlines()
    assert len(lines) == 2 + len(FOUND)
    assert lines[2] == "| 100 groups | 1 k | 20 | 30 | 0.5 | 1 |"
    assert lines[4] == "| 1,000 connections | 4 k | 100 |  |  | 1 |"


def test_the_picture_has_a_row_of_plots_for_each_kind() -> None:
    drawn = ElementTree.fromstring(picture(FOUND))
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{space}g")) == 5 + 3
    assert len(drawn.findall(f".//{space}circle")) == 5 * 2 + 3 * 1


@pytest.mark.parametrize(
    ("number", "text"), [(5_000_000, "5 M"), (100_000, "100 k"), (1250, "1.25 k"), (12.34, "12.3"), (0.041, "0.041")]
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert short(number) == text


def test_the_page_tells_of_four_sizes_of_each_kind() -> None:
    rows = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert {f"{count:,} {kind}" for kind, counts in SIZES.items() for count in counts} <= set(rows)
    ElementTree.fromstring(PICTURE.read_text())


def test_a_section_is_written_and_the_others_stay() -> None:
    page = "# Performance\n\nText.\n\n## One\n\nold\n\n## Two\n\nother\n"
    assert with_section(page, "One", "new\n") == page.replace("old", "new")
    assert with_section(page, "Two", "new\n") == page.replace("other", "new")
    added = with_section(page, "Three", "more")
    assert added == page + "\n## Three\n\nmore\n"
    assert with_section(added, "One", "old") == added
