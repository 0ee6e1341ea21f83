"""What members of a share group can do to its records (KIP-932)."""

from __future__ import annotations

from functools import partial

from kafkastub_conformance import anomalies
from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.sharing import (
    ACCEPT,
    FINAL,
    REJECT,
    RELEASE,
    Acquired,
    acquired,
    another,
    comes_to,
    fill,
    sharing,
)
from kafkawire.errors import ErrorCode as E

MEMBERS = ["ShareFetch", "ShareAcknowledge", "ShareGroupHeartbeat", "ShareGroupDescribe"]
BEFORE = "UNSUPPORTED_VERSION, unless share groups are switched on"
allowed = partial(anomalies.allowed, since="4.2", before=BEFORE)
forbidden = partial(anomalies.forbidden, since="4.2", before=BEFORE)
ACKNOWLEDGED = "KIP-932; Kafka: SharePartition.acknowledge"
MOST_DELIVERIES = 50


@forbidden(
    "acknowledged_without_being_given",
    "any",
    "ShareAcknowledge",
    "A member accepts only what it was given: INVALID_RECORD_STATE for records of another member and for free ones.",
    source=ACKNOWLEDGED,
    also=MEMBERS,
)
def not_given(on: Broker) -> None:
    member, _ = sharing(on, 2)
    second = another(member)
    member.fetch()
    expect_that("of another member", second.acknowledge((0, 1, [ACCEPT])).error_code, E.INVALID_RECORD_STATE)
    expect_that("of the member itself", member.acknowledge((0, 1, [RELEASE])).error_code, E.NONE)
    expect_that("of free ones", member.acknowledge((0, 1, [ACCEPT])).error_code, E.INVALID_RECORD_STATE)
    expect_that("what is acquired", acquired(member.fetch()), [(0, 1, 2)])


@allowed(
    "given_up",
    "any",
    "ShareAcknowledge",
    "A record that a member rejects is given to nobody again.",
    source=ACKNOWLEDGED,
    also=MEMBERS,
)
def rejected(on: Broker) -> None:
    member, topic = sharing(on, 1)
    second = another(member)
    member.fetch()
    expect_that("its error", member.acknowledge((0, 0, [REJECT])).error_code, E.NONE)
    expect(member.tell(FINAL), error_code=E.NONE)
    fill(on, topic, 1)
    expect_that("what the second acquires", comes_to(second), [(1, 1, 1)])


@allowed(
    "archived",
    "share.delivery.count.limit (5)",
    "ShareFetch",
    "A record that was released after its last delivery is given to nobody again, though nobody has rejected it.",
    source="KIP-932; Kafka: InFlightState.tryUpdateState",
    also=MEMBERS,
)
def archived(on: Broker) -> None:
    member, topic = sharing(on, 1)
    counts: list[int] = []
    rows: Acquired = acquired(member.fetch())
    while rows and len(counts) < MOST_DELIVERIES:
        counts.append(rows[0][2])
        member.acknowledge((0, 0, [RELEASE]))
        rows = acquired(member.fetch())
    expect_that("the deliveries", counts, list(range(1, on.cluster.number("group.share.delivery.count.limit", 5) + 1)))
    fill(on, topic, 1)
    expect_that("what is acquired then", comes_to(member), [(1, 1, 1)])
