"""A failed test as one file, and the list of all of them. Nothing is loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.pytest_plugin.report.folder import BEGINNING
from kafkastub.pytest_plugin.report.summary import summary
from kafkastub.pytest_plugin.report.writing import Room, cut, html_text, inventory

if TYPE_CHECKING:
    from kafkastub.stub.inventory import Inventory

MOST_BYTES: Final = 2_000_000
"""Of a file."""
_OF_THE_ERROR: Final = 100_000
_PHASES: Final = {"setup": "set-up", "call": "the test itself", "teardown": "tear-down"}

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8886; --error: #d3222b; --fault: #b36b00 }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; max-width: 110rem }
h1 { font-size: 1.3rem; overflow-wrap: anywhere } h2 { margin-top: 2.5rem; border-top: 2px solid var(--line) }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .8rem; border: 1px solid var(--line) }
.wide { overflow-x: auto } table { border-collapse: collapse }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem; border-bottom: 1px solid var(--line) }
td { font: 12.5px/1.4 ui-monospace, monospace; max-width: 40rem; overflow-wrap: break-word }
details { min-width: 13rem; overflow-wrap: anywhere } th { white-space: nowrap }
tr.error td:first-child { box-shadow: inset 4px 0 var(--error) }
tr.fault td:first-child { box-shadow: inset 4px 0 var(--fault) }
tr.error { color: var(--error) } tr.fault { color: var(--fault) }
.note { font-style: italic } [hidden] { display: none }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem } dd { margin: 0 }
summary { cursor: pointer } #filter { padding: .3rem .6rem; width: 22rem; max-width: 100% }
"""
_SCRIPT: Final = """
const filter = document.getElementById("filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const wanted = filter.value.toLowerCase();
  for (const row of document.querySelectorAll("tbody tr"))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_ALLOWED: Final = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"


class Shown(NamedTuple):
    """A stub as it was when the test failed, or was closed.

    Attributes:
        name: of the fixture, or where it was.
        found: what it had; None where it could not be had.
        why: why, or of which moment that is.
    """

    name: str
    found: Inventory | None
    why: str = ""


class Failure(NamedTuple):
    """One way in which a test failed: it may fail, and its tear-down too.

    Attributes:
        phase: "setup", "call", "teardown".
        error: in one line.
        text: as pytest shows it.
        stubs: those that the test used, the last ones.
        more: how many others there were.
    """

    phase: str
    error: str
    text: str
    stubs: tuple[Shown, ...]
    more: int = 0


class Listed(NamedTuple):
    """A test in the list of all."""

    node_id: str
    phase: str
    error: str
    file: str
    stubs: int


def failed_page(node_id: str, failures: Sequence[Failure]) -> str:
    """A test that failed, in `MOST_BYTES` at most."""
    head = _head(f"{node_id[:500]} failed")
    room = Room(MOST_BYTES - 4_000)
    pieces = [room.take(head), room.take(f"<h1>{cut(node_id, 8_000)}</h1>\n"), room.take(_about())]
    stubs = [(one.name, one.found) for failure in failures for one in failure.stubs]
    errors = [(_PHASES.get(one.phase, one.phase), one.error) for one in failures]
    pieces.append(room.take(summary(errors, stubs)))
    first = 0
    for number, failure in enumerate(failures):
        pieces.append(_failure(failure, room.part(len(failures) - number), first))
        first += len(failure.stubs)
    return "".join(pieces) + f"<script>{_SCRIPT}</script>\n</body></html>\n"


def _about() -> str:
    return (
        f"<p>Written {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC. Times of the broker are its own clock's, in UTC.</p>\n"
        '<p><input id="filter" type="search" placeholder="show rows with" aria-label="show rows with" hidden></p>\n'
    )


def _failure(failure: Failure, room: Room, first: int) -> str:
    """`first`: how many stubs the page has before its ones."""
    pieces = [
        room.take(f"<h2>{html_text(_PHASES.get(failure.phase, failure.phase))} failed</h2>\n"),
        room.take(f"<pre>{cut(failure.text or failure.error, min(_OF_THE_ERROR, room.left // 4))}</pre>\n"),
    ]
    for number, one in enumerate(failure.stubs):
        share = room.part(len(failure.stubs) - number)
        why = f'<p class="note">{html_text(one.why)}</p>\n' if one.why else ""
        pieces.append(share.take(f"<h2>{html_text(one.name[:500])}</h2>\n{why}"))
        if one.found is not None:
            pieces.append(inventory(one.found, share, first + number))
    if failure.more:
        pieces.append(room.take(f'<p class="note">left out: {failure.more} stubs that were started earlier</p>\n'))
    return "".join(pieces)


def index_page(listed: Iterable[Listed]) -> str:
    """The list of all."""
    pieces = []
    for one in sorted(listed):
        link = f'<a href="{html_text(one.file)}">{html_text(one.node_id[:500])}</a>'
        phase = html_text(_PHASES.get(one.phase, one.phase))
        pieces.append(
            f"<tr><td>{link}</td><td>{phase}</td><td>{html_text(one.error[:500])}</td><td>{one.stubs}</td></tr>\n"
        )
    count = "1 failure" if len(pieces) == 1 else f"{len(pieces)} failures"
    what = f"{count} of tests that used a Kafka stub" if pieces else "No test that used a Kafka stub failed"
    heads = "<tr><th>test</th><th>where</th><th>error</th><th>stubs</th></tr>" if pieces else ""
    return (
        f"{_head('kafkastub: failed tests')}<h1>{what}</h1>\n{_about()}"
        f'<div class="wide"><table><thead>{heads}</thead><tbody>\n{"".join(pieces)}</tbody></table></div>\n'
        f"<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def _head(title: str) -> str:
    return (
        f'{BEGINNING}<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{_STYLE}</style></head><body>\n"
    )
