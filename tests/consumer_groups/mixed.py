"""A group coordinator with members of both protocols; time goes where the test puts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Self

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.messages.sync_group_response import SyncGroupResponse
from tests.consumer_groups.context import GROUP, Context, Partitions
from tests.consumer_groups.migration_player import assignment, read_assignment, subscription

SESSION_MS = 10_000
REBALANCE_MS = 60_000


class MixedContext(Context):
    """Requests of both protocols.

    Attributes:
        answers: what parked requests were answered, by their tokens.
        restarts: how many coordinators there were before.
    """

    def __init__(self, **configs: Any) -> None:
        configs.setdefault("group_initial_rebalance_delay_ms", 0)
        super().__init__(**configs)
        self.answers: dict[object, Any] = {}
        self.restarts = 0

    def took(self, turn: Turn) -> Turn:
        self.answers.update(turn.completions)
        return super().took(turn)

    def restart(self) -> Self:
        other = super().restart()
        other.restarts = self.restarts + 1
        coordinator, random = other.coordinator, Random(1 + other.restarts)  # no id twice
        coordinator.classic.joins.random = coordinator.consumer.heartbeats.random = random
        return other

    def start_join(
        self,
        member: str = "",
        topics: Sequence[str] = ("a",),
        *,
        owned: Partitions | None = None,
        instance: str | None = None,
        protocols: Mapping[str, bytes] | Sequence[tuple[str, bytes]] | None = None,
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        version: int = 9,
    ) -> object:
        """JoinGroup of a classic member; gives the token of its answer."""
        if protocols is None:
            mine = {name: sorted(some) for name, some in (owned or {}).items()}
            protocols = {"range": subscription(topics, mine)}
        pairs = protocols.items() if isinstance(protocols, Mapping) else protocols
        given = [JoinGroupRequestProtocol(name, metadata) for name, metadata in pairs]
        request = JoinGroupRequest(GROUP, session_ms, rebalance_ms, member, instance, "consumer", given)
        token = object()
        now = self.broker_ms, self.timer_ms
        self.took(self.coordinator.classic.join(request, version, "classic", "/127.0.0.1", token, *now))
        self.pass_time(0)
        return token

    def classic_join(self, member: str = "", topics: Sequence[str] = ("a",), **rest: Any) -> JoinGroupResponse:
        """The same, answered."""
        answer: JoinGroupResponse = self.answers.pop(self.start_join(member, topics, **rest))
        return answer

    def enter(self, topics: Sequence[str] = ("a",), **rest: Any) -> JoinGroupResponse:
        """A new member joins: for its id, and with it."""
        first = self.classic_join("", topics, **rest)
        assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
        return self.classic_join(first.member_id, topics, **rest)

    def start_sync(
        self, member: str, generation: int, shares: Mapping[str, Partitions] | None = None, instance: str | None = None
    ) -> object:
        """SyncGroup of a classic member; gives the token of its answer."""
        given = [
            SyncGroupRequestAssignment(one, assignment({name: sorted(p) for name, p in share.items()}))
            for one, share in (shares or {}).items()
        ]
        token = object()
        request = SyncGroupRequest(GROUP, generation, member, instance, None, None, given)
        self.took(self.coordinator.classic.sync(request, token, self.broker_ms, self.timer_ms))
        return token

    def classic_sync(self, member: str, generation: int, **rest: Any) -> dict[str, set[int]]:
        """The same, answered with what the member has."""
        answer: SyncGroupResponse = self.answers.pop(self.start_sync(member, generation, **rest))
        assert answer.error_code == ErrorCode.NONE
        return {name: set(some) for name, some in read_assignment(bytes(answer.assignment)).items()}

    def classic_heartbeat(self, member: str, generation: int, instance: str | None = None) -> ErrorCode:
        """Heartbeat of a classic member."""
        return self.coordinator.classic.heartbeat(GROUP, member, instance, generation, self.timer_ms)

    def classic_leave(self, *members: str) -> list[int]:
        """LeaveGroup of members; the error code of each."""
        identities = [MemberIdentity(member) for member in members]
        turn = self.coordinator.classic.leave(GROUP, identities, self.broker_ms, self.timer_ms)
        self.took(turn)
        self.pass_time(0)
        return [one.error_code for one in turn.reply]

    def stable_pair(self) -> tuple[str, str]:
        """Two classic members of a stable group, with two partitions of the topic a each; the leader first."""
        self.topic("a", 4)
        first = self.enter().member_id
        self.start_sync(first, 1, {first: {"a": [0, 1, 2, 3]}})
        second = self.classic_join("").member_id
        parked = self.start_join(second)
        assert self.classic_join(first).generation_id == self.answers.pop(parked).generation_id == 2
        self.start_sync(first, 2, {first: {"a": [0, 1]}, second: {"a": [2, 3]}})
        assert self.classic_sync(second, 2) == {"a": {2, 3}}
        return first, second

    def catch_up(self, member: str) -> dict[str, set[int]]:
        """A classic member of a consumer group does as it is told until there is nothing more; what it has then."""
        has = self.has(member)
        for _ in range(5):
            answer = self.classic_join(member, owned=has)
            has = self.classic_sync(member, answer.generation_id)
            if self.classic_heartbeat(member, answer.generation_id) is ErrorCode.NONE:
                return has
        raise AssertionError(f"it is told to join for ever: {self.shown()}")

    def classic(self) -> ClassicGroup:
        """The group, which is classic."""
        found = self.coordinator.classic.find(GROUP)
        assert found is not None, "there is no classic group"
        return found
