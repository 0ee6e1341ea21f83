"""A snapshot as a file: it says the same, it starts brokers, and one that is hostile or damaged is refused."""

from __future__ import annotations

import json
import pickle
import random
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkastub import KafkaStub, Snapshot, SnapshotError
from kafkastub.config import BrokerConfig, Profile
from kafkastub.config.durations import LAST_MS
from kafkastub.state.snapshots.files import read
from kafkastub.state.snapshots.holding import OF_BATCH, Limit, held
from kafkastub_conformance.differential.broker import Lost
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.running import KINDS
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.stage import Stage
from kafkawire.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.snapshots.test_like_a_fresh_start import running
from tests.snapshots.whole_state import differences, quiet, reload, whole

FIVE = 5


def fill(stub: KafkaStub) -> None:
    """Records, offsets, an open transaction."""
    for number in range(FIVE):
        stub.produce("orders", f"{number}", key=f"{number}", partition=0)
    stub.commit("worker", {("orders", 0): 3})
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "shop"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("orders", b"open", partition=1)
    producer.flush()
    stub.create_topic("compacted", 2, {"cleanup.policy": "compact"})


@pytest.fixture
def filled() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG) as stub:
        fill(stub)
        yield stub


def test_a_file_starts_a_broker_that_is_the_same(filled: KafkaStub, tmp_path: Path) -> None:
    saved = filled.snapshot()
    saved.save(tmp_path / "seed.kafkastub")
    filled.restore(saved)
    with KafkaStub(config=CONFIG, snapshot=tmp_path / "seed.kafkastub") as other:
        there, here = whole(filled), whole(other)
        there["nodes"] = here["nodes"] = None  # they have ports of their own
        assert not differences(there, here)
        consumer = Consumer({"bootstrap.servers": other.bootstrap_servers, "group.id": "worker"})
        consumer.assign([TopicPartition("orders", 0)])
        messages = consumer.consume(2, 10)
        consumer.close()
        assert [message.value() for message in messages] == [b"3", b"4"]
        assert [one.transaction for one in other.records("orders", 1)] == ["open"]


def test_a_stub_may_have_further_topics_than_its_snapshot(filled: KafkaStub) -> None:
    with KafkaStub(topics={"orders": 1, "others": 3}, config=CONFIG, snapshot=filled.snapshot()) as other:
        assert other.snapshot().topics == {"orders": 2, "compacted": 2, "others": 3}


def test_a_snapshot_goes_to_other_processes(filled: KafkaStub) -> None:
    saved = pickle.loads(pickle.dumps(filled.snapshot()))
    filled.produce("orders", "more", partition=0)
    filled.restore(saved)
    assert len(filled.records("orders", 0)) == FIVE


def test_broker_time_goes_on_from_where_a_file_was_taken(filled: KafkaStub, tmp_path: Path) -> None:
    filled.clock.advance(days=6)
    saved = filled.snapshot()
    saved.save(tmp_path / "seed.kafkastub")
    with KafkaStub(config=CONFIG, snapshot=tmp_path / "seed.kafkastub") as other:
        assert 0 <= (other.clock.now() - saved.now).total_seconds() < 60
        assert other.lag("worker") == {("orders", 0): 2}


def test_a_file_has_segments_that_kafka_could_read(filled: KafkaStub, tmp_path: Path) -> None:
    filled.snapshot().save(tmp_path / "seed.kafkastub")
    with zipfile.ZipFile(tmp_path / "seed.kafkastub") as archive:
        assert "orders-0/00000000000000000000.log" in archive.namelist()
    assert (tmp_path / "seed.kafkastub").stat().st_mode & 0o077 == 0, "users' hashes are in it"


