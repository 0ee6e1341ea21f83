"""The whole of a stub at one moment, in time or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from kafkastub.printable import printable
from kafkastub.stub.errors import StubError
from kafkastub.stub.inventory import cluster
from kafkastub.stub.inventory.groups import group_tables
from kafkastub.stub.inventory.journal import requests_since
from kafkastub.stub.inventory.tables import Inventory, Table, cell, moment

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.faults import StubFaults
    from kafkastub.stub.journal import KeptJournal
    from kafkastub.stub.runner import Runner
    from kafkastub.views.records import Stretch

T = TypeVar("T")

_ACTS: Final = 100
"""Things that chaos has done: the last ones."""
_LONGEST: Final = 4000
"""Characters of the configuration."""
_OF_ITSELF: Final = frozenset(
    ("node.id", "broker.id", "process.roles", "listeners", "advertised.listeners", "controller.listener.names",
     "controller.quorum.voters", "min.insync.replicas")
)  # fmt: skip
"""Configuration that every broker has without anybody choosing it."""


def in_time(work: Callable[[], T], seconds: float) -> T:
    """What `work` gives, in a thread of its own; that is left behind where it takes longer.

    Raises TimeoutError, and what `work` raises.
    """
    found: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # is raised where it is waited for
            raised.append(error)

    thread = threading.Thread(target=run, name="kafkastub-inventory", daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not found:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return found[0]


def taken(
    runner: Runner, kept: KeptJournal, faults: StubFaults | None, chaos: StubChaos | None, began: datetime
) -> Inventory:
    """What a stub has now; of its journal what was asked since then. Of one that was closed, the journal alone.

    It waits as long as the stub makes it wait: see `in_time`.
    """
    try:
        broker = runner.running()
        journal = [requests_since(kept.reader, began)] if kept.ring is not None else []
        return _whole(runner, broker, journal, faults, chaos)
    except StubError:
        return journal_alone(kept, began, "it was closed: its journal is all that is left")


def journal_alone(kept: KeptJournal, began: datetime, note: str) -> Inventory:
    """What was asked of a stub that cannot be asked any more, or does not answer: read from any thread."""
    journal = []
    if kept.ring is not None:
        from kafkastub.journal import Journal

        journal = [requests_since(Journal(kept.ring, lambda work: work(), kept.topic_name), began)]
    return Inventory(datetime.now(UTC), (), tuple(one for one in journal if one.rows), note)


def _whole(
    runner: Runner, broker: Broker, journal: list[Table], faults: StubFaults | None, chaos: StubChaos | None
) -> Inventory:
    loading = broker.state.groups.loading is not None

    def in_thread() -> tuple[tuple[tuple[str, str], ...], list[Table], tuple[list[Stretch], int]]:
        groups = [] if loading else group_tables(broker)
        tables = [*groups, *cluster.transactions(broker), *cluster.topics(broker), cluster.nodes(broker)]
        return _facts(broker), tables, cluster.last_stretches(broker)

    facts, tables, stretches = runner.call(in_thread)
    trouble = [] if faults is None else cluster.faults(faults)
    if chaos is not None and chaos.seed is not None:
        stopped = "" if chaos.running else ", stopped"
        facts += (("chaos", f"{chaos.told(0)}{stopped}"),)
        trouble.append(_acts(chaos))
    every = [*journal, *trouble, *tables, cluster.records(stretches)]
    note = "the group coordinator is being loaded: its groups cannot be told" if loading else ""
    return Inventory(datetime.now(UTC), facts, tuple(one for one in every if one.rows), note)


def _facts(broker: Broker) -> tuple[tuple[str, str], ...]:
    frozen = ", stands still" if broker.clock.frozen else ""
    ahead = broker.clock.broker_ms() - broker.clock.wall_ms()
    expired = broker.state.meters()["offset-expirations"]
    given = _configured(broker)
    release = broker.config["kafkastub.as.version"]
    return (
        ("listens on", broker.bootstrap_servers),
        ("broker time", moment(broker.clock.broker_ms()) + " UTC" + frozen),
        ("profile", broker.config.profile.name),
        *((("as version", cell(release)),) if release else ()),
        *((("configured", printable(given, _LONGEST)),) if given else ()),
        *((("ahead of the machine's clock", str(timedelta(seconds=round(ahead / 1000)))),) if abs(ahead) > 999 else ()),
        *((("expired meanwhile", f"offset-expirations {expired}"),) if expired else ()),
    )


def _configured(broker: Broker) -> str:
    """Return the configuration that differs from the default: names with values; of secrets the name alone."""
    from kafkastub.state.configs.entries import broker_entries

    config = broker.config
    given = {**config.static, **config.dynamic_default, **config.dynamic_broker}
    values = {one.name: one.value for one in broker_entries(config) if one.name in given}
    return ", ".join(f"{name}={values.get(name) or '…'}" for name in given if name not in _OF_ITSELF)


def _acts(chaos: StubChaos) -> Table:
    done = chaos.acts
    rows = tuple((str(one.number), cell(one.what)) for one in done[-_ACTS:])
    return Table("what chaos has done", ("no", "what"), rows, max(0, len(done) - _ACTS), newest=True)
