"""The share coordinator in a data directory (KIP-932): whatever it was told is there after a kill."""

from __future__ import annotations

import resource
import shutil
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.state.internal_topics import durable_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages import (
    delete_share_group_state_request as delete,
)
from kafkawire.messages import (
    initialize_share_group_state_request as initialize,
)
from kafkawire.messages import (
    read_share_group_state_request as read,
)
from kafkawire.messages import (
    read_share_group_state_summary_request as summary,
)
from kafkawire.messages import (
    write_share_group_state_request as write,
)
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.persistence.speaker import EARLIEST, LATEST, Speaker
from tests.process.serving import Serving

GROUPS, PARTITIONS = ("g", "h", "i"), range(4)
CONFIG: dict[str, object] = {
    "share.coordinator.state.topic.num.partitions": 3,
    "share.coordinator.snapshot.update.records.per.snapshot": 5,
}
LEADER_EPOCH = 7


class Leaders:
    """Of partitions that share groups read: they write what has become of records, at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.starts: dict[tuple[str, int], int] = {}

    def begin(self, on: Speaker) -> None:
        assert on.create_topic("orders", len(PARTITIONS)) == 0
        on.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[f"g:{'A' * 22}:0"]), 6)

    def topic_id(self, on: Speaker) -> bytes:
        answer = on.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12)
        found: bytes = answer.topics[0].topic_id
        return found

    def step(self, on: Speaker, topic_id: bytes) -> None:
        at = self.random.choice(GROUPS), self.random.choice(PARTITIONS)
        if at not in self.starts or self.random.random() < 0.03:
            topic = initialize.InitializeStateData(topic_id, [initialize.PartitionData(at[1], 1, 0)])
            on.ask_loaded(initialize.InitializeShareGroupStateRequest(at[0], [topic]), 0)
            self.starts[at] = 0
        elif self.random.random() < 0.03:
            gone = delete.DeleteStateData(topic_id, [delete.PartitionData(at[1])])
            on.ask_loaded(delete.DeleteShareGroupStateRequest(at[0], [gone]), 0)
            del self.starts[at]
        else:
            self._write(on, topic_id, at)

    def _write(self, on: Speaker, topic_id: bytes, at: tuple[str, int]) -> int:
        self.starts[at] += self.random.choice((0, 0, 3))
        batches = []
        for _ in range(self.random.randint(1, 3)):
            first = self.starts[at] + self.random.randrange(20)
            last = first + self.random.randrange(4)
            batches.append(write.StateBatch(first, last, self.random.choice((0, 2, 4)), self.random.randint(1, 3)))
        asked = write.PartitionData(at[1], 1, LEADER_EPOCH, self.starts[at], self.random.randrange(9), batches)
        topic = write.WriteStateData(topic_id, [asked])
        answer = on.ask_loaded(write.WriteShareGroupStateRequest(at[0], [topic]), 1)
        code: int = answer.results[0].partitions[0].error_code
        return code

    def write_until_refused(self, on: Speaker, topic_id: bytes) -> int:
        """Write until the answer is an error; that."""
        at = next(iter(self.starts))
        for _ in range(1_000):
            starts = dict(self.starts)
            code = self._write(on, topic_id, at)
            if code:
                self.starts = starts
                return code
        raise AssertionError("everything was taken")

    def told(self, on: Speaker, topic_id: bytes) -> list[Any]:
        """All that is known, but for the leader epochs, which reading writes down."""
        found: list[Any] = []
        for group in GROUPS:
            wanted = [read.PartitionData(one, LEADER_EPOCH) for one in PARTITIONS]
            request = read.ReadShareGroupStateRequest(group, [read.ReadStateData(topic_id, wanted)])
            found.append(str(on.ask_loaded(request, 0)))
            found += [self.offsets(on, topic_id, (group, one)) for one in PARTITIONS]
        return found

    def offsets(self, on: Speaker, topic_id: bytes, at: tuple[str, int]) -> tuple[int, int]:
        """Start offset and delivery complete count."""
        topic = summary.ReadStateSummaryData(topic_id, [summary.PartitionData(at[1], 0)])
        answer = on.ask_loaded(summary.ReadShareGroupStateSummaryRequest(at[0], [topic]), 1)
        (one,) = answer.results[0].partitions
        assert not one.error_code
        return one.start_offset, one.delivery_complete_count


def span(on: Speaker) -> list[tuple[int, int]]:
    """Log start and end offset of each partition of the topic."""
    return [
        (on.offset(SHARE_GROUP_STATE, partition, EARLIEST), on.offset(SHARE_GROUP_STATE, partition, LATEST))
        for partition in range(3)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_after_every_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A copy of the files at some moment is what a process leaves that is killed then; records are pruned meanwhile."""
    monkeypatch.setattr(durable_topic, "_SEGMENT_BYTES", 2_000)
    leaders, data = Leaders(seed), tmp_path / "data"
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Speaker(stub.bootstrap_servers)) as on:
        leaders.begin(on)
        topic_id = leaders.topic_id(on)
        for killed in range(4):
            for _ in range(60):
                leaders.step(on, topic_id)
            if killed % 2:
                stub.clock.advance(seconds=301, timers=True)
            before, stretch = leaders.told(on, topic_id), span(on)
            copy = tmp_path / f"killed-{killed}"
            shutil.copytree(data, copy, ignore=shutil.ignore_patterns(".lock"))
            with KafkaStub(config=CONFIG, data_dir=copy) as again, closing(Speaker(again.bootstrap_servers)) as other:
                assert [end for _, end in span(other)] == [end for _, end in stretch]
                assert leaders.told(other, topic_id) == before
        assert all(start > 0 for start, _ in stretch)
        on.create_topic("orders again")
        before, stretch = leaders.told(on, topic_id), span(on)
    with KafkaStub(config=CONFIG, data_dir=data) as stub, closing(Speaker(stub.bootstrap_servers)) as on:
        assert (span(on), leaders.told(on, topic_id)) == (stretch, before)
        for _ in range(20):
            leaders.step(on, topic_id)
        assert leaders.told(on, topic_id) != before
    log_files = [file for one in data.glob(f"{SHARE_GROUP_STATE}-*") for file in one.glob("*.log")]
    assert len(log_files) < 12, "what was pruned is in no file any more"


