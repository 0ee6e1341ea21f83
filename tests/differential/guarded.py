"""Random share groups and transactions whose permissions come and go between two requests. Fresh brokers only.

Everybody may do everything, but for what an entry of the scenario denies: to read a group or a topic, to write into a
topic, or by a transactional id. What the watcher asks for, Describe above all, is never denied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafkastub.conformance.differential.bodies import Json
from kafkastub.conformance.differential.broker import Ask
from kafkastub.conformance.differential.play import Play
from kafkastub.conformance.differential.script import GROUPS, Script
from kafkastub.conformance.differential.share_groups import TRANSACTIONAL_ID, ShareGenerator
from kafkastub.conformance.differential.transactional import IDS
from kafkastub.conformance.differential.transactions import GROUPS as COMMITTING
from kafkastub.conformance.differential.transactions import TransactionsGenerator
from tests.differential.access import ANYTHING

STEPS: Final = 40
EVERYBODY: Final = "User:ANONYMOUS"
TOPIC, GROUP, CLUSTER, TRANSACTION = 2, 3, 4, 5
ALL, READ, WRITE = 2, 3, 4
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
        self.permissions.change([*self._things()], self.pick)

    def _things(self) -> Iterator[tuple[int, str, int]]:
        yield from ((GROUP, group, READ) for group in GROUPS)
        yield from ((TOPIC, topic, READ) for topic in self.topics)
        yield from ((TOPIC, topic, WRITE) for topic in self.topics)
        if self.transacts:
            yield TRANSACTION, TRANSACTIONAL_ID, WRITE

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
        self.permissions.change([*self._things()], self.pick)

    def _things(self) -> Iterator[tuple[int, str, int]]:
        yield from ((GROUP, group, READ) for group in COMMITTING)
        yield from ((TOPIC, topic, operation) for topic in (*self.topics, "t1") for operation in (READ, WRITE))
        yield from ((TRANSACTION, name, WRITE) for name in IDS[:2])

    def run(self, steps: int) -> None:
        super().run(steps)
        self.permissions.all_back()


def guarded_share_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"guarded-share-{seed}",
        lambda play: GuardedShare(play, seed).run(steps),
        GROUPS,
        "guarded-share",
        (TRANSACTIONAL_ID,) if seed % 3 == 0 else (),
        share_groups=GROUPS,
    )


def guarded_transactions_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"guarded-transactions-{seed}",
        lambda play: GuardedTransactions(play, seed).run(steps),
        COMMITTING,
        "guarded-transactions",
        IDS[:2],
    )
