"""Who may do what: access control lists and the authorizer that goes by them. Pure: no loop, no sockets, no clock."""

from __future__ import annotations

from .acls import (
    CLUSTER_NAME,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from .authorizer import Authorizer

__all__ = [
    "CLUSTER_NAME",
    "Acl",
    "AclFilter",
    "Authorizer",
    "Operation",
    "PatternType",
    "Permission",
    "ResourceType",
]
