"""Client quotas of users and client ids that are the suite's own: nobody is slowed down by them."""

from __future__ import annotations

import math
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, expect, expect_that, unordered
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

KIP = "KIP-546"
CONTROL = "Kafka: ClientQuotaControlManager"
IMAGE = "Kafka: ClientQuotasImage"
EXACT, DEFAULT, ANY = 0, 1, 2
PRODUCE, FETCH, REQUEST = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
Parts = dict[str, str | None]
Row = dict[str, Any]


def somebody(on: Broker, *kinds: str) -> Parts:
    """An entity that nobody has: a user, or the types named. Its quotas are removed afterwards."""
    who: Parts = {kind: on.cluster.name() for kind in kinds or ("user",)}
    on.cluster.quotas.append(dict(who))
    return who


def parts(who: Parts) -> list[Row]:
    return [{"entity_type": kind, "entity_name": name} for kind, name in who.items()]


def change(who: Parts, **quotas: float | None) -> Row:
    """An entity with new values; None takes one away."""
    ops = [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in quotas.items()]
    return {"entity": parts(who), "ops": ops}


def alter(on: Broker, *entries: Row, validate_only: bool = False) -> Answer:
    return on.ask("AlterClientQuotas", entries=list(entries), validate_only=validate_only)


def entity_result(who: Parts, code: int = E.NONE) -> Row:
    """A row of the answer."""
    text = NOT_EMPTY if code else None
    return {"error_code": code, "error_message": text, "entity": unordered(*parts(who), by="entity_type")}


def wanted(kind: str, match_type: int, match: str | None = None) -> Row:
    """A component of a filter."""
    return {"entity_type": kind, "match_type": match_type, "match": match}


def exactly(who: Parts) -> list[Row]:
    return [wanted(kind, EXACT, name) for kind, name in who.items()]


def describe(on: Broker, *components: Row, strict: bool = False) -> Answer:
    return on.ask("DescribeClientQuotas", components=list(components), strict=strict)


def quotas(on: Broker, who: Parts) -> dict[str, float]:
    """An entity's own quotas."""
    answer = describe(on, *exactly(who), strict=True)
    expect(answer, error_code=E.NONE)
    return {value.key: value.value for entry in answer.entries for value in entry.values}


def await_quotas(on: Broker, who: Parts, **values: float) -> None:
    """Wait until an entity has just these: Kafka's controller answers before the brokers have heard of it."""
    on.in_time(lambda: quotas(on, who) == values)
    expect_that("the quotas", quotas(on, who), values)


@case("AlterClientQuotas", "A quota is set, changed and taken away.", source=KIP)
def set_and_removed(on: Broker) -> None:
    who = somebody(on)
    for value in (1000.0, 2000.5):
        expect(alter(on, change(who, request_percentage=value)), entries=[entity_result(who)])
        await_quotas(on, who, request_percentage=value)
    expect(alter(on, change(who, request_percentage=None)), entries=[entity_result(who)])
    await_quotas(on, who)


@case("AlterClientQuotas", "Several quotas of an entity; taking one away leaves the others.", source=KIP)
def several(on: Broker) -> None:
    who = somebody(on)
    expect(alter(on, change(who, producer_byte_rate=1000.0, consumer_byte_rate=2000.0)), entries=[entity_result(who)])
    await_quotas(on, who, producer_byte_rate=1000.0, consumer_byte_rate=2000.0)
    alter(on, change(who, producer_byte_rate=None))
    await_quotas(on, who, consumer_byte_rate=2000.0)


@case("AlterClientQuotas", "A user, a client id and both together are entities of their own.", source=KIP)
def entities(on: Broker) -> None:
    both = somebody(on, "user", "client-id")
    user: Parts = {"user": both["user"]}
    on.cluster.quotas.append(dict(user))
    alter(on, change(both, producer_byte_rate=1.0))
    alter(on, change(user, producer_byte_rate=2.0))
    await_quotas(on, both, producer_byte_rate=1.0)
    await_quotas(on, user, producer_byte_rate=2.0)


@case("AlterClientQuotas", "Taking away what is not there is no error.", source=CONTROL)
def remove_missing(on: Broker) -> None:
    who = somebody(on)
    expect(alter(on, change(who, producer_byte_rate=None)), entries=[entity_result(who)])


@case("AlterClientQuotas", "A quota that there is not: INVALID_REQUEST.", source=CONTROL)
def unknown_quota(on: Broker) -> None:
    who = somebody(on)
    expect(alter(on, change(who, nonsense=1.0)), entries=[entity_result(who, E.INVALID_REQUEST)])


@case(
    "AlterClientQuotas",
    "A value of 0, below 0, or with a fraction where a whole number is: INVALID_REQUEST.",
    source=CONTROL,
)
def bad_values(on: Broker) -> None:
    for value in (0.0, -1.0, 1.5):
        who = somebody(on)
        row = {"entity": parts(who), "ops": [{"key": PRODUCE, "value": value, "remove": False}]}
        expect(alter(on, row), entries=[entity_result(who, E.INVALID_REQUEST)])
        expect_that("the quotas", quotas(on, who), {})


