"""`lock_whatif`: what it says of another lock duration is what a worker of a share group meets with that duration."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline import here
from kafkastub_pipeline.replayed.locks import Delivery, Group, outcome
from kafkastub_pipeline.replayed.shown_by_state import outcomes
from kafkastub_pipeline.replayed.timers import Timers
from kafkawire.codec import encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages import share_acknowledge_request as acknowledging
from kafkawire.messages import share_acknowledge_response as acknowledged
from kafkawire.messages import share_fetch_request as fetching
from kafkawire.messages import share_fetch_response as fetched
from kafkawire.messages.share_snapshot_key import ShareSnapshotKey
from kafkawire.schema import Message
from tests.expiry.wire import Wire
from tests.pipeline.test_shares import SNAPSHOT, UPDATE, snapshot, update
from tests.stub.test_share_groups import EARLIEST
from tests.waiting import SECONDS, until

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

RECORDED, SHORT, BETWEEN, LONG = 60_000, 20_000, 45_000, 130_000
ROUNDS = ("quick", "slow", "gives back", "late", "holds")
"""A record each, at the offset of its place here."""
DDL = "key binary, value binary, log_partition int, log_offset bigint, log_ms bigint"


@dataclass
class Worker:
    """What one worker of a share group met, record by record.

    Attributes:
        refused: whose acknowledgements came too late.
        deliveries: how often each record was delivered.
    """

    stub: KafkaStub
    consumer: Any
    refused: set[str] = field(default_factory=set)
    deliveries: dict[str, int] = field(default_factory=dict)

    def read(self) -> Any:
        """The next record, and how often it was delivered."""
        (message,) = until(lambda: self.consumer.poll(0.2), "a record")
        self.deliveries[message.value().decode()] = message.delivery_count()
        return message

    def work(self, name: str, seconds: float, *, release: bool = False) -> None:
        """Take so long for a record, and once more for the same where it comes again."""
        from confluent_kafka import AcknowledgeType

        self.stub.produce("orders", name.encode())
        message = self.read()
        if seconds:
            self.stub.clock.advance(seconds=seconds, timers=True)
        self.consumer.acknowledge(message, AcknowledgeType.RELEASE if release else AcknowledgeType.ACCEPT)
        if any(self.consumer.commit_sync(SECONDS).values()):
            self.refused.add(name)
        if release or name in self.refused:
            self.consumer.acknowledge(self.read())
            assert not any(self.consumer.commit_sync(SECONDS).values())


@contextmanager
def history(lock_ms: int, journal: Path | None = None) -> Iterator[Worker]:
    """Records that are accepted at once, accepted and given back after 30 seconds, accepted after 70, held for 25."""
    from confluent_kafka import ShareConsumer

    limits = {"min.record.lock.duration": 1000, "max.record.lock.duration": 3_600_000, "record.lock.duration": lock_ms}
    limits |= {"session.timeout": 1_800_000, "max.session.timeout": 3_600_000}
    config: dict[str, object] = {f"group.share.{name}.ms": value for name, value in limits.items()}
    kept = True if journal is None else str(journal)
    with KafkaStub(topics={"orders": 1}, config=config, journal=kept) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("billing", {("orders", 0): 0})
        stub.share_groups.configure("workers", EARLIEST)
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "workers", "log_level": 0}
        worker = Worker(stub, ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"}))
        worker.consumer.subscribe(["orders"])
        worker.work("quick", 0)
        worker.work("slow", 30)
        worker.work("gives back", 30, release=True)
        worker.work("late", 70)
        stub.produce("orders", b"holds")
        worker.read()
        stub.clock.advance(seconds=25, timers=True)
        wire.commit("billing", {("orders", 0): 1})  # the journal goes on behind it
        yield worker


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The table with the journal, and of the log alone."""
    from kafkastub_pipeline.run import Settings, run

    out = tmp_path_factory.mktemp("locks")
    found = {}
    with pytest.MonkeyPatch.context() as patch, history(RECORDED, out / "kept") as worker:
        patch.setattr(here, "RECORDS", 10_000)
        now = worker.stub.clock.now()  # the last lock ends while Spark takes its time
        for name, journal in (("journal", str(out / "kept")), ("log", None)):
            settings = Settings(
                str(out / name),
                worker.stub.bootstrap_servers,
                journal=journal,
                now=now,
                tables=("lock_whatif",),
                lock_durations_ms=(RECORDED, SHORT, BETWEEN, LONG),
            )
            run(spark, settings)
            found[name] = spark.read.parquet(str(out / name / "lock_whatif")).collect()
    return found


