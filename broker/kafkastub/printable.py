"""Texts that a client has sent, as people are shown them: in part, on one line, without codes of a terminal."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 500
"""Characters of one field of a log line."""


def printable(text: str, most: int = LONGEST) -> str:
    """The text; of a long one its beginning and its length. What cannot be printed is escaped."""
    if len(text) > most:
        text = f"{text[:most]}… ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "replace").decode() for one in text)
