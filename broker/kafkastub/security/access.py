"""The authorizer of a broker as it is configured, and what it allows to one who asks."""

from __future__ import annotations

from typing import Final

from kafkastub.config import BrokerConfig, ConfigError

from .acls import CLUSTER_NAME, Operation, ResourceType
from .authorizer import Authorizer

CLASS_NAME: Final = "authorizer.class.name"
STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SUPER_USERS: Final = "super.users"
ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"


def make_authorizer(config: BrokerConfig) -> Authorizer | None:
    """The one that is configured, without any entries; None where there is none. Raises ConfigError."""
    name = config[CLASS_NAME]
    if not name:
        return None
    if name != STANDARD_AUTHORIZER:
        raise ConfigError(f"{CLASS_NAME}={name} is refused: allowed is {STANDARD_AUTHORIZER}, or nothing")
    users = [user.strip() for user in config.static.get(SUPER_USERS, "").split(";")]
    for user in users:
        if user and not all(user.partition(":")):
            raise ConfigError(f"{SUPER_USERS} is refused: {user!r} is not TYPE:NAME, for example User:alice")
    everyone = config.static.get(ALLOW_EVERYONE, "false").strip().lower()
    if everyone not in ("true", "false"):
        raise ConfigError(f"{ALLOW_EVERYONE}={everyone} is refused: allowed are true and false")
    return Authorizer(
        filter(None, users),
        allow_everyone_without_acl=everyone == "true",
        group_delete_implies_describe=config.profile.group_delete_implies_describe,
        host_ranges=config.follows(4, 4),  # KIP-1276
    )


class Access:
    """What one principal may do who asks from one host. Only where there is an authorizer."""

    __slots__ = ("_authorizer", "_host", "_principal")

    def __init__(self, authorizer: Authorizer, principal: str, client_host: str) -> None:
        """`principal` and `client_host` as Kafka prints them: `User:alice`, `/127.0.0.1`."""
        self._authorizer = authorizer
        self._principal = principal
        self._host = client_host.removeprefix("/")

    def to(self, operation: int, kind: ResourceType, name: str) -> bool:
        """Whether it may do this to the resource."""
        return self._authorizer.allows(self._principal, self._host, operation, kind, name)

    def to_cluster(self, operation: int) -> bool:
        """Whether it may do this to the cluster."""
        return self.to(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def to_topic(self, operation: int, name: str) -> bool:
        """Whether it may do this to the topic, which need not exist."""
        return self.to(operation, ResourceType.TOPIC, name)

    def to_group(self, operation: int, name: str) -> bool:
        """Whether it may do this to the group."""
        return self.to(operation, ResourceType.GROUP, name)

    def to_some_topic(self, operation: int) -> bool:
        """Whether there may be a topic that it may do this to."""
        return self._authorizer.allows_somewhere(self._principal, self._host, operation, ResourceType.TOPIC)

    def operations(self, supported: int, kind: ResourceType, name: str) -> int:
        """Those of the supported operations that are allowed, as a bit field (KIP-430)."""
        return sum(1 << bit for bit in range(32) if supported >> bit & 1 and self.to(bit, kind, name))

    def cluster_operations(self, supported: int) -> int:
        """The same of the cluster; none for who may not describe it."""
        if not self.to_cluster(Operation.DESCRIBE):
            return 0
        return self.operations(supported, ResourceType.CLUSTER, CLUSTER_NAME)