OPTIONS = [f"--config={name}={value}" for name, value in CONFIG.items()]


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    leaders, options = Leaders(1), ["--data-dir", str(tmp_path), *OPTIONS]
    with Serving(*options) as process, Speaker(process.servers) as on:
        leaders.begin(on)
        topic_id = leaders.topic_id(on)
        for _ in range(200):
            leaders.step(on, topic_id)
        before = leaders.told(on, topic_id)
        process.process.kill()
        process.process.wait()
    with Serving(*options) as process, Speaker(process.servers) as on:
        assert leaders.told(on, topic_id) == before


def test_a_full_disk_under_the_share_coordinator(tmp_path: Path) -> None:
    leaders, options = Leaders(2), ["--data-dir", str(tmp_path), *OPTIONS]
    with Serving(*options) as process, Speaker(process.servers) as on:
        leaders.begin(on)
        topic_id = leaders.topic_id(on)
        for _ in range(60):
            leaders.step(on, topic_id)
        leaders.told(on, topic_id)
        largest = max(one.stat().st_size for one in tmp_path.glob(f"{SHARE_GROUP_STATE}-*/*.log"))
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (largest + 500, resource.RLIM_INFINITY))
        assert leaders.write_until_refused(on, topic_id) == ErrorCode.KAFKA_STORAGE_ERROR
        at = next(iter(leaders.starts))
        start, complete = leaders.offsets(on, topic_id, at)
        assert start <= leaders.starts[at], "what was refused is not known"
        one = read.ReadStateData(topic_id, [read.PartitionData(at[1], LEADER_EPOCH)])
        (refused,) = on.ask(read.ReadShareGroupStateRequest(at[0], [one]), 0).results[0].partitions
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, Speaker(process.servers) as on:
        assert leaders.offsets(on, topic_id, at) == (start, complete)
        for _ in range(20):
            leaders.step(on, topic_id)
