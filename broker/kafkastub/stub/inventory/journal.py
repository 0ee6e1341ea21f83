"""The journal as a table: the newest requests with their answers."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from kafkastub.printable import printable
from kafkastub.stub.inventory.tables import LONGEST, Row, Table, cell, message, places

if TYPE_CHECKING:
    from kafkastub.journal import Journal
    from kafkastub.journal.entry import Entry
    from kafkastub.journal.extract import Member

_MOST: Final = 300
_COLUMNS: Final = ("no", "broker time", "client", "request", "about", "answer", "ms", "fault", "fields", "answered")


def requests_since(journal: Journal, began: datetime) -> Table:
    """What was asked since then, by the machine's clock: the newest of it, and what was answered."""
    part = journal.from_moment(began)
    count = len(part)
    entries = part.tail(_MOST, since=max(0, part.total - count))
    return Table(
        "journal",
        _COLUMNS,
        tuple(map(_row, entries)),
        left_out=max(0, count - len(entries)),
        marks=tuple("fault" if one.fault else "error" if _failed(one) else "" for one in entries),
        newest=True,
        folded=frozenset((8, 9)),
    )


def _failed(entry: Entry) -> bool:
    return bool(entry.error_names) or entry.outcome in ("closed", "refused", "dropped")


def _row(entry: Entry) -> Row:
    at = f"{entry.broker_time:%H:%M:%S}.{entry.broker_ms % 1000:03}"
    if entry.kind == "clock":
        return str(entry.sequence), at, "", "the clock", str(entry).partition("clock: ")[2], "", "", "", "", ""
    came = ", ".join(entry.error_names) or ("ok" if entry.outcome == "reply" else entry.outcome.replace("_", " "))
    took = "" if entry.duration_us is None else f"{entry.duration_us / 1000:.1f}"
    who = printable(entry.client_id or entry.sender.peer, LONGEST)
    what = f"{entry.api} v{entry.api_version}"
    fields, answered = message(entry.request_message), message(entry.response_message)
    return str(entry.sequence), at, who, what, _about(entry), came, took, cell(entry.fault), fields, answered


def _member(one: Member) -> str:
    return f"member {cell(one.member_id)}" + ("" if one.epoch is None else f" epoch {one.epoch}")


def _about(entry: Entry) -> str:
    told = [f"group {printable(one, LONGEST)}" for one in entry.groups[:5]]
    told += [_member(one) for one in entry.members[:2] if one.member_id]
    told += [f"transaction {cell(one.transactional_id)}" for one in entry.transactions[:3] if one.transactional_id]
    told += [places(entry.partitions, 6) or ", ".join(printable(one, LONGEST) for one in entry.topics[:6])]
    return ", ".join(filter(None, told))
