"""Transactions over the end of a process: a broker that comes back goes on in whatever state they were."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafkawire.records import NewRecord, build_batch, parse_header, read_batch, split_batches
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving

TRANSACTIONAL, CONTROL = 0x10, 0x20
FEW = {**CONFIG, "transaction.state.log.num.partitions": 3, "offsets.topic.num.partitions": 3}


class Transaction:
    """The transaction of one transactional id, and what was said of it to each broker in turn."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id, self.epoch = -1, -1
        self.sequences = [0, 0]

    def begin(self, speaker: Speaker) -> None:
        request = InitProducerIdRequest(self.name, 600_000)
        answer = speaker.ask_loaded(request, 4)
        if answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:  # what is open is aborted
            answer = speaker.ask_loaded(request, 4)
        assert answer.error_code == 0
        self.id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences = [0, 0]

    def write(self, speaker: Speaker, value: bytes, partition: int = 0) -> None:
        """Join, and write."""
        topics = [AddPartitionsToTxnTopic("orders", [partition])]
        joined = speaker.ask_loaded(AddPartitionsToTxnRequest((), self.name, self.id, self.epoch, topics), 3)
        assert joined.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0
        self.append(speaker, value, partition)

    def append(self, speaker: Speaker, value: bytes, partition: int = 0) -> None:
        batch = build_batch(
            [NewRecord(None, value, 1_700_000_000_000)], producer_id=self.id, producer_epoch=self.epoch,
            base_sequence=self.sequences[partition], attributes=TRANSACTIONAL,
        )  # fmt: skip
        data = [TopicProduceData(name="orders", partition_data=[PartitionProduceData(partition, batch)])]
        answer = speaker.ask_loaded(ProduceRequest(self.name, -1, 10_000, data), 9)
        assert answer.responses[0].partition_responses[0].error_code == 0
        self.sequences[partition] += 1

    def commit_offset(self, speaker: Speaker, offset: int) -> None:
        assert speaker.ask_loaded(AddOffsetsToTxnRequest(self.name, self.id, self.epoch, "team"), 3).error_code == 0
        partitions = [TxnOffsetCommitRequestPartition(0, offset)]
        topics = [TxnOffsetCommitRequestTopic("orders", partitions=partitions)]
        answer = speaker.ask_loaded(TxnOffsetCommitRequest(self.name, "team", self.id, self.epoch, topics=topics), 3)
        assert answer.topics[0].partitions[0].error_code == 0

    def end(self, speaker: Speaker, commit: bool = True) -> int:
        code: int = speaker.ask_loaded(EndTxnRequest(self.name, self.id, self.epoch, commit), 3).error_code
        return code

    def state(self, speaker: Speaker) -> str:
        (told,) = speaker.ask_loaded(DescribeTransactionsRequest([self.name]), 0).transaction_states
        assert told.error_code == 0
        state: str = told.transaction_state
        return state


def read(speaker: Speaker, partition: int = 0) -> list[bytes]:
    """What a reader of committed records finds."""
    found, left_out = list[bytes](), set[int]()
    offset = 0
    while True:
        asked = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 20)
        topics = [FetchTopic("orders", partitions=[asked])]
        request = FetchRequest(max_wait_ms=0, max_bytes=1 << 20, isolation_level=1, topics=topics)
        data: Any = speaker.ask(request, 11).responses[0].partitions[0]
        aborted = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
        if not data.records:
            return found
        for _, whole in split_batches(data.records):
            header = parse_header(whole)
            offset = header.last_offset + 1
            while aborted and aborted[0][0] <= header.last_offset:
                left_out.add(aborted.pop(0)[1])
            if header.attributes & CONTROL:
                left_out.discard(header.producer_id)
            elif header.producer_id not in left_out:
                found += [record.value or b"" for record in read_batch(whole)]


@contextmanager
def running(directory: Path, **config: object) -> Iterator[tuple[KafkaStub, Speaker]]:
    with (
        KafkaStub(topics={"orders": 2}, config=FEW | config, data_dir=directory) as stub,
        Speaker(stub.bootstrap_servers) as speaker,
    ):
        yield stub, speaker


def hold(stub: KafkaStub, name: str) -> None:
    stub._call(lambda: stub._running().state.transactions.hold_markers(name))


