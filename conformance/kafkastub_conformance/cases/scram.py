"""SCRAM credentials of users that are the suite's own."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, containing, expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

KIP = "KIP-554"
CONTROL = "Kafka: ScramControlManager"
SHA_256, SHA_512 = 1, 2
FEWEST, MOST = 4096, 16384
Row = dict[str, Any]


def user(on: Broker) -> str:
    """A user that nobody has; its credentials are removed afterwards."""
    name = on.cluster.name()
    on.cluster.users.add(name)
    return name


def given(name: str, mechanism: int = SHA_256, iterations: int = FEWEST) -> Row:
    """An upsertion."""
    secret = {"salt": b"salt" * 4, "salted_password": b"p" * (32 if mechanism == SHA_256 else 64)}
    return {"name": name, "mechanism": mechanism, "iterations": iterations} | secret


def taken(name: str, mechanism: int = SHA_256) -> Row:
    """A deletion."""
    return {"name": name, "mechanism": mechanism}


def alter(on: Broker, *upsertions: Row, deletions: tuple[Row, ...] = ()) -> Answer:
    return on.ask("AlterUserScramCredentials", deletions=list(deletions), upsertions=list(upsertions))


def describe(on: Broker, *names: str) -> Answer:
    return on.ask("DescribeUserScramCredentials", users=[{"name": name} for name in names])


def infos(on: Broker, name: str) -> list[tuple[int, int]]:
    """A user's (mechanism, iterations), sorted."""
    return sorted((one.mechanism, one.iterations) for one in describe(on, name).results[0].credential_infos)


def await_infos(on: Broker, name: str, *rows: tuple[int, int]) -> None:
    """Wait until a user has just these: Kafka's controller answers before the brokers have heard of it."""
    on.in_time(lambda: infos(on, name) == list(rows))
    expect_that("mechanisms and iterations", infos(on, name), list(rows))


def done(name: str, code: int = E.NONE) -> Row:
    """A row of the answer."""
    return {"user": name, "error_code": code, "error_message": NOT_EMPTY if code else None}


@case("AlterUserScramCredentials", "An upsertion makes a credential, then changes it.", source=KIP)
def upserted(on: Broker) -> None:
    name = user(on)
    for iterations in (FEWEST, MOST):
        expect(alter(on, given(name, iterations=iterations)), results=[done(name)])
        await_infos(on, name, (SHA_256, iterations))


@case("AlterUserScramCredentials", "Each mechanism has a credential of its own.", source=KIP)
def both_mechanisms(on: Broker) -> None:
    for gone, stays in ((SHA_256, SHA_512), (SHA_512, SHA_256)):
        name = user(on)
        for mechanism in (SHA_256, SHA_512):
            expect(alter(on, given(name, mechanism, FEWEST + mechanism)), results=[done(name)])
        await_infos(on, name, (SHA_256, FEWEST + SHA_256), (SHA_512, FEWEST + SHA_512))
        expect(alter(on, deletions=(taken(name, gone),)), results=[done(name)])
        await_infos(on, name, (stays, FEWEST + stays))


@case("AlterUserScramCredentials", "A deletion takes it away; a second one: RESOURCE_NOT_FOUND.", source=KIP)
def removed(on: Broker) -> None:
    name = user(on)
    alter(on, given(name))
    expect(alter(on, deletions=(taken(name),)), results=[done(name)])
    on.in_time(lambda: describe(on, name).results[0].error_code == E.RESOURCE_NOT_FOUND)
    expect(alter(on, deletions=(taken(name),)), results=[done(name, E.RESOURCE_NOT_FOUND)])


@case(
    "AlterUserScramCredentials", "Fewer than 4096 iterations or more than 16384: UNACCEPTABLE_CREDENTIAL.", source=KIP
)
def iterations(on: Broker) -> None:
    for count in (FEWEST - 1, MOST + 1, 0, -1):
        name = user(on)
        expect(alter(on, given(name, iterations=count)), results=[done(name, E.UNACCEPTABLE_CREDENTIAL)])


