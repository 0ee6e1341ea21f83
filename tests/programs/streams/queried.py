"""Interactive queries of a table on two instances, with standbys that the broker gives them."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from tests.programs.judging import same
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Row, Stage
from tests.programs.streams.application import Application
from tests.programs.streams.grouped import AT_LEAST_ONCE, configured
from tests.waiting import until

PARTITIONS: Final = 4
KEYS: Final = 400
VALUES: Final = 5
"""Of each key; the last one counts."""


class Instance:
    """An instance, and what it answers at its application.server."""

    def __init__(self, application: Application) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{one.getsockname()[1]}"
        self.process: Running = application.start(num_stream_threads=1, application_server=self.address)

    def ask(self, *path: str) -> Any:
        """The answer as JSON; None while there is none."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/{'/'.join(path)}", timeout=10) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None


def _wait_for_shares(instances: Sequence[Instance], standbys: int) -> None:
    """Until each instance knows that all of them have the same number of partitions."""
    share = [PARTITIONS // len(instances), standbys]
    wanted = {one.address: share for one in instances}
    until(lambda: all(one.ask("instances") == wanted for one in instances), lambda: _told(instances, wanted), SECONDS)


def _told(instances: Sequence[Instance], wanted: object) -> str:
    return f"{wanted}; found {[one.ask('instances') for one in instances]}"


def _found(instances: Sequence[Instance], asked: Instance, keys: Sequence[str]) -> dict[str, str]:
    """Every key's value, from the instance that `asked` names."""
    places = asked.ask("where", *keys) or {}
    rows = {one.address: one.ask("active") or {} for one in instances}
    return {key: rows.get(active, {}).get(key) for key, (active, _) in places.items()}


def _of_standbys(instances: Sequence[Instance], keys: Sequence[str]) -> dict[str, str]:
    """Every key's value from the standby that is named for it."""
    places = instances[0].ask("where", *keys) or {}
    rows = {one.address: (one.ask("all") or {}, one.ask("active") or {}) for one in instances}
    found = {}
    for key, (_, standbys) in places.items():
        for everything, active in (rows[standby] for standby in standbys):
            if key not in active:
                found[key] = everything.get(key)
    return found


def _until(found: Callable[[], object], wanted: object, line: str) -> str:
    """Stores are closed for a moment when tasks move: the line, once it is so."""
    until(lambda: found() == wanted, lambda: f"{line}; found {str(found())[:500]}", SECONDS)
    return line


def table(stage: Stage) -> Iterator[str]:
    """Ask both; kill one, ask the other, which had all as standbys; start a third."""
    source = stage.create(stage.name("prices"), PARTITIONS)
    keys = [f"key-{number}" for number in range(KEYS)]
    expected = dict.fromkeys(keys, f"value {VALUES - 1}")
    rows: list[Row] = [(0, key, f"value {number}") for number in range(VALUES) for key in keys]
    stage.fill(source, rows, partitioner="murmur2")  # as Kafka Streams looks for a key
    application = Application(stage, "table", source, settings=AT_LEAST_ONCE)
    configured(stage, application.group, num_standby_replicas=1)
    instances = [Instance(application), Instance(application)]
    _wait_for_shares(instances, standbys=2)
    yield "two instances, each with two active tasks and two standbys"
    until(lambda: all(one.ask("all") == expected for one in instances), "all keys on both", SECONDS)
    for asked in instances:
        _until(partial(_found, instances, asked, keys), expected, f"each key where {asked.address} says that it is")
    yield f"{KEYS} keys: each has its value at the instance that either of them names"
    yield _until(partial(_of_standbys, instances, keys), expected, "and at the one that is named for its standby")
    first, second = instances
    before = second.ask("restored")
    first.process.kill()
    _wait_for_shares([second], standbys=0)
    yield "one killed: the other has four active tasks"
    yield _until(partial(_found, [second], second, keys), expected, "it has the value of each key")
    yield same(second.ask("restored") - before, 0, "from its standbys: it has restored nothing more")
    third = Instance(application)
    _wait_for_shares([second, third], standbys=2)
    yield "a third instance: two active tasks and two standbys each"
    both = [second, third]
    yield _until(partial(_found, both, third, keys), expected, "each key has its value where the third says that it is")
    yield _until(partial(_of_standbys, both, keys), expected, "and where its standby is")