def test_a_file_keeps_a_wish_for_a_partition_that_cannot_be(tmp_path: Path) -> None:
    with KafkaStub(config=CONFIG | {"log.dirs": "/one,/two"}) as stub:
        wished = AlterReplicaLogDir("/two", [AlterReplicaLogDirTopic("b", [-1])])
        with Speaker(stub.bootstrap_servers) as speaker:
            speaker.ask(AlterReplicaLogDirsRequest([wished]), 2)
        stub.snapshot().save(tmp_path / "seed.kafkastub")
    with KafkaStub(config=CONFIG | {"log.dirs": "/one,/two"}, snapshot=tmp_path / "seed.kafkastub") as other:
        assert other.snapshot().topics == {}


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 10**6))
def test_whatever_happened_a_file_says_the_same(kind: str, seed: int) -> None:
    script = KINDS[kind](seed, 20)
    scenario = Scenario(script.name, list(script.groups), script.config)
    with running(script.config) as (stub, broker):
        with suppress(NotThere, Lost), Stage(broker, scenario) as stage:
            script.run(Play(stage, scenario))
        quiet(stub, 0)
        stub.restore(stub.snapshot())
        before = whole(stub)
        read = pickle.loads(pickle.dumps(stub.snapshot()))
        stub.restore(read)
        reload(stub)
        assert not differences(before, whole(stub))


# -- what is no snapshot ----------------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def other_file(path: Path) -> None:
    path.write_bytes(b"something else " * 10)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def changed(name: str, change: Callable[[bytes], bytes | None]) -> Callable[[Path], None]:
    """One part of the archive with other contents, or without it."""

    def act(path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            parts = {one: archive.read(one) for one in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for one, content in parts.items():
                found = change(content) if one == name else content
                if found is not None:
                    archive.writestr(one, found)

    return act


def packed_by(method: int) -> Callable[[Path], None]:
    """Megabytes of nothing, by a method that zipfile unpacks in one go, whatever comes of it."""

    def act(path: Path) -> None:
        with zipfile.ZipFile(path, "a", method) as archive:
            archive.writestr("more", bytes(1 << 20))

    return act


def says(name: str, value: object) -> Callable[[Path], None]:
    """A field of the document with another value."""
    return changed("snapshot.json", lambda content: json.dumps({**json.loads(content), name: value}).encode())


LOG = "orders-0/00000000000000000000.log"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (cut, "a part of it is missing"),
        (other_file, "something else"),
        (empty, "something else"),
        (changed("snapshot.json", lambda content: None), r"no snapshot\.json"),
        (changed("snapshot.json", lambda content: b"[]"), "no kafkastub_snapshot"),
        (changed("snapshot.json", lambda content: b"{"), "damaged"),
        (changed("snapshot.json", lambda content: b"[" * 100_000), "damaged"),
        (changed("snapshot.json", lambda content: content.replace(b'snapshot":1', b'snapshot":9', 1)), "is newer"),
        (
            changed("snapshot.json", lambda content: content.replace(b'"leader":1', b'"leader":"x"', 1)),
            r"leader is a t",
        ),
        (changed("snapshot.json", lambda content: content.replace(b'"nodes":[', b'"nodes":[[1]', 1)), "damaged"),
        (changed(LOG, lambda content: content[:-1]), "the records of orders-0 are damaged"),
        (changed(LOG, lambda content: content[:64] + b"!" + content[65:]), "does not match its CRC"),
        (changed(LOG, lambda content: content + content), "orders-0"),
        (changed("snapshot.json", lambda content: bytes(1 << 27)), "unpacks to"),
        (packed_by(zipfile.ZIP_LZMA), "compressed in another way than deflate"),
        (packed_by(zipfile.ZIP_BZIP2), "compressed in another way than deflate"),
        (says("broker_ms", -1), "broker_ms"),
        (says("broker_ms", LAST_MS + 1), "broker_ms"),
        (says("clock", {"ahead_ms": 0, "frozen_at": LAST_MS + 1}), "frozen_at"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(
    filled: KafkaStub, tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)
    spoil(path)
    with pytest.raises(SnapshotError, match=said) as refused:
        Snapshot.load(path, most_bytes=1 << 26)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__context__ is None  # it would keep what was read


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content[:-1] + b',"more":' + b"1" * (5 << 20) + b"}", r"snapshot\.json has \d+ bytes"),
        (lambda content: content[:-1] + b',"more":[' + b"[]," * 300_000 + b"0]}", r"snapshot\.json has \d+ values"),
    ],
)
def test_a_small_file_does_not_become_large(
    filled: KafkaStub, tmp_path: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)
    changed("snapshot.json", change)(path)
    with pytest.raises(SnapshotError, match=said):
        Snapshot.load(path, most_bytes=1 << 26)


