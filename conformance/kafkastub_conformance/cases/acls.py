"""ACLs: what a broker without an authorizer says, and entries and filters where there is one."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, expect, expect_that, unordered
from kafkastub_conformance.model import Skipped
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

ANY, TOPIC, GROUP, CLUSTER = 1, 2, 3, 4
MATCH, LITERAL, PREFIXED = 2, 3, 4
READ, WRITE, DESCRIBE = 3, 4, 8
DENY, ALLOW = 2, 3
IMPOSSIBLE = 99
KIP = "KIP-140, KIP-290"
CHECKING = "Kafka: AclControlManager"
WITHOUT = "Kafka: AclApis"
MISSING = "the broker has no authorizer"
PRESENT = "the broker has an authorizer"
Entry = dict[str, Any]


def authorizer(on: Broker, *, wanted: bool) -> None:
    """Raises Skipped where the broker is not of the kind that the case is about."""
    if bool(on.cluster.setting("authorizer.class.name")) is not wanted:
        raise Skipped(MISSING if wanted else PRESENT)


def entry(on: Broker, name: str, **other: Any) -> Entry:
    """User NAME-OF-THE-RUN may read the topic."""
    on.cluster.has_acls = True
    usual = {"resource_type": TOPIC, "resource_name": name, "resource_pattern_type": LITERAL}
    return usual | {"principal": on.cluster.principal, "host": "*", "operation": READ, "permission_type": ALLOW} | other


def chosen(name: str | None = None, **other: Any) -> Entry:
    """A filter: every entry of the resource, of any pattern type."""
    usual = {"resource_type_filter": ANY, "resource_name_filter": name, "pattern_type_filter": ANY}
    return usual | {"principal_filter": None, "host_filter": None, "operation": ANY, "permission_type": ANY} | other


def create(on: Broker, *entries: Entry) -> Answer:
    return on.ask("CreateAcls", creations=list(entries))


def delete(on: Broker, *filters: Entry) -> Answer:
    return on.ask("DeleteAcls", filters=list(filters))


def found(on: Broker, one: Entry) -> list[tuple[str, int, str, int]]:
    """What a filter finds: (resource, pattern type, principal, operation), sorted."""
    answer = on.ask("DescribeAcls", **one)
    expect(answer, error_code=E.NONE, error_message="")
    rows = [(r.resource_name, r.pattern_type, a.principal, a.operation) for r in answer.resources for a in r.acls]
    return sorted(rows)


def await_found(on: Broker, one: Entry, *rows: tuple[str, int, str, int]) -> None:
    """Wait until a filter finds just these: Kafka's controller answers before the brokers have heard of it."""
    on.in_time(lambda: found(on, one) == sorted(rows))
    expect_that("what the filter finds", found(on, one), sorted(rows))


def made(on: Broker, *entries: Entry) -> None:
    """Entries that are in force."""
    expect(create(on, *entries), results=[{"error_code": E.NONE, "error_message": ""}] * len(entries))
    for one in entries:
        row = (one["resource_name"], one["resource_pattern_type"], one["principal"], one["operation"])
        on.in_time(lambda one=one, row=row: row in found(on, chosen(one["resource_name"])))  # type: ignore[misc]


@case("DescribeAcls", "Without an authorizer: SECURITY_DISABLED with a text.", source=WITHOUT)
def describing_without(on: Broker) -> None:
    authorizer(on, wanted=False)
    answer = on.ask("DescribeAcls", **chosen())
    expect(answer, error_code=E.SECURITY_DISABLED, error_message=NOT_EMPTY, resources=[])


@case("CreateAcls", "Without an authorizer: SECURITY_DISABLED with a text at every entry.", source=WITHOUT)
def creating_without(on: Broker) -> None:
    authorizer(on, wanted=False)
    row = {"error_code": E.SECURITY_DISABLED, "error_message": NOT_EMPTY}
    expect(create(on, entry(on, "a"), entry(on, "b")), results=[row, row])


@case("DeleteAcls", "Without an authorizer: SECURITY_DISABLED with a text at every filter.", source=WITHOUT)
def deleting_without(on: Broker) -> None:
    authorizer(on, wanted=False)
    row = {"error_code": E.SECURITY_DISABLED, "error_message": NOT_EMPTY, "matching_acls": []}
    expect(delete(on, chosen(on.name()), chosen(on.name())), filter_results=[row, row])


@case("CreateAcls", "No entries is an empty answer.", source=WITHOUT)
def create_nothing(on: Broker) -> None:
    expect(create(on), results=[])


