"""Consumer groups in a data directory (KIP-848): whatever members did is there after a kill, and they go on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.state.internal_topics import durable_topic
from tests.offsets_topic.consumer_history import LEAVE, LEAVE_STATIC, Consumer, described
from tests.offsets_topic.history import Player
from tests.persistence.killing import copied
from tests.process.serving import Serving

GROUPS = ("g", "h", "i")
TOPICS = {"orders": 4, "audit": 2, "other": 1}
CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": 2,
    "group.consumer.assignment.interval.ms": 0,
    "kafkastub.offsets.history.records": 60,
}


class Crowd:
    """Members that come, do what they are told, change their minds and go, at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.members: list[Consumer] = []
        self.away: list[tuple[str, str]] = []
        """Static members that are expected back: group and instance."""
        self._count = 0

    def move_to(self, on: Player) -> None:
        """They speak to another broker from now on."""
        for member in self.members:
            member.on = on

    def step(self, on: Player) -> None:
        acts = [self.join, self.come_back, self.beat, self.change, self.leave, self.commit, self.delete]
        (act,) = self.random.choices(acts, [4, 2, 20, 3, 3, 3, 1])
        act(on)

    def join(self, on: Player, group: str = "", instance: str | None = None) -> None:
        self._count += 1
        if not group and self.random.random() < 0.3:
            instance = f"instance-{self._count}"
        group = group or self.random.choice(GROUPS)
        self.members.append(
            Consumer(on, group, f"member-{self._count}", instance_id=instance, **self._subscription())
        )  # fmt: skip

    def _subscription(self) -> dict[str, Any]:
        if self.random.random() < 0.2:
            return {"subscribed_topic_names": [], "subscribed_topic_regex": self.random.choice(["o.*", "a.*|other"])}
        names = self.random.sample(sorted(TOPICS), self.random.randint(1, 3))
        return {"subscribed_topic_names": names, "subscribed_topic_regex": ""}

    def come_back(self, on: Player) -> None:
        if self.away:
            self.join(on, *self.away.pop(self.random.randrange(len(self.away))))

    def beat(self, on: Player) -> None:
        for member in self.random.sample(self.members, min(3, len(self.members))):
            member.told()

    def change(self, on: Player) -> None:
        if self.members:
            self.random.choice(self.members).told(**self._subscription())

    def leave(self, on: Player) -> None:
        if not self.members:
            return
        member = self.members.pop(self.random.randrange(len(self.members)))
        if member.instance is not None and self.random.random() < 0.7:
            member.leave(LEAVE_STATIC)
            self.away.append((member.group, member.instance))
        else:
            member.leave(LEAVE)

    def commit(self, on: Player) -> None:
        if self.members:
            member = self.random.choice(self.members)
            on.commit(member.group, {"orders": {0: self._count}}, member=(member.member_id, member.epoch))

    def delete(self, on: Player) -> None:
        on.delete_groups(*(group for group in GROUPS if not any(member.group == group for member in self.members)))

    def told(self, on: Player) -> list[str]:
        on.await_coordinator(*GROUPS)  # groups may still be read from the disk
        return described(on, GROUPS)


def begin(on: Player) -> None:
    on.create(**TOPICS)
    on.await_coordinator(*GROUPS)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_same_after_every_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A copy of the files at some moment is what a process leaves that is killed then; cleaning goes on meanwhile."""
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 4_000)
    crowd, data = Crowd(seed), tmp_path / "data"
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        begin(on)
        topic_ids = on.topic_ids
        for killed in range(5):
            for _ in range(40):
                crowd.step(on)
            before = crowd.told(on)
            copy = tmp_path / f"killed-{killed}"
            copied(data, copy)
            with KafkaStub(config=CONFIG, data_dir=copy) as again, closing(Player(again.bootstrap_servers)) as other:
                # a regular expression may have been resolved meanwhile, which no member asks for
                assert crowd.told(other) in (before, before := crowd.told(on))
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Player(stub.bootstrap_servers)) as on:
        assert crowd.told(on) == before
        on.topic_ids.update(topic_ids)
        crowd.move_to(on)
        for _ in range(40):
            crowd.step(on)
        assert crowd.told(on) != before


def test_members_go_on_with_a_killed_process(tmp_path: Path) -> None:
    settings = [f"{name}={value}" for name, value in CONFIG.items()]
    options = ["--data-dir", str(tmp_path), "--config", *settings]
    crowd = Crowd(7)
    with Serving(*options) as process:
        with closing(Player(process.servers)) as on:
            begin(on)
            topic_ids = on.topic_ids
            for _ in range(60):
                crowd.step(on)
            before = crowd.told(on)
        process.process.kill()
        process.process.wait()
    with Serving(*options) as process, closing(Player(process.servers)) as on:
        assert crowd.told(on) == before
        on.topic_ids.update(topic_ids)
        crowd.move_to(on)
        for _ in range(60):
            crowd.step(on)