def killed(directory: Path, copy: Path, speaker: Speaker) -> Path:
    """What kill -9 leaves: the files as they are once everything that was answered is in them."""
    speaker.create_topic(f"so-far-{copy.name}")
    shutil.copytree(directory, copy, ignore=shutil.ignore_patterns(".lock"))
    return copy


STATES = ["Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"]


def brought_to(state: str, one: Transaction, stub: KafkaStub, speaker: Speaker) -> None:
    one.begin(speaker)
    one.write(speaker, b"a")
    one.write(speaker, b"b", 1)
    one.commit_offset(speaker, 5)
    if state.startswith("Prepare"):
        hold(stub, one.name)
    if state != "Ongoing":
        assert one.end(speaker, commit=state.endswith("Commit")) == 0
    assert one.state(speaker) == state


def look_after(state: str, one: Transaction, speaker: Speaker) -> None:
    """The transaction goes on, if it is open, and to its end."""
    if state == "Ongoing":
        assert one.state(speaker) == "Ongoing"
        assert (read(speaker), read(speaker, 1)) == ([], [])
        one.append(speaker, b"c")
        assert one.end(speaker) == 0
    commit = not state.endswith("Abort")
    assert one.state(speaker) == ("CompleteCommit" if commit else "CompleteAbort")
    values = ([b"a", b"c"] if state == "Ongoing" else [b"a"], [b"b"]) if commit else ([], [])
    assert (read(speaker), read(speaker, 1)) == values
    assert speaker.committed("team", "orders", [0]) == [5 if commit else -1]
    before = one.id, one.epoch
    one.begin(speaker)
    assert (one.id, one.epoch) == (before[0], before[1] + 1)
    one.write(speaker, b"next")
    assert one.end(speaker) == 0
    assert read(speaker)[-1] == b"next"


@pytest.mark.parametrize("state", STATES)
def test_a_broker_that_is_started_again_goes_on(tmp_path: Path, state: str):
    one = Transaction("tx")
    with running(tmp_path) as (stub, speaker):
        brought_to(state, one, stub, speaker)
    with running(tmp_path) as (_, speaker):
        look_after(state, one, speaker)
    with running(tmp_path) as (_, speaker):
        assert one.state(speaker) == "CompleteCommit"
        assert read(speaker)[-1] == b"next"


@pytest.mark.parametrize("state", STATES)
def test_a_broker_that_was_killed_goes_on(tmp_path: Path, state: str):
    one = Transaction("tx")
    with running(tmp_path / "first") as (stub, speaker):
        brought_to(state, one, stub, speaker)
        left = killed(tmp_path / "first", tmp_path / "second", speaker)
    with running(left) as (_, speaker):
        look_after(state, one, speaker)


def test_killed_between_some_markers(tmp_path: Path):
    """One partition has its marker, the other does not: the first gets another one, which changes nothing."""
    one = Transaction("tx")
    with running(tmp_path / "first") as (stub, speaker):
        brought_to("PrepareCommit", one, stub, speaker)

        def one_marker() -> None:
            transactions = stub._running().state.transactions
            transactions._markers.held.clear()
            transactions._markers.send(one.name)
            for _ in transactions._markers.step(0, limit=1):
                pass  # nobody is told that it was written
            transactions.hold_markers(one.name)

        stub._call(one_marker)
        left = killed(tmp_path / "first", tmp_path / "second", speaker)
        assert sorted([read(speaker), read(speaker, 1)]) in ([[], [b"a"]], [[], [b"b"]])
    with running(left) as (_, speaker):
        look_after("PrepareCommit", one, speaker)


def test_a_killed_process(tmp_path: Path):
    """Every transaction that was acknowledged is there, and nothing of the one that was open."""
    told: list[bytes] = []
    one = Transaction("tx")
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2", "--config", "transaction.state.log.num.partitions=3"]
    for run in range(3):
        with Serving(*options) as process, Speaker(process.servers) as speaker:
            one.begin(speaker)
            assert read(speaker) == told
            for number in range(20):
                one.write(speaker, value := b"%d-%d" % (run, number))
                commit = number % 3 != 0
                assert one.end(speaker, commit) == 0
                told += [value] if commit else []
            one.write(speaker, b"open")
            process.process.kill()
            process.process.wait()
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert one.state(speaker) == "Ongoing"
        assert read(speaker) == told
        assert one.end(speaker) == 0
        assert read(speaker) == [*told, b"open"]


