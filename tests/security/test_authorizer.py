"""Decisions of the StandardAuthorizer, one rule a test."""

from __future__ import annotations

import pytest

from kafkastub.security import Acl, AclFilter, Authorizer, Operation, PatternType, Permission, ResourceType

ALLOW, DENY = Permission.ALLOW, Permission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE


def acl(name: str = "t", operation: Operation = READ, permission: Permission = ALLOW, **other: object) -> Acl:
    entry = Acl(ResourceType.TOPIC, name, LITERAL, "User:alice", "*", operation, permission)
    return entry._replace(**other)  # type: ignore[arg-type]


def authorizer(*acls: Acl, **settings: bool) -> Authorizer:
    made = Authorizer(["User:root"], **settings)
    for one in acls:
        assert made.add(one)
    return made


def may(
    of: Authorizer, operation: Operation = READ, name: str = "t", who: str = "alice", host: str = "10.0.0.1"
) -> bool:
    return of.allows(f"User:{who}", host, operation, ResourceType.TOPIC, name)


def test_nobody_may_anything_without_an_entry():
    assert not may(authorizer())
    assert may(authorizer(allow_everyone_without_acl=True))


def test_everybody_may_what_no_entry_is_about_whoever_it_names():
    of = authorizer(acl("other"), acl("t", principal="User:bob"), allow_everyone_without_acl=True)
    assert may(of, name="third")
    assert not may(of)  # an entry about bob makes the topic one that has entries


def test_a_super_user_may_what_is_denied():
    of = authorizer(acl(operation=Operation.ALL, permission=DENY, principal="User:*"))
    assert may(of, who="root")


def test_denying_wins():
    of = authorizer(acl(), acl("*", permission=DENY))
    assert not may(of)
    assert may(authorizer(acl(), acl("*", permission=DENY, host="10.0.0.2")))


def test_patterns():
    assert may(authorizer(acl("*")))
    of = authorizer(acl("ord", pattern_type=PREFIXED))
    assert [may(of, name=name) for name in ("ord", "orders", "or", "xord")] == [True, True, False, False]
    assert not may(authorizer(acl("*", pattern_type=PREFIXED)), name="t")  # a star is no wildcard there


def test_principals_and_hosts():
    assert may(authorizer(acl(principal="User:*")), who="anybody")
    assert not may(authorizer(acl(principal="User:alic*")))
    of = authorizer(acl(host="10.0.0.1"))
    assert [may(of, host=host) for host in ("10.0.0.1", "10.0.0.2")] == [True, False]


@pytest.mark.parametrize("given", list(Operation)[2:])
def test_what_an_operation_implies(given: Operation):
    allowed = {one for one in list(Operation)[3:] if may(authorizer(acl(operation=given)), one)}
    implied = {
        Operation.ALL: set(list(Operation)[3:]),
        READ: {READ, DESCRIBE},
        WRITE: {WRITE, DESCRIBE},
        Operation.DELETE: {Operation.DELETE, DESCRIBE},
        Operation.ALTER: {Operation.ALTER, DESCRIBE},
        Operation.ALTER_CONFIGS: {Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS},
    }
    assert allowed == implied.get(given, {given})


def test_denying_implies_nothing():
    of = authorizer(acl(operation=Operation.ALL), acl(permission=DENY))
    assert may(of, DESCRIBE)
    assert not may(of, READ)


def test_a_change_counts_at_once():
    of = authorizer()
    assert not may(of)
    of.add(acl())
    assert may(of)
    everything = AclFilter(ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)
    assert of.remove(everything) == [acl()]
    assert not may(of)
    assert len(of) == 0


def test_an_entry_is_there_once():
    of = authorizer(acl())
    assert not of.add(acl())
    assert of.all() == [acl()]


@pytest.mark.parametrize(
    ("acls", "allowed"),
    [
        ([], False),
        ([acl("t", WRITE)], True),
        ([acl("t", Operation.ALL)], True),
        ([acl("t", READ)], False),
        ([acl("*", WRITE), acl("*", WRITE, DENY)], False),
        ([acl("t", WRITE), acl("t", WRITE, DENY)], False),
        ([acl("t", WRITE), acl("u", WRITE, DENY)], True),
        ([acl("tt", WRITE), acl("t", WRITE, DENY, pattern_type=PREFIXED)], False),
        ([acl("t", WRITE, pattern_type=PREFIXED), acl("t", WRITE, DENY)], True),
        ([acl("t", WRITE, pattern_type=PREFIXED), acl("t", WRITE, DENY, pattern_type=PREFIXED)], False),
        ([acl("*", WRITE), acl("t", WRITE, DENY, pattern_type=PREFIXED)], True),
        ([acl("t", WRITE, principal="User:bob")], False),
        ([acl("t", WRITE, host="10.9.9.9")], False),
    ],
)
def test_whether_there_may_be_a_topic_to_write_to(acls: list[Acl], allowed: bool):
    assert authorizer(*acls).allows_somewhere("User:alice", "10.0.0.1", WRITE, ResourceType.TOPIC) is allowed


def test_filters():
    entries = [acl("*"), acl("orders"), acl("ord", pattern_type=PREFIXED), acl("x", WRITE, DENY, host="h")]
    of = authorizer(*entries)
    anything = AclFilter(ResourceType.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)

    def found(**wanted: object) -> list[str]:
        return [one.resource_name for one in of.find(anything._replace(**wanted))]  # type: ignore[arg-type]

    assert found() == ["*", "orders", "ord", "x"]
    assert found(resource_name="orders") == ["orders"]
    assert found(resource_name="orders", pattern_type=PatternType.MATCH) == ["*", "orders", "ord"]
    assert found(pattern_type=PREFIXED) == ["ord"]
    assert found(permission=DENY) == found(host="h") == found(operation=WRITE) == ["x"]
    assert found(resource_type=ResourceType.GROUP) == found(principal="User:bob") == []
