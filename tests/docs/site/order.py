"""Which page of the site stands where: three kinds of readers, and what all of them look up."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

Section = list[str]

ORDER: Final[dict[str, Section]] = {
    "Start": ["index.md", "installation.md", "changelog.md"],
    "Write tests": [
        "pytest.md", "java.md", "without-sleeps.md", "faults.md", "chaos.md", "guarantees.md", "journal.md", "logs.md",
        "nodes.md", "control.md", "page.md", "launcher.md", "proxy.md", "docker.md", "examples.md", "programs.md",
    ],
    "Write clients": [
        "coverage.md", "conformance.md", "differential.md", "profiles.md", "as-version.md", "releases.md", "kips.md",
        "clients.md", "transactions.md", "limits.md",
    ],
    "Operate groups": [
        "consumer-groups.md", "share-groups.md", "streams-groups.md", "cli.md", "pipeline.md", "spark.md",
        "security.md", "quotas.md", "registry.md",
    ],
    "Reference": [
        "reference/stub.md", "reference/parts.md", "reference/views.md", "reference/errors.md", "reference/http.md",
        "performance.md", "architecture.md", "contributing.md", "style.md", "reporting.md",
    ],
}  # fmt: skip
"""A page that is not named here, because it is new, comes last."""


def navigation(pages: Collection[str]) -> list[dict[str, Any]]:
    """As mkdocs wants it, with the pages that there are."""
    named = {page for section in ORDER.values() for page in section}
    found = {title: [page for page in section if page in pages] for title, section in ORDER.items()}
    found["Reference"] += sorted(page for page in pages if page.endswith(".md") and page not in named)
    return [{title: section} for title, section in found.items()]
