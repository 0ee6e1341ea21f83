"""Java's properties file format (``java.util.Properties.load``), as server.properties is written in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def load_properties(path: str | Path) -> dict[str, str]:
    """The keys and values of a properties file; a key given twice has its last value.

    UTF-8 (which Java reads as Latin-1; server.properties is ASCII in practice). Raises ConfigError with one sentence
    where the file can't be read or has a broken escape.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is a slow import
            text = file.read()
    except OSError as error:
        raise ConfigError(f"configuration file {path} can't be read: {error.strerror}") from error
    try:
        return parse_properties(text)
    except ConfigError as error:
        raise ConfigError(f"configuration file {path} is refused: {error}") from None


def parse_properties(text: str) -> dict[str, str]:
    """The same for a text."""
    result = {}
    for line in _logical_lines(text):
        key, value = _split(line)
        result[_unescape(key)] = _unescape(value)
    return result


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without blank and comment lines, a line that ends in an odd number of backslashes joined to the next."""
    pending: str | None = None
    for natural in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        stripped = natural.lstrip(_BLANK)
        if pending is None:
            if not stripped or stripped[0] in "#!":
                continue
            line = stripped
        else:
            line = pending + stripped
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            pending = line[:-1]
        else:
            pending = None
            yield line
    if pending:
        yield pending


def _split(line: str) -> tuple[str, str]:
    """Key and value, still escaped: the key ends at the first ``=``, ``:`` or blank that is not escaped."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANK:
        end += 2 if line[end] == "\\" else 1
    key, rest = line[:end], line[end:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return key, rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    result: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char != "\\" or index >= len(text):
            if char != "\\":
                result.append(char)
            continue
        char = text[index]
        index += 1
        if char == "u":
            digits = text[index : index + 4]
            if len(digits) < 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
                raise ConfigError(f"\\u{digits} is not an escape, four hexadecimal digits are expected after \\u")
            result.append(chr(int(digits, 16)))
            index += 4
        else:
            result.append(_ESCAPES.get(char, char))
    # a character outside the basic plane is written as two escapes
    return "".join(result).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
