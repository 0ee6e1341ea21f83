"""ShareAcknowledge (KIP-932): what becomes of records that were acquired."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.sharing import (
    ACCEPT,
    FINAL,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    Sharer,
    acquired,
    another,
    comes_to,
    sharing,
)
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, unless share groups are switched on")

API, SAID = "ShareFetch", "ShareAcknowledge"
SESSIONS = "KIP-932; Kafka: SharePartitionManager.newContext"
SAYING = "KIP-932; Kafka: SharePartition.acknowledge"
CHECKED_ALONE = "KIP-932; Kafka: KafkaApis.validateAcknowledgementBatches"
RENEWING = "KIP-1222; Kafka: SharePartition.acknowledge"
ALSO = [API, "ShareGroupHeartbeat", "ShareGroupDescribe"]


@case(SAID, "An accepted record is not delivered again.", source=SAYING, also=ALSO)
def accepted(on: Broker) -> None:
    member, _ = sharing(on, 3)
    second = another(member)
    member.fetch()
    expect_that("its error", member.acknowledge((0, 2, [ACCEPT])).error_code, E.NONE)
    expect(member.tell(FINAL), error_code=E.NONE)
    expect_that("what the second acquires", acquired(second.fetch()), [])


@case(SAID, "A rejected record is not delivered again, a released one is.", source=SAYING, also=ALSO)
def rejected(on: Broker) -> None:
    member, _ = sharing(on, 3)
    member.fetch()
    row = member.acknowledge((0, 0, [RELEASE]), (1, 1, [REJECT]), (2, 2, [RELEASE]))
    expect_that("its error", row.error_code, E.NONE)
    expect_that("what is acquired", acquired(member.fetch()), [(0, 0, 2), (2, 2, 2)])


@case(SAID, "A type for each offset, or one for all.", source=SAYING, also=ALSO)
def by_offset(on: Broker) -> None:
    member, _ = sharing(on, 4)
    member.fetch()
    row = member.acknowledge((0, 3, [ACCEPT, RELEASE, GAP, REJECT]))
    expect_that("its error", row.error_code, E.NONE)
    expect_that("what is acquired", acquired(member.fetch()), [(1, 1, 2)])


@case(SAID, "A range may be of several that were acquired.", source=SAYING, also=ALSO)
def across(on: Broker) -> None:
    member, _ = sharing(on, 2, 2)
    expect_that("what is acquired", acquired(member.fetch(batch_size=1)), [(0, 1, 1), (2, 3, 1)])
    row = member.acknowledge((0, 3, [ACCEPT, RELEASE, RELEASE, REJECT]))
    expect_that("its error", row.error_code, E.NONE)
    expect_that("what is acquired then", acquired(member.fetch()), [(1, 1, 2), (2, 2, 2)])


@case(SAID, "Offsets that another member has acquired: INVALID_RECORD_STATE.", source=SAYING, also=ALSO)
def of_another(on: Broker) -> None:
    member, _ = sharing(on, 3)
    second = another(member)
    member.fetch()
    expect_that("its error", second.acknowledge((0, 2, [ACCEPT])).error_code, E.INVALID_RECORD_STATE)
    expect_that("the owner's", member.acknowledge((0, 2, [ACCEPT])).error_code, E.NONE)


@case(
    SAID,
    "A record that was acknowledged before: INVALID_RECORD_STATE, and the request changes nothing.",
    source=SAYING,
    also=ALSO,
)
def twice(on: Broker) -> None:
    member, _ = sharing(on, 3)
    member.fetch()
    member.acknowledge((1, 1, [ACCEPT]))
    expect_that("its error", member.acknowledge((0, 2, [RELEASE])).error_code, E.INVALID_RECORD_STATE)
    expect_that("what is acquired", acquired(member.fetch()), [])
    expect_that("that of the rest", member.acknowledge((0, 0, [ACCEPT]), (2, 2, [ACCEPT])).error_code, E.NONE)


@case(SAID, "Offsets behind what was ever acquired: INVALID_REQUEST.", source=SAYING, also=ALSO)
def past_acquired(on: Broker) -> None:
    member, _ = sharing(on, 3)
    member.fetch()
    for batch in ((0, 9, [ACCEPT]), (5, 9, [ACCEPT])):
        expect_that("its error", member.acknowledge(batch).error_code, E.INVALID_REQUEST)


@case(
    SAID,
    "An invalid or overlapping range, or an unknown type: INVALID_REQUEST.",
    source=CHECKED_ALONE,
    also=ALSO,
)
def malformed(on: Broker) -> None:
    member, _ = sharing(on, 3)
    member.fetch()
    wrong: list[list[tuple[int, int, list[int]]]] = [
        [(2, 0, [ACCEPT])],
        [(0, 2, [ACCEPT]), (1, 2, [ACCEPT])],
        [(1, 1, [ACCEPT]), (0, 0, [ACCEPT])],
        [(0, 2, [])],
        [(0, 2, [ACCEPT, ACCEPT])],
        [(0, 2, [5])],
        [(0, 2, [-1])],
        [(-3, -1, [ACCEPT])],
        [(0, 2, [RENEW])],
    ]
    codes = [member.acknowledge(*batches).error_code for batches in wrong]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * len(wrong))
    expect_that("that of what is right", member.acknowledge((0, 2, [ACCEPT])).error_code, E.NONE)


@case(
    SAID,
    "Epoch 0, or one that is not the next: INVALID_SHARE_SESSION_EPOCH; no session: SHARE_SESSION_NOT_FOUND.",
    source=SESSIONS,
    also=ALSO,
)
def epochs(on: Broker) -> None:
    member, topic = sharing(on, 1)
    said: tuple[Any, int, Any] = (topic, 0, [(0, 0, [ACCEPT])])
    codes = [member.tell(epoch, said).error_code for epoch in (0, member.session + 1)]
    stranger = Sharer(on, member.group, *member.topics, name="m9")
    codes.append(stranger.tell(0, said).error_code)
    expect_that("the codes", codes, [E.INVALID_SHARE_SESSION_EPOCH] * 3)
    codes = [stranger.tell(epoch, said).error_code for epoch in (1, FINAL)]
    expect_that("the codes", codes, [E.SHARE_SESSION_NOT_FOUND] * 2)


@case(
    SAID,
    "Nothing that is not there is acknowledged: UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION.",
    source=SAYING,
    also=ALSO,
)
def of_nothing(on: Broker) -> None:
    member, topic = sharing(on, 1)
    nowhere = type(topic)("nowhere", bytes(range(16)), 1)
    said = [(0, 0, [ACCEPT])]
    answer = member.tell(member.session, (topic, 7, said), (nowhere, 0, said))
    told = {bytes(one.topic_id): one.partitions[0].error_code for one in answer.responses}
    expect_that("the codes", told, {topic.id: E.UNKNOWN_TOPIC_OR_PARTITION, nowhere.id: E.UNKNOWN_TOPIC_ID})


@case(SAID, "The last acknowledgement of a session releases the remaining records.", source=SESSIONS, also=ALSO)
def last(on: Broker) -> None:
    member, topic = sharing(on, 3)
    second = another(member)
    member.fetch()
    expect(member.tell(FINAL, (topic, 0, [(0, 0, [ACCEPT])])), error_code=E.NONE)
    expect(member.ask(member.session), error_code=E.SHARE_SESSION_NOT_FOUND)
    expect_that("what the second acquires", comes_to(second), [(1, 2, 2)])


@case(SAID, "A lock is renewed, and the record still acquired.", source=RENEWING, versions=(2, 2), also=ALSO)
def renewed(on: Broker) -> None:
    member, _ = sharing(on, 3)
    member.fetch()
    expect_that("its error", member.acknowledge((0, 2, [RENEW]), is_renew_ack=True).error_code, E.NONE)
    expect_that("what is acquired", acquired(member.fetch()), [])
    expect_that("its error", member.acknowledge((0, 2, [ACCEPT])).error_code, E.NONE)


@case(SAID, "The duration of the acquisition lock is returned.", source=RENEWING, versions=(2, 2), also=ALSO)
def lock_told(on: Broker) -> None:
    member, topic = sharing(on, 1)
    lasts = member.fetch().acquisition_lock_timeout_ms
    answer = member.tell(member.session, (topic, 0, [(0, 0, [ACCEPT])]))
    expect(answer, error_code=E.NONE, acquisition_lock_timeout_ms=lasts)
