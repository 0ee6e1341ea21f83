"""What a failing test's report says of its brokers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kafkastub.handlers.not_served import NOT_SERVED
from kafkastub.handlers.offers import OFFERS
from kafkastub.pytest_plugin.names import name_of
from kafkastub.stub.inventory import in_time
from kafkastub.stub.started import STARTED

if TYPE_CHECKING:
    from kafkastub import KafkaStub

_MOST: Final = 5
"""Brokers of which the requests are shown: those that were started last."""

_SECONDS = 5.0
"""For a broker to say what it was asked."""

_ACTS: Final = 20
"""Things that chaos has done, of each broker: the last ones."""


def of_brokers(fixtures: Mapping[KafkaStub, str], began: datetime, count: int) -> list[tuple[str, str]]:
    """The sections of a test that began then: what its brokers do not serve, and the last `count` requests of each.

    These are all that have lived meanwhile and still exist, those that the test made itself too. `fixtures` has the
    names of fixtures.
    """
    asked: dict[str, None] = {}
    sections, chaos = [], []
    for stub in list(STARTED):
        name = name_of(stub, fixtures)
        try:
            refused, last, told = in_time(partial(_of_one, stub, began, count), _SECONDS)
        except TimeoutError as error:  # it hangs, and must not hang the tests
            sections.append((f"last requests of {name}", f"it does not answer: {error}"))
            continue
        asked.update(dict.fromkeys(refused))
        if last:
            sections.append((f"last requests of {name}", "\n".join(last)))
        if told:
            chaos.append((f"chaos of {name}", told))
    sections += chaos
    said = [("requests that kafkastub does not serve", "\n".join(asked))] if asked else []
    return said + sections[-_MOST:]


def _of_one(stub: KafkaStub, began: datetime, count: int) -> tuple[list[str], list[str], str]:
    """What it does not serve and was asked for, its last requests, and its chaos."""
    refused: list[str] = []
    last: list[str] = []
    try:
        journal = stub.journal
        refused = list(_not_served(journal, began))
        last = [str(entry) for entry in journal.tail(count) if entry.wall_time >= began] if count > 0 else []
    except RuntimeError:  # it keeps none, or its process has gone
        pass
    return refused, last, vars(stub)["chaos"].told(_ACTS) if "chaos" in vars(stub) and _lived(stub, began) else ""


def _lived(stub: KafkaStub, began: datetime) -> bool:
    """Whether it runs, or was asked something since then: one of an earlier test may still be there, in a traceback."""
    from kafkastub.stub.snapshots import is_running

    try:
        return is_running(stub._thread) or any(entry.wall_time >= began for entry in stub.journal.tail(1))
    except RuntimeError:  # it keeps no journal
        return False


def _not_served(journal: Any, began: datetime) -> Iterator[str]:
    """A line a client and API."""
    for key, (code, _) in NOT_SERVED.items():
        for entry in journal.requests(api=key.camel):
            if entry.wall_time >= began:
                yield f"{_who(entry)} asked for {key.camel}, which kafkastub does not serve yet: answered {code.name}"
    for entry in journal.requests(outcome="refused"):
        api = OFFERS.get(entry.api_key)
        if entry.wall_time < began or (api is not None and api.first <= entry.api_version <= api.last):
            continue
        what = f"{entry.api} v{entry.api_version}"
        yield f"{_who(entry)} asked for {what}, which kafkastub does not serve: the connection was closed"


def _who(entry: Any) -> str:
    sender = entry.sender
    software = "" if sender.software_name == "unknown" else f" ({sender.software_name} {sender.software_version})"
    return f"client {entry.client_id or sender.peer}{software}"
