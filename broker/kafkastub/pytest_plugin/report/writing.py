"""HTML of tables, as much of it as there is room for. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from re import sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkastub.stub.inventory import Inventory, Table

_SHARE: Final = 0.6
"""Of the room that is left, what one table may take."""
_AROUND: Final = 2_000
"""Bytes for a table's beginning and end."""


def html_text(text: str) -> str:
    """Text as HTML; lone surrogates, which no file can have, as their escapes."""
    return escape(text.encode(errors="backslashreplace").decode())


def size(text: str) -> int:
    """Bytes in the file."""
    return len(text.encode())


class Room:
    """How many bytes may still be written, in `whole` or a part of it."""

    def __init__(self, left: int, whole: Room | None = None) -> None:
        self.left = left
        self._whole = whole

    def part(self, parts: int) -> Room:
        """One of so many parts of what is left. What is taken there is taken here."""
        return Room(self.left // parts, self)

    def take(self, piece: str) -> str:
        """The same piece, which has to be written."""
        self._use(size(piece))
        return piece

    def _use(self, count: int) -> None:
        self.left -= count
        if self._whole is not None:
            self._whole._use(count)


def cut(text: str, most: int) -> str:
    """A long text's beginning and end, escaped, in so many bytes at most."""
    whole = html_text(text)
    if size(whole) <= most:
        return whole
    half = max(0, most // 12)  # a character takes six bytes at most: &quot;
    left_out = f"… {len(text) - 2 * half} characters are left out here …"
    return f"{html_text(text[:half])}\n\n{left_out}\n\n{html_text(text[-half:])}"


def anchor(number: int, name: str) -> str:
    """Where the table of that name of that stub is, for links within the page."""
    return f"stub-{number}-{sub('[^a-z0-9]+', '-', name.lower())}"


def inventory(found: Inventory, room: Room, number: int = 0) -> str:
    """The stub of that number in the page: facts and tables, the first ones with more of the room."""
    pieces = []
    if found.note:
        pieces.append(room.take(f'<p class="note">{html_text(found.note)}</p>\n'))
    if found.facts:
        facts = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in found.facts)
        pieces.append(room.take(f"<dl>{facts}</dl>\n"))
    for one in found.tables:
        pieces.append(table(one, room, anchor(number, one.name)))
    return "".join(pieces)


def table(one: Table, room: Room, place: str) -> str:
    """Its heading and rows; of those for which there is no room it says how many they are."""
    if room.left < 2 * _AROUND:
        return room.take(f'<h3 id="{place}">{html_text(one.name)}</h3><p>left out: this file would be too large</p>\n')
    here = Room(int((room.left - _AROUND) * _SHARE))
    rows: list[str] = []
    order = range(len(one.rows))
    for number in reversed(order) if one.newest else order:
        written = _row(one.rows[number], one.marks[number] if one.marks else "", one.folded)
        if size(written) > here.left:
            break
        rows.append(here.take(written))
    if one.newest:
        rows.reverse()
    heads = "".join(f"<th>{html_text(name)}</th>" for name in one.columns)
    piece = (
        f'<h3 id="{place}">{html_text(one.name)}</h3>\n{_left_out(one, len(one.rows) - len(rows))}'
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>\n{"".join(rows)}</tbody></table></div>\n'
    )
    return room.take(piece)


def _left_out(one: Table, for_room: int) -> str:
    which = "older ones" if one.newest else "ones"
    said = []
    if one.left_out:
        said.append(f"{one.left_out} {which}" if one.left_out > 0 else f"more {which}")
    if for_room:
        said.append(f"{for_room} {which} for which there is no room in this file")
    return f'<p class="note">left out: {html_text(" and ".join(said))}</p>\n' if said else ""


def _row(cells: Sequence[str], mark: str, folded: Iterable[int]) -> str:
    tag = f'<tr class="{html_text(mark)}">' if mark else "<tr>"
    written = (_cell(text, number in folded) for number, text in enumerate(cells))
    return f"{tag}{''.join(written)}</tr>\n"


def _cell(text: str, folded: bool) -> str:
    if folded and len(text) > 40:
        return f"<td><details><summary>{html_text(text[:36])}…</summary>{html_text(text)}</details></td>"
    return f"<td>{html_text(text)}</td>"
