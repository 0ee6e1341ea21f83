"""`stub.snapshot()`, `restore`, `rolled_back`: what a test sees, and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub, Snapshot, SnapshotError
from kafkastub.storage.rows import COPIED_UP_TO
from tests.conftest import CONFIG
from tests.snapshots.whole_state import differences, whole
from tests.waiting import SECONDS, until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG) as stub:
        yield stub


def values(stub: KafkaStub, topic: str = "orders") -> list[bytes | None]:
    return [record.value for record in stub.records(topic)]


def test_what_happened_since_is_undone(stub: KafkaStub) -> None:
    stub.produce("orders", "before", partition=0)
    saved = stub.snapshot()
    stub.produce("orders", "after", partition=0)
    stub.create_topic("later")
    stub.commit("worker", {("orders", 0): 2})
    stub.set_quota(client_id="loader", producer_byte_rate=1000)
    stub.clock.advance(days=3)
    stub.restore(saved)
    assert values(stub) == [b"before"]
    assert stub.snapshot().topics == {"orders": 2}
    with pytest.raises(KeyError):
        stub.lag("worker")
    assert abs((stub.clock.now() - saved.now).total_seconds()) < 60


def test_a_snapshot_can_be_restored_again_and_again(stub: KafkaStub) -> None:
    saved = stub.snapshot()
    first = whole(stub)
    for number in range(3):
        stub.produce("orders", f"{number}")
        stub.restore(saved)
        assert not differences(first, whole(stub))


def test_what_is_rolled_back_never_happened(stub: KafkaStub) -> None:
    stub.produce("orders", "kept", partition=0)
    with stub.rolled_back() as saved:
        stub.produce("orders", "gone", partition=0)
        with stub.rolled_back():
            stub.produce("orders", "gone sooner", partition=0)
        assert values(stub) == [b"kept", b"gone"]
        assert isinstance(saved, Snapshot)
    assert values(stub) == [b"kept"]


def test_a_failure_within_is_rolled_back_too(stub: KafkaStub) -> None:
    def fail() -> None:
        with stub.rolled_back():
            stub.produce("orders", "gone")
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert values(stub) == []


def test_a_stub_may_be_closed_within(stub: KafkaStub) -> None:
    with stub.rolled_back():
        stub.close()


def test_snapshots_do_not_disturb_each_other(stub: KafkaStub) -> None:
    """Of the same log, shorter and longer, with many batches and few: each stays what it was."""
    taken = []
    for wave in (10, COPIED_UP_TO + 5, 3, COPIED_UP_TO * 2):
        for number in range(wave):
            stub.produce("orders", f"{wave}/{number}", partition=0)
        taken.append((stub.snapshot(), values(stub)))
    for saved, there in [*taken, *reversed(taken)]:
        stub.restore(saved)
        assert values(stub) == there
        stub.produce("orders", "more", partition=0)
        assert values(stub) == [*there, b"more"]
        assert [one.value for one in stub.records("orders", 0, offset=len(there) - 2)] == [*there[-2:], b"more"]


def test_journal_faults_and_metrics_stay(stub: KafkaStub) -> None:
    fault = stub.faults.add(api="OffsetFetch", error="NOT_COORDINATOR", times=100)
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    producer.produce("orders", b"x")
    assert producer.flush(10) == 0
    stub.commit("worker", {("orders", 0): 0})
    counted, asked = stub.metrics(), len(stub.journal.requests(api="Produce"))
    saved = stub.snapshot()
    stub.commit("worker", {("orders", 0): 1})
    stub.restore(saved)
    assert [one.id for one in stub.faults.list()] == [fault.id]
    assert stub.metrics()["offset-commits"] == counted["offset-commits"] + 1
    assert len(stub.journal.requests(api="Produce")) == asked
    other = Producer({"bootstrap.servers": stub.bootstrap_servers})
    other.produce("orders", b"y")
    assert other.flush(10) == 0
    assert len(stub.journal.requests(api="Produce")) > asked
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "worker"})
    consumer.subscribe(["orders"])
    until(lambda: consumer.poll(0.1) is None and fault.hits, "the fault is met by a client that came after")
    consumer.close()


def test_nodes_run_or_not_as_they_did() -> None:
    with KafkaStub(topics={"orders": 3}, nodes=3, config={**CONFIG, "default.replication.factor": 3}) as stub:
        stub.nodes[2].stop()
        saved, there = stub.snapshot(), stub.leader_of("orders", 0)
        stub.nodes[2].start()
        stub.nodes[1].stop()
        stub.add_node()
        stub.restore(saved)
        assert [stub.nodes[one].running for one in (1, 2, 3)] == [True, False, True]
        assert list(stub.nodes) == [1, 2, 3]
        assert stub.leader_of("orders", 0) == there
        stub.nodes[2].start()
        stub.produce("orders", "all is well", partition=0)


def test_a_stub_of_one_node_becomes_a_snapshot_of_three(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 3}, nodes=3, racks=["a", "b", "c"], config=CONFIG) as stub:
        stub.snapshot().save(tmp_path / "three.kafkastub")
    with KafkaStub(snapshot=tmp_path / "three.kafkastub", config=CONFIG) as other:
        assert [other.nodes[one].rack for one in (1, 2, 3)] == ["a", "b", "c"]
        producer = Producer({"bootstrap.servers": other.bootstrap_servers})
        for partition in range(3):
            producer.produce("orders", b"x", partition=partition)
        assert producer.flush(10) == 0


def test_a_stub_whose_nodes_begin_later_is_no_place_for_it(stub: KafkaStub) -> None:
    saved = stub.snapshot()
    with KafkaStub(config={**CONFIG, "node.id": 5}) as other:
        with pytest.raises(SnapshotError, match=r"it has node 1, and the nodes here begin with node\.id=5"):
            other.restore(saved)
        other.create_topic("still")


def test_a_restore_that_is_refused_leaves_the_nodes_as_they_were(stub: KafkaStub) -> None:
    with KafkaStub(nodes=3, config=CONFIG, topics=["orders"]) as other:
        saved = other.snapshot()._saved
    broken = {"broker": {}, "default": {"log.retention.ms": "for ever"}}
    saved = Snapshot(saved._replace(settings={**saved.settings, "broker_configs": broken}))
    with pytest.raises(SnapshotError, match="the snapshot has what this broker cannot have"):
        stub.restore(saved)
    assert list(stub.nodes) == [1]
    assert "," not in stub.bootstrap_servers
    stub.produce("orders", "all is well")
    stub.restore(stub.snapshot())


def test_what_a_test_holds_of_markers_is_part_of_it(stub: KafkaStub) -> None:
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "shop"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("orders", b"x", partition=0)
    producer.flush()
    stub.transactions.hold_markers("shop")
    producer.commit_transaction()
    saved = stub.snapshot()
    stub.transactions.release_markers("shop")
    assert stub.transactions["shop"].state == "CompleteCommit"
    stub.restore(saved)
    assert stub.transactions["shop"].state == "PrepareCommit"
    stub.transactions.release_markers("shop")
    assert stub.transactions["shop"].state == "CompleteCommit"


def test_who_waits_for_records_sees_those_of_the_restored_state(stub: KafkaStub) -> None:
    def somebody_waits() -> bool:
        return bool(stub._running().state.topic_watchers)

    empty = stub.snapshot()
    stub.produce("orders", "one")
    stub.produce("orders", "two")
    two = stub.snapshot()
    stub.restore(empty)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(stub.records.wait, "orders", 2, timeout=SECONDS)
        until(somebody_waits, "somebody waits")
        stub.produce("orders", "gone", partition=0)
        stub.restore(empty)
        stub.produce("orders", "behind", partition=0)
        stub.produce("orders", "the restore", partition=0)
        assert [one.value for one in waiting.result(SECONDS)] == [b"behind", b"the restore"]
        stub.restore(empty)
        waiting = threads.submit(stub.records.wait, "orders", 2, timeout=SECONDS)
        until(somebody_waits, "somebody waits")
        stub.restore(two)
        assert len(waiting.result(SECONDS)) == 2
    assert not somebody_waits()


def test_none_is_taken_of_a_coordinator_that_loads_but_once_it_is_there(stub: KafkaStub) -> None:
    stub.commit("worker", {("orders", 0): 0})
    with stub.coordinator_loading():
        saved = stub.snapshot()
    stub.restore(saved)
    assert stub.lag("worker") == {("orders", 0): 0}


@pytest.mark.parametrize("wrong", [None, 3])
def test_only_snapshots_and_files_are_restored(stub: KafkaStub, wrong: object) -> None:
    with pytest.raises(TypeError, match=r"expected the result of stub\.snapshot\(\) or the path of a file"):
        stub.restore(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        stub.restore("none.kafkastub")


def test_a_file_is_restored(stub: KafkaStub, tmp_path: Path) -> None:
    stub.produce("orders", "kept")
    stub.snapshot().save(tmp_path / "seed.kafkastub")
    stub.produce("orders", "gone")
    for path in (tmp_path / "seed.kafkastub", str(tmp_path / "seed.kafkastub")):
        stub.restore(path)
        assert values(stub) == [b"kept"]


def test_nothing_is_left_beside_a_file_that_cannot_be_written(stub: KafkaStub, tmp_path: Path) -> None:
    there = tmp_path / "directory"
    there.mkdir()
    with pytest.raises(OSError, match="directory"):
        stub.snapshot().save(there)
    assert list(tmp_path.iterdir()) == [there]


def test_only_snapshots_and_files_start_stubs(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="the path of a file"):
        KafkaStub(snapshot=3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        KafkaStub(snapshot=tmp_path / "none")


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    with KafkaStub(topics=["orders"], config=CONFIG, process=True) as stub:
        stub.produce("orders", "kept")
        saved = stub.snapshot()
        saved.save(tmp_path / "seed.kafkastub")
        stub.produce("orders", "gone")
        stub.restore(saved)
        with stub.rolled_back():
            stub.produce("orders", "gone too")
        assert values(stub) == [b"kept"]
        stub.restore(Snapshot.load(tmp_path / "seed.kafkastub"))
        assert values(stub) == [b"kept"]
    with KafkaStub(config=CONFIG, process=True, snapshot=Snapshot.load(tmp_path / "seed.kafkastub")) as other:
        assert values(other) == [b"kept"]


async def test_a_consumer_comes_back_by_itself(stub: KafkaStub) -> None:
    """aiokafka, in a group, in the midst of it: it goes on from the restored offset, with the restored records."""
    stub.produce("orders", "first", partition=0)
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=stub.bootstrap_servers, group_id="worker", auto_offset_reset="earliest",
        session_timeout_ms=6000, heartbeat_interval_ms=500, enable_auto_commit=False, retry_backoff_ms=50,
    )  # fmt: skip
    await consumer.start()
    try:
        assert (await asyncio.wait_for(consumer.getone(), 30)).value == b"first"
        await consumer.commit()
        saved = await asyncio.to_thread(stub.snapshot)
        await asyncio.to_thread(stub.produce, "orders", "undone", partition=0)
        assert (await asyncio.wait_for(consumer.getone(), 30)).value == b"undone"
        await asyncio.to_thread(stub.restore, saved)
        await asyncio.to_thread(stub.produce, "orders", "instead", partition=0)
        await asyncio.to_thread(stub.produce, "orders", "behind", partition=0)
        assert (await asyncio.wait_for(consumer.getone(), 30)).value == b"behind"  # it was at offset 2 already
        await consumer.commit()
        assert await asyncio.to_thread(stub.lag, "worker") == {("orders", 0): 0, ("orders", 1): 0}
    finally:
        await consumer.stop()
