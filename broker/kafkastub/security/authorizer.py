"""Decisions as Apache Kafka's StandardAuthorizer takes them (KIP-801).

In this order:

    a super user may do everything
    an entry that denies wins over any that allows
    an entry that allows, allows; it may imply more than it says (``IMPLIED_BY``), which one that denies never does
    no entry concerns the resource, whoever it is about: what `allow.everyone.if.no.acl.found` says
    else it is denied

An entry decides where its pattern takes in the resource, its principal is the one who asks or "User:*", and its host is
where it asks from, a range with that in it (KIP-1276), or "*". The operation ALL stands for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .acls import (
    WILDCARD,
    WILDCARD_PRINCIPAL,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    concerns,
)
from .hosts import in_range

IMPLIED_BY: Final = {
    Operation.DESCRIBE: frozenset(
        (Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
    ),
    Operation.DESCRIBE_CONFIGS: frozenset((Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)),
}
"""What allows an operation besides the operation itself."""
_REMEMBERED: Final = 10_000
"""Decisions that are kept, until an entry comes or goes."""
_LONGEST: Final = 1_000
"""Characters of a principal and a resource about which a decision is kept: a client may ask for any name."""


class Authorizer:
    """The entries of one cluster, and what follows from them.

    Attributes:
        super_users: principals who may do everything, as Kafka prints them.
        allow_everyone_without_acl: the answer about a resource that no entry concerns.
        group_delete_implies_describe: as in released Kafka; KIP-229 says that it does not.
        host_ranges: whether an entry's host may be a range, as from Kafka 4.4 on; before, any text was a host.
    """

    def __init__(
        self,
        super_users: Iterable[str] = (),
        *,
        allow_everyone_without_acl: bool = False,
        group_delete_implies_describe: bool = True,
        host_ranges: bool = True,
    ) -> None:
        self.super_users = frozenset(super_users)
        self.allow_everyone_without_acl = allow_everyone_without_acl
        self.group_delete_implies_describe = group_delete_implies_describe
        self.host_ranges = host_ranges
        self._acls: dict[Acl, None] = {}
        self._literal: dict[tuple[int, str], list[Acl]] = {}
        self._prefixed: dict[int, list[Acl]] = {}
        self._decided: dict[tuple[str, str, int, int, str], bool] = {}

    def __len__(self) -> int:
        return len(self._acls)

    def add(self, acl: Acl) -> bool:
        """Enter one; False where it is there already."""
        if acl in self._acls:
            return False
        self._acls[acl] = None
        if acl.pattern_type == PatternType.PREFIXED:
            self._prefixed.setdefault(acl.resource_type, []).append(acl)
        else:
            self._literal.setdefault((acl.resource_type, acl.resource_name), []).append(acl)
        self._decided.clear()
        return True

    def remove(self, wanted: AclFilter) -> list[Acl]:
        """Take out all that match; gives them."""
        removed = self.find(wanted)
        for acl in removed:
            del self._acls[acl]
            if acl.pattern_type == PatternType.PREFIXED:
                self._prefixed[acl.resource_type].remove(acl)
            else:
                key = acl.resource_type, acl.resource_name
                self._literal[key].remove(acl)
                if not self._literal[key]:
                    del self._literal[key]
        self._decided.clear()
        return removed

    def replace(self, acls: Iterable[Acl]) -> None:
        """These instead of all that there are."""
        self._acls.clear()
        self._literal.clear()
        self._prefixed.clear()
        self._decided.clear()
        for acl in acls:
            self.add(acl)

    def find(self, wanted: AclFilter) -> list[Acl]:
        """All that match, in the order in which they came."""
        return [acl for acl in self._acls if wanted.matches(acl)]

    def all(self) -> list[Acl]:
        """All, in the order in which they came."""
        return list(self._acls)

    def allows(self, principal: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        """Whether `principal`, asking from the address `host`, may do this to the resource."""
        key = principal, host, operation, resource_type, name
        decided = self._decided.get(key)
        if decided is None:
            decided = self._decide(principal, host, operation, resource_type, name)
            if len(name) + len(principal) <= _LONGEST:
                if len(self._decided) >= _REMEMBERED:
                    self._decided.clear()
                self._decided[key] = decided
        return decided

    def allows_somewhere(self, principal: str, host: str, operation: int, resource_type: int) -> bool:
        """Whether there may be a resource of that type that it is allowed for (``authorizeByResourceType``).

        Only the entries count, and only the operation itself and ALL: nothing is implied here.
        """
        if self.allows(principal, host, operation, resource_type, "hardcode"):
            return True
        allowed: list[Acl] = []
        denied: dict[int, set[str]] = {PatternType.LITERAL: set(), PatternType.PREFIXED: set()}
        for acl in self._acls:
            if acl.resource_type != resource_type or acl.operation not in (operation, Operation.ALL):
                continue
            if acl.principal not in (principal, WILDCARD_PRINCIPAL) or not self._is_from(host, acl.host):
                continue
            if acl.permission == Permission.ALLOW:
                allowed.append(acl)
            elif acl.pattern_type == PatternType.LITERAL and acl.resource_name == WILDCARD:
                return False
            else:
                denied[acl.pattern_type].add(acl.resource_name)
        return any(not _is_outdone(acl, denied) for acl in allowed)

    def _decide(self, principal: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        if principal in self.super_users:
            return True
        concerned = allowed = False
        for acl in self._concerning(resource_type, name):
            concerned = True
            if acl.principal not in (principal, WILDCARD_PRINCIPAL) or not self._is_from(host, acl.host):
                continue
            if acl.permission == Permission.ALLOW:
                allowed = allowed or self._grants(acl, operation)
            elif acl.operation in (operation, Operation.ALL):
                return False
        return allowed or (not concerned and self.allow_everyone_without_acl)

    def _is_from(self, host: str, wanted: str) -> bool:
        return wanted in (host, WILDCARD) or (self.host_ranges and "/" in wanted and in_range(host, wanted))

    def _concerning(self, resource_type: int, name: str) -> Iterable[Acl]:
        yield from self._literal.get((resource_type, name), ())
        if name != WILDCARD:
            yield from self._literal.get((resource_type, WILDCARD), ())
        for acl in self._prefixed.get(resource_type, ()):
            if concerns(acl, name):
                yield acl

    def _grants(self, acl: Acl, operation: int) -> bool:
        if acl.operation in (operation, Operation.ALL):
            return True
        if acl.operation not in IMPLIED_BY.get(Operation(operation), ()):
            return False
        kips = acl.resource_type == ResourceType.GROUP and acl.operation == Operation.DELETE
        return not kips or self.group_delete_implies_describe


def _is_outdone(acl: Acl, denied: dict[int, set[str]]) -> bool:
    """Whether everything that the entry allows is denied by another."""
    name = acl.resource_name
    if acl.pattern_type == PatternType.LITERAL:
        if name == WILDCARD:
            return False
        if name in denied[PatternType.LITERAL]:
            return True
    return any(name[:size] in denied[PatternType.PREFIXED] for size in range(1, len(name) + 1))
