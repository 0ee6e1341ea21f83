"""DescribeLogDirs (key 35), versions 1-5.

LD-1  Null topics: every log; else those that are named and exist. What does not exist is left out without a word, and
      nothing is told twice.    KIP-113; Kafka: ReplicaManager.describeLogDirs
LD-2  A log's size is that of its batches in bytes; it never lags and no other directory is to replace it.
LD-3  Each of log.dirs (or log.dir), as an absolute path, with the logs that the node has there: a new one goes where
      the fewest are, to the first of these; what a request creates comes in the order of Kafka's hash maps, as far
      as that does not depend on topic ids.    Kafka: LogManager.nextLogDirs
LD-4  Versions 4+: total and usable bytes of the disk with --data-dir. In memory they are -1: unknown.    KIP-827
LD-5  Version 5: which directories are cordoned: they get no new logs.    KIP-1066
LD-6  Where there is much to measure others are served between; a topic that is deleted meanwhile is left out.
Not done: -
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Steps, in_parts
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafkawire.rows import Rows

_AT_ONCE: Final = 5000
"""Partitions after which others have their turn."""
_SOME: Final = 1000
"""(A log of the broker's own topics is encoded to be measured.)"""


def error_response(request: DescribeLogDirsRequest, code: ErrorCode, version: int) -> DescribeLogDirsResponse:
    """The code at the top, which only versions 3+ have (KIP-784)."""
    return DescribeLogDirsResponse(error_code=code)


@handles(ApiKey.DESCRIBE_LOG_DIRS, 1, 5, error_response=error_response)
def describe_log_dirs(ctx: RequestContext, request: DescribeLogDirsRequest) -> Outcome:
    failed = partial(error_response, request, version=ctx.api_version)
    return in_parts(_described(ctx, request), _AT_ONCE, ctx.state.turns.add, failed, for_nobody=False)


def _described(ctx: RequestContext, request: DescribeLogDirsRequest) -> Steps:
    state, log_dirs = ctx.state, ctx.state.log_dirs
    disk, cordoned = _disk(state), log_dirs.cordoned
    topics: list[list[DescribeLogDirsTopic]] = [[] for _ in log_dirs.paths]
    for topic, indexes in _asked(ctx, request):
        if state.cluster.topic_by_id(topic.topic_id) is None:
            continue  # deleted while others were served
        found: dict[int, tuple[list[int], list[int]]] = {}
        size = 1 if topic.internal else _SOME
        for first in range(0, len(indexes), size):
            for index in indexes[first : first + size]:
                log = state.logs.look(topic.topic_id, index)
                of_dir = found.setdefault(log_dirs.of(ctx.node_id, topic, index), ([], []))
                of_dir[0].append(index)
                of_dir[1].append(0 if log is None else log.size)
            yield _AT_ONCE if topic.internal else min(size, len(indexes) - first)
        for number, (partitions, sizes) in found.items():
            columns = {"partition_index": partitions, "partition_size": sizes}
            rows = Rows(DescribeLogDirsPartition, len(partitions), columns, {})
            topics[number].append(DescribeLogDirsTopic(name=topic.name, partitions=rows))
    results = [
        DescribeLogDirsResult(ErrorCode.NONE, path, topics[number], *disk, is_cordoned=number in cordoned)
        for number, path in enumerate(log_dirs.paths)
    ]
    return DescribeLogDirsResponse(results=results)


def _disk(state: BrokerState) -> tuple[int, int]:
    """Total and usable bytes."""
    if state.persistence is not None:
        with contextlib.suppress(OSError):
            found = os.statvfs(state.persistence.disk.directory.root)
            return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return -1, -1


def _asked(ctx: RequestContext, request: DescribeLogDirsRequest) -> Iterator[tuple[Topic, list[int]]]:
    """Topics with those of their partitions that are asked for and on this node."""
    cluster = ctx.state.cluster
    wanted: dict[str, set[int]] | None = None
    if request.topics is not None:
        wanted = {}
        for one in paced(request.topics, ctx.pace):
            wanted.setdefault(one.topic, set()).update(one.partitions)
    asked = cluster.topics.values() if wanted is None else filter(None, map(cluster.topic, wanted))
    for topic in paced(list(asked), ctx.pace):
        indexes = [
            partition.index
            for partition in topic.partitions
            if ctx.node_id in partition.replicas and (wanted is None or partition.index in wanted[topic.name])
        ]
        if indexes:
            yield topic, indexes