def test_with_a_sync_for_every_reply(tmp_path: Path):
    """Markers follow the decision when that is on the disk; the answer comes when it is."""
    one = Transaction("tx")
    with running(tmp_path, **{"kafkastub.flush": "message"}) as (_, speaker):
        one.begin(speaker)
        for number in range(20):
            one.write(speaker, b"%d" % number)
            assert one.end(speaker) == ErrorCode.NONE
        assert read(speaker) == [b"%d" % number for number in range(20)]
        assert one.state(speaker) == "CompleteCommit"


def _limit_files(process: Serving, size: int) -> None:
    """From now on no file of the process grows beyond that: its writes fail as on a full disk."""
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("full", ["__transaction_state", "orders", "__consumer_offsets"])
def test_a_full_disk_under_the_end_of_a_transaction(tmp_path: Path, full: str):
    """A decision that cannot be written was not taken; one whose markers cannot be written is carried out later."""
    one = Transaction("tx")
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        one.begin(speaker)
        if full == "orders":
            speaker.produce("orders", 0, b"x" * 5000)
        for number in range(20):
            one.write(speaker, b"%d" % number)
            if full == "__consumer_offsets":
                one.commit_offset(speaker, number)
        if full == "__transaction_state":
            for _ in range(20):
                assert one.end(speaker, commit=False) == 0
                one.write(speaker, b"again")
        sizes = [segment.stat().st_size for segment in tmp_path.glob(f"{full}-*/*.log")]
        _limit_files(process, max(sizes) + 10)
        code = one.end(speaker)
        assert code == (ErrorCode.KAFKA_STORAGE_ERROR if full == "__transaction_state" else 0)
        assert one.state(speaker) == ("Ongoing" if full == "__transaction_state" else "PrepareCommit")
        assert one.end(speaker) == ErrorCode.KAFKA_STORAGE_ERROR
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        if full == "__transaction_state":
            assert one.state(speaker) == "Ongoing"
            assert one.end(speaker) == 0
        assert one.state(speaker) == "CompleteCommit"
        if full == "__consumer_offsets":
            assert speaker.committed("team", "orders", [0]) == [19]
        else:
            assert len(read(speaker)) == (21 if full == "orders" else 1)


def test_a_full_disk_refuses_every_step_of_a_transaction(tmp_path: Path):
    """Nothing that was refused has happened when the disk has room again."""
    one = Transaction("tx")
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2"]
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        one.begin(speaker)
        one.write(speaker, b"kept")
        one.commit_offset(speaker, 1)
        _limit_files(process, 10)
        topics = [AddPartitionsToTxnTopic("orders", [1])]
        added = speaker.ask(AddPartitionsToTxnRequest((), one.name, one.id, one.epoch, topics), 3)
        marker = WritableTxnMarker(one.id, one.epoch, True, [WritableTxnMarkerTopic("orders", [0])], 0)
        marked = speaker.ask(WriteTxnMarkersRequest([marker]), 1)
        partitions = [TxnOffsetCommitRequestPartition(0, 2)]
        committed = speaker.ask(
            TxnOffsetCommitRequest(
                one.name,
                "team",
                one.id,
                one.epoch,
                topics=[TxnOffsetCommitRequestTopic("orders", partitions=partitions)],
            ),
            3,
        )
        codes = {
            "AddPartitionsToTxn": added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code,
            "AddOffsetsToTxn": speaker.ask(AddOffsetsToTxnRequest(one.name, one.id, one.epoch, "other"), 3).error_code,
            "WriteTxnMarkers": marked.markers[0].topics[0].partitions[0].error_code,
            "TxnOffsetCommit": committed.topics[0].partitions[0].error_code,
            "EndTxn": one.end(speaker),
        }
        assert codes == dict.fromkeys(codes, ErrorCode.KAFKA_STORAGE_ERROR)
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert one.state(speaker) == "Ongoing"
        assert one.end(speaker) == 0
        assert (read(speaker), read(speaker, 1)) == ([b"kept"], [])
        assert speaker.committed("team", "orders", [0]) == [1]
