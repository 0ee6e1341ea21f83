"""DescribeLogDirs (key 35), versions 1-5.

LD-1  Null topics: every log; else those that are named and exist. What does not exist is left out without a word, and
      nothing is told twice.    KIP-113; Kafka: ReplicaManager.describeLogDirs
LD-2  A log's size is that of its batches in bytes; it never lags and no other directory is to replace it.
LD-3  Each of log.dirs, as an absolute path; all logs are in the first.
LD-4  Versions 4+: the sizes of the disk are -1, which is "unknown": logs are kept in memory.    KIP-827
LD-5  Version 5: no directory is cordoned.    KIP-1066
Not done: -
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import Topic
from kafkastub.state.partitions import log_of
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafkawire.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def error_response(request: DescribeLogDirsRequest, code: ErrorCode, version: int) -> DescribeLogDirsResponse:
    """The code at the top, which only versions 3+ have (KIP-784)."""
    return DescribeLogDirsResponse(error_code=code)


@handles(ApiKey.DESCRIBE_LOG_DIRS, 1, 5, error_response=error_response)
def describe_log_dirs(ctx: RequestContext, request: DescribeLogDirsRequest) -> Outcome:
    results = [DescribeLogDirsResult(log_dir=path) for path in dict.fromkeys(_directories(ctx))]
    results[0].topics = [
        DescribeLogDirsTopic(
            name=topic.name,
            partitions=[
                DescribeLogDirsPartition(partition_index=index, partition_size=log_of(ctx.state, topic, index).size)
                for index in indexes
            ],
        )
        for topic, indexes in _asked(ctx, request)
    ]
    return DescribeLogDirsResponse(results=results)


def _directories(ctx: RequestContext) -> list[str]:
    config = ctx.state.config
    named: list[str] = config["log.dirs"] or config["log.dir"]
    return [os.path.abspath(path) for path in named]  # noqa: PTH100 (a Path would look at this machine's disk)


def _asked(ctx: RequestContext, request: DescribeLogDirsRequest) -> Iterator[tuple[Topic, list[int]]]:
    """Topics with those of their partitions that are asked for and on this node."""
    cluster = ctx.state.cluster
    wanted: dict[str, set[int]] | None = None
    if request.topics is not None:
        wanted = {}
        for one in request.topics:
            wanted.setdefault(one.topic, set()).update(one.partitions)
    for topic in cluster.topics.values() if wanted is None else filter(None, map(cluster.topic, wanted)):
        indexes = [
            partition.index
            for partition in topic.partitions
            if ctx.node_id in partition.replicas and (wanted is None or partition.index in wanted[topic.name])
        ]
        if indexes:
            yield topic, indexes
