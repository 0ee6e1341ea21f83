"""A little help for writing Python functions as text, as `dataclasses` does."""

from __future__ import annotations

import linecache
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any


class Source:
    """Lines of one function under construction and the names that it sees."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: list[str] = []
        self.indent = 0
        self.names: dict[str, Any] = {}
        self._known: dict[Hashable, str] = {}
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.line(opening)
        self.indent += 1
        yield
        self.indent -= 1

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def constant(self, prefix: str, value: Any, key: Hashable | None = None) -> str:
        """A name for `value`; the same key gives the same name."""
        if key is not None and key in self._known:
            return self._known[key]
        name = self.fresh(prefix)
        self.names[name] = value
        if key is not None:
            self._known[key] = name
        return name

    def function(self, name: str) -> Any:
        """Compile, and keep the text where tracebacks and debuggers find it."""
        text = "\n".join(self.lines) + "\n"
        filename = f"<kafkawire {self.title}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), self.names)  # text of our own making
        return self.names[name]
