"""Share groups in snapshots: what was written of their records is there, what members have in their hands is not."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import AcknowledgeType, Message, ShareConsumer

from kafkastub import KafkaStub, Snapshot
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.records import SharePartitionKey
from kafkastub.share_coordinator.state_batches import StateBatch
from kafkastub.state.topics import auto_create, delete_topics
from kafkastub.storage.state_log import StateLog
from tests.conftest import CONFIG
from tests.snapshots.whole_state import differences, whole
from tests.waiting import SECONDS, until

QUICK: dict[str, object] = {
    **CONFIG,
    "group.share.min.heartbeat.interval.ms": 50,
    "group.share.heartbeat.interval.ms": 50,
    "group.share.assignment.interval.ms": 0,
    "share.coordinator.state.topic.num.partitions": 1,
    "errors.deadletterqueue.auto.create.topics.enable": True,
}
EARLIEST = {"share.auto.offset.reset": "earliest"}
Join = Callable[..., ShareConsumer]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, config=QUICK, control_port=0) as stub:
        stub.share_groups.configure("g", EARLIEST)
        yield stub


@pytest.fixture
def join() -> Iterator[Join]:
    """Makes members that are closed at the end."""
    made = []

    def joined(stub: KafkaStub) -> ShareConsumer:
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"}
        made.append(ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"}))
        made[-1].subscribe(["orders"])
        return made[-1]

    yield joined
    for one in made:
        one.close()


def fill(stub: KafkaStub, count: int) -> None:
    for number in range(count):
        stub.produce("orders", f"{number}", partition=0)


def read(consumer: ShareConsumer, count: int = 1) -> list[Message]:
    found: list[Message] = []

    def come() -> bool:
        found.extend(one for one in consumer.poll(0.05) if one.error() is None)
        return len(found) >= count

    until(come, "records")
    return found


def say(worker: ShareConsumer, message: Message, what: AcknowledgeType = AcknowledgeType.ACCEPT) -> None:
    worker.acknowledge(message, what)
    worker.commit_sync()


def told(stub: KafkaStub) -> list[tuple[range, str, int]]:
    """What is known of the records of orders-0."""
    return [(one.offsets, one.state, one.deliveries) for one in stub.share_groups["g"]["orders", 0].ranges]


def kept(stub: KafkaStub) -> Any:
    """What is kept of share partitions, and its log."""
    found = whole(stub)
    return found["sharing"]["kept"], found["logs"][f"{SHARE_GROUP_STATE}-0"]


def worked(stub: KafkaStub, worker: ShareConsumer) -> Message:
    """Of four records the second is accepted, the third was given back; the others are with the worker. The first."""
    fill(stub, 4)
    messages = read(worker, 4)
    say(worker, messages[1])
    say(worker, messages[2], AcknowledgeType.RELEASE)
    return messages[0]


AS_WRITTEN = [(range(1), "available", 0), (range(1, 2), "acknowledged", 1), (range(2, 3), "available", 1)]


def starts() -> dict[str, Callable[[KafkaStub, Snapshot, Path], KafkaStub]]:
    """Ways from a snapshot to a stub."""

    def here(stub: KafkaStub, saved: Snapshot, path: Path) -> KafkaStub:
        stub.restore(saved)
        return stub

    def sent(stub: KafkaStub, saved: Snapshot, path: Path) -> KafkaStub:
        stub.restore(pickle.loads(pickle.dumps(saved)))
        return stub

    def elsewhere(stub: KafkaStub, saved: Snapshot, path: Path) -> KafkaStub:
        saved.save(path / "seed.kafkastub")
        return KafkaStub(config=QUICK, snapshot=path / "seed.kafkastub")

    def process(stub: KafkaStub, saved: Snapshot, path: Path) -> KafkaStub:
        saved.save(path / "seed.kafkastub")
        return KafkaStub(config=QUICK, process=True, snapshot=Snapshot.load(path / "seed.kafkastub"))

    def directory(stub: KafkaStub, saved: Snapshot, path: Path) -> KafkaStub:
        KafkaStub(config=QUICK, data_dir=path / "data", snapshot=saved).start().close()
        return KafkaStub(config=QUICK, data_dir=path / "data")

    return {one.__name__: one for one in (here, sent, elsewhere, process, directory)}


@pytest.mark.parametrize("way", list(starts()))
def test_what_was_said_of_records_is_there_and_locks_are_gone(
    stub: KafkaStub, join: Join, tmp_path: Path, way: str
) -> None:
    worker = join(stub)
    first = worked(stub, worker)
    saved = stub.snapshot()
    say(worker, first, AcknowledgeType.REJECT)
    worker.close()
    other = starts()[way](stub, saved, tmp_path)
    with nullcontext() if other is stub else other:
        assert stub is other or other.share_groups["g"]["orders", 0].lag == 3
        again = join(other)
        messages = read(again, 3)
        assert [(one.offset(), one.delivery_count()) for one in messages] == [(0, 1), (2, 2), (3, 1)]
        for one in messages:
            again.acknowledge(one)
        again.commit_sync()
        other.share_groups.wait("g", lag=0)
        if stub is not other:
            again.close()


def test_the_group_is_as_it_was(stub: KafkaStub, join: Join) -> None:
    worker = join(stub)
    fill(stub, 2)
    say(worker, read(worker, 2)[1])
    counted = stub.metrics()["share-group-rebalances"]
    there = whole(stub)
    saved = stub.snapshot()
    with stub.faults.add(api="ShareGroupHeartbeat", hold="before"), stub.faults.add(api="ShareFetch", hold="before"):
        stub.share_groups.configure("g", {"share.delivery.count.limit": 3})
        stub.share_groups["g"].end_session(next(iter(stub.share_groups["g"].members)))
        assert stub.share_groups["g"].state == "Empty"
        stub.restore(saved)
        here = whole(stub)
    assert there["groups"]["g"]["group"] == here["groups"]["g"]["group"]
    assert there["configs"] == here["configs"]
    assert there["sharing"]["kept"] == here["sharing"]["kept"]
    assert (here["sharing"]["in flight"], here["sharing"]["sessions"]) == ({}, 0)
    assert stub.metrics()["share-group-rebalances"] >= counted > 0
    assert acknowledged(stub) == 1
    assert told(stub)[:2] == AS_WRITTEN[:2]


def test_a_worker_goes_on_by_itself(stub: KafkaStub, join: Join) -> None:
    """What it had in its hands is delivered once more; what it says of the old delivery is nothing to the new one."""
    worker = join(stub)
    fill(stub, 1)
    (message,) = read(worker)
    saved = stub.snapshot()
    stub.restore(saved)
    fill(stub, 1)
    worker.acknowledge(message)
    refused = worker.commit_sync(SECONDS)
    assert all(refused.values())
    assert not stub.share_groups["g"]["orders", 0].is_done(0)
    seen: dict[int, int] = {}

    def both() -> bool:
        for one in worker.poll(0.05):
            if one.error() is None:
                seen[one.offset()] = one.delivery_count()
                say(worker, one)
        return seen == {0: 1, 1: 1}

    until(both, "the record that was there, and the one behind the restore")
    stub.share_groups.wait("g", lag=0)


# -- the log of the share coordinator ----------------------------------------------------------------------------------


def initialised(stub: KafkaStub, partitions: int, done: int = 7) -> None:
    """The state of so many partitions of `orders` is kept, and a record of each is done with."""
    broker = stub._running()

    def work() -> None:
        state = broker.state
        topic_id, now = state.cluster.topics["orders"].topic_id, broker.clock.broker_ms()
        if SHARE_GROUP_STATE not in state.cluster.topics:
            auto_create(state, SHARE_GROUP_STATE)
        for index in range(partitions):
            state.share_partitions.persister.initialize("g", topic_id, index, 0, 0, now)
            write(state, topic_id, index, 0, now)

    def write(state: Any, topic_id: bytes, index: int, start: int, now: int) -> None:
        key, batches = SharePartitionKey("g", topic_id, index), [StateBatch(done, done, 2, 1)]
        state.share_partitions.persister.write(key, 0, 0, start, 1, batches, now)

    stub._call(work)


@pytest.fixture
def pruned(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    """A stub whose `__share_group_state` begins behind its first records; in memory or in a data directory."""
    with KafkaStub(topics={"orders": 3}, config=QUICK, data_dir=tmp_path / "data" if request.param else None) as stub:
        stub.clock.freeze()
        initialised(stub, 3)
        stub.clock.advance(minutes=11, timers=True)
        stub.reload_coordinator()  # which forgets how many updates there were before those that are left
        (_, log) = kept(stub)
        assert log["start"] > 0
        yield stub


@pytest.mark.parametrize("pruned", [False, True], indirect=True, ids=["memory", "directory"])
def test_what_was_pruned_stays_so(pruned: KafkaStub, tmp_path: Path) -> None:
    there, saved = kept(pruned), pruned.snapshot()
    initialised(pruned, 3)
    pruned.clock.advance(minutes=30, timers=True)
    assert differences(there[1], kept(pruned)[1])
    for one in (saved, pickle.loads(pickle.dumps(saved))):
        pruned.restore(one)
        assert kept(pruned) == there
    for number in range(2):
        with KafkaStub(config=QUICK, data_dir=tmp_path / "other", snapshot=saved) as other:
            assert kept(other)[0] == there[0], number
            assert {**kept(other)[1], "batches": None} == {**there[1], "batches": None}, number
    pruned.clock.advance(minutes=30, timers=True)
    initialised(pruned, 3)
    log = kept(pruned)[1]
    assert log["end"] > there[1]["end"]
    pruned.reload_coordinator()
    assert kept(pruned)[1] == log


def test_records_of_many_share_partitions_are_taken_up_as_they_are(stub: KafkaStub) -> None:
    """As many as are remembered, and not one more in the log or fewer in the coordinator."""
    stub.create_topic("many", 400)
    broker = stub._running()

    def work() -> None:
        state, now = broker.state, broker.clock.broker_ms()
        topic_id = state.cluster.topics["many"].topic_id
        auto_create(state, SHARE_GROUP_STATE)
        for index in range(400):
            state.share_partitions.persister.initialize("g", topic_id, index, 0, 0, now)
            for offset in range(1, 5):
                batches = [StateBatch(offset, offset, 2, 1)]
                state.share_partitions.persister.write(
                    SharePartitionKey("g", topic_id, index), 0, 0, 0, 1, batches, now
                )

    stub._call(work)
    there, saved = kept(stub), stub.snapshot()
    assert len(there[0]) == 400
    stub.restore(saved)
    assert kept(stub) == there
    (log,) = broker.state.logs.of_topic(broker.state.cluster.topics[SHARE_GROUP_STATE].topic_id)
    assert isinstance(log, StateLog)
    assert broker.state.share_partitions.coordinator.topic.records == len(log.items) == 2000


def test_what_was_being_forgotten_is_forgotten(stub: KafkaStub) -> None:
    """The topic of many share partitions is gone, and they are forgotten part by part."""
    stub.create_topic("many", 300)
    broker = stub._running()

    def work() -> Snapshot:
        state, now = broker.state, broker.clock.both()
        topic_id = state.cluster.topics["many"].topic_id
        auto_create(state, SHARE_GROUP_STATE)
        for index in range(300):
            state.share_partitions.persister.initialize("g", topic_id, index, 0, 0, now[0])
        delete_topics(state, ["many"], now[0])
        assert state.share_partitions.coordinator.coordinator.states, "it is in the midst of it"
        return Snapshot(broker.snapshot())

    saved = stub._call(work)
    stub.restore(saved)
    until(lambda: not broker.state.share_partitions.coordinator.coordinator.states, "all are forgotten")


# -- held, dead letters ------------------------------------------------------------------------------------------------


def test_that_acknowledgements_are_held_is_part_of_it(stub: KafkaStub, join: Join, tmp_path: Path) -> None:
    worker = join(stub)
    fill(stub, 1)
    (message,) = read(worker)
    group = stub.share_groups["g"]
    with group.hold_acknowledgements():
        worker.acknowledge(message)
        worker.commit_async()
        stub.share_groups.wait("g", held=1)
        saved = stub.snapshot()
    stub.share_groups.wait("g", lag=0)
    for one in (saved, pickle.loads(pickle.dumps(saved))):
        stub.restore(one)
        assert group.holds_acknowledgements
        assert not group["orders", 0].is_done(0), "what was held is forgotten"
    group.hold_acknowledgements().release()
    assert not group.holds_acknowledgements
    with KafkaStub(config=QUICK, data_dir=tmp_path / "data", snapshot=saved) as other:
        assert other.share_groups["g"].holds_acknowledgements


def test_a_dead_letter_that_was_under_way_is_written(stub: KafkaStub, join: Join) -> None:
    stub.create_topic("dlq.g", 1, {"errors.deadletterqueue.group.enable": "true"})
    stub.share_groups.configure("g", {"errors.deadletterqueue.topic.name": "dlq.g"})
    led_by(stub, "dlq.g", -1)
    worker = join(stub)
    fill(stub, 2)
    first, second = read(worker, 2)
    say(worker, first, AcknowledgeType.REJECT)
    say(worker, second, AcknowledgeType.RELEASE)
    assert told(stub)[0] == (range(1), "archiving", 1)
    saved = stub.snapshot()
    led_by(stub, "dlq.g", 1)
    stub.clock.advance(seconds=30, timers=True)
    assert len(stub.records("dlq.g")) == 1
    stub.restore(saved)
    assert stub.records("dlq.g") == []
    led_by(stub, "dlq.g", 1)
    say(worker, next(one for one in read(worker) if one.offset() == 1))
    (letter,) = stub.records("dlq.g")
    assert dict(letter.headers)["__dlq.errors.offset"] == b"0"
    stub.share_groups.wait("g", lag=0)


def led_by(stub: KafkaStub, topic: str, node: int) -> None:
    state = stub._running().state

    def lead() -> None:
        state.cluster.topics[topic].partitions[0].leader = node

    stub._call(lead)


def test_a_dead_letter_topic_is_made_behind_a_restore(stub: KafkaStub, join: Join) -> None:
    stub.share_groups.configure("g", {"errors.deadletterqueue.topic.name": "dlq.g"})
    stub.restore(stub.snapshot())
    worker = join(stub)
    fill(stub, 1)
    say(worker, read(worker)[0], AcknowledgeType.REJECT)
    assert len(stub.records("dlq.g")) == 1


# -- who waits ---------------------------------------------------------------------------------------------------------


def waited_for(stub: KafkaStub) -> bool:
    state = stub._running().state
    return bool(state.share_partitions.watchers if state.has_share_partitions else ())


def test_who_waits_for_a_share_group_sees_what_was_restored(stub: KafkaStub, join: Join) -> None:
    worker = join(stub)
    fill(stub, 1)
    (message,) = read(worker)
    say(worker, message)
    saved = stub.snapshot()
    for wait in (
        lambda: stub.share_groups.wait("g", lag=0, timeout=SECONDS),
        lambda: _get(stub, f"/v1/share-groups/g/wait?lag=0&timeout={SECONDS:g}"),
    ):
        fill(stub, 1)
        until(lambda: stub.share_groups["g"]["orders", 0].lag == 1, "a record that nobody has done with")
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(wait)
            until(lambda: waited_for(stub), "somebody who waits")
            stub.restore(saved)
            waiting.result(SECONDS)
        assert not waited_for(stub)


def _get(stub: KafkaStub, path: str) -> str:
    response = httpx.get(f"{stub.control_url}{path}", timeout=SECONDS)
    assert response.status_code == 200
    return response.text


def acknowledged(stub: KafkaStub) -> float:
    """What the metrics say of records that were accepted."""
    (line,) = (one for one in _get(stub, "/metrics").splitlines() if 'share_acknowledged_total{type="accept"}' in one)
    return float(line.split()[-1])
