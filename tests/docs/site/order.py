"""Where each page of the site belongs: start (a tutorial), guides by task, reference, explanation."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

Section = list[str]

ORDER: Final[dict[str, Section]] = {
    "Start": [
        "index.md", "installation.md", "tutorial.md", "questions.md", "coming-from.md", "changelog.md",
    ],
    "Guides": [
        "pytest.md", "python.md", "without-sleeps.md", "faults.md", "chaos.md", "guarantees.md", "transactions.md",
        "consumer-groups.md", "share-groups.md", "streams-groups.md", "nodes.md", "security.md", "quotas.md",
        "registry.md", "page.md", "proxy.md", "incident.md", "docker.md", "launcher.md", "binary.md", "java.md",
        "go.md", "rust.md", "typescript.md", "examples.md", "conformance.md", "anomalies.md", "pipeline.md", "spark.md",
    ],
    "Reference": [
        "serve.md", "cli.md", "control.md", "journal.md", "limits.md", "coverage.md", "profiles.md", "as-version.md",
        "releases.md", "compatibility.md", "public.md", "reference/stub.md", "reference/parts.md", "reference/views.md",
        "reference/errors.md", "reference/http.md",
    ],
    "Explanation": [
        "fidelity.md", "differential.md", "kips.md", "clients.md", "programs.md", "logs.md", "performance.md",
        "architecture.md", "contributing.md", "style.md", "reporting.md",
    ],
}  # fmt: skip
"""A page that is not named here, because it is new, comes last."""


def navigation(pages: Collection[str]) -> list[dict[str, Any]]:
    """As mkdocs wants it, with the pages that there are."""
    named = {page for section in ORDER.values() for page in section}
    found = {title: [page for page in section if page in pages] for title, section in ORDER.items()}
    found["Explanation"] += sorted(page for page in pages if page.endswith(".md") and page not in named)
    return [{title: section} for title, section in found.items()]
