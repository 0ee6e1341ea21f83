"""The group type `consumer`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (consumerGroupHeartbeat, …Leave, …Describe; replay(ConsumerGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from random import Random

from kafkastub.coordinator.consumer import targets_by_hand, validation
from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.describe import described
from kafkastub.coordinator.consumer.expressions import MayDescribe
from kafkastub.coordinator.consumer.fencing import Fencing
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.heartbeat import Heartbeats
from kafkastub.coordinator.consumer.held import HeldRevocations
from kafkastub.coordinator.consumer.settings import ConsumerSettings
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.groups import HeartbeatResult, ModernGroups
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import KafkaError
from kafkawire.messages.consumer_group_describe_response import DescribedGroup, Member
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse


class ConsumerGroups(ModernGroups[ConsumerGroup, ConsumerSettings]):
    """The group type, and the requests of the consumer protocol.

    Args:
        groups: all groups, of every type.
        random: makes member ids.
    """

    __slots__ = ("_topic_ids", "fencing", "heartbeats")

    name = ConsumerGroup.group_type
    heartbeat_response = ConsumerGroupHeartbeatResponse
    context: ConsumerContext

    def __init__(self, groups: Groups, settings: ConsumerSettings, random: Random) -> None:
        context = ConsumerContext(groups, settings)
        self.fencing = Fencing(context)
        super().__init__(context, self.fencing)
        self.heartbeats = Heartbeats(context, self.fencing, random)
        self._topic_ids = self._ids_now()

    # -- requests ------------------------------------------------------------------------------------------------

    def check_heartbeat(self, request: ConsumerGroupHeartbeatRequest, version: int) -> None:
        """Raises INVALID_REQUEST, UNSUPPORTED_ASSIGNOR for what can't be said in any group, with Kafka's message."""
        validation.check(request, version, tuple(self.context.assignors))

    def _heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        may_describe: MayDescribe | None,
        turn: Turn,
    ) -> HeartbeatResult:
        """A heartbeat of a member that comes or stays. Where somebody else was answered, an error is the answer.

        Args:
            may_describe: for regular expressions.
        """
        try:
            return HeartbeatResult(self.heartbeats.beat(request, client_id, client_host, may_describe, turn))
        except KafkaError as error:
            if not turn.completions:
                raise
            return HeartbeatResult(ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message))

    def repeat_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, version: int, client_id: str, client_host: str, timer_ms: int
    ) -> ConsumerSettings | None:
        return self.heartbeats.repeat(request, client_id, client_host, timer_ms)

    def answer_basis(
        self, request: ConsumerGroupHeartbeatRequest, answer: ConsumerGroupHeartbeatResponse
    ) -> ConsumerSettings | None:
        if answer.assignment is not None or request.topic_partitions is not None:
            return None
        return self.context.of(request.group_id)

    def _described(self, group: ConsumerGroup) -> tuple[DescribedGroup, Iterator[Member | None]]:
        return described(group, self.context.default_assignor, self.context.image)

    def metadata_changed(self, names: Iterable[str]) -> None:
        """Topics were created, grown or deleted; where one was created, groups with regular expressions look too."""
        names = list(names)
        image, known, created = self.context.image, self._topic_ids, False
        for name in names:
            topic_id = image.topic_id(name)
            if topic_id is None:
                known.pop(name, None)
            elif known.get(name) != topic_id:
                known[name], created = topic_id, True
        if created:
            self.heartbeats.expressions.version += 1
        super().metadata_changed(names)

    def _ids_now(self) -> dict[str, bytes]:
        image = self.context.image
        ids = ((name, image.topic_id(name)) for name in image.names())
        return {name: topic_id for name, topic_id in ids if topic_id is not None}

    # -- ours, for tests -----------------------------------------------------------------------------------------

    def set_target(
        self, group_id: str, target: Mapping[str, Mapping[str, Collection[int]]], broker_ms: int, timer_ms: int
    ) -> Turn:
        """Let the target assignment be this, by member id and topic name, with a new group epoch, at once.

        Members that are not named are assigned nothing. It stays until the group's next epoch. Raises
        GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST for a partition that
        two members are given.
        """
        turn, group = Turn(broker_ms, timer_ms), self.context.existing(group_id)
        self.context.write(group, targets_by_hand.records(group, target, self.context.image, broker_ms), turn)
        return turn

    def hold_revocation(self, group_id: str, member_id: str) -> None:
        """What the member says it has let go of does not count until `release_revocation`.

        Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID.
        """
        group = self.context.existing(group_id)
        member = group.member(member_id)
        if group.held is None:
            group.held = HeldRevocations()
        group.held.hold(member.member_id)

    def release_revocation(self, group_id: str, member_id: str) -> None:
        """End a hold: what the member has said meanwhile counts with its next heartbeat. One not held is no error."""
        group = self.find(group_id)
        if group is not None and group.held is not None:
            group.held.release(member_id)

    # -- a group type --------------------------------------------------------------------------------------------

    def revived(self, group: Group, turn: Turn) -> None:
        """The members' deadlines count from now on, and expressions are looked at."""
        assert isinstance(group, ConsumerGroup)
        super().revived(group, turn)
        self.heartbeats.expressions.revived(group, turn)
