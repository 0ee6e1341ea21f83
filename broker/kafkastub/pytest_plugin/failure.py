"""What a failing test's report says of its brokers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

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

_AT_CLOSE: Final[WeakKeyDictionary[KafkaStub, list[str]]] = WeakKeyDictionary()
"""Why clients of a stub waited when an exception closed it."""


def note_causes(stub: KafkaStub) -> None:
    """Keep why the clients of a stub wait that an exception closes: afterwards nobody knows."""
    if stub in STARTED:
        with suppress(TimeoutError):
            _AT_CLOSE[stub] = in_time(partial(_causes, stub, STARTED[stub]), _SECONDS)


def _causes(stub: KafkaStub, began: datetime) -> list[str]:
    from kafkastub.stub.causes import causes_of

    try:
        return causes_of(stub, began)
    except Exception as error:  # a report that explains a failure must not become another one
        return [f"This cannot be said: {type(error).__name__}: {error}"]


def of_brokers(fixtures: Mapping[KafkaStub, str], began: datetime, count: int) -> list[tuple[str, str]]:
    """The sections of a test that began then: what its brokers do not serve, and the last `count` requests of each.

    These are all that have lived meanwhile and still exist, those that the test made itself too. `fixtures` has the
    names of fixtures.
    """
    asked: dict[str, None] = {}
    sections, chaos, why = [], [], []
    for stub in list(STARTED):
        name = name_of(stub, fixtures)
        try:
            refused, last, told, found = in_time(partial(_of_one, stub, began, count), _SECONDS)
        except TimeoutError as error:  # it hangs, and must not hang the tests
            sections.append((f"last requests of {name}", f"it does not answer: {error}"))
            continue
        asked.update(dict.fromkeys(refused))
        if found := _AT_CLOSE.pop(stub, found):
            why.append((f"why clients of {name} may wait", "\n".join(found)))
        if last:
            sections.append((f"last requests of {name}", "\n".join(last)))
        if told:
            chaos.append((f"chaos of {name}", told))
    sections += chaos
    said = [("requests that kafkastub does not serve", "\n".join(asked))] if asked else []
    return why[-_MOST:] + said + sections[-_MOST:]


def _of_one(stub: KafkaStub, began: datetime, count: int) -> tuple[list[str], list[str], str, list[str]]:
    """What it does not serve and was asked for, its last requests, its chaos, and why its clients may wait."""
    refused: list[str] = []
    last: list[str] = []
    try:
        journal = stub.journal
        refused = list(_not_served(journal, began))
        last = [str(entry) for entry in journal.tail(count) if entry.wall_time >= began] if count > 0 else []
    except RuntimeError:  # it keeps none, or its process has gone
        pass
    lived = _lived(stub, began)
    told = vars(stub)["chaos"].told(_ACTS) if "chaos" in vars(stub) and lived else ""
    return refused, last, told, _causes(stub, began) if lived else []


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
