"""The operations a principal may do, as bit fields (KIP-430): bit n is the operation with the code n.

Without an authorizer everything that the resource type knows is allowed (Kafka: AclEntry.supportedOperations).
"""

from __future__ import annotations

from typing import Final

from kafkastub.security.acls import Operation


def bit_field(*operations: Operation) -> int:
    """The bits of those operations."""
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = bit_field(
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
CLUSTER_OPERATIONS: Final = bit_field(
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
GROUP_OPERATIONS: Final = bit_field(
    Operation.READ, Operation.DELETE, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS
)
