"""ShareFetch (KIP-932): share sessions, what is acquired, and what is acknowledged along with it."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.fetch import values
from kafkastub_conformance.expecting import expect, expect_that
from kafkastub_conformance.registry import case as any_case
from kafkastub_conformance.sharing import (
    ACCEPT,
    FINAL,
    LIMITED,
    RELEASE,
    RENEW,
    Sharer,
    acquired,
    another,
    comes_to,
    fill,
    sharing,
)
from kafkastub_conformance.transacting import Producer
from kafkawire.errors import ErrorCode as E

case = partial(any_case, since="4.2", before="UNSUPPORTED_VERSION, unless share groups are switched on")

API, SAID = "ShareFetch", "ShareAcknowledge"
SESSIONS = "KIP-932; Kafka: SharePartitionManager.newContext"
ACQUIRING = "KIP-932; Kafka: SharePartition.acquire"
SAYING = "KIP-932; Kafka: SharePartition.acknowledge"
CHECKED = "KIP-932; Kafka: KafkaApis.getAcknowledgeBatchesFromShareFetchRequest"
RENEWING = "KIP-1222; Kafka: SharePartition.acknowledge"
UP_TO = "KIP-1206; Kafka: SharePartition.acquire"
OTHER = [SAID, "ShareGroupHeartbeat", "ShareGroupDescribe"]


# Share sessions.


@case(API, "Records are acquired, delivered once, and not again while they are.", source=ACQUIRING, also=OTHER)
def delivered(on: Broker) -> None:
    member, topic = sharing(on, 3)
    answer = member.fetch()
    expect_that("whether there is a lock's duration", answer.acquisition_lock_timeout_ms > 0, True)
    expect_that("what is acquired", acquired(answer), [(0, 2, 1)])
    expect_that("the topic", bytes(answer.responses[0].topic_id), topic.id)
    expect_that("the records", values(answer.responses[0].partitions[0].records), [b"v0", b"v1", b"v2"])
    expect_that("what is acquired by the next", acquired(member.fetch()), [])


@case(API, "Another member is delivered what comes then.", source=ACQUIRING, also=OTHER)
def shared_out(on: Broker) -> None:
    member, topic = sharing(on, 3)
    second = another(member)
    member.fetch()
    fill(on, topic, 2)
    expect_that("what the second acquires", acquired(second.fetch()), [(3, 4, 1)])
    expect_that("what the first acquires", acquired(member.fetch()), [])


@case(
    API,
    "The first answer of a session has every partition, later ones only those with changes.",
    source=SESSIONS,
    also=OTHER,
)
def told_at_first(on: Broker) -> None:
    member, topic = sharing(on)
    answer = member.ask(0, (topic, 0, ()))
    expect_that("how much is told", [len(one.partitions) for one in answer.responses], [1])
    expect_that("how much later", list(member.fetch().responses), [])


@case(API, "An epoch that is not the next: INVALID_SHARE_SESSION_EPOCH.", source=SESSIONS, also=OTHER)
def wrong_epoch(on: Broker) -> None:
    member, _ = sharing(on)
    for wrong in (member.session + 1, member.session + 7):
        expect(member.ask(wrong), error_code=E.INVALID_SHARE_SESSION_EPOCH)
    member.fetch()
    expect(member.ask(member.session - 1), error_code=E.INVALID_SHARE_SESSION_EPOCH)


@case(API, "A session that is not there: SHARE_SESSION_NOT_FOUND.", source=SESSIONS, also=OTHER)
def no_session(on: Broker) -> None:
    member, _ = sharing(on)
    stranger = Sharer(on, member.group, *member.topics, name="m9")
    codes = [stranger.ask(epoch).error_code for epoch in (1, 5, -1)]
    expect_that("the codes", codes, [E.SHARE_SESSION_NOT_FOUND] * 3)


@case(API, "No member id: INVALID_REQUEST.", source="KIP-932; Kafka: KafkaApis.handleShareFetchRequest", also=OTHER)
def no_member(on: Broker) -> None:
    member, topic = sharing(on)
    changes: list[dict[str, Any]] = [{"member_id": ""}, {"member_id": None}, {"group_id": None}]
    codes = [member.ask(0, (topic, 0, ()), **change).error_code for change in changes]
    expect_that("the codes", codes, [E.INVALID_REQUEST] * 3)


@case(API, "The first fetch of a session acknowledges nothing: INVALID_REQUEST.", source=SESSIONS, also=OTHER)
def acknowledges_at_first(on: Broker) -> None:
    member, topic = sharing(on, 1)
    expect(member.ask(0, (topic, 0, [(0, 0, [ACCEPT])])), error_code=E.INVALID_REQUEST)


@case(
    API,
    "The last fetch of a session releases its acquired records: the delivery count continues.",
    source=SESSIONS,
    also=OTHER,
)
def given_back(on: Broker) -> None:
    member, topic = sharing(on, 3)
    second = another(member)
    member.fetch()
    answer = member.ask(FINAL, (topic, 0, [(0, 0, [ACCEPT])]))
    expect(answer, error_code=E.NONE)
    expect_that("what that acquires", acquired(answer), [])
    expect(member.ask(member.session), error_code=E.SHARE_SESSION_NOT_FOUND)
    expect_that("what the second acquires", comes_to(second), [(1, 2, 2)])


@case(
    API,
    "A session ends with its connection, and what it has is given back.",
    source="KIP-932; Kafka: ShareSessionCache",
    also=OTHER,
)
def hung_up(on: Broker) -> None:
    member, _ = sharing(on, 3)
    second = another(member)
    member.fetch()
    on.hang_up(member.client)
    expect_that("what the second acquires", comes_to(second), [(0, 2, 2)])


@case(
    API,
    "An unknown topic: UNKNOWN_TOPIC_ID; an unknown partition: UNKNOWN_TOPIC_OR_PARTITION.",
    source=SESSIONS,
    also=OTHER,
    since="4.4",
    before="the answer leaves them out",
)
def unknown_places(on: Broker) -> None:
    member, topic = sharing(on)
    nowhere = type(topic)("nowhere", bytes(range(16)), 1)
    answer = member.ask(0, (topic, 0, ()), (topic, 7, ()), (nowhere, 0, ()))
    told = {
        (bytes(one.topic_id), row.partition_index): row.error_code for one in answer.responses for row in one.partitions
    }
    wanted = {(topic.id, 0): E.NONE, (topic.id, 7): E.UNKNOWN_TOPIC_OR_PARTITION, (nowhere.id, 0): E.UNKNOWN_TOPIC_ID}
    expect_that("the codes", told, wanted)


@case(API, "A partition that is forgotten is not fetched any more, one that is named is.", source=SESSIONS, also=OTHER)
def forgotten(on: Broker) -> None:
    member, topic = sharing(on, 1)
    rows = [{"topic_id": topic.id, "partitions": [0]}]
    expect_that("what is told", list(member.fetch(forgotten_topics_data=rows).responses), [])
    expect_that("what is told then", list(member.fetch().responses), [])
    expect_that("what is acquired", acquired(member.fetch((topic, 0, ()))), [(0, 0, 1)])


# What is acquired.


@case(API, "Batches are acquired whole, up to where max_records is reached.", source=ACQUIRING, also=OTHER)
def whole_batches(on: Broker) -> None:
    member, _ = sharing(on, 5, 5, 5)
    expect_that("what is acquired", acquired(member.fetch(max_records=3)), [(0, 4, 1)])
    expect_that("what is acquired then", acquired(member.fetch(max_records=6)), [(5, 14, 1)])


@case(API, "batch_size divides the acquired ranges, along the batches of the log.", source=ACQUIRING, also=OTHER)
def batch_size(on: Broker) -> None:
    member, _ = sharing(on, 5, 5, 5)
    expect_that("what is acquired", acquired(member.fetch(batch_size=7)), [(0, 9, 1), (10, 14, 1)])


@case(API, "In the other mode no more than max_records are acquired.", source=UP_TO, versions=(2, 2), also=OTHER)
def record_limit(on: Broker) -> None:
    member, _ = sharing(on, 5, 5)
    expect_that("what is acquired", acquired(member.fetch(max_records=3, share_acquire_mode=LIMITED)), [(0, 2, 1)])
    found = acquired(member.fetch(max_records=4, share_acquire_mode=LIMITED))
    expect_that("what is acquired then", found, [(3, 4, 1), (5, 6, 1)])


@case(API, "Without max_records or max_bytes nothing is fetched.", source=ACQUIRING, also=OTHER)
def nothing_wanted(on: Broker) -> None:
    member, _ = sharing(on, 1)
    for change in ({"max_records": 0}, {"max_bytes": 0}):
        expect_that("what is told", list(member.fetch(**change).responses), [])
    expect_that("what is acquired", acquired(member.fetch()), [(0, 0, 1)])


@case(API, "The first batch is delivered whole, whatever max_bytes is.", source=ACQUIRING, also=OTHER)
def first_batch(on: Broker) -> None:
    member, _ = sharing(on, 3, 3)
    expect_that("what is acquired", acquired(member.fetch(max_bytes=1)), [(0, 2, 1)])


@case(
    API,
    "A fetch waits for records, no longer than max_wait_ms.",
    source="KIP-932; Kafka: DelayedShareFetch",
    also=OTHER,
)
def waits(on: Broker) -> None:
    member, topic = sharing(on)
    expect_that("what is told", list(member.fetch(max_wait_ms=10).responses), [])
    epoch, member.session = member.session, member.session + 1
    body: dict[str, Any] = {"group_id": member.group, "member_id": member.name, "share_session_epoch": epoch}
    limits: dict[str, Any] = {"min_bytes": 1, "max_bytes": 1 << 20, "max_records": 10, "batch_size": 10}
    waiting = on.send(API, client=member.client, **body, **limits, topics=[], max_wait_ms=10_000)
    fill(on, topic, 2)
    expect_that("what is acquired", acquired(waiting.answer()), [(0, 1, 1)])


@case(API, "A released record is delivered again, with a higher count.", source=ACQUIRING, also=OTHER)
def again(on: Broker) -> None:
    member, _ = sharing(on, 3)
    for count in (1, 2):
        expect_that("what is acquired", acquired(member.fetch()), [(0, 2, count)])
        expect_that("its error", member.acknowledge((0, 2, [RELEASE])).error_code, E.NONE)


@case(
    API,
    "After its last delivery a record is not delivered again.",
    source="KIP-932; Kafka: InFlightState.tryUpdateState",
    also=OTHER,
)
def delivery_limit(on: Broker) -> None:
    member, _ = sharing(on, 1)
    counts = []
    for _ in range(7):
        rows = acquired(member.fetch())
        if not rows:
            break
        counts.append(rows[0][2])
        member.acknowledge((0, 0, [RELEASE]))
    expect_that("the deliveries", counts, [1, 2, 3, 4, 5])


@case(
    API,
    "Aborted records are delivered where uncommitted ones may be read.",
    source=ACQUIRING,
    also=[*OTHER, "InitProducerId"],
)
def aborted(on: Broker) -> None:
    member, topic = sharing(on)
    producer = Producer(on)
    producer.add(topic, 0)
    producer.write(topic, b"a", b"b")
    expect_that("what is acquired before the end", acquired(member.fetch()), [(0, 1, 1)])
    producer.ended(commit=False)
    fill(on, topic, 1)
    found = acquired(member.fetch())
    expect_that("the last that is acquired then", found[-1][1] if found else None, 3)


@case(
    API,
    "Records before the start of the log are done.",
    source="KIP-932; Kafka: SharePartition.updateCacheAndOffsets",
    also=[*OTHER, "DeleteRecords"],
)
def log_start(on: Broker) -> None:
    member, topic = sharing(on, 3, 3)
    rows = [{"name": topic.name, "partitions": [{"partition_index": 0, "offset": 3}]}]
    on.ask("DeleteRecords", topics=rows, timeout_ms=10_000)
    expect_that("what is acquired", comes_to(member), [(3, 5, 1)])


# Acknowledgements that come along.


@case(API, "A fetch acknowledges, and acquires what follows.", source=SAYING, also=OTHER)
def along(on: Broker) -> None:
    member, topic = sharing(on, 3)
    member.fetch()
    fill(on, topic, 2)
    answer = member.fetch((topic, 0, [(0, 2, [ACCEPT])]))
    row = answer.responses[0].partitions[0]
    expect_that("the error of the acknowledgement", row.acknowledge_error_code, E.NONE)
    expect_that("what is acquired", acquired(answer), [(3, 4, 1)])


@case(API, "An error of an acknowledgement is returned with the records.", source=CHECKED, also=OTHER)
def wrong_along(on: Broker) -> None:
    member, topic = sharing(on, 3)
    member.fetch()
    fill(on, topic, 2)
    answer = member.fetch((topic, 0, [(2, 0, [ACCEPT])]))
    row = answer.responses[0].partitions[0]
    expect_that("the codes", (row.error_code, row.acknowledge_error_code), (E.NONE, E.INVALID_REQUEST))
    expect_that("what is acquired", acquired(answer), [(3, 4, 1)])


@case(
    API, "A record that is released with a fetch is delivered by that fetch or the next one.", source=SAYING, also=OTHER
)
def released_along(on: Broker) -> None:
    member, topic = sharing(on, 3)
    member.fetch()
    answer = member.fetch((topic, 0, [(0, 2, [RELEASE])]), max_wait_ms=0)
    # Kafka writes the release down on a thread of its own: before the fetch looks, or behind that.
    expect_that("what is acquired", acquired(answer) or acquired(member.fetch()), [(0, 2, 2)])


@case(
    API, "A fetch that renews locks asks for no records: INVALID_REQUEST.", source=RENEWING, versions=(2, 2), also=OTHER
)
def renews_alone(on: Broker) -> None:
    member, topic = sharing(on, 3)
    member.fetch()
    renewing: tuple[Any, int, Any] = (topic, 0, [(0, 2, [RENEW])])
    expect(member.ask(member.session, renewing, is_renew_ack=True), error_code=E.INVALID_REQUEST)
    none = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 0, "max_records": 0}
    row = member.fetch(renewing, is_renew_ack=True, **none).responses[0].partitions[0]
    expect_that("its error", row.acknowledge_error_code, E.NONE)
