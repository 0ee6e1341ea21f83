"""Dead letters of share groups (KIP-1191) where there is a data directory: kill -9, and a disk that takes no more."""

from __future__ import annotations

import resource
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from kafkawire.errors import ErrorCode
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from tests.persistence.speaker import Speaker
from tests.persistence.test_share_locks import GROUP, REJECT, Worker
from tests.process.serving import Serving
from tests.waiting import until

DEAD = "dlq.orders"
GROUP_CONFIG = 32
OPTIONS = ("--topic", "orders:1", "--topic", f"{DEAD}:1", "--config", "group.share.assignment.interval.ms=0")


def configure(on: Speaker) -> None:
    """The group has a dead-letter topic, and has its records copied."""
    enabled = [AlterableConfig("errors.deadletterqueue.group.enable", 0, "true")]
    own = {
        "errors.deadletterqueue.topic.name": DEAD,
        "errors.deadletterqueue.copy.record.enable": "true",
        "share.auto.offset.reset": "earliest",
    }
    group = [AlterableConfig(name, 0, value) for name, value in own.items()]
    resources = [AlterConfigsResource(2, DEAD, enabled), AlterConfigsResource(GROUP_CONFIG, GROUP, group)]
    answer = on.ask(IncrementalAlterConfigsRequest(resources), 1)
    assert not any(one.error_code for one in answer.responses), answer


def dead_letters(on: Speaker) -> Counter[int]:
    """How many dead letters there are of each offset."""
    return Counter(int(dict(record.headers)[b"__dlq.errors.offset"] or b"") for record in on.records(DEAD, 0))


def reject(worker: Worker, offsets: list[int]) -> int:
    """The error code."""
    said = [AcknowledgementBatch(min(offsets), max(offsets), [REJECT])]
    topic = AcknowledgeTopic(worker.topic_id, [AcknowledgePartition(0, said)])
    answer = worker.on.ask(ShareAcknowledgeRequest(GROUP, worker.name, worker.session, topics=[topic]), 2)
    worker.session += 1
    code: int = answer.error_code or answer.responses[0].partitions[0].error_code
    return code


def reject_all(worker: Worker, acquired: list[int], rejected: set[int]) -> None:
    """Until the broker fails, be it at a rejection or at the next fetch."""
    while acquired:
        code = reject(worker, acquired)
        assert not code, f"error_code={code}"
        rejected.update(acquired)
        acquired = worker.fetch()


def left(worker: Worker) -> set[int]:
    """What is delivered to a new member."""
    worker.join()
    found: set[int] = set()
    worker.fetch(wait_ms=100)
    while acquired := worker.fetch(wait_ms=100):
        found.update(acquired)
    return found | set(worker.delivered)


def test_rejected_before_a_kill(tmp_path: Path) -> None:
    options = ["--data-dir", str(tmp_path), *OPTIONS]
    with Serving(*options) as process:
        with closing(Speaker(process.servers)) as on:
            configure(on)
            on.produce("orders", 0, *[b"v"] * 20)
            worker = Worker("a", on)
            worker.join()
            rejected = until(worker.fetch, "records")
            assert reject(worker, rejected) == ErrorCode.NONE
        process.process.kill()
        process.process.wait()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        assert left(Worker("b", on)) == set(range(20)) - set(rejected)
        until(lambda: set(dead_letters(on)) == set(rejected), "dead letters")


def test_a_full_disk_under_dead_letters(tmp_path: Path) -> None:
    """What was refused is delivered again; what was not has its dead letter, if only after the disk is mended."""
    options = ["--data-dir", str(tmp_path), *OPTIONS]
    rejected: set[int] = set()
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        configure(on)
        on.produce("orders", 0, *[b"v" * 2000] * 40)
        worker = Worker("a", on)
        worker.join()
        acquired = until(worker.fetch, "records")
        largest = max(one.stat().st_size for one in tmp_path.glob("__*/*.log"))
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (max(largest, 30_000) + 5_000, -1))
        with pytest.raises(AssertionError, match=f"error_code={int(ErrorCode.KAFKA_STORAGE_ERROR)}"):
            reject_all(worker, acquired, rejected)
        assert len(dead_letters(on)) < len(rejected) < 40, "it was said of more than there are dead letters of"
        assert "Traceback" not in process.stderr
    with Serving(*options) as process, closing(Speaker(process.servers)) as on:
        again = left(Worker("b", on))
        assert again == set(range(40)) - rejected
        until(lambda: set(dead_letters(on)) >= rejected, "dead letters")
        assert "Traceback" not in process.stderr
