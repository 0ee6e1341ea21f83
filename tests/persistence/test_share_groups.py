"""Share groups in a data directory (KIP-932): whatever members did is there after a kill, and they go on."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kafkastub.state.internal_topics import durable_topic
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import ShareGroupDescribeResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from tests.offsets_topic.history import Player
from tests.persistence.killing import the_same_after_every_kill

GROUPS = ("g", "h", "i")
TOPICS = {"orders": 4, "audit": 2, "other": 1}
CONFIG: dict[str, object] = {
    "offsets.topic.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 2,
    "group.share.assignment.interval.ms": 0,
    "kafkastub.offsets.history.records": 60,
}


class Crowd:
    """Members that come, change their minds and go, at random: epochs by group and member id."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.epochs: dict[tuple[str, str], int] = {}
        self._count = 0

    def step(self, on: Player) -> None:
        acts = [self.join, self.beat, self.change, self.leave, self.delete]
        (act,) = self.random.choices(acts, [4, 20, 3, 3, 1])
        act(on)

    def _ask(self, on: Player, who: tuple[str, str], epoch: int, names: list[str] | None = None) -> None:
        request = ShareGroupHeartbeatRequest(*who, epoch, None, names)
        answer = on.ask(request, 1, ShareGroupHeartbeatResponse)
        assert answer.error_code == 0, answer
        self.epochs[who] = answer.member_epoch

    def _names(self) -> list[str]:
        return self.random.sample(sorted(TOPICS), self.random.randint(1, 3))

    def join(self, on: Player) -> None:
        self._count += 1
        self._ask(on, (self.random.choice(GROUPS), f"member-{self._count}"), 0, self._names())

    def beat(self, on: Player) -> None:
        for who in self.random.sample(sorted(self.epochs), min(3, len(self.epochs))):
            self._ask(on, who, self.epochs[who])

    def change(self, on: Player) -> None:
        if self.epochs:
            who = self.random.choice(sorted(self.epochs))
            self._ask(on, who, self.epochs[who], self._names())

    def leave(self, on: Player) -> None:
        if self.epochs:
            who = self.random.choice(sorted(self.epochs))
            self._ask(on, who, -1)
            del self.epochs[who]

    def delete(self, on: Player) -> None:
        on.delete_groups(*(group for group in GROUPS if not any(group == of for of, _ in self.epochs)))

    def told(self, on: Player) -> list[str]:
        """Each group as ShareGroupDescribe tells it, in the order of the names."""
        answer = on.ask(ShareGroupDescribeRequest(GROUPS), 1, ShareGroupDescribeResponse)
        return sorted(
            f"{one.group_id} {one.group_state} {one.group_epoch} {one.assignment_epoch} "
            f"{sorted(one.members, key=lambda member: member.member_id)}"
            for one in answer.groups
        )


def begin(on: Player) -> None:
    on.create(**TOPICS)
    on.await_coordinator(*GROUPS)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_after_every_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 4_000)
    the_same_after_every_kill(Crowd(seed), begin, CONFIG, tmp_path)
