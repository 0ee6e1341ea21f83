"""The group type `consumer`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (consumerGroupHeartbeat, …Leave, …Describe; replay(ConsumerGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from random import Random
from typing import Final

from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.consumer_group_describe_response import DescribedGroup
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest


class ConsumerGroups:
    """A `GroupType`, and the requests of the consumer protocol.

    Args:
        groups: all groups, of every type.
        random: makes member ids.
    """

    name: Final = "consumer"

    def __init__(self, groups: Groups, random: Random) -> None:
        self._groups = groups
        self.random = random

    # -- requests ------------------------------------------------------------------------------------------------

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """ConsumerGroupHeartbeat; the reply is a `ConsumerGroupHeartbeatResponse`.

        Args:
            client_host: as Kafka shows it, with its slash: `/127.0.0.1`.

        Raises: KafkaError with Kafka's message.
        """
        raise NotImplementedError

    def describe(self, group: Group) -> DescribedGroup | None:
        """ConsumerGroupDescribe of one group, None where it is of another type. Authorized operations are not in it."""
        raise NotImplementedError

    def metadata_changed(self, names: Iterable[str]) -> None:
        """Topics were created, grown or deleted: groups that subscribe to them look again at their next heartbeat."""
        raise NotImplementedError

    # -- ours, for tests -----------------------------------------------------------------------------------------

    def set_target(
        self, group_id: str, target: Mapping[str, Mapping[str, Collection[int]]], broker_ms: int, timer_ms: int
    ) -> Turn:
        """Let the target assignment be this, by member id and topic name, with a new group epoch, at once.

        Members that are not named are assigned nothing. It stays until the group's next epoch. Raises
        GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, UNKNOWN_TOPIC_OR_PARTITION, and INVALID_REQUEST for a partition that
        is given twice.
        """
        raise NotImplementedError

    def hold_revocation(self, group_id: str, member_id: str) -> None:
        """What the member says it has let go of does not count until `release_revocation`.

        Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID.
        """
        raise NotImplementedError

    def release_revocation(self, group_id: str, member_id: str) -> None:
        """End a hold; the member's next heartbeat counts again. One that is not held is no error."""
        raise NotImplementedError

    # -- a group type --------------------------------------------------------------------------------------------

    def new(self, group_id: str, broker_ms: int) -> Group:
        """An empty group."""
        raise NotImplementedError

    def group_ids(self) -> Iterable[str]:
        """The groups with records."""
        raise NotImplementedError

    def revive(self, group_id: str, turn: Turn) -> Group:
        """The group as its records say."""
        raise NotImplementedError

    def revived(self, group: Group, turn: Turn) -> None:
        """The members' sessions begin, and the rebalance timeouts of those who have to revoke."""
        raise NotImplementedError

    def unload(self, group: Group, turn: Turn) -> None:
        """The group is forgotten; nobody is parked in it."""
        raise NotImplementedError
