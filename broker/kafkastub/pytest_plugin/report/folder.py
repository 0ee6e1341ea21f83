"""The directory of the reports: whether it can be written, names of files, what an earlier run has left."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Final

import pytest

BEGINNING: Final = "<!doctype html>\n<!-- a report of kafkastub -->\n"
"""Of each file: by it those of an earlier run are known."""
INDEX: Final = "index.html"
_OURS: Final = re.compile(r".*-[0-9a-f]{12}\.html")
_READABLE: Final = 80
"""Characters of a file's name that are of the test's; with the rest it is far from the 255 that file systems have."""


def prepare(folder: Path) -> None:
    """Make it, and take away what an earlier run has written there. Raises pytest.UsageError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if (folder / INDEX).exists() and not _is_ours(folder / INDEX):
            raise pytest.UsageError(
                f"--kafka-stub-report {folder}: kafkastub did not write its {INDEX}, and would overwrite it; "
                "give another directory"
            )
        for found in folder.iterdir():
            if (found.name == INDEX or _OURS.fullmatch(found.name)) and found.is_file() and _is_ours(found):
                found.unlink()
    except OSError as error:
        raise pytest.UsageError(f"--kafka-stub-report {folder}: cannot be written: {error.strerror or error}") from None


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING.encode()


def file_name(node_id: str) -> str:
    """Of a test: what can be read of its name, and a digest by which it is its own on any file system."""
    readable = re.sub(r"[^a-zA-Z0-9._-]+", "-", node_id.rpartition("/")[2])[:_READABLE].strip("-.")
    digest = hashlib.sha256(node_id.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{readable or 'test'}-{digest}.html"


def write(path: Path, text: str) -> None:
    """Whole or not at all: somebody may be reading. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
