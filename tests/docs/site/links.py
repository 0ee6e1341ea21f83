"""Links and anchors of Markdown, as the pages on the web where it is read have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

FENCE: Final = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"(<(?:a|img|source)\b[^<>]*\b(?:href|src|srcset)=\")([^\"]+)")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *#* *$", re.MULTILINE)
_EXPLICIT: Final = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")


def prose(text: str) -> str:
    """The same without blocks of code, in which nothing is a link or a heading."""
    return FENCE.sub("", text)


def links(text: str) -> Iterator[str]:
    """Where its links and pictures lead, those in HTML too."""
    plain = _CODE.sub("`code`", prose(text))
    for match in LINK.finditer(plain):
        yield match[3]
    for match in _ATTRIBUTE.finditer(plain):
        yield match[2]


def relinked(text: str, change: Callable[[str, str, str], str]) -> str:
    """Each link is what `change` makes of its mark ("!" of a picture), its text, and where it leads."""
    return in_prose(text, lambda piece: LINK.sub(lambda found: change(found[1], found[2], found[3]), piece))


def resourced(text: str, lead: Callable[[str], str | None]) -> str:
    """Links and pictures in HTML lead where `lead` says; None lets one be."""
    return in_prose(text, lambda piece: _ATTRIBUTE.sub(lambda found: found[1] + (lead(found[2]) or found[2]), piece))


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """The same, where all that is no block of code is what `change` makes of it."""
    done, pieces = 0, []
    for block in FENCE.finditer(text):
        pieces += [change(text[done : block.start()]), block[0]]
        done = block.end()
    return "".join([*pieces, change(text[done:])])


def anchors(text: str) -> set[str]:
    """Of its headings, as GitHub and the site name them; and those that stand there in HTML."""
    found: set[str] = set()
    for heading in _HEADING.findall(prose(text)):
        name = anchor(heading)
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.add(unique)
    return found | set(_EXPLICIT.findall(text))


def anchor(heading: str) -> str:
    """Of a heading: lower case, without punctuation, a hyphen for each blank."""
    plain = LINK.sub(lambda found: found[2], heading)
    plain = re.sub(r"[`*]|<[^>]+>", "", plain)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
