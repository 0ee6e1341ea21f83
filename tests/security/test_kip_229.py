"""KIP-229: the Group resource has the operations Describe, Read, Delete and All.

All implies the other three, Read implies Describe, and Delete neither implies Read or Describe nor is it implied
by them.
"""

from __future__ import annotations

import pytest

from kafkastub.security import Acl, Authorizer, Operation, PatternType, Permission, ResourceType

TABLE = """
permission | Describe | Read | Delete
Describe   | yes      | no   | no
Read       | yes      | yes  | no
Delete     | no       | no   | yes
All        | yes      | yes  | yes
"""
RELEASED = TABLE.replace("Delete     | no ", "Delete     | yes")
"""Released Kafka: Delete implies Describe."""


def rows(table: str) -> list[tuple[str, str, bool]]:
    """(permission, operation, whether it allows it)."""
    head, *lines = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(line[0], name, cell == "yes") for line in lines for name, cell in zip(head[1:], line[1:], strict=True)]


@pytest.mark.parametrize(
    ("delete_implies_describe", "permission", "operation", "allowed"),
    [(False, *row) for row in rows(TABLE)] + [(True, *row) for row in rows(RELEASED)],
)
def test_the_table(delete_implies_describe: bool, permission: str, operation: str, allowed: bool):
    authorizer = Authorizer(group_delete_implies_describe=delete_implies_describe)
    given = Operation[permission.upper()]
    authorizer.add(Acl(ResourceType.GROUP, "g", PatternType.LITERAL, "User:a", "*", given, Permission.ALLOW))
    assert authorizer.allows("User:a", "::1", Operation[operation.upper()], ResourceType.GROUP, "g") is allowed


def test_delete_on_a_topic_implies_describe_all_the_same():
    authorizer = Authorizer(group_delete_implies_describe=False)
    authorizer.add(Acl(ResourceType.TOPIC, "t", PatternType.LITERAL, "User:a", "*", Operation.DELETE, Permission.ALLOW))
    assert authorizer.allows("User:a", "::1", Operation.DESCRIBE, ResourceType.TOPIC, "t")
