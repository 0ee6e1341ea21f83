"""What DescribeAcls, CreateAcls and DeleteAcls share."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, TypeVar

from kafkastub.security import AclFilter, Operation, PatternType, Permission, ResourceType

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