def test_a_part_that_is_named_twice_counts_twice(filled: KafkaStub, tmp_path: Path) -> None:
    """Its bytes would be there as often as a document names it."""
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)

    def again(content: bytes) -> bytes:
        document = json.loads(content)
        document["topics"] += 20 * [one for one in document["topics"] if one["name"] == "orders"]
        return json.dumps(document).encode()

    changed("snapshot.json", again)(path)
    changed(LOG, lambda content: content * 2000)(path)  # its offsets do not rise, but that is seen later
    with zipfile.ZipFile(path) as archive:
        size = sum(one.file_size for one in archive.infolist())
    with pytest.raises(SnapshotError):
        Snapshot.load(path, most_bytes=size)


def test_batches_count_what_they_take_beside_their_bytes(filled: KafkaStub, tmp_path: Path) -> None:
    """A batch of 70 bytes takes 400: half a gigabyte of them once took three."""
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)
    config = BrokerConfig(None, Profile.named("kips"))
    with path.open("rb") as file:
        saved = read(file, "it", config, Limit(1 << 26, of_batch=OF_BATCH))
        with pytest.raises(SnapshotError, match=r"it takes more than \d+ bytes, and 67108864 are the most \(why\)"):
            read(file, "it", config, Limit(1 << 26, "why", of_batch=1 << 25))
    assert held([saved], 1 << 26) > FIVE * OF_BATCH
    assert held([saved, saved], 1 << 26) == 2 * held([saved], 1 << 26)
    assert held([saved, saved], 1) == held([saved], 1), "what they share counts once where it matters"


def test_times_of_batches_that_there_are_not_are_not_read(filled: KafkaStub, tmp_path: Path) -> None:
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)
    with zipfile.ZipFile(path) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".time"))
    changed(name, lambda content: content * (1 << 20))(path)
    tracemalloc.start()
    try:
        with pytest.raises(SnapshotError, match=r"the records of \w+-\d+ have more times than batches"):
            Snapshot.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 27
    finally:
        tracemalloc.stop()


def test_each_segment_of_a_coordinator_is_read_once(filled: KafkaStub, tmp_path: Path) -> None:
    path = tmp_path / "seed.kafkastub"
    filled.snapshot().save(path)

    def again(content: bytes) -> bytes:
        document = json.loads(content)
        for topic in document["topics"]:
            if topic["coordinators"]:
                for partition in topic["partitions"]:
                    partition["segments"] *= 100
        return json.dumps(document).encode()

    changed("snapshot.json", again)(path)
    with zipfile.ZipFile(path) as archive:
        name = next(one for one in archive.namelist() if one.startswith("__consumer_offsets-"))
    changed(name, lambda content: bytes(1 << 20))(path)
    tracemalloc.start()
    try:
        with pytest.raises(SnapshotError, match=r"the segments of __\w+-\d+ do not rise"):
            Snapshot.load(path, most_bytes=1 << 26)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


@pytest.fixture
def standing(filled: KafkaStub) -> tuple[KafkaStub, Snapshot]:
    """A stub whose time stands still, and what it is: nothing expires while one looks, however slow the machine."""
    quiet(filled, 0)
    filled.clock.freeze()
    return filled, filled.snapshot()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_a_damaged_file_leaves_the_stub_as_it_was(
    standing: tuple[KafkaStub, Snapshot], tmp_path: Path, seed: int
) -> None:
    """Numbers and texts of the document are others: it is refused, or it is a snapshot of something else.

    That must not be what the next file is made of: its clock is any, and what had expired by it went as it pleased.
    """
    filled, sound = standing
    filled.restore(sound)
    path = tmp_path / "seed.kafkastub"
    sound.save(path)
    source = random.Random(seed)

    def spoilt(content: bytes) -> bytes:
        for _ in range(source.randint(1, 4)):
            digits = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
            at = source.choice(digits)
            content = (
                content[:at] + source.choice((b"9", b"0", b"-1", b"77777", b"null", b'"x"', b"[]")) + content[at + 1 :]
            )
        return content

    changed("snapshot.json", spoilt)(path)
    before = whole(filled)
    try:
        saved = Snapshot.load(path)
        filled.restore(saved)
    except SnapshotError:
        assert not differences(before, whole(filled))
    else:
        whole(filled)
