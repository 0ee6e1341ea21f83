"""What DescribeAcls, CreateAcls and DeleteAcls share."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, TypeVar

from kafkastub.security import CLUSTER_NAME, Acl, AclFilter, Operation, PatternType, Permission, ResourceType

NO_AUTHORIZER: Final = "No Authorizer is configured."
K = TypeVar("K", bound=IntEnum)


def word(kind: type[K], code: int) -> K:
    """The word with that number; UNKNOWN for one that Kafka has none for."""
    try:
        return kind(code)
    except ValueError:
        return kind(0)


def filter_of(asked: Any) -> AclFilter | None:
    """The filter of a DescribeAcls request, or one of a DeleteAcls request.

    None where it names UNKNOWN itself, which is zero; another number without a word is a filter that finds nothing.
    """
    kind, pattern = asked.resource_type_filter, asked.pattern_type_filter
    if 0 in (kind, pattern, asked.operation, asked.permission_type):
        return None
    return AclFilter(
        word(ResourceType, kind),
        asked.resource_name_filter,
        word(PatternType, pattern),
        asked.principal_filter,
        asked.host_filter,
        word(Operation, asked.operation),
        word(Permission, asked.permission_type),
    )


def refusal_of_entry(one: Acl) -> str | None:
    """Why an entry is refused, in Kafka's order and words; None where nothing speaks against it but its host."""
    if one.resource_type == ResourceType.CLUSTER and one.resource_name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not one.resource_name:
        return "Invalid empty resource name"
    kind, pattern = word(ResourceType, one.resource_type), word(PatternType, one.pattern_type)
    operation, permission = word(Operation, one.operation), word(Permission, one.permission)
    for what, found in (
        ("resourceType", kind),
        ("patternType", pattern),
        ("operation", operation),
        ("permissionType", permission),
    ):
        if not found:
            return f"Invalid {what} {found.name}"
    if ":" not in one.principal:
        why = "no colon is present separating the principal type from the principal name"
        return f"Could not parse principal from `{one.principal}` ({why})"
    return None
