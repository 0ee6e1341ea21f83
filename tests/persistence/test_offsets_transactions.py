"""Transactional offset commits over restarts, kills and cleanings: nothing is lost, nothing aborted comes back."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from kafkastub import KafkaStub
from kafkastub.state.internal_topics import durable_topic
from kafkastub.storage import AbortedTransaction
from kafkastub.storage.disk.cleaning import last_committed_of_each_key
from kafkawire.errors import ErrorCode
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.records import NewRecord, build_batch, build_marker, parse_header, read_batch, split_batches
from tests.persistence.killing import copied
from tests.persistence.speaker import Speaker

CONFIG: dict[str, object] = {"offsets.topic.num.partitions": 1, "kafkastub.offsets.history.records": 20}
PARTITIONS = range(4)
GROUPS = [f"group-{number}" for number in range(25)]
"""So many that an offset is seldom committed again, and what has become of it is seen."""
Key = tuple[str, int]


class Story:
    """Producers that commit offsets in transactions, others that commit without, and what has to come of it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._written = 0
        self._producers: dict[str, tuple[int, int]] = {}
        self.committed: dict[Key, tuple[int, int]] = {}
        """The place of a record, and its offset."""
        self.pending: dict[str, dict[Key, tuple[int, int]]] = {name: {} for name in ("t0", "t1", "t2")}

    def begin(self, speaker: Speaker) -> None:
        for name in self.pending:
            answer = speaker.ask(InitProducerIdRequest(name, 600_000), 4)
            assert answer.error_code == 0
            self._producers[name] = answer.producer_id, answer.producer_epoch

    def step(self, speaker: Speaker) -> None:
        random = self._random
        group, name, act = random.choice(GROUPS), random.choice(list(self.pending)), random.random()
        offsets = {p: random.randrange(1 << 30) for p in random.sample(PARTITIONS, random.randint(1, 3))}
        if act < 0.4:
            assert set(speaker.commit(group, "orders", offsets)) == {0}
            self._write(self.committed, group, offsets)
        elif act < 0.8:
            self._commit(speaker, name, group, offsets)
            self._write(self.pending[name], group, offsets)
        elif self.pending[name]:
            self.end(speaker, name, commit=random.random() < 0.5)

    def _write(self, into: dict[Key, tuple[int, int]], group: str, offsets: dict[int, int]) -> None:
        for partition, offset in offsets.items():
            self._written += 1
            into[group, partition] = self._written, offset

    def _commit(self, speaker: Speaker, name: str, group: str, offsets: dict[int, int]) -> None:
        asked = [TxnOffsetCommitRequestPartition(p, offset) for p, offset in offsets.items()]
        topics = [TxnOffsetCommitRequestTopic("orders", partitions=asked)]
        request = TxnOffsetCommitRequest(name, group, *self._producers[name], topics=topics)
        assert {one.error_code for one in speaker.ask(request, 5).topics[0].partitions} == {0}

    def end(self, speaker: Speaker, name: str, *, commit: bool) -> None:
        assert speaker.ask(EndTxnRequest(name, *self._producers[name], commit), 3).error_code == 0
        for key, written in self.pending[name].items():
            if commit and written > self.committed.get(key, (0, 0)):
                self.committed[key] = written
        self.pending[name].clear()

    def end_all(self, speaker: Speaker, *, commit: bool) -> None:
        for name, mine in self.pending.items():
            if mine:
                self.end(speaker, name, commit=commit)

    def check(self, speaker: Speaker) -> None:
        """What is committed is fetched, and what is pending is unstable."""
        unstable = {key for mine in self.pending.values() for key in mine}
        for group in GROUPS:
            asked = OffsetFetchRequestGroup(group, topics=[OffsetFetchRequestTopics("orders", bytes(16), PARTITIONS)])
            for stable in (False, True):
                (answer,) = speaker.ask(OffsetFetchRequest(groups=[asked], require_stable=stable), 8).groups
                found = {p.partition_index: (p.committed_offset, p.error_code) for p in answer.topics[0].partitions}
                assert found == {
                    p: (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
                    if stable and (group, p) in unstable
                    else (self.committed.get((group, p), (0, -1))[1], 0)
                    for p in PARTITIONS
                }


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 4_000)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_after_every_kill(tmp_path: Path, small_segments: None, seed: int):
    """A copy of the files at some moment is what a process leaves that is killed then."""
    story, data = Story(Random(seed)), tmp_path / "data"
    stub = KafkaStub(topics={"orders": 4}, config=CONFIG, data_dir=data)
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        story.begin(speaker)
        for killed in range(6):
            for _ in range(60):
                story.step(speaker)
            story.check(speaker)
            copy = tmp_path / f"killed-{killed}"
            copied(data, copy)
            with KafkaStub(config=CONFIG, data_dir=copy) as again, Speaker(again.bootstrap_servers) as other:
                story.check(other)
    with KafkaStub(config=CONFIG, data_dir=data) as stub, Speaker(stub.bootstrap_servers) as speaker:
        story.check(speaker)
        story.end_all(speaker, commit=bool(seed % 2))
        story.check(speaker)
    with KafkaStub(config=CONFIG, data_dir=data) as stub, Speaker(stub.bootstrap_servers) as speaker:
        story.check(speaker)


def test_transactions_do_not_fill_the_disk(tmp_path: Path, small_segments: None):
    story = Story(Random(1))
    deadline = time.monotonic() + 120
    stub = KafkaStub(topics={"orders": 4}, config=CONFIG, data_dir=tmp_path)
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        story.begin(speaker)
        written = 0
        while written < 1000 or len(list(tmp_path.glob("__consumer_offsets-0/*.log"))) > 12:
            assert time.monotonic() < deadline
            story.step(speaker)
            written += 1
            if written % 50 == 0:
                story.end_all(speaker, commit=True)
    with KafkaStub(config=CONFIG, data_dir=tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        story.check(speaker)


def test_a_cleaned_file_has_no_transactions_any_more(tmp_path: Path):
    def batch(at: int, producer: int, *keys: bytes) -> bytes:
        records = [NewRecord(key, b"%d" % at, 1) for key in keys]
        return build_batch(
            records, base_offset=at, producer_id=producer, producer_epoch=3, base_sequence=0, attributes=0x10
        )

    first = [batch(0, 7, b"a", b"b"), batch(2, 8, b"a", b"c"), build_marker(8, 3, False, 0, 1, base_offset=4)]
    second = [build_marker(7, 3, True, 0, 1, base_offset=5), batch(6, 8, b"b"), batch(7, 9, b"d")]
    paths = [tmp_path / "00000000000000000000.log", tmp_path / "00000000000000000005.log"]
    for path, batches in zip(paths, (first, second), strict=True):
        path.write_bytes(b"".join(batches))
    last_committed_of_each_key([AbortedTransaction(8, 2, 4, 0), AbortedTransaction(9, 7, 12, 6)])(paths)
    left = [bytes(one) for _, one in split_batches(paths[0].read_bytes())]
    assert [(r.offset, r.key) for one in left for r in read_batch(one)] == [(0, b"a"), (6, b"b")]
    assert {(h.attributes, h.producer_id, h.producer_epoch) for h in map(parse_header, left)} == {(0, -1, -1)}
