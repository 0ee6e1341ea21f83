"""The tables of docs/pipeline.md and docs/spark.md, from the columns: python -m tests.pipeline.documented."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "pipeline.md"
SPARK = DOCS / "spark.md"
BEGIN = "<!-- tables: written by python -m tests.pipeline.documented -->"
BEGIN_ALERTS = "<!-- alerts: written by python -m tests.pipeline.documented -->"
BEGIN_COLUMNS = "<!-- columns: written by python -m tests.pipeline.documented -->"
END_COLUMNS = "<!-- end of columns -->"


def rendered(text: str) -> str:
    """The page with its tables anew; what stands above them stays."""
    from kafkastub_pipeline.live.log import COLUMNS
    from kafkastub_pipeline.tables.columns import TABLES

    front, _, rest = text.partition(BEGIN_ALERTS)
    _, _, rest = rest.partition(END_COLUMNS)
    text = "\n".join([front + BEGIN_ALERTS, "", *_columns(COLUMNS), "", END_COLUMNS]) + rest
    head, _, _ = text.partition(BEGIN)
    lines = [BEGIN]
    for table, columns in TABLES.items():
        lines += ["", f"### {table}", "", *_columns(columns)]
    return head + "\n".join(lines) + "\n"


def rendered_formats(text: str) -> str:
    """docs/spark.md with the columns of the data sources anew."""
    from kafkastub_pipeline.formats.columns import FORMATS

    head, _, rest = text.partition(BEGIN_COLUMNS)
    _, _, tail = rest.partition(END_COLUMNS)
    lines = [BEGIN_COLUMNS]
    for format_, columns in FORMATS.items():
        lines += ["", f"#### {format_}", "", *_columns(columns)]
    return head + "\n".join(lines) + f"\n\n{END_COLUMNS}" + tail


def _columns(columns: tuple[tuple[str, str, str], ...]) -> list[str]:
    rows = [f"| `{name}` | {kind.replace('|', ' ')} | {meaning} |" for name, kind, meaning in columns]
    return ["| column | type | meaning |", "|---|---|---|", *rows]


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
    SPARK.write_text(rendered_formats(SPARK.read_text()))
