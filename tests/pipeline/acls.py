"""Permissions, as an administrator gives them."""

from __future__ import annotations

from typing import Any, Final

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

AUTHORIZER: Final[dict[str, object]] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
}
WITHOUT_ENTRY_OPEN: Final[dict[str, object]] = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
"""A broker where only what somebody has been given is closed to the others."""

On = tuple[ResourceType, str, ResourcePatternType]
CLIENTS: Final[On] = ResourceType.GROUP, "kafkastub-pipeline", ResourcePatternType.PREFIXED
"""The groups as which the pipeline's clients ask."""
SECONDS: Final = 60


def topic(name: str) -> On:
    return ResourceType.TOPIC, name, ResourcePatternType.LITERAL


LOG: Final = topic("__consumer_offsets")


def allow(servers: str, user: str, on: On, operation: AclOperation = AclOperation.DESCRIBE) -> None:
    """A real broker may learn of it a moment after this returns."""
    entry = AclBinding(*on, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
    admin: Any = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    for answer in admin.create_acls([entry], request_timeout=SECONDS).values():
        answer.result(SECONDS)
