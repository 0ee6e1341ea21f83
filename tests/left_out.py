"""The line at the end of a run that says what this machine lacks, how many tests that left out, and how to get it."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from typing import Final

import pytest

TOOLS: Final = (
    (r"\b(java|javac|keytool)\b", "JDK 17", "apt-get install openjdk-17-jdk-headless"),
    (r"\bmvn\b", "Maven", "apt-get install maven"),
    (r"\b(go|Go toolchain)\b", "Go", "https://go.dev/dl, the version that go.mod files here name or later"),
    (r"\bkcat\b", "kcat", "apt-get install kcat"),
    (r"\bChromium\b", "Chromium", "apt-get install chromium-headless-shell"),
    (r"\b(node|npm|Node\.js)\b", "Node.js", "apt-get install nodejs npm"),
    (r"\bcargo\b", "Cargo", "https://rustup.rs"),
)
"""What the reason of a skip has in it, what is missing then, and where it is to be had."""
_MISSING: Final = re.compile(r"this machine has no |is not on the PATH|no Chromium here")


def left_out(reasons: Iterable[str]) -> str:
    """The line for tests that were skipped for these reasons; empty where no tool was missing."""
    count = 0
    missing: dict[str, str] = {}
    for reason in reasons:
        if not _MISSING.search(reason):
            continue
        found = [(name, where) for pattern, name, where in TOOLS if re.search(pattern, reason)]
        count += bool(found)
        missing.update(found[:1])
    if not count:
        return ""
    named = "; ".join(f"{name} ({where})" for name, where in sorted(missing.items()))
    return f"left out: {count} {'test' if count == 1 else 'tests'}, for which this machine lacks {named}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Behind the list of skips and failures, in front of pytest's own last line."""
    yield
    skipped = terminalreporter.getreports("skipped")
    line = left_out(one.longrepr[2] if isinstance(one.longrepr, tuple) else str(one.longrepr) for one in skipped)
    if line:
        terminalreporter.write_line(line, yellow=True)
