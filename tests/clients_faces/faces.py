"""Which requests each language's client can send: read from its sources, where each is a literal method and path."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

CLIENTS: Final = Path(__file__).resolve().parents[2] / "clients"

Request = tuple[str, str]
"""A method, and a path whose names are `{}`."""


def request(method: str, path: str) -> Request:
    """As faces are compared: what the names in a path are called is a matter of taste."""
    return method, re.sub(r"\{\w+\}", "{}", path)


def go() -> set[Request]:
    """Of clients/go."""
    return _called(
        r'"(GET|POST|PUT|DELETE)", (?:path|"(/[^"]*)")', r'const path = "([^"]*)"', (CLIENTS / "go").glob("*.go")
    )


def rust() -> set[Request]:
    """Of clients/rust."""
    return {
        request(method, path)
        for source in (CLIENTS / "rust" / "src").glob("*.rs")
        for method, path in re.findall(r'"(GET|POST|PUT|DELETE)",\s*"(/[^"]*)"', source.read_text())
    }


def typescript() -> set[Request]:
    """Of clients/typescript."""
    sources = (CLIENTS / "typescript" / "src").glob("*.ts")
    return _called(
        r'"(GET|POST|PUT|DELETE)", (?:path|"(/[^"]*)")', r'const path = "([^"]*)"',
        (path for path in sources if path.name != "openapi.ts"),
    )  # fmt: skip


def _called(calls: str, named: str, sources: object) -> set[Request]:
    """What `calls` finds; where it finds no path, the one that was named last before it counts."""
    found = set()
    for source in sources:  # type: ignore[attr-defined]
        text = source.read_text()
        for call in re.finditer(calls, text):
            path = call[2] or re.findall(named, text[: call.start()])[-1]
            found.add(request(call[1], path))
    return found


FACES: Final[dict[str, Callable[[], set[Request]]]] = {"go": go, "rust": rust, "typescript": typescript}
"""By folder of clients/. A language that is added is named here."""
