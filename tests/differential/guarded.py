"""Random groups, records and transactions whose permissions come and go between two requests. Fresh brokers only.

Everybody may do everything, but for what an entry of the scenario denies: to read a group or a topic, to write into a
topic, or by a transactional id, and so on. Where groups and transactions are watched, Describe on them is never denied.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import Ask
from kafkastub_conformance.differential.committing import TRANSACTIONAL_ID as COMMITTING_TRANSACTION
from kafkastub_conformance.differential.consumers import ConsumersGenerator
from kafkastub_conformance.differential.data import DataGenerator
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import GROUPS, Script
from kafkastub_conformance.differential.share_groups import TRANSACTIONAL_ID as SHARE_TRANSACTION
from kafkastub_conformance.differential.share_groups import ShareGenerator
from kafkastub_conformance.differential.transactional import IDS
from kafkastub_conformance.differential.transactions import GROUPS as COMMITTING
from kafkastub_conformance.differential.transactions import TransactionsGenerator
from tests.differential.access import ANYTHING

STEPS: Final = 40
EVERYBODY: Final = "User:ANONYMOUS"
TOPIC, GROUP, CLUSTER, TRANSACTION = 2, 3, 4, 5
ALL, READ, WRITE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS = 2, 3, 4, 6, 7, 8, 10, 11
DENY, ALLOW = 2, 3
VERSION: Final = 3
"""Of the requests that change entries."""


def allow_all(ask: Ask) -> None:
    """Everything is allowed, and nothing denied: for the time between two scenarios."""
    ask("DeleteAcls", {"filters": [ANYTHING]})
    names = {TOPIC: "*", GROUP: "*", TRANSACTION: "*", CLUSTER: "kafka-cluster"}
    ask("CreateAcls", {"creations": [_entry(kind, name, ALL, ALLOW) for kind, name in names.items()]})


def _entry(kind: int, name: str, operation: int, permission: int) -> Json:
    return {
        "resource_type": kind,
        "resource_name": name,
        "resource_pattern_type": 3,
        "principal": EVERYBODY,
        "host": "*",
        "operation": operation,
        "permission_type": permission,
    }


class Permissions:
    """What is denied by now."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._denied: list[tuple[int, str, int]] = []

    def change(self, things: list[tuple[int, str, int]], pick: Callable[[list[int]], int]) -> None:
        """One of these is denied, or one that was is not any more."""
        gone = pick([0, 1, 1]) if self._denied else 0
        some = self._denied if gone else [one for one in things if one not in self._denied]
        if some:
            one = some[pick(list(range(len(some))))]
            (self._allow if gone else self._deny)(one)

    def _deny(self, one: tuple[int, str, int]) -> None:
        self._denied.append(one)
        self._play.ask("a1", "CreateAcls", VERSION, {"creations": [_entry(*one, DENY)]}, settle=True)

    def _allow(self, one: tuple[int, str, int]) -> None:
        self._denied.remove(one)
        kind, name, operation = one
        body = ANYTHING | {
            "resource_type_filter": kind,
            "resource_name_filter": name,
            "pattern_type_filter": 3,
            "operation": operation,
            "permission_type": DENY,
        }
        self._play.ask("a1", "DeleteAcls", VERSION, {"filters": [body]}, settle=True)

    def all_back(self) -> None:
        """Nothing is denied any more."""
        for one in [*self._denied]:
            self._allow(one)


class GuardedShare(ShareGenerator):
    """Share groups, with permissions that change."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, seed)
        self.permissions = Permissions(play)

    def acts(self) -> dict[Callable[[], object], int]:
        return super().acts() | {self.permit: 30}

    def permit(self) -> None:
        """An entry comes or goes."""
        things = [(GROUP, group, READ) for group in GROUPS]
        things += [(TOPIC, topic, operation) for topic in self.topics for operation in (READ, WRITE)]
        things += [(TRANSACTION, SHARE_TRANSACTION, WRITE)] * self.transacts
        self.permissions.change(things, self.pick)

    def run(self, steps: int) -> None:
        super().run(steps)
        self.permissions.all_back()


class GuardedTransactions(TransactionsGenerator):
    """Transactions and who reads behind them, with permissions that change."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, seed)
        self.adds_first = False
        self.permissions = Permissions(play)

    def acts(self) -> dict[Callable[[], object], int]:
        return super().acts() | {self.permit: 25, self.fetch_in_session: 12}

    def permit(self) -> None:
        """An entry comes or goes."""
        things = [(GROUP, group, READ) for group in COMMITTING]
        things += [(TOPIC, topic, operation) for topic in (*self.topics, "t1") for operation in (READ, WRITE)]
        things += [(TRANSACTION, name, WRITE) for name in IDS[:2]]
        self.permissions.change(things, self.pick)

    def run(self, steps: int) -> None:
        super().run(steps)
        self.permissions.all_back()


class GuardedData(DataGenerator):
    """Topics, records and fetch sessions, with permissions that change."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, seed)
        self.permissions = Permissions(play)

    def acts(self) -> dict[Callable[[], object], int]:
        return super().acts() | {self.permit: 25, self.fetch_in_session: 30}

    def permit(self) -> None:
        """An entry comes or goes."""
        operations = (READ, READ, WRITE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)
        things = [(TOPIC, topic, operation) for topic in self.topics for operation in operations]
        self.permissions.change(things, self.pick)

    def run(self, steps: int) -> None:
        super().run(steps)
        self.permissions.all_back()


class GuardedConsumers(ConsumersGenerator):
    """Members of groups of both protocols, and what they commit, with permissions that change."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, seed)
        self.permissions = Permissions(play)

    def acts(self) -> dict[Callable[[], object], int]:
        return super().acts() | {self.permit: 25, self.commit: 20}

    def permit(self) -> None:
        """An entry comes or goes."""
        things = [(GROUP, group, READ) for group in GROUPS]
        things += [(TOPIC, topic, operation) for topic in ("t1", "t2", "t3") for operation in (READ, DESCRIBE)]
        things += [(TRANSACTION, COMMITTING_TRANSACTION, WRITE)] * self.transacts
        self.permissions.change(things, self.random.choice)

    def run(self, steps: int) -> None:
        super().run(steps)
        self.permissions.all_back()


def guarded_share_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    watched = (SHARE_TRANSACTION,) if seed % 3 == 0 else ()
    run = partial(_run, GuardedShare, seed, steps)
    return Script(f"guarded-share-{seed}", run, GROUPS, "guarded-share", watched, share_groups=GROUPS)


def guarded_transactions_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    run = partial(_run, GuardedTransactions, seed, steps)
    return Script(f"guarded-transactions-{seed}", run, COMMITTING, "guarded-transactions", IDS[:2])


def guarded_data_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(f"guarded-data-{seed}", partial(_run, GuardedData, seed, steps), (), "guarded-data")


def guarded_consumer_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    watched = (COMMITTING_TRANSACTION,) if seed % 4 == 0 else ()
    run = partial(_run, GuardedConsumers, seed, steps)
    return Script(f"guarded-consumer-{seed}", run, GROUPS, "guarded-consumer", watched, consumer_groups=GROUPS)


def _run(generator: Callable[[Play, int], Any], seed: int, steps: int, play: Play) -> None:
    generator(play, seed).run(steps)


GUARDED_SCRIPTS: Final[dict[str, Callable[..., Script]]] = {
    "guarded-share": guarded_share_script,
    "guarded-transactions": guarded_transactions_script,
    "guarded-data": guarded_data_script,
    "guarded-consumer": guarded_consumer_script,
}
"""By kind."""
