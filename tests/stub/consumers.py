"""Members of the consumer protocol (KIP-848) that do as they are told, heartbeat by heartbeat, when a test says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic

AT_ONCE: Mapping[str, object] = {"group.consumer.assignment.interval.ms": 0}
"""Targets are computed with the heartbeat that asks for them."""
LEAVE = -1
LEAVE_FOR_A_WHILE = -2


class Player:
    """One member. `owned` is what it says that it has: it changes by what it is told, and when it lets go.

    Attributes:
        terse: it says what it owns only where that has changed, as clients do.
    """

    def __init__(
        self,
        stub: KafkaStub,
        member_id: str,
        topics: Sequence[str] = ("orders",),
        *,
        group: str = "g",
        instance: str | None = None,
        rebalance_timeout_ms: int = 60_000,
    ) -> None:
        self._client = Client(stub.bootstrap_servers, client_id=f"client-{member_id}")
        asked = self._client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics]))
        self._names = {topic.topic_id: topic.name for topic in asked.topics}
        self.group = group
        self.member_id = member_id
        self.instance = instance
        self.topics = topics
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.epoch = 0
        self.owned: set[tuple[str, int]] = set()
        self.terse = False
        self._said: set[tuple[str, int]] | None = None

    def beat(self, epoch: int | None = None) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat, with the whole of what it has to say unless it is terse."""
        by_topic: dict[str, list[int]] = {}
        for topic, index in sorted(self.owned):
            by_topic.setdefault(topic, []).append(index)
        ids = {name: topic_id for topic_id, name in self._names.items()}
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.epoch if epoch is None else epoch,
            instance_id=self.instance,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            subscribed_topic_names=list(self.topics),
            topic_partitions=[TopicPartitions(ids[name], rows) for name, rows in by_topic.items()],
        )
        if self.terse and self.epoch and self._said == self.owned:
            request.topic_partitions = None
        self._said = set(self.owned)
        answer: ConsumerGroupHeartbeatResponse = self._client.ask_coordinator(self.group, request, version=1)
        if not answer.error_code:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                told = answer.assignment.topic_partitions
                self.owned = {(self._names[row.topic_id], index) for row in told for index in row.partitions}
        return answer

    def leave(self) -> None:
        """For good, or for a while where it is a static member."""
        answer = self.beat(LEAVE if self.instance is None else LEAVE_FOR_A_WHILE)
        assert not answer.error_code, ErrorCode(answer.error_code)
        self.epoch, self.owned = 0, set()

    def close(self) -> None:
        self._client.close()


def rounds(*players: Player, times: int = 4) -> None:
    """All of them in turn: enough heartbeats for a group to come to rest."""
    for _ in range(times):
        for one in players:
            answer = one.beat()
            assert not answer.error_code, (one.member_id, ErrorCode(answer.error_code), answer.error_message)