@case("DeleteAcls", "No filters is an empty answer.", source=WITHOUT)
def delete_nothing(on: Broker) -> None:
    expect(delete(on), filter_results=[])


def ends(on: Broker, api: str, **body: Any) -> None:
    on.send(api, **body)
    expect_that("whether the connection was closed", on.link().closed(), True)
    on.hang_up()


@case(
    "DescribeAcls",
    "A type, pattern type, operation or permission 0 ends the connection.",
    source="Kafka: DescribeAclsRequest.normalizeAndValidate",
)
def describe_unknown(on: Broker) -> None:
    for field in ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"):
        ends(on, "DescribeAcls", **chosen() | {field: 0})


@case(
    "CreateAcls",
    "A type, pattern type, operation or permission 0 ends the connection.",
    source="Kafka: CreateAclsRequest.validate",
)
def create_unknown(on: Broker) -> None:
    for field in ("resource_type", "resource_pattern_type", "operation", "permission_type"):
        ends(on, "CreateAcls", creations=[entry(on, "a", **{field: 0})])


@case(
    "DeleteAcls",
    "A type, pattern type, operation or permission 0 ends the connection.",
    source="Kafka: DeleteAclsRequest.normalizeAndValidate",
)
def delete_unknown(on: Broker) -> None:
    for field in ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"):
        ends(on, "DeleteAcls", filters=[chosen(on.name(), **{field: 0})])


@case("CreateAcls", "An entry is there; made a second time it is no error and there once.", source=KIP)
def created(on: Broker) -> None:
    authorizer(on, wanted=True)
    name = on.name()
    one = entry(on, name)
    for _ in range(2):
        made(on, one)
    await_found(on, chosen(name), (name, LITERAL, on.cluster.principal, READ))


@case("CreateAcls", "Patterns that are for filters only: UNKNOWN_SERVER_ERROR at every entry.", source=KIP)
def patterns_of_filters(on: Broker) -> None:
    authorizer(on, wanted=True)
    for pattern in (ANY, MATCH):
        answer = create(on, entry(on, "a", resource_pattern_type=pattern), entry(on, "b"))
        expect(answer, results=[{"error_code": E.UNKNOWN_SERVER_ERROR, "error_message": None}] * 2)


@case(
    "CreateAcls",
    "A host is an address, a star or a range of addresses; no host, or a range that is none, is INVALID_REQUEST.",
    source="KIP-1276",
    since="4.4",
    before="any text is a host",
)
def hosts(on: Broker) -> None:
    authorizer(on, wanted=True)
    name = on.cluster.name()
    bad = ["", "10.0.0.0/33", "10.0.0/8", "300.0.0.0/8", "10.0.0.0/", "2001:db8::/129", "2001:db8::/x", "g::/8", "*/8"]
    good = ["192.0.2.0/24", "2001:db8::/32", "::/0", "not an address"]
    wrong = {"error_code": E.INVALID_REQUEST, "error_message": NOT_EMPTY}
    answer = create(on, *(entry(on, name, host=host) for host in bad + good))
    expect(answer, results=[wrong] * len(bad) + [{"error_code": E.NONE}] * len(good))
    await_found(on, chosen(name), *[(name, LITERAL, on.cluster.principal, READ)] * len(good))
    await_found(on, chosen(name, host_filter=good[0]), (name, LITERAL, on.cluster.principal, READ))


@case("CreateAcls", "An invalid entry is INVALID_REQUEST; the other entries are processed.", source=CHECKING)
def bad_entries(on: Broker) -> None:
    authorizer(on, wanted=True)
    name = on.name()
    bad = [
        entry(on, ""),
        entry(on, "another", resource_type=CLUSTER),
        entry(on, name, principal="nobody"),
        entry(on, name, operation=IMPOSSIBLE),
        entry(on, name, permission_type=IMPOSSIBLE),
    ]
    wrong = {"error_code": E.INVALID_REQUEST, "error_message": NOT_EMPTY}
    expect(create(on, *bad, entry(on, name)), results=[wrong] * len(bad) + [{"error_code": E.NONE}])
    await_found(on, chosen(name), (name, LITERAL, on.cluster.principal, READ))


@case("DescribeAcls", "The entries of one resource come together.", source=KIP, also=["CreateAcls"])
def together(on: Broker) -> None:
    authorizer(on, wanted=True)
    name, principal = on.name(), on.cluster.principal
    made(on, entry(on, name), entry(on, name, operation=WRITE, permission_type=DENY, host="10.0.0.1"))
    answer = on.ask("DescribeAcls", **chosen(name))
    acls = [
        {"principal": principal, "host": "*", "operation": READ, "permission_type": ALLOW},
        {"principal": principal, "host": "10.0.0.1", "operation": WRITE, "permission_type": DENY},
    ]
    row = {"resource_type": TOPIC, "resource_name": name, "pattern_type": LITERAL}
    expect(answer, error_code=E.NONE, resources=[row | {"acls": unordered(*acls, by="operation")}])