@case("AlterClientQuotas", "An entity that cannot be: INVALID_REQUEST.", source=CONTROL)
def bad_entities(on: Broker) -> None:
    impossible: tuple[Parts, ...] = ({}, {"nonsense": "a"}, {"user": ""}, {"user": on.cluster.name(), "ip": "10.0.0.1"})
    for who in impossible:
        expect(alter(on, change(who, producer_byte_rate=1.0)), entries=[entity_result(who, E.INVALID_REQUEST)])


@case("AlterClientQuotas", "A refused entity does not disturb the others.", source=CONTROL)
def neighbours(on: Broker) -> None:
    good, bad = somebody(on), somebody(on)
    answer = alter(on, change(bad, nonsense=1.0), change(good, producer_byte_rate=7.0))
    codes = {row.entity[0].entity_name: row.error_code for row in answer.entries}
    expect_that("the error codes", codes, {bad["user"]: E.INVALID_REQUEST, good["user"]: E.NONE})
    await_quotas(on, good, producer_byte_rate=7.0)


@case("AlterClientQuotas", "validate_only checks and changes nothing.", source=CONTROL)
def validated(on: Broker) -> None:
    who = somebody(on)
    expect(alter(on, change(who, producer_byte_rate=7.0), validate_only=True), entries=[entity_result(who)])
    expect(alter(on, change(who, nonsense=7.0), validate_only=True), entries=[entity_result(who, E.INVALID_REQUEST)])
    expect_that("the quotas", quotas(on, who), {})


@case("AlterClientQuotas", "No entities is an empty answer.", source=CONTROL)
def alter_nothing(on: Broker) -> None:
    expect(alter(on), entries=[])


ALSO = ["AlterClientQuotas"]


def found(on: Broker, *components: Row, strict: bool = False) -> list[set[tuple[str, str | None]]]:
    """The entities that a filter finds."""
    answer = describe(on, *components, strict=strict)
    expect(answer, error_code=E.NONE, error_message="")
    return [{(part.entity_type, part.entity_name) for part in entry.entity} for entry in answer.entries]


@case("DescribeClientQuotas", "An exact name finds its entity, with its values.", source=KIP, also=ALSO)
def exact(on: Broker) -> None:
    who = somebody(on)
    alter(on, change(who, producer_byte_rate=1024.0))
    await_quotas(on, who, producer_byte_rate=1024.0)
    row = {"entity": parts(who), "values": [{"key": PRODUCE, "value": 1024.0}]}
    expect(describe(on, *exactly(who)), error_code=E.NONE, error_message="", entries=[row])


@case("DescribeClientQuotas", "An entity without quotas is left out, without an error.", source=KIP)
def nobody(on: Broker) -> None:
    expect_that("what is found", found(on, wanted("user", EXACT, on.cluster.name())), [])


@case(
    "DescribeClientQuotas",
    "Any of a type finds every name; not strict, entities of more types too.",
    source=IMAGE,
    also=ALSO,
)
def any_name(on: Broker) -> None:
    alone, both = somebody(on), somebody(on, "user", "client-id")
    for who in (alone, both):
        alter(on, change(who, producer_byte_rate=1.0))
        await_quotas(on, who, producer_byte_rate=1.0)
    for strict, expected in ((False, (True, True)), (True, (True, False))):
        rows = found(on, wanted("user", ANY), strict=strict)
        got = (set(alone.items()) in rows, set(both.items()) in rows)
        expect_that(f"whether both are found, strict {strict}", got, expected)


@case("DescribeClientQuotas", "No components find everything; strict, nothing.", source=IMAGE, also=ALSO)
def everything(on: Broker) -> None:
    who = somebody(on)
    alter(on, change(who, producer_byte_rate=1.0))
    await_quotas(on, who, producer_byte_rate=1.0)
    expect_that("whether it is found", set(who.items()) in found(on), True)
    expect_that("what is found strictly", found(on, strict=True), [])


@case("DescribeClientQuotas", "A filter that makes no sense: INVALID_REQUEST with a text, null entries.", source=IMAGE)
def bad_filters(on: Broker) -> None:
    filters = (
        [wanted("", ANY)],
        [wanted("user", ANY), wanted("user", DEFAULT)],
        [wanted("ip", ANY), wanted("user", ANY)],
        [wanted("user", EXACT, None)],
        [wanted("user", ANY, "x")],
        [wanted("user", DEFAULT, "x")],
        [wanted("user", 9)],
    )
    for rows in filters:
        expect(describe(on, *rows), error_code=E.INVALID_REQUEST, error_message=NOT_EMPTY, entries=None)


@case("DescribeClientQuotas", "A type of entity that there is not: UNSUPPORTED_VERSION.", source=IMAGE)
def unknown_kind(on: Broker) -> None:
    expect(describe(on, wanted("nonsense", ANY)), error_code=E.UNSUPPORTED_VERSION, entries=None)


@case(
    "AlterClientQuotas",
    "A value that is not finite: INVALID_REQUEST.",
    source=CONTROL,
    since="4.4",
    before="NaN is taken, and infinity where the quota is no whole number",
)
def not_finite(on: Broker) -> None:
    who = somebody(on)
    for value in (math.inf, -math.inf, math.nan):
        answer = alter(on, change(who, **{REQUEST: value}), validate_only=True)
        row = {**entity_result(who, E.INVALID_REQUEST), "error_message": f"Quota {REQUEST} must be a finite number"}
        expect(answer, entries=[row])
