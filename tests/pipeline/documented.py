"""The tables of docs/pipeline.md, from the columns that they are made with: python -m tests.pipeline.documented."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "pipeline.md"
BEGIN = "<!-- tables: written by python -m tests.pipeline.documented -->"


def rendered(text: str) -> str:
    """The page with its tables anew; what stands above them stays."""
    from kafkastub_pipeline.tables.columns import TABLES

    head, _, _ = text.partition(BEGIN)
    lines = [BEGIN]
    for table, columns in TABLES.items():
        lines += ["", f"### {table}", "", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {kind.replace('|', ' ')} | {meaning} |" for name, kind, meaning in columns]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
