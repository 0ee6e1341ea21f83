"""docs/performance.md: sections, each of which one command writes and leaves the others alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE, PICTURES = DOCS / "performance.md", DOCS / "pictures"


def put(heading: str, text: str) -> None:
    """Write the section of that heading, in the place of the one there is or at the end."""
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), heading, text), encoding="utf-8")


def with_section(page: str, heading: str, text: str) -> str:
    """The page with that section."""
    section = f"## {heading}\n\n{text.strip()}\n"
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{section}"
    rest = page[found.end() :]
    return page[: found.start()] + section + ("\n" + rest if rest else "")