@case("AlterUserScramCredentials", "An empty user name: UNACCEPTABLE_CREDENTIAL.", source=CONTROL)
def empty_name(on: Broker) -> None:
    expect(alter(on, given("")), results=[done("", E.UNACCEPTABLE_CREDENTIAL)])
    expect(alter(on, deletions=(taken(""),)), results=[done("", E.UNACCEPTABLE_CREDENTIAL)])


@case("AlterUserScramCredentials", "A mechanism that does not exist: UNSUPPORTED_SASL_MECHANISM.", source=CONTROL)
def unknown_mechanism(on: Broker) -> None:
    for mechanism in (0, 3, -1):
        name = user(on)
        expect(alter(on, given(name, mechanism)), results=[done(name, E.UNSUPPORTED_SASL_MECHANISM)])


@case("AlterUserScramCredentials", "A user named twice: DUPLICATE_RESOURCE once, and nothing is done.", source=CONTROL)
def altered_twice(on: Broker) -> None:
    name = user(on)
    for rows, gone in (((given(name), given(name, SHA_512)), ()), ((given(name),), (taken(name),))):
        code = E.DUPLICATE_RESOURCE if not gone else E.RESOURCE_NOT_FOUND
        expect(alter(on, *rows, deletions=gone), results=[done(name, code)])
    expect_that("mechanisms and iterations", infos(on, name), [])


@case("AlterUserScramCredentials", "A refused user does not disturb the others.", source=CONTROL)
def neighbours(on: Broker) -> None:
    good, bad = user(on), user(on)
    answer = alter(on, given(bad, iterations=1), given(good))
    expect(answer, results=unordered(done(bad, E.UNACCEPTABLE_CREDENTIAL), done(good), by="user"))
    await_infos(on, good, (SHA_256, FEWEST))


@case("AlterUserScramCredentials", "Nothing to alter is an empty answer.", source=CONTROL)
def alter_nothing(on: Broker) -> None:
    expect(alter(on), results=[])


ALSO = ["AlterUserScramCredentials"]


@case("DescribeUserScramCredentials", "A user's mechanisms with their iterations, no secrets.", source=KIP, also=ALSO)
def described(on: Broker) -> None:
    name = user(on)
    alter(on, given(name, SHA_512, 5000))
    await_infos(on, name, (SHA_512, 5000))
    row = {"user": name, "error_code": E.NONE, "credential_infos": [{"mechanism": SHA_512, "iterations": 5000}]}
    expect(describe(on, name), error_code=E.NONE, results=[row])


@case("DescribeUserScramCredentials", "A user without credentials: RESOURCE_NOT_FOUND.", source=KIP)
def describe_missing(on: Broker) -> None:
    name = on.cluster.name()
    row = {"user": name, "error_code": E.RESOURCE_NOT_FOUND, "error_message": NOT_EMPTY, "credential_infos": []}
    expect(describe(on, name), error_code=E.NONE, results=[row])


@case("DescribeUserScramCredentials", "A user named twice: DUPLICATE_RESOURCE, once.", source=KIP)
def described_twice(on: Broker) -> None:
    name, other = on.cluster.name(), on.cluster.name()
    rows = [(name, E.DUPLICATE_RESOURCE), (other, E.RESOURCE_NOT_FOUND)]
    expect(
        describe(on, name, other, name),
        results=unordered(*({"user": one, "error_code": code} for one, code in rows), by="user"),
    )


@case("DescribeUserScramCredentials", "No users, and null, are all of them.", source=KIP, also=ALSO)
def all_users(on: Broker) -> None:
    name = user(on)
    alter(on, given(name))
    await_infos(on, name, (SHA_256, FEWEST))
    row = {"user": name, "error_code": E.NONE, "credential_infos": [{"mechanism": SHA_256, "iterations": FEWEST}]}
    both: tuple[list[Row] | None, ...] = (None, [])
    for users in both:
        expect(on.ask("DescribeUserScramCredentials", users=users), results=containing(row, by="user"))
