"""Share groups and kill -9: what was acknowledged does not come back, what was only acquired does."""

from __future__ import annotations

import resource
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.waiting import until

GROUP = "workers"
ACCEPT, REJECT = 1, 3


class Worker:
    """A member that takes records, and says of some what became of them."""

    def __init__(self, name: str, on: Speaker, group: str = GROUP) -> None:
        self.name = name
        self.on = on
        self.group = group
        answer = on.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12)
        self.topic_id: bytes = answer.topics[0].topic_id
        self.session = 0
        self.acknowledged: set[int] = set()
        """Of which the broker has said that it knows."""
        self.delivered: Counter[int] = Counter()

    def join(self) -> None:
        """Until the group has the partition."""
        answer = self.on.ask_loaded(ShareGroupHeartbeatRequest(self.group, self.name, 0, None, ["orders"]), 1)

        def assigned() -> bool:
            nonlocal answer
            if answer.assignment and answer.assignment.topic_partitions:
                return True
            request = ShareGroupHeartbeatRequest(self.group, self.name, answer.member_epoch, None, None)
            answer = self.on.ask_loaded(request, 1)
            return False

        until(assigned, "an assignment")

    def fetch(self, wait_ms: int = 500) -> list[int]:
        """The offsets that are acquired."""
        topic = FetchTopic(self.topic_id, [FetchPartition(0)])
        request = ShareFetchRequest(
            self.group, self.name, self.session, wait_ms, 1, 1 << 20, 5, 5, share_acquire_mode=1, topics=[topic]
        )
        answer = self.on.ask(request, 2)
        assert answer.error_code == 0, answer
        self.session += 1
        acquired = []
        for told in answer.responses:
            for partition in told.partitions:
                assert partition.error_code == 0, partition
                for one in partition.acquired_records:
                    acquired += range(one.first_offset, one.last_offset + 1)
        self.delivered.update(acquired)
        return acquired

    def acknowledge(self, offsets: Iterable[int], kind: int = ACCEPT) -> int:
        """The error code."""
        said = [AcknowledgementBatch(offset, offset, [kind]) for offset in sorted(offsets)]
        topic = AcknowledgeTopic(self.topic_id, [AcknowledgePartition(0, said)])
        answer = self.on.ask(ShareAcknowledgeRequest(self.group, self.name, self.session, topics=[topic]), 2)
        self.session += 1
        code: int = answer.error_code or answer.responses[0].partitions[0].error_code
        if not code:
            self.acknowledged.update(offsets)
        return code


def test_nothing_acknowledged_comes_back_after_a_kill(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    options += ["--config", "group.share.assignment.interval.ms=0"]
    done: set[int] = set()
    with Serving(*options) as process:
        with closing(Speaker(process.servers)) as on:
            worker = Worker("a", on)
            worker.join()
            worker.fetch(wait_ms=100)  # from here on
            on.produce("orders", 0, *[b"v"] * 40)
            for kind in (ACCEPT, REJECT, ACCEPT):
                acquired = worker.fetch()
                assert len(acquired) == 5
                assert worker.acknowledge(acquired[1:4], kind) == 0
            locked = set(worker.fetch())
            done |= worker.acknowledged
        process.process.kill()
        process.process.wait()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        worker = Worker("b", on)
        worker.join()
        seen: set[int] = set()
        while acquired := worker.fetch(wait_ms=100):
            seen.update(acquired)
        assert seen == set(range(40)) - done
        assert locked <= seen
        assert set(worker.delivered.values()) == {1}


def test_killed_in_the_middle_of_acknowledgements(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1"]
    options += ["--config", "group.share.assignment.interval.ms=0"]
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        worker = Worker("a", on)
        worker.join()
        worker.fetch(wait_ms=100)
        on.produce("orders", 0, *[b"v"] * 4_000)
        enough = threading.Event()

        def work() -> None:
            try:
                while True:
                    assert worker.acknowledge(worker.fetch()) == 0
                    if len(worker.acknowledged) > 200:
                        enough.set()
            except OSError:
                return

        thread = threading.Thread(target=work)
        thread.start()
        assert enough.wait(30)
        process.process.kill()
        process.process.wait()
        thread.join()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        again = Worker("b", on)
        again.join()
        first = again.fetch()
        assert first, "there are more"
        assert not set(first) & worker.acknowledged
        assert min(first) <= max(worker.acknowledged) + 6, "nothing is left out"


def test_a_full_disk_under_a_worker(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path), "--topic", "orders:1", "--config", "group.share.assignment.interval.ms=0"]
    options.append("--config=share.coordinator.state.topic.num.partitions=1")
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        worker = Worker("a", on)
        worker.join()
        worker.fetch(wait_ms=100)
        on.produce("orders", 0, *[b"v"] * 1_000)
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        refused: list[int] = []
        while not refused:
            acquired = worker.fetch()
            if worker.acknowledge(acquired):
                refused = acquired
        assert worker.acknowledged
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        again = Worker("b", on)
        again.join()
        first = again.fetch()
        assert first[0] == refused[0] == max(worker.acknowledged) + 1
