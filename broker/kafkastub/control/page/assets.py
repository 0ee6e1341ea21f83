"""The files of the page, read once, when they are first asked for: starting a broker reads none of them."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

INDEX: Final = "index.html"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may do: run and show its own files, and ask where it came from. No markup of a record can do more."""
SAFE: Final = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "md": "text/plain; charset=utf-8",
}
_WORTH_IT: Final = 1024
"""Bytes from which a file is sent packed."""


class Asset(NamedTuple):
    """A file as it is sent.

    Attributes:
        packed: the same by gzip; None where that saves nothing.
        tag: its ETag; another one where the content is another.
    """

    content: bytes
    packed: bytes | None
    media_type: str
    tag: str


class Assets:
    """The files by their path below `static/`."""

    def __init__(self, filled: Callable[[], Mapping[str, str]]) -> None:
        """`filled` says what stands in the index for `{{name}}`, each of it plain letters, digits, `-` and `_`."""
        self._filled = filled
        self._known: dict[str, Traversable] | None = None
        self._read: dict[str, Asset] = {}

    def get(self, path: str) -> Asset | None:
        """The file, None where there is none of that name. Only names that are there are ever opened."""
        asset = self._read.get(path)
        if asset is None:
            if self._known is None:
                self._known = dict(_below(files(__package__) / "static"))
            if path not in self._known:
                return None
            asset = self._read[path] = self._made(path, self._known[path].read_bytes())
        return asset

    def _made(self, path: str, content: bytes) -> Asset:
        if path == INDEX:
            for name, value in self._filled().items():
                content = content.replace(b"{{" + name.encode() + b"}}", value.encode())
        packed = gzip.compress(content, 6, mtime=0) if len(content) >= _WORTH_IT else None
        media_type = _TYPES.get(path.rpartition(".")[2], "text/plain; charset=utf-8")
        return Asset(content, packed, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _below(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, f"{before}{each.name}/")
        else:
            yield before + each.name, each
