"""The documents that are written from the code: `make docs` writes them, a test compares."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from kafkastub.config.own import PROFILE as OWN_PROFILE
from kafkastub.config.profile import PROFILES, Profile
from kafkastub.handlers.registry import registrations
from tests.docs.kips import TABLES
from tests.docs.openapi import of_launcher, openapi
from tests.docs.public import public
from tests.docs.releases import releases
from tests.source_text import parsed

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"


def coverage() -> str:
    """docs/coverage.md: each API with its versions and the checklist that its handler opens with."""
    lines = [
        "# Coverage: APIs, versions and behaviours",
        "",
        "Written by `make docs` from the handlers' registrations and checklists. Each behaviour has an id, which its",
        "tests carry (`@pytest.mark.behaviour`).",
        "",
        "| key | API | versions | behaviours |",
        "|---|---|---|---|",
    ]
    details: list[str] = []
    for api in registrations().values():
        source = Path(ROOT / "broker" / (api.module.replace(".", "/") + ".py"))
        text = ast.get_docstring(parsed(source)) or ""
        count = len(re.findall(r"^[A-Z]{2}-\d+\b", text, re.MULTILINE))
        versions = f"{api.first}-{api.last}" if api.last > api.first else str(api.first)
        versions += "" if api.advertised else " (not advertised)"
        lines.append(f"| {api.key.value} | [{api.key.camel}](#{api.key.camel.lower()}) | {versions} | {count} |")
        details += ["", f"## {api.key.camel}", "", "```text", *text.splitlines(), "```"]
    return "\n".join(lines + details) + "\n"


def profiles() -> str:
    """docs/profiles.md: every question on which the profiles differ, with both answers."""
    questions = _questions()
    lines = [
        "# The two profiles",
        "",
        "Written by `make docs` from `kafkastub.config.profile`. The profile `kips` follows the KIPs exactly, `kafka`",
        "follows released Apache Kafka 4.x. The table has every difference between them.",
        "",
        "You can choose one answer without the rest of its profile by setting the entry as configuration, for example",
        '`KafkaStub(config={"kafkastub.illegal.offset.commit.code": 72})` or',
        "`kafkastub serve --config kafkastub.illegal.offset.commit.code=72`. Clients do not see these entries.",
        "",
        "| entry | question | `kips` | `kafka` |",
        "|---|---|---|---|",
    ]
    for entry, field in OWN_PROFILE.items():
        answers = (f"`{_written(getattr(PROFILES[name], field))}`" for name in ("kips", "kafka"))
        lines.append(f"| `{entry}` | {questions[field]} | {' | '.join(answers)} |")
    return "\n".join(lines) + "\n"


def _written(value: object) -> str:
    return "none" if value is None else str(value).lower()


def _questions() -> dict[str, str]:
    doc = (Profile.__doc__ or "").split("Attributes:")[1]
    found = re.findall(r"^\s+(\w+): (.*?)(?=^\s+\w+: |\Z)", doc, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()).replace("``", "`") for name, text in found}


def kips() -> str:
    """docs/kips.md: every statement of the five specifications with what shows it, or why it is none of ours."""
    lines = [
        "# The specifications, statement by statement",
        "",
        "Written by `make docs` from `tests/docs/kips.py`. A statement is verified by behaviours (the ids in",
        "[coverage.md](coverage.md)) and tests. Otherwise the remark says why it does not apply to a broker, or where",
        "released Kafka decided differently.",
    ]
    for title, rows in TABLES.items():
        lines += ["", f"## {title}", "", "| section | statement | verified by | remark |", "|---|---|---|---|"]
        for row in rows:
            shown = ", ".join(f"`{name}`" for name in row.shown_by)
            lines.append(f"| {row.section} | {row.statement} | {shown} | {row.remark} |")
    return "\n".join(lines) + "\n"


DOCUMENTS = {
    "coverage.md": coverage,
    "kips.md": kips,
    "launcher.json": of_launcher,
    "openapi.json": openapi,
    "profiles.md": profiles,
    "public.md": public,
    "releases.md": releases,
}

if __name__ == "__main__":
    DOCS.mkdir(exist_ok=True)
    for name, write in DOCUMENTS.items():
        (DOCS / name).write_text(write())
