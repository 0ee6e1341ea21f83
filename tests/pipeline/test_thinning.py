"""What `GroupHistory` finds is the same without the commits that `Thinner` leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub_pipeline.history import NOBODY
from kafkastub_pipeline.roster import HEADS, SUBSCRIBERS
from kafkastub_pipeline.rules import LAST_MS
from kafkastub_pipeline.tables import large_groups, thinning
from kafkastub_pipeline.tables.events import OFFSETS
from kafkastub_pipeline.tables.history import _Explorer, findings
from kafkastub_pipeline.tables.large_groups import Pieces
from kafkastub_pipeline.tables.thinning import Thinner
from kafkawire.offsets_topic import RecordType
from tests.pipeline.log import MINUTE, START, Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTE_MS = 60_000
COMMIT, LEGACY = int(RecordType.OFFSET_COMMIT), int(RecordType.LEGACY_OFFSET_COMMIT)
GROUP = int(RecordType.GROUP_METADATA)
ROW = pa.schema(
    [
        ("group_id", pa.string()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
        ("record_type", pa.int16()),
        ("tombstone", pa.bool_()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("committed_offset", pa.int64()),
        ("commit_ms", pa.int64()),
        ("expire_ms", pa.int64()),
        ("topic_id", pa.string()),
        ("member_id", pa.string()),
        ("protocol_type", pa.string()),
        ("empty", pa.bool_()),
        ("state_ms", pa.int64()),
        ("subscribed", pa.list_(pa.string())),
        ("by", pa.string()),
    ]
)
APIS = ("DeleteGroups", "OffsetDelete", "DeleteTopics")
STEPS = (0, 0, 1, 1_000, 10_000, 10_000, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, -1, -MINUTE_MS)
OTHERS = "tombstone", "group", "part", "group tombstone", "asked"

Row = dict[str, Any]


def commit(group: str, at: int, log_offset: int, topic: str = "a", partition: int = 0, **more: Any) -> Row:
    row = {"group_id": group, "log_partition": 0, "log_offset": log_offset, "log_ms": at, "record_type": COMMIT}
    row |= {"tombstone": False, "topic": topic, "partition": partition, "committed_offset": log_offset}
    return row | {"commit_ms": at, "expire_ms": -1, "topic_id": None} | more


@st.composite
def rows_of_a_group(draw: st.DrawFn, group: str) -> list[Row]:
    steps = draw(st.sampled_from((STEPS[:-2], STEPS[:6], STEPS)))
    others = draw(st.sampled_from((OTHERS, OTHERS[2:], *((one,) for one in OTHERS))))
    kinds = ("commit",) * draw(st.sampled_from((8, 15))) * len(others) + others * 2
    topics, moves = draw(st.sampled_from(("a", "ab"))), draw(st.sampled_from((False, False, False, True)))
    log_partition = 0
    at, rows = draw(st.sampled_from((-MINUTE_MS, 0, 0, 10**12, LAST_MS - MINUTE_MS))), list[Row]()
    for log_offset in range(draw(st.integers(1, 40))):
        at += draw(st.sampled_from(steps))
        kind = draw(st.sampled_from(kinds))
        place = {"topic": draw(st.sampled_from(topics)), "partition": draw(st.integers(0, 1))}
        if moves and draw(st.integers(0, 9)) == 0:
            log_partition = 1 - log_partition
        row: Row = {"group_id": group, "log_partition": log_partition, "log_offset": log_offset, "log_ms": at}
        row["tombstone"] = False
        if kind == "commit":
            expires = draw(st.sampled_from((-1,) * 9 + (at, at + 90_000, 2**63 - 1, -(2**63))))
            committed = draw(st.sampled_from((at,) * 6 + (at - 5, at - 3 * MINUTE_MS, at + MINUTE_MS, -1, 2**63 - 1)))
            row |= place | {"record_type": draw(st.sampled_from((COMMIT, LEGACY))), "expire_ms": expires}
            row |= {"committed_offset": log_offset, "commit_ms": committed}
            row["topic_id"] = draw(st.sampled_from((None, "x", "y")))
        elif kind == "tombstone":
            by = draw(st.sampled_from((None, None, NOBODY, *APIS)))
            row |= place | {"record_type": COMMIT, "tombstone": True, "by": by}
        elif kind == "group":
            since = draw(st.sampled_from((None, at, at - 10, at - MINUTE_MS, at - 3 * MINUTE_MS, 0, -(2**63))))
            row |= {"record_type": GROUP, "protocol_type": draw(st.sampled_from((None, "consumer", "connect")))}
            row |= {"empty": draw(st.sampled_from((True, False, None))), "state_ms": since}
            row["subscribed"] = draw(st.sampled_from((None, [], ["a"], ["a", "b"])))
        elif kind == "part":
            row |= {"record_type": draw(st.sampled_from((*HEADS, *SUBSCRIBERS))), "tombstone": draw(st.booleans())}
            row |= {"member_id": draw(st.sampled_from("mn")), "subscribed": draw(st.sampled_from(([], ["a"], ["b"])))}
        elif kind == "group tombstone":
            row |= {"record_type": GROUP, "tombstone": True, "by": draw(st.sampled_from((None, None, NOBODY, *APIS)))}
        else:
            row |= place | {
                "log_partition": None,
                "log_offset": -1,
                "tombstone": None,
                "by": draw(st.sampled_from(APIS)),
            }
        rows.append(row)
    return rows


@st.composite
def logs(draw: st.DrawFn) -> list[Row]:
    groups = "gh"[: draw(st.integers(1, 2))]
    return [row for group in groups for row in draw(rows_of_a_group(group))]


def found(rows: list[Row], retentions: tuple[int, ...], kips: bool, cuts: int, thin: bool) -> Counter[str]:
    def untouched(_: Thinner, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    whole = pa.RecordBatch.from_pylist(rows, schema=ROW)
    batches = [whole.slice(start, cuts) for start in range(0, len(rows), cuts)]
    with mock.patch.object(Thinner, "__call__", Thinner.__call__ if thin else untouched):
        given_back = list(_Explorer(retentions, kips, None)(iter(batches)))
    return Counter(str(row) for batch in given_back for row in batch.to_pylist())


RETENTIONS = st.lists(st.sampled_from((-1, 0, 1, 2, 4, 100, 10**15)), min_size=1, max_size=3).map(tuple)


@settings(max_examples=300)
@given(logs(), RETENTIONS, st.booleans(), st.sampled_from((5, 13, 1000)))
def test_the_same_is_found_without_what_is_left_out(
    rows: list[Row], retentions: tuple[int, ...], kips: bool, together: int
) -> None:
    with mock.patch.object(thinning, "_ROWS", together):
        thinned = found(rows, retentions, kips, cuts=5, thin=True)
    assert thinned == found(rows, retentions, kips, cuts=5, thin=False)


def in_pieces(rows: list[Row], retentions: tuple[int, ...], width: int) -> list[Row]:
    """What `evened` makes of a log whose groups are all large."""
    about = [row for row in rows if row.get("record_type") not in OFFSETS]
    cut = [
        row | {"piece": piece}
        for group in dict.fromkeys(row["group_id"] for row in rows)
        for piece in range(-(-40 // width))
        for row in rows
        if row["group_id"] == group and (row in about or row["log_offset"] // width == piece)
    ]
    batch = pa.RecordBatch.from_pylist(cut, schema=ROW.append(pa.field("piece", pa.int32())))
    batches = [batch.slice(start, 7) for start in range(0, len(cut), 7)]
    left = {
        (row["group_id"], row["log_offset"]) for one in Pieces(retentions)(iter(batches)) for row in one.to_pylist()
    }
    return [row for row in rows if row in about or (row["group_id"], row["log_offset"]) in left]


@settings(max_examples=200)
@given(logs(), RETENTIONS, st.booleans(), st.sampled_from((10, 20)), st.sampled_from((13, 1000)))
def test_the_same_is_found_where_groups_were_cut_into_pieces(
    rows: list[Row], retentions: tuple[int, ...], kips: bool, width: int, together: int
) -> None:
    with mock.patch.object(thinning, "_ROWS", together):
        evened = in_pieces(rows, retentions, width)
    assert found(evened, retentions, kips, cuts=5, thin=True) == found(rows, retentions, kips, cuts=5, thin=False)


def left(rows: list[Row], retentions: tuple[int, ...] = (4,)) -> list[int]:
    """Log offsets of what stays."""
    batch = pa.RecordBatch.from_pylist(rows, schema=ROW)
    return [at for one in Thinner(retentions)(iter([batch])) for at in one.column("log_offset").to_pylist()]


def every_second(count: int = 5, **more: Any) -> list[Row]:
    return [commit("g", 1_000 * number, number) | more for number in range(count)]


def test_of_commits_that_follow_each_other_the_first_and_the_last_stay() -> None:
    assert left(every_second()) == [0, 4]
    assert left(every_second(), (-1,)) == [0, 4]
    assert left([*every_second(), *(row | {"group_id": "h"} for row in every_second())]) == [0, 4, 0, 4]
    places = [commit("g", number, number, partition=number % 2) for number in range(8)]
    assert left(places) == [0, 1, 6, 7]


@pytest.mark.parametrize(
    "between",
    [
        {"record_type": None, "tombstone": None, "by": "DeleteGroups", "log_partition": None, "log_offset": -1},
        {"record_type": GROUP, "tombstone": True},
        {"record_type": next(iter(HEADS)), "tombstone": True},
        {"tombstone": True},
        {"record_type": GROUP, "empty": True, "protocol_type": "consumer", "state_ms": 2_000 - 4 * MINUTE_MS},
        {"log_ms": 500, "partition": 1},
        {"log_partition": 1, "partition": 1},
    ],
    ids=("request", "group's end", "end of a group with epochs", "tombstone", "age", "time", "partition of the log"),
)
def test_what_ends_offsets_has_commits_around_it(between: Row) -> None:
    rows = every_second()
    rows.insert(3, commit("g", 2_000, 10) | between)
    assert set(left(rows)) >= {0, 2, 3, 4}
    assert 1 not in left(rows)


def test_states_that_end_nothing_are_passed_over() -> None:
    rows = every_second()
    for state in ({"empty": False, "state_ms": 0}, {"empty": True, "state_ms": None}, {"empty": True, "state_ms": 0}):
        told = {"record_type": GROUP, "protocol_type": "consumer", "topic": None, "partition": None}
        rows.insert(2, commit("g", 1_000, 10) | told | state)
    assert left(rows) == [0, 10, 10, 10, 4]


def test_a_commit_with_little_time_left_stays() -> None:
    assert left(every_second(), (0,)) == [0, 1, 2, 3, 4]
    assert left(every_second(expire_ms=4_001)) == [0, 1, 2, 3, 4]
    assert left(every_second(commit_ms=-3 * MINUTE_MS)) == [0, 1, 2, 3, 4]


def test_records_are_held_for_a_while_only() -> None:
    """What is far apart is not looked at together, so that both sides of an edge stay."""
    with mock.patch.object(thinning, "_ROWS", 4):
        batches = [pa.RecordBatch.from_pylist([row], schema=ROW) for row in every_second(12)]
        told, thinner = [0], Thinner((4,))

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                told[0] += 1
                yield batch

        ahead = [told[0] for _ in thinner(counted())]
    assert ahead == [4, 8, 12]
    assert left(every_second(12)) == [0, 11]


def test_every_commit_counts_for_when_a_topic_had_which_id() -> None:
    rows = [row | {"topic_id": "x" if row["log_offset"] < 3 else "y"} for row in every_second()]
    batch = pa.RecordBatch.from_pylist(rows, schema=ROW)
    told = [row for one in _Explorer((4,), True, None)([batch]) for row in one.to_pylist()]
    assert {row["topic_id"]: row["deleted_ms"] for row in told if row["finding"] == "id"} == {"x": 2_000, "y": 4_000}


def commits_of_large_groups() -> Log:
    log = Log()
    for number in range(120):
        for group in ("large 1", "large 2", "small")[: 3 if number < 5 else 2]:
            log.commit(group, f"topic {number % 2}", number * MINUTE, id_=f"id {number // 50}")
        if number % 40 == 20:
            log.generation("large 1", number * MINUTE, "topic 1")
    log.gone("large 2", "topic 0", 130 * MINUTE)
    return log


@pytest.mark.parametrize("asked", [False, True], ids=["log", "journal"])
def test_groups_with_too_many_records_are_cut(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    records = commits_of_large_groups().records(spark).cache()
    journal = None
    if asked:
        journal = spark.sql(
            "select 'request' kind, 'reply' outcome, 'DeleteGroups' api, 1L sequence, array('large 1') groups,"
            " array(named_struct('code', 0, 'count', 1L)) errors, array('topic 1') topics,"
            " array(named_struct('topic', 'topic 1', 'partition', 0)) partitions,"
            f" timestamp_millis({START + 70 * MINUTE}L) broker_time"
        )
    whole = Counter(findings(records, journal, (60, 10080), "kips").collect())
    monkeypatch.setattr(large_groups, "LEAST", 20)
    played = mock.Mock(side_effect=large_groups.evened)
    monkeypatch.setattr("kafkastub_pipeline.tables.history.evened", played)
    assert Counter(findings(records, journal, (60, 10080), "kips").collect()) == whole
    events, *more = played.call_args.args
    assert large_groups.evened(events, *more).where("record_type in (0, 1)").count() < 100 < events.count()


def test_a_group_is_cut_where_it_has_more_than_half_a_tasks_share(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = commits_of_large_groups().records(spark)
    assert large_groups._large(records, "log_offset") == []
    monkeypatch.setattr(large_groups, "LEAST", 100)
    assert {(group, count) for group, _, _, count in large_groups._large(records, "log_offset")} == {
        ("large 1", 2),
        ("large 2", 2),
    }


def test_a_group_with_many_records_of_its_own_is_cut_into_few_pieces(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece has all of them: of 1,000 offsets and 400 generations two pieces, where there would be ten."""
    from kafkastub_pipeline.session import local_table

    monkeypatch.setattr(large_groups, "LEAST", 100)
    ddl = "group_id string, record_type smallint, log_offset bigint, error string"
    rows = [("busy", COMMIT if at % 7 < 5 else GROUP, at, None) for at in range(1400)]
    records = local_table(spark, rows, ddl)
    assert large_groups._large(records, "log_offset") == [("busy", 0, 699, 2)]
    quiet = records.where(f"record_type = {COMMIT} or log_offset < 100")
    ((_, _, _, pieces),) = large_groups._large(quiet, "log_offset")
    assert pieces > 2


@pytest.mark.parametrize("pieces", [[6], [2, 3], [2, 2, 2], [21], [5, 40]])
def test_pieces_are_dealt_evenly_to_tasks(spark: SparkSession, pieces: list[int]) -> None:
    """Each as many, but for one, and no task none: by a hash of what they are some have two, and others wait."""
    from kafkastub_pipeline.session import local_table

    places, tasks = large_groups._places(spark, pieces)
    assert [len(one) for one in places] == pieces
    dealt = local_table(spark, [(place,) for one in places for place in one], "place int").repartition(tasks, "place")
    had = Counter(row[0] for row in dealt.selectExpr("spark_partition_id()").collect())
    assert len(had) == tasks
    assert max(had.values()) - min(had.values()) <= 1
