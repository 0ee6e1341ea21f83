"""The data sources of Spark: what they read is what is on the topic, on the stub and on Apache Kafka."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.formats.columns import FORMATS
from kafkastub_pipeline.formats.log import LogPart, partition_of, parts_of
from kafkastub_pipeline.formats.options import parse_options, values_of
from tests.expiry.wire import Wire
from tests.offsets_topic.history import subscription
from tests.pipeline.script import played, steps
from tests.pipeline.test_shares import ACCEPT, REJECT, member_from_the_beginning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.clients.jvm import Jvm

ROOT = Path(__file__).parents[2]
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
SERVERS = "kafka.bootstrap.servers"


def read(spark: SparkSession, format_: str, servers: str, **options: str) -> DataFrame:
    return spark.read.format(format_).option(SERVERS, servers).options(**options).load()


def pushes_filters(spark: SparkSession) -> bool:
    """Spark 4.0 has no filters for Python to push."""
    return not spark.version.startswith("4.0.")


@contextmanager
def transactions(servers: str) -> Iterator[Any]:
    """A transactional producer, `audit`, that has committed one transaction and aborted another one."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "transactional.id": "audit", "log_level": 0})
    producer.init_transactions(60)
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce("orders", b"x", partition=1)
        assert producer.flush(60) == 0
        end(60)
    yield producer


def test_the_partition_of_a_group_is_that_of_javas_hash() -> None:
    """Kafka: Utils.abs(groupId.hashCode()) % partitions; "polygenelubricants" has the least of all hashes."""
    assert [partition_of(name, 50) for name in ("", "a", "billing", "polygenelubricants")] == [0, 47, 9, 0]


def test_small_partitions_share_a_task_and_large_ones_have_several() -> None:
    found = [part.spans for part in parts_of([(0, 0, 10), (1, 5, 20), (2, 0, 0), (3, 7, 2_500_007)])]
    assert found == [((3, 7, 1_000_007),), ((0, 0, 10), (1, 5, 20), (3, 1_000_007, 2_500_007))]
    assert parts_of([(0, 3, 3)]) == []
    assert isinstance(LogPart([(0, 0, 1)]).spans, tuple)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r'no broker is named; give .option\("kafka.bootstrap.servers", "HOST:PORT"\)'),
        ({SERVERS: "a:1", "groups": "x"}, "there is no option groups; there are kafka.bootstrap.servers"),
        ({SERVERS: "a:1", "partitions": "0-3"}, "partitions='0-3' is refused: it must be numbers such as 0,7,49"),
        ({SERVERS: "a:1", "startingOffsets": "9"}, "startingOffsets='9' is refused: it must be earliest or latest"),
    ],
)
def test_options_that_are_refused(options: dict[str, str], words: str) -> None:
    with pytest.raises(PipelineError, match=words):
        parse_options("kafka_offsets", options, "__consumer_offsets", "group")


def test_filters_that_say_nothing_are_left_to_spark() -> None:
    class EqualTo:
        attribute, value = ("group_id",), "a"

    class GreaterThan(EqualTo):
        pass

    assert values_of(EqualTo(), "group_id") == {"a"}
    assert values_of(EqualTo(), "topic") is None
    assert values_of(GreaterThan(), "group_id") is None


def test_offsets_are_those_of_the_log(spark: SparkSession) -> None:
    """As the pipeline's own decoder has them, of a random history."""
    from kafkastub_pipeline.decode import decode_batch
    from kafkastub_pipeline.formats.log import records_between

    with played(steps(7, 30, 120)) as on:
        servers = on.stub.bootstrap_servers
        frame = read(spark, "kafka_offsets", servers)
        assert frame.dtypes == [(name, _plain(type_)) for name, type_, _ in FORMATS["kafka_offsets"]]
        names = ["log_partition", "log_offset", "group_id", "topic", "partition", "committed_offset", "tombstone"]
        rows = Counter(tuple(row) for row in frame.select(*names).collect())
        wanted = parse_options("x", {SERVERS: servers}, "__consumer_offsets", "group")
        whole = [(partition, 0, 10**9) for partition in range(4)]
        found: Counter[Any] = Counter()
        for raw in records_between(wanted, LogPart(whole)):
            for batch in decode_batch(raw):
                found.update(tuple(row[name] for name in names) for row in batch.select(names).to_pylist())
        assert rows == found
        assert rows.total() > 50
        events = {row.event for row in frame.select("event").distinct().collect()}
        assert events == {"commit", "tombstone", "GROUP_METADATA"}
        of_offsets = read(spark, "kafka_offsets", servers, records="offsets")
        assert "classic" not in of_offsets.columns
        assert of_offsets.count() == frame.where("event in ('commit', 'tombstone')").count()
        latest = frame.where("event = 'commit'").selectExpr("max(commit_timestamp) at").collect()[0].at
        assert int(latest.timestamp() * 1000) <= on.stub.clock.now_ms()


