"""Share groups: what the check finds is what the broker has done with the records."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafkastub import KafkaProxy, KafkaStub, Verdict
from kafkastub.guarantees.files import check_journal
from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Cluster, Topic, address
from kafkastub_conformance.link import remembered
from kafkastub_conformance.sharing import ACCEPT, REJECT, RELEASE, RENEW, Sharer, acquired, another, fill, sharing
from tests.conftest import CONFIG

DELIVERIES = 3
SETTINGS: dict[str, object] = {**CONFIG, "group.share.delivery.count.limit": DELIVERIES}


@contextmanager
def asking(servers: str) -> Iterator[Broker]:
    """A client of this broker."""
    cluster = Cluster(*address(servers), "kafka")
    cluster.prepare()
    broker = Broker(cluster, "ShareFetch", 1, time.monotonic() + 60, remembered())
    try:
        yield broker
    finally:
        broker.close()
        cluster.forget_admin()


def give_up(member: Sharer) -> None:
    """Release all records each time, until they come no more. A broker gives the last deliveries one by one."""
    while rows := acquired(member.fetch()):
        assert rows[0][2] <= DELIVERIES
        member.acknowledge(*((first, last, [RELEASE]) for first, last, _ in rows))


def archived(verdict: Verdict) -> list[tuple[int, int]]:
    """The offsets that it calls archived."""
    return [one for finding in verdict.of("archived") for one in finding.offsets]


def test_what_is_released_too_often_is_found(tmp_path: Path):
    with KafkaStub(config=SETTINGS, check=True, journal=tmp_path) as stub, asking(stub.bootstrap_servers) as broker:
        member, topic = sharing(broker, 2)
        give_up(member)
        verdict = stub.check()
        (finding,) = verdict.findings
        assert (finding.guarantee, finding.offsets, finding.group) == ("archived", ((0, 2),), member.group)
        assert finding.cause == (
            f"2 records were given {DELIVERIES} times, which is the delivery limit, and nobody accepted or rejected "
            "them: the last delivery ended with a release"
        )
        fill(broker, topic, 1)
        assert acquired(member.fetch())
        assert archived(stub.check()) == [(0, 2)]
        member.acknowledge((2, 2, [ACCEPT]))
    assert archived(check_journal(tmp_path)) == [(0, 2)]


def test_without_the_limit_it_is_found_when_later_records_are_given():
    with (
        KafkaStub(config=SETTINGS) as stub,
        KafkaProxy(stub.bootstrap_servers, check=True) as proxy,
        asking(proxy.bootstrap_servers) as broker,
    ):
        member, topic = sharing(broker, 1)
        give_up(member)
        verdict = proxy.check()
        assert verdict.ok
        assert any("nobody has seen whether that is its delivery limit" in one for one in verdict.undecided)
        fill(broker, topic, 1)
        assert acquired(member.fetch())
        verdict = proxy.check()
        assert archived(verdict) == [(0, 1)]
        assert not any("delivery limit" in one for one in verdict.undecided)


@dataclass
class Working:
    """Three members that do anything, and the records whose last delivery ended without a decision."""

    chance: random.Random
    topic: Topic
    members: list[Sharer]
    has: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    """By member: how often the records that it has were delivered, by offset."""
    given_up: set[int] = field(default_factory=set)

    def act(self) -> None:
        """Do the next step."""
        chance, member = self.chance, self.chance.choice(self.members)
        mine = self.has[member.name]
        kind = chance.choice(("write", "fetch", "fetch", "fetch", "say", "say", "say", "leave"))
        if kind == "write":
            fill(member.on, self.topic, chance.randint(1, 4))
        elif kind == "fetch":
            for first, last, count in acquired(member.fetch(max_wait_ms=0, max_records=chance.randint(1, 9))):
                mine.update(dict.fromkeys(range(first, last + 1), count))
        elif kind == "leave":
            assert member.tell(-1).error_code == 0
            self._released(mine, list(mine))
            member.open()
        elif mine:
            self._say(member, mine)

    def _say(self, member: Sharer, mine: dict[int, int]) -> None:
        chance = self.chance
        told = sorted(chance.sample(sorted(mine), chance.randint(1, len(mine))))
        kinds = [chance.choice((RELEASE, RELEASE, RELEASE, ACCEPT, REJECT, RENEW)) for _ in told]
        said = [(one, one, [kind]) for one, kind in zip(told, kinds, strict=True)]
        assert member.acknowledge(*said, is_renew_ack=RENEW in kinds).error_code == 0
        self._released(mine, [one for one, kind in zip(told, kinds, strict=True) if kind == RELEASE])
        for one, kind in zip(told, kinds, strict=True):
            if kind in (ACCEPT, REJECT):
                del mine[one]

    def _released(self, mine: dict[int, int], offsets: list[int]) -> None:
        self.given_up |= {one for one in offsets if mine.pop(one) >= DELIVERIES}


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_what_the_broker_has_archived_and_nothing_else(seed: int, tmp_path: Path):
    chance = random.Random(seed)
    with KafkaStub(config=SETTINGS, check=True, journal=tmp_path) as stub, asking(stub.bootstrap_servers) as broker:
        broker.version = 2  # the first with renewals
        member, topic = sharing(broker, 3)
        working = Working(chance, topic, [member, another(member), another(member, "m3")])
        for _ in range(80):
            working.act()
        verdict = stub.check()
        seen = stub.share_groups[member.group][topic.name, 0]
    found = offsets(verdict)
    assert found == working.given_up
    assert found & (set(seen.available) | set(seen.acquired) | set(seen.acknowledged)) == set()
    assert not verdict.of("acknowledged_without_being_given")
    assert offsets(check_journal(tmp_path)) <= found, "where the limit is not known some are undecided"


def offsets(verdict: Verdict) -> set[int]:
    return {offset for start, end in archived(verdict) for offset in range(start, end)}
