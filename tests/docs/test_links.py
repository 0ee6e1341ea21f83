"""Every link of the documentation leads to what is there, and to a heading that is there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.site.links import anchor, anchors, links, relinked, resourced

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted(
        path for path in (ROOT / "examples").rglob("*.md") if not {"node_modules", "target"} & set(path.parts)
    ),
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    wrong = [link for link in links(text) if not _is_there(page, link)]
    assert wrong == []


def _is_there(page: Path, link: str) -> bool:
    if link.startswith(("http://", "https://", "mailto:")):
        return True
    path, _, fragment = unquote(link).partition("#")
    target = page if not path else (page.parent / path).resolve()
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not fragment or (target.suffix == ".md" and fragment in anchors(target.read_text()))


def test_a_page_has_one_title() -> None:
    for page in PAGES:
        assert page.read_text().startswith("# "), page


@pytest.mark.parametrize(
    ("heading", "named"),
    [
        ("As Kafka does it", "as-kafka-does-it"),
        ("`stub.clock`, and more", "stubclock-and-more"),
        ("What is new in 0.2 (2026)", "what-is-new-in-02-2026"),
        ("A [link](x.md) in it", "a-link-in-it"),
        ("snake_case & co", "snake_case--co"),
    ],
)
def test_an_anchor_is_what_the_web_makes_of_a_heading(heading: str, named: str) -> None:
    assert anchor(heading) == named


def test_headings_of_the_same_name_are_numbered() -> None:
    assert anchors("# One\n\n## One\n\n```sh\n# no heading\n```\n\n### One\n") == {"one", "one-1", "one-2"}


def test_links_in_code_are_none() -> None:
    text = "[a](a.md) `[b](b.md)`\n\n```md\n[c](c.md)\n```\n\n![d](d.png) [`e`](e.md#x)\n[f\ng](f.md)"
    assert list(links(text)) == ["a.md", "d.png", "e.md#x", "f.md"]
    assert list(links('<a href="g.md"><img alt="x" src="h.png"></a> `<img src="i.png">`')) == ["g.md", "h.png"]


def test_links_are_changed_where_they_are_links() -> None:
    text = "[a](a.md)\n```md\n[c](c.md)\n```\n![d](d.png)"
    assert relinked(text, lambda mark, name, to: f"{mark}<{name}|{to}>") == (
        "<a|a.md>\n```md\n[c](c.md)\n```\n!<d|d.png>"
    )
    html = '<img src="docs/a.png"> <a href="b.md">b</a>'
    assert resourced(html, {"docs/a.png": "a.png"}.get) == '<img src="a.png"> <a href="b.md">b</a>'
