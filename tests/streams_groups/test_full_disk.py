"""A disk that takes no more: members of streams groups are told, nobody joins or leaves, and they go on later."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from kafkawire.errors import ErrorCode
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.handlers.streams_club import topology
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.streams_groups.asking import beat, describe

ERROR = ErrorCode.KAFKA_STORAGE_ERROR
CONFIG = (
    "group.streams.assignment.interval.ms=0",
    "group.streams.initial.rebalance.delay.ms=0",
    "offsets.topic.num.partitions=1",
)


def options(folder: Path) -> list[str]:
    return ["--data-dir", str(folder), "--topic", "orders:2", "--config", *CONFIG]


def fill(process: Serving, folder: Path) -> None:
    """The log of the group's partition may grow by 10 bytes from now on; no file that is longer may be written."""
    (segment,) = folder.glob("__consumer_offsets-*/*.log")
    limit = segment.stat().st_size + 10
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def members(speaker: Speaker) -> dict[str, tuple[int, Any]]:
    (group,) = describe(speaker.ask, "g")
    return {one.member_id: (one.member_epoch, one.assignment.active_tasks) for one in group.members}


def test_a_full_disk_under_a_streams_group(tmp_path: Path) -> None:
    with Serving(*options(tmp_path)) as process, Speaker(process.servers) as speaker:
        assert beat(speaker.ask_loaded, "one").member_epoch == 2
        before = members(speaker)
        assert [[*one.partitions] for one in before["one"][1]] == [[0, 1]]
        fill(process, tmp_path)
        answer = beat(speaker.ask, "two")
        assert (answer.error_code, answer.error_message, answer.active_tasks) == (ERROR, None, None)
        assert beat(speaker.ask, "one", -1).error_code == ERROR
        assert beat(speaker.ask, "one", 2).error_code == ERROR
        assert members(speaker) == before
        assert "Traceback" not in process.stderr
    with Serving(*options(tmp_path)) as process, Speaker(process.servers) as speaker:
        assert beat(speaker.ask_loaded, "one", 2).member_epoch == 2
        assert members(speaker) == before
        assert beat(speaker.ask, "two").member_epoch == 3


def test_a_full_disk_under_internal_topics(tmp_path: Path) -> None:
    """Half of it is not there: neither the member nor the topic that its topology lacks."""

    def there(speaker: Speaker) -> int:
        asked = MetadataRequest([MetadataRequestTopic(name="app-changelog")], False)
        return int(speaker.ask(asked, 12).topics[0].error_code)

    lacking = topology(one="orders -app-changelog")
    with Serving(*options(tmp_path)) as process, Speaker(process.servers) as speaker:
        beat(speaker.ask_loaded, group="first")
        fill(process, tmp_path)
        assert beat(speaker.ask, topology=lacking).error_code == ERROR
        assert there(speaker) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert "Traceback" not in process.stderr
    with Serving(*options(tmp_path)) as process, Speaker(process.servers) as speaker:
        assert [one.error_code for one in describe(speaker.ask, "g")] == [ErrorCode.GROUP_ID_NOT_FOUND]
        assert there(speaker) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answer = beat(speaker.ask_loaded, topology=lacking)
        assert [one.status_code for one in answer.status] == [3]
        assert there(speaker) == 0
        process.process.kill()
        process.process.wait()
    with Serving(*options(tmp_path)) as process, Speaker(process.servers) as speaker:
        assert there(speaker) == 0
        assert beat(speaker.ask_loaded, epoch=answer.member_epoch).member_epoch == answer.member_epoch + 1
