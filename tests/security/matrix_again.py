"""The ACL matrix a second and a third time: an entry is deleted between two requests of one connection, and comes back.

Every request of the matrix is asked while everything is allowed, without the entry that allows everything with topics
(groups, the cluster, transactional ids), and with it again. Whatever goes on over several requests (`going`) is asked
so, too, and around an entry that denies one operation with one thing. What Apache Kafka answered is in
`acl_matrix_again.json`; `python -m tests.security.matrix_again` records it anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.header import is_flexible, response_header_size
from kafkawire.schema import Message
from tests.oracle.apache_kafka import ApacheKafka
from tests.security.going import GOING, FetchThatWaits, Told
from tests.security.matrix import NAMES, OTHER, SEEN, SUBJECT, acl_sets, cells
from tests.security.matrix_player import CONFIG, Player, decoded

RECORDED: Final = Path(__file__).with_name("acl_matrix_again.json")
EVERYTHING: Final = dict(acl_sets())["everything"]
CHANGES_TOPICS: Final = frozenset((ApiKey.DELETE_TOPICS, ApiKey.METADATA))
"""After these the topics that they delete or make are to be looked after."""
DENIED: Final = (
    (ResourceType.TOPIC, Operation.READ),
    (ResourceType.TOPIC, Operation.WRITE),
    (ResourceType.TOPIC, Operation.DESCRIBE),
    (ResourceType.GROUP, Operation.READ),
    (ResourceType.TRANSACTIONAL_ID, Operation.WRITE),
)
_TRIES: Final = 20
Recorded = dict[str, dict[str, Any]]
"""Title -> change -> what was told each time."""


def changes() -> Iterator[tuple[str, list[Acl]]]:
    """(name, entries while it lasts) of what changes between two requests, and is taken back."""
    for kind in NAMES:
        yield f"without {kind.name.lower()}", [one for one in EVERYTHING if one.resource_type != kind]


def denials() -> Iterator[tuple[str, list[Acl]]]:
    """The same: one operation is denied, with one of the topics, or with all groups or transactional ids."""
    for kind, operation in DENIED:
        name = SEEN if kind == ResourceType.TOPIC else "*"
        deny = Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", SUBJECT, operation, Permission.DENY)
        yield f"denied {kind.name.lower()} {operation.name}", [*EVERYTHING, deny]


class PlayerAgain(Player):
    """Plays everything three times."""

    @property
    def ids(self) -> dict[str, bytes]:
        return {name: self._ids[name] for name in (SEEN, OTHER)}

    def again(self) -> Recorded:
        """Everything, from a broker that is new."""
        self._prepare()
        self._give(EVERYTHING)
        found: Recorded = {}
        for name, entries in changes():
            self._renew_pets()
            for number, cell in enumerate(cells(self._ids)):
                told = self._three_times(entries, lambda number=number, key=cell.key: self._cell(number, key))  # type: ignore[misc]
                found.setdefault(cell.title, {})[name] = told
        for title, make in GOING.items():
            for name, entries in [*changes(), *denials()]:
                going = make(self)
                going.begin()
                found.setdefault(title, {})[name] = self._three_times(entries, going.again)
                going.end()
        for name, entries in changes():
            found.setdefault("fetch that waits", {})[name] = [self._let_go(entries)]
        return found

    def _let_go(self, entries: list[Acl]) -> Told:
        """What a fetch is told that waited while the entries changed. Nothing says when it waits: it is tried anew
        where the broker may have seen it too late.
        """
        for _ in range(_TRIES):
            let_go = FetchThatWaits(self).waiting()
            self._give(entries)
            told = let_go()
            self._give(EVERYTHING)
            if not any(code for code, _ in told[1].values()):
                break
        return told

    def _three_times(self, entries: list[Acl], ask: Callable[[], Any]) -> Told:
        told = [ask()]
        self._give(entries)
        told.append(ask())
        self._give(EVERYTHING)
        told.append(ask())
        return told

    def _cell(self, number: int, key: ApiKey) -> Any:
        if key in CHANGES_TOPICS:
            self._renew_pets()
        cell = cells(self._ids)[number]
        return self._ask(cell.key, cell.version, cell.request)

    # What goes on asks so.

    def subject(self, key: ApiKey, version: int, request: Message) -> Any:
        return decoded(key, version, self._subject.exchange(key, version, encode(request, version)))

    def admin(self, key: ApiKey, version: int, request: Message) -> Any:
        return self._admin_ask(key, version, request)

    def send(self, key: ApiKey, version: int, request: Message) -> Callable[[], Any]:
        flexible = is_flexible(type(request), version)
        self._subject.send(key, version, encode(request, version), flexible)

        def answer() -> Any:
            whole = self._subject.receive()
            assert whole is not None
            return decoded(key, version, whole[response_header_size(key, True) :])

        return answer


def recorded() -> Recorded:
    found: Recorded = json.loads(RECORDED.read_text())
    return {title: {name: _told(texts) for name, texts in each.items()} for title, each in found.items()}


def _told(texts: Any) -> Any:
    """What is the same each time is written once."""
    return [texts["always"]] * 3 if isinstance(texts, dict) else texts


def differences(got: Recorded) -> dict[tuple[str, str], Any]:
    """(title, change) -> (recorded, told now)."""
    expected, now = recorded(), json.loads(json.dumps(got))
    keys = {(title, name) for found in (expected, now) for title, each in found.items() for name in each}
    pairs = {key: (expected.get(key[0], {}).get(key[1]), now.get(key[0], {}).get(key[1])) for key in keys}
    return {key: pair for key, pair in sorted(pairs.items()) if pair[0] != pair[1]}


def main() -> None:
    with ApacheKafka(config=CONFIG) as kafka:
        player = PlayerAgain(kafka.bootstrap_servers)
        try:
            found = player.again()
        finally:
            player.close()
    lines = []
    for title, each in found.items():
        short = {
            name: {"always": told[0]} if len(told) == 3 and told[0] == told[1] == told[2] else told
            for name, told in each.items()
        }
        inner = ",\n".join(f" {json.dumps(name)}: {json.dumps(told, sort_keys=True)}" for name, told in short.items())
        lines.append(f"{json.dumps(title)}: {{\n{inner}\n}}")
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