@case("DescribeAcls", "Every field of a filter narrows what it finds.", source=KIP, also=["CreateAcls"])
def narrowed(on: Broker) -> None:
    authorizer(on, wanted=True)
    name, principal = on.name(), on.cluster.principal
    made(on, entry(on, name), entry(on, name, resource_type=GROUP, operation=DESCRIBE, host="10.0.0.1"))
    topic, group = (name, LITERAL, principal, READ), (name, LITERAL, principal, DESCRIBE)
    filters: tuple[tuple[Entry, list[tuple[str, int, str, int]]], ...] = (
        ({}, [topic, group]),
        ({"resource_type_filter": TOPIC}, [topic]),
        ({"operation": DESCRIBE}, [group]),
        ({"host_filter": "10.0.0.1"}, [group]),
        ({"principal_filter": principal}, [topic, group]),
        ({"principal_filter": "User:nobody"}, []),
        ({"permission_type": DENY}, []),
        ({"pattern_type_filter": PREFIXED}, []),
        ({"operation": IMPOSSIBLE}, []),
    )
    for other, rows in filters:
        await_found(on, chosen(name, **other), *rows)


@case(
    "DescribeAcls",
    "MATCH finds whatever concerns a resource, LITERAL its own name only.",
    source=KIP,
    also=["CreateAcls"],
)
def matching(on: Broker) -> None:
    authorizer(on, wanted=True)
    name, principal = on.name(), on.cluster.principal
    longer = f"{name}-longer"
    made(on, entry(on, name, resource_pattern_type=PREFIXED), entry(on, longer), entry(on, "*", operation=WRITE))
    prefix, literal = (name, PREFIXED, principal, READ), (longer, LITERAL, principal, READ)
    star = ("*", LITERAL, principal, WRITE)
    own = {"principal_filter": principal}
    await_found(on, chosen(longer, pattern_type_filter=MATCH, **own), prefix, literal, star)
    await_found(on, chosen(longer, pattern_type_filter=LITERAL, **own), literal)
    await_found(on, chosen(name, pattern_type_filter=PREFIXED, **own), prefix)
    await_found(on, chosen(longer, pattern_type_filter=ANY, **own), literal)


@case("DeleteAcls", "A filter is answered with the entries that it takes away.", source=KIP, also=["CreateAcls"])
def deleted(on: Broker) -> None:
    authorizer(on, wanted=True)
    name, principal = on.name(), on.cluster.principal
    made(on, entry(on, name), entry(on, name, operation=WRITE))
    row = {"resource_type": TOPIC, "resource_name": name, "pattern_type": LITERAL, "principal": principal, "host": "*"}
    told = row | {"error_code": E.NONE, "operation": READ, "permission_type": ALLOW}
    answer = delete(on, chosen(name, operation=READ))
    expect(answer, filter_results=[{"error_code": E.NONE, "error_message": None, "matching_acls": [told]}])
    rest = (name, LITERAL, principal, WRITE)
    on.in_time(lambda: len(on.ask("DescribeAcls", **chosen(name)).resources[0].acls) == 1)
    rows = [(a.principal, a.operation) for r in on.ask("DescribeAcls", **chosen(name)).resources for a in r.acls]
    expect_that("what is left", rows, [rest[2:]])


@case("DeleteAcls", "A filter that finds nothing is no error; one that cannot be: INVALID_REQUEST.", source=CHECKING)
def deleting_nothing(on: Broker) -> None:
    authorizer(on, wanted=True)
    answer = delete(on, chosen(on.name()), chosen(on.name(), operation=IMPOSSIBLE))
    fine = {"error_code": E.NONE, "matching_acls": []}
    wrong = {"error_code": E.INVALID_REQUEST, "error_message": NOT_EMPTY, "matching_acls": []}
    expect(answer, filter_results=[fine, wrong])


@case("DeleteAcls", "An entry that matches two filters is returned for both.", source=CHECKING, also=["CreateAcls"])
def deleted_by_two(on: Broker) -> None:
    authorizer(on, wanted=True)
    name = on.name()
    made(on, entry(on, name))
    answer = delete(on, chosen(name), chosen(name, operation=READ))
    row = {"error_code": E.NONE, "matching_acls": [{"error_code": E.NONE, "resource_name": name}]}
    expect(answer, filter_results=[row, row])
