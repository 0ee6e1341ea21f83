"""Access control entries and filters over them, with Kafka's numbers (``AclBinding``, ``AclBindingFilter``)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

CLUSTER_NAME: Final = "kafka-cluster"
"""The only name that the cluster has as a resource."""
WILDCARD: Final = "*"
"""As a literal resource name: every resource of the type. As a host: every host."""
WILDCARD_PRINCIPAL: Final = "User:*"


class ResourceType(IntEnum):
    """Kafka: ``ResourceType``."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """Kafka: ``PatternType`` (KIP-290)."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """Kafka: ``AclOperation``."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """Kafka: ``AclPermissionType``."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class Acl(NamedTuple):
    """One entry. `principal` is as Kafka prints it ("User:alice", "User:*"); `host` an address, a range or "*"."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


class AclFilter(NamedTuple):
    """What entries are looked for; None and ANY stand for everything.

    `pattern_type` MATCH finds every pattern that concerns the resource called `resource_name`.
    """

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def matches(self, acl: Acl) -> bool:
        """Whether the entry is one of those."""
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self.pattern_type in (PatternType.ANY, PatternType.MATCH, acl.pattern_type)
            and (self.resource_name is None or self._matches_name(self.resource_name, acl))
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _matches_name(self, name: str, acl: Acl) -> bool:
        if self.pattern_type != PatternType.MATCH:
            return name == acl.resource_name
        return concerns(acl, name)


def concerns(acl: Acl, name: str) -> bool:
    """Whether an entry's pattern takes in a resource of that name (and of the entry's type)."""
    if acl.pattern_type == PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in (name, WILDCARD)