def test_large_records_make_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's memory does not follow the size of records: a group's may have a megabyte."""
    from confluent_kafka import Consumer, TopicPartition

    from kafkastub_pipeline.formats import log

    monkeypatch.setattr(log, "_BYTES", 10_000)
    with KafkaStub(topics={"orders": 20}) as stub:
        client = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "log_level": 0}
        places = [TopicPartition("orders", number, number, "x" * 4000) for number in range(20)]
        with closing(Consumer(client)) as consumer:
            consumer.commit(offsets=places, asynchronous=False)
        wanted = parse_options("x", {SERVERS: stub.bootstrap_servers, "group": "g"}, "__consumer_offsets", "group")
        sizes = [raw.num_rows for raw in log.records_between(wanted, LogPart([(one, 0, 10**9) for one in range(50)]))]
    assert sizes == [3, 3, 3, 3, 3, 3, 2]


def test_large_entries_of_a_journal_make_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    from kafkastub_pipeline.formats import journal

    monkeypatch.setattr(journal, "_BYTES", 10_000)
    entries = iter([{"sequence": number, "request": "AAAA" * 1000} for number in range(7)])
    batches = list(journal._batches(entries, pa.schema([("sequence", pa.int64())])))
    assert [batch.num_rows for batch in batches] == [3, 3, 1]


def _plain(type_: str) -> str:
    return re.sub(r"([:,]) ", r"\1", type_)


def test_a_filter_on_the_group_reads_one_partition_of_the_log(spark: SparkSession) -> None:
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        for number in range(20):
            wire.commit(f"g{number}", {("orders", 0): number})

        def read_by(frame: DataFrame) -> tuple[list[int], set[int]]:
            """The offsets that come, and the partitions of the log that are asked for them."""
            stub.journal.clear()
            offsets = [row.committed_offset for row in frame.select("committed_offset").collect()]
            of_log = {one for entry in stub.journal.requests(api="Fetch") for one in entry.partitions}
            return offsets, {partition for topic, partition in of_log if topic == "__consumer_offsets"}

        frame = read(spark, "kafka_offsets", stub.bootstrap_servers, group="g7")
        assert read_by(frame) == ([7], {partition_of("g7", 50)})
        all_ = read(spark, "kafka_offsets", stub.bootstrap_servers)
        offsets, partitions = read_by(all_.where("group_id = 'g7'"))
        assert offsets == [7]
        assert len(partitions) > 5
        spark.conf.set(PUSHDOWN, "true")
        try:
            if pushes_filters(spark):
                assert read_by(all_.where("group_id = 'g7'")) == ([7], {partition_of("g7", 50)})
                two = read_by(all_.where("group_id in ('g7', 'g8') and committed_offset > 7"))
                assert two == ([8], {partition_of("g7", 50), partition_of("g8", 50)})
                wanted = partition_of("g3", 50)
                assert read_by(all_.where(f"log_partition = {wanted}"))[1] == {wanted}
            assert sorted(read_by(all_.where("group_id <> 'g7'"))[0]) == [*range(7), *range(8, 20)]
        finally:
            spark.conf.unset(PUSHDOWN)


def test_from_sql(spark: SparkSession) -> None:
    """As the guide has it."""
    (block,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "spark.md").read_text(), re.DOTALL)
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        wire.commit("billing", {("orders", 0): 3})
        wire.commit("billing", {("orders", 0): 5})
        first, second = block.replace("kafka:9092", stub.bootstrap_servers).strip().rstrip(";").split(";")
        spark.sql(first)
        (row,) = spark.sql(second).collect()
    assert (row.group_id, row.topic, row.partition, row.committed_offset) == ("billing", "orders", 0, 5)
    spark.catalog.dropTempView("offsets")


def test_transactions(spark: SparkSession) -> None:
    with KafkaStub(topics={"orders": 2}) as stub, transactions(stub.bootstrap_servers):
        _check_transactions(spark, stub.bootstrap_servers)


def _check_transactions(spark: SparkSession, servers: str) -> None:
    frame = read(spark, "kafka_transactions", servers, transactionalId="audit").orderBy("log_offset")
    rows = frame.collect()
    states = [row.state for row in rows]
    ends = ["PrepareCommit", "CompleteCommit", "PrepareAbort", "CompleteAbort"]
    assert [state for state in states if state in ends] == ends
    begun = [row for row in rows if row.state == "Ongoing"]
    assert {tuple(one) for row in begun for one in row.partitions} == {("orders", 1)}
    assert all(row.started_at is not None and row.updated_at >= row.started_at for row in begun)
    assert {row.transactional_id for row in rows} == {"audit"}
    assert {row.log_partition for row in rows} == {partition_of("audit", 50)}
    assert all(row.error is None for row in rows)
    assert read(spark, "kafka_transactions", servers, transactionalId="nobody").count() == 0


def test_the_state_of_share_groups(spark: SparkSession) -> None:
    with KafkaStub(topics={"orders": 1}) as stub:
        for number in range(6):
            stub.produce("orders", b"%d" % number)
        worker = member_from_the_beginning(stub, "workers", "orders")
        assert worker.fetch(6) == 6
        worker.acknowledge(0, 1, [ACCEPT])
        worker.acknowledge(3, 3, [REJECT])
        frame = read(spark, "kafka_share_state", stub.bootstrap_servers, group="workers").orderBy("log_offset")
        rows = frame.collect()
        assert read(spark, "kafka_share_state", stub.bootstrap_servers, group="others").count() == 0
    assert rows[0].event == "snapshot"
    assert {(row.group_id, row.partition, row.error) for row in rows} == {("workers", 0, None)}
    told = {(one.first_offset, one.last_offset, one.state) for row in rows for one in row.batches or ()}
    assert (3, 3, "archived") in told
    assert max(row.start_offset or 0 for row in rows) == 2


def test_a_journal(spark: SparkSession, tmp_path: Path) -> None:
    """Lines of JSON, as they are written, and Parquet: every entry once; a stream goes on where it was."""
    kept, out = tmp_path / "kept", str(tmp_path / "out")
    with KafkaStub(topics={"orders": 1}, journal=str(kept)) as stub, Wire(stub.bootstrap_servers) as wire:
        member = wire.member("billing", subscription("orders"))
        wire.commit("billing", {("orders", 0): 1}, member=member)
        stub.clock.advance(hours=1)
        _streamed(spark, str(kept), out, str(tmp_path / "checkpoint"))
        wire.commit("billing", {("orders", 0): 2}, member=member)
        stub.journal.to_parquet(tmp_path / "journal.parquet")
    _streamed(spark, str(kept), out, str(tmp_path / "checkpoint"))
    names = ["sequence", "kind", "api", "api_version", "broker_time", "groups", "errors", "outcome"]
    written = spark.read.format("kafkastub_journal").load(str(tmp_path / "journal.parquet")).select(names).collect()
    lines = spark.read.format("kafkastub_journal").load(str(kept)).select(names).collect()
    ended = {row.sequence: row for row in written if row.outcome != "pending"}
    assert {row.sequence: row for row in lines if row.sequence in ended} == ended
    assert len({row.sequence for row in lines}) == len(lines) >= len(ended) > 3
    assert [row.groups for row in lines if row.api == "OffsetCommit"] == [["billing"], ["billing"]]
    streamed = spark.read.parquet(out).where("outcome <> 'pending'").select(names).collect()
    assert Counter(map(str, streamed)) == Counter(map(str, (row for row in lines if row.outcome != "pending")))
    with pytest.raises(Exception, match=r"there is no .*nowhere; give the directory of serve --journal"):
        spark.read.format("kafkastub_journal").load(str(tmp_path / "nowhere")).count()


def _streamed(spark: SparkSession, source: str, out: str, checkpoint: str) -> None:
    frame = spark.readStream.format("kafkastub_journal").load(source)
    writer = frame.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()


def test_a_stream_of_offsets_has_each_record_once(spark: SparkSession, tmp_path: Path) -> None:
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "checkpoint")
    with KafkaStub(topics={"orders": 1}) as stub, Wire(stub.bootstrap_servers) as wire:
        for round_ in range(3):
            for number in range(4):
                wire.commit(f"g{number}", {("orders", 0): 10 * round_ + number})
            reader = spark.readStream.format("kafka_offsets").option(SERVERS, stub.bootstrap_servers)
            writer = reader.load().writeStream.format("parquet").option("path", out)
            query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
            query.awaitTermination()
        batch = read(spark, "kafka_offsets", stub.bootstrap_servers).collect()
    assert Counter(map(str, spark.read.parquet(out).collect())) == Counter(map(str, batch))
    commits = Counter((row.group_id, row.committed_offset) for row in batch if row.event == "commit")
    assert commits == Counter((f"g{number}", 10 * round_ + number) for round_ in range(3) for number in range(4))


def test_a_topic_that_is_not_there_is_named(spark: SparkSession) -> None:
    with KafkaStub() as stub, pytest.raises(Exception, match="no client has begun a transaction yet"):
        read(spark, "kafka_transactions", stub.bootstrap_servers).count()


@pytest.mark.oracle
def test_on_apache_kafka(spark: SparkSession, jvm: Jvm) -> None:
    """The same of a real broker, with a transaction that is open."""
    from confluent_kafka import Consumer, TopicPartition

    from tests.oracle.apache_kafka import ApacheKafka

    with ApacheKafka() as kafka, Wire(kafka.bootstrap_servers) as wire:
        servers = kafka.bootstrap_servers
        wire.create_topics("orders")
        for number in range(10):
            wire.commit(f"g{number}", {("orders", 0): number})
        with transactions(servers) as producer:
            _check_transactions(spark, servers)
            producer.begin_transaction()
            with closing(Consumer({"bootstrap.servers": servers, "group.id": "open"})) as consumer:
                place = [TopicPartition("orders", 0, 77)]
                producer.send_offsets_to_transaction(place, consumer.consumer_group_metadata(), 60)
            rows = read(spark, "kafka_offsets", servers, records="offsets").collect()
            found = {(row.group_id, row.committed_offset) for row in rows}
            assert found == {(f"g{number}", number) for number in range(10)}  # what is open is not read
            producer.commit_transaction(60)
        frame = read(spark, "kafka_offsets", servers, group="open", records="offsets")
        assert [row.committed_offset for row in frame.collect()] == [77]