def by_round(found: list[Row], lock_ms: int) -> dict[str, list[tuple[Any, ...]]]:
    """What became of each record's first delivery and would have become; and of others, which have no offsets."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for row in found:
        if row.lock_duration_ms == lock_ms and row.delivery_count in (None, 1):
            name = "others" if row.first_offset is None else ROUNDS[row.first_offset]
            what = (row.records, row.recorded) if name == "others" else (row.recorded,)
            rows.setdefault(name, []).append((*what, row.outcome, row.changes))
    return {name: sorted(each, key=str) for name, each in rows.items()}


def test_what_another_duration_would_have_done(told: dict[str, list[Row]]) -> None:
    found = told["journal"]
    kept = {
        "others": [(1, "held", "held", False), (1, "released", "released", False), (4, *("acknowledged",) * 2, False)]
    }
    cut = {"others": [(3, "acknowledged", "acknowledged", False)]}
    assert by_round(found, RECORDED) == {**kept, "late": [("expired", "expired", False)]}
    assert by_round(found, BETWEEN) == {**kept, "late": [("expired", "expired", False)]}
    assert by_round(found, SHORT) == {
        **cut,
        "slow": [("acknowledged", "expired", True)],
        "gives back": [("released", "expired", True)],
        "late": [("expired", "expired", False)],
        "holds": [("held", "undecided", None)],
    }
    assert by_round(found, LONG) == {**kept, "late": [("expired", "acknowledged", True)]}
    assert {(r.group_id, r.topic, r.partition, r.evidence) for r in found} == {("workers", "orders", 0, "journal")}
    assert {r.recorded_lock_ms for r in found} == {RECORDED}
    (slow,) = [r for r in found if r.lock_duration_ms == SHORT and r.first_offset == ROUNDS.index("slow")]
    assert (slow.expires_at - slow.acquired_at).total_seconds() == SHORT / 1000
    assert 30 <= slow.seconds < 45


@pytest.mark.parametrize("lock", [SHORT, BETWEEN, LONG])
def test_what_is_decided_is_what_a_worker_meets_with_that_duration(told: dict[str, list[Row]], lock: int) -> None:
    with history(lock) as worker:
        refused, deliveries = worker.refused, worker.deliveries
    of = by_round(told["journal"], lock)
    expired = {name for name, rows in of.items() if any(one[-2] == "expired" for one in rows)}
    assert refused == expired
    assert {name for name, count in deliveries.items() if count > 1} == expired | {"gives back"}


def test_the_log_alone_decides_for_what_was_accepted_soon(told: dict[str, list[Row]]) -> None:
    """It has no time of acquisition: what is sure is that the delivery began behind the one before."""
    found = {
        (r.lock_duration_ms, r.recorded, r.outcome): (r.records, r.changes, r.why is None)
        for r in told["log"]
        if r.lock_duration_ms in (SHORT, RECORDED)
    }
    assert {r.evidence for r in told["log"]} == {"log"}
    assert found[SHORT, None, "undecided"] == (2, None, False)  # given back, and its lock ended
    assert found[SHORT, "acknowledged", "acknowledged"] == (3, False, True)  # the first, and two that came again
    assert found[SHORT, "acknowledged", "undecided"] == (1, None, False)
    assert found[RECORDED, "acknowledged", "acknowledged"] == (4, False, True)


TOPIC_ID = bytes(range(16))
BEGAN = 1_800_000_000_000


def asked(at: int, request: Message, answer: Message | None, *, took: int = 0, connection: int = 1) -> dict[str, Any]:
    """A request at so many milliseconds."""
    key = request.API_KEY
    head = request_header(key, 2, 1, "worker", True)
    response = None if answer is None else frame(b"\0\0\0\1\0" + encode(answer, 2))
    return {
        "api_key": key,
        "api_version": 2,
        "connection_id": connection,
        "duration_us": took * 1000,
        "request": head + encode(request, 2),
        "response": response,
        "broker_ms": BEGAN + at,
        "wall_us": at * 1000,
    }


def acquires(at: int, first: int, last: int, *, member: str = "m", count: int = 1, epoch: int = 1, **more: Any) -> Any:
    runs = [fetched.AcquiredRecords(first, last, count)]
    topics = [
        fetched.ShareFetchableTopicResponse(TOPIC_ID, [fetched.PartitionData(0, records=b"", acquired_records=runs)])
    ]
    request = fetching.ShareFetchRequest("workers", member, epoch)
    answer = fetched.ShareFetchResponse(acquisition_lock_timeout_ms=30_000, responses=topics)
    return asked(at, request, answer, **more)


def says(at: int, first: int, last: int, types: list[int], error: int = 0, *, member: str = "m", epoch: int = 2) -> Any:
    batch = acknowledging.AcknowledgementBatch(first, last, types)
    topics = [acknowledging.AcknowledgeTopic(TOPIC_ID, [acknowledging.AcknowledgePartition(0, [batch])])]
    request = acknowledging.ShareAcknowledgeRequest("workers", member, epoch, 4 in types, topics)
    told = [acknowledged.ShareAcknowledgeTopicResponse(TOPIC_ID, [acknowledged.PartitionData(0, error)])]
    return asked(at, request, acknowledged.ShareAcknowledgeResponse(responses=told))


def deliveries(*rows: dict[str, Any], end: int = 200_000) -> list[Delivery]:
    group, found = Group(Timers((), end * 1000)), []
    for row in rows:
        found += list(group.take(row))
    return found + list(group.ends(BEGAN + end))


def spans(found: list[Delivery]) -> list[tuple[Any, ...]]:
    return [(one.first_offset, one.last_offset, one.recorded, one.least_ms, one.most_ms) for one in found]


def test_records_of_one_answer_that_end_otherwise() -> None:
    found = deliveries(acquires(0, 0, 5, took=10), says(1_010, 0, 3, [1, 2, 3, 3]), says(2_010, 4, 5, [1]))
    assert spans(found) == [
        (0, 0, "acknowledged", 1_000, 1_000),
        (1, 1, "released", 1_000, 1_000),
        (2, 3, "rejected", 1_000, 1_000),
        (4, 5, "acknowledged", 2_000, 2_000),
    ]
    assert {one.topic_id for one in found} == {TOPIC_ID.hex()}


def test_a_renewed_lock_counts_by_its_longest_part() -> None:
    found = deliveries(acquires(0, 0, 0), says(20_000, 0, 0, [4]), says(45_000, 0, 0, [1]))
    assert spans(found) == [(0, 0, "acknowledged", 25_000, 25_000)]


def test_the_end_of_a_share_session_gives_back() -> None:
    assert spans(deliveries(acquires(0, 0, 1), says(5_000, 0, 0, [1], epoch=-1))) == [
        (0, 0, "acknowledged", 5_000, 5_000),
        (1, 1, "released", 5_000, 5_000),
    ]


def test_a_lock_has_ended_by_itself_only_if_its_member_goes_on() -> None:
    """Else its connection may have been lost, which gives its records back at once."""
    gone = deliveries(acquires(0, 0, 0), acquires(40_000, 0, 0, member="n", count=2, connection=2), end=41_000)
    assert spans(gone) == [(0, 0, "held", 0, 1_000), (0, 0, None, 0, 40_000)]
    soon = deliveries(acquires(0, 0, 0), acquires(20_000, 0, 0, member="n", count=2, connection=2), end=21_000)
    assert spans(soon) == [(0, 0, "held", 0, 1_000), (0, 0, "released", 0, 20_000)]
    stays = deliveries(acquires(0, 0, 0), acquires(40_000, 0, 0, count=2), end=41_000)
    assert spans(stays) == [(0, 0, "held", 0, 1_000), (0, 0, "expired", 30_000, 30_000)]


def test_what_was_refused_would_have_been_in_time_where_all_of_it_is() -> None:
    late = 121
    (one,) = deliveries(acquires(0, 0, 1), says(40_000, 0, 1, [1], late))
    assert one.recorded == "expired"
    assert [outcome(one, lock)[0] for lock in (10_000, 30_000, 40_000, 40_001)] == [
        *("expired", "expired", "undecided", "acknowledged"),
    ]
    first, second, *_ = deliveries(acquires(0, 0, 0), acquires(20_000, 1, 1), says(40_000, 0, 1, [1], late), end=45_000)
    assert [outcome(first, lock)[0] for lock in (35_000, 40_001)] == ["undecided", "acknowledged"]
    assert second.recorded == "held"


@pytest.mark.parametrize("error", [0, 121])
def test_who_acknowledges_more_than_there_is_costs_no_more_than_what_there_is(error: int) -> None:
    """Seventy bytes can name every offset that there is."""
    first, last = acquires(0, 5, 9), says(40_000, 0, 2**62, [1], error)
    expected = [] if error else [(5, 9, "acknowledged")]
    ended = [one for one in deliveries(first, last) if one.until_ms == last["broker_ms"]]
    assert [(one.first_offset, one.last_offset, one.recorded) for one in ended] == expected


def test_without_an_answer_nothing_is_known() -> None:
    unheard = says(10_000, 0, 0, [1]) | {"response": None, "duration_us": None}
    (one,) = deliveries(acquires(0, 0, 0), unheard)
    assert (one.recorded, one.least_ms, one.most_ms) == (None, 0, 10_000)
    assert outcome(one, 60_000)[0] == "undecided"


def state(*records: tuple[int, bytes, bytes | None]) -> list[tuple[Any, ...]]:
    return [tuple(one) for one in outcomes({"log_ms": at, "key": key, "value": value} for at, key, value in records)]


def test_what_the_states_of_records_say() -> None:
    from kafkastub_pipeline.decode.shares import Batch
    from kafkawire.messages import share_snapshot_value

    key = SNAPSHOT + encode(ShareSnapshotKey("workers", TOPIC_ID, 0), 0)
    begins = b"\0\0" + encode(share_snapshot_value.ShareSnapshotValue(0, 0, 0, 10, 0, 0, 0, []), 0)
    accepts, again = update(Batch(10, 13, 2, 1)), update(Batch(14, 15, 0, 1))
    rest = update(Batch(14, 14, 2, 2), Batch(15, 15, 4, 2))
    whole = (5, UPDATE, accepts), (7, UPDATE, again), (9, UPDATE, rest)
    assert state((0, key, begins), *whole) == [(5, True, 4), (7, False, 2), (2, True, 1), (2, False, 1)]
    # where the log has lost the beginning, a first delivery may have begun at any time
    lost = snapshot(Batch(10, 13, 2, 1), start=10)
    assert state((5, SNAPSHOT, lost), *whole[1:]) == [(None, False, 2), (2, True, 1), (2, False, 1)]
    assert state((0, key, begins), (5, UPDATE, accepts), (6, SNAPSHOT, lost)) == [(5, True, 4)]


def test_the_data_source_has_the_same_journal(spark: SparkSession, tmp_path: Path) -> None:
    from kafkastub_pipeline.sources import read_journal
    from kafkastub_pipeline.tables.lock_whatif import lock_whatif
    from tests.pipeline.test_shares import member_from_the_beginning

    with KafkaStub(topics={"orders": 1}, journal=str(tmp_path / "journal")) as stub:
        stub.produce("orders", b"x")
        worker = member_from_the_beginning(stub, "workers", "orders")
        assert worker.fetch(1) == 1
        stub.clock.advance(seconds=5, timers=True)
        worker.acknowledge(0, 0, [1])
    found = []
    for journal in (
        read_journal(spark, str(tmp_path / "journal")),
        spark.read.format("kafkastub_journal").load(str(tmp_path / "journal")),
    ):
        rows = lock_whatif(spark, None, journal, None, [4_000]).collect()
        found.append([(uuid.UUID(r.topic_id).bytes, r.recorded, r.outcome, r.changes, r.topic) for r in rows])
    assert found[0] == found[1] == [(worker.topic_id, "acknowledged", "expired", True, None)]
