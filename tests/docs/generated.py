"""The documents that are written from the code: `make docs` writes them, a test compares."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

from kafkastub.config.profile import PROFILES, Profile
from kafkastub.handlers.registry import registrations

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"


def coverage() -> str:
    """docs/coverage.md: each API with its versions and the checklist that its handler opens with."""
    lines = [
        "# What is served",
        "",
        "Written by `make docs` from the handlers' registrations and checklists. Each behaviour has a test that carries",
        "its id (`@pytest.mark.behaviour`).",
        "",
        "| key | API | versions | behaviours |",
        "|---|---|---|---|",
    ]
    details: list[str] = []
    for api in registrations().values():
        source = Path(ROOT / "broker" / (api.module.replace(".", "/") + ".py"))
        text = ast.get_docstring(ast.parse(source.read_text())) or ""
        count = len(re.findall(r"^[A-Z]{2}-\d+\b", text, re.MULTILINE))
        versions = f"{api.first}-{api.last}" if api.last > api.first else str(api.first)
        lines.append(f"| {api.key.value} | [{api.key.camel}](#{api.key.camel.lower()}) | {versions} | {count} |")
        details += ["", f"## {api.key.camel}", "", "```text", *text.splitlines(), "```"]
    return "\n".join(lines + details) + "\n"


def profiles() -> str:
    """docs/profiles.md: every question on which the profiles differ, with both answers."""
    questions = _questions()
    lines = [
        "# The two profiles",
        "",
        "Written by `make docs` from `kafkastub.config.profile`. `kips` follows the KIPs to the letter, `kafka` follows",
        "released Apache Kafka 4.x. They differ in nothing else.",
        "",
        "| question | `kips` | `kafka` |",
        "|---|---|---|",
    ]
    for field in fields(Profile):
        if field.name == "name":
            continue
        answers = (f"`{getattr(PROFILES[name], field.name)}`" for name in ("kips", "kafka"))
        lines.append(f"| `{field.name}`: {questions[field.name]} | {' | '.join(answers)} |")
    return "\n".join(lines) + "\n"


def _questions() -> dict[str, str]:
    doc = (Profile.__doc__ or "").split("Attributes:")[1]
    found = re.findall(r"^\s+(\w+): (.*?)(?=^\s+\w+: |\Z)", doc, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()).replace("``", "`") for name, text in found}


DOCUMENTS = {"coverage.md": coverage, "profiles.md": profiles}

if __name__ == "__main__":
    DOCS.mkdir(exist_ok=True)
    for name, write in DOCUMENTS.items():
        (DOCS / name).write_text(write())
