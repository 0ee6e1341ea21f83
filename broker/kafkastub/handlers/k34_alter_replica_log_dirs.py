"""AlterReplicaLogDirs (key 34), versions 1-2.

RD-1  A replica of the node that is asked goes into the directory: exactly one of those that log.dirs (or log.dir)
      names, as DescribeLogDirs tells it. Else LOG_DIR_NOT_FOUND, whatever the partition; before that a topic whose name
      is too long for the directory of a future replica is INVALID_TOPIC_EXCEPTION.    KIP-113; Kafka:
      ReplicaManager.alterReplicaLogDirs
RD-2  It is there when this is answered: what Kafka copies in the background takes no time, nothing is ever a future
      replica. Where it is already: NONE.
RD-3  No such partition: UNKNOWN_TOPIC_OR_PARTITION; no replica of it on this node: REPLICA_NOT_AVAILABLE. The wish is
      remembered until the replica comes, the last one of many, but not over a restart.
RD-4  A partition that is named twice goes where it was named last, and is answered once.
RD-5  A cordoned directory: INVALID_REPLICA_ASSIGNMENT.    KIP-1066
RD-6  With --data-dir the place is kept. On a full disk KAFKA_STORAGE_ERROR, as where a directory of Kafka's is offline.
RD-7  What is refused as a whole is answered as it was asked: directory by directory, twice what is there twice.
      Kafka: AlterReplicaLogDirsRequest.getErrorResponse
Not done: -
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.pace import Pace, paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_order
from kafkawire.messages.alter_replica_log_dirs_request import AlterReplicaLogDirsRequest
from kafkawire.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

_LONGEST: Final = 255
_ADDED: Final = len("-.-future") + 32
"""To topic and partition in the name of a future replica's directory (Kafka: LocalLog.logFutureDirName)."""


def error_response(request: AlterReplicaLogDirsRequest, code: ErrorCode, version: int) -> AlterReplicaLogDirsResponse:
    """The code at every partition, as it was asked."""
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic.name, [AlterReplicaLogDirPartitionResult(index, code) for index in topic.partitions]
            )
            for one in request.dirs
            for topic in one.topics
        ]
    )


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS, 1, 2, error_response=error_response)
def alter_replica_log_dirs(ctx: RequestContext, request: AlterReplicaLogDirsRequest) -> Outcome:
    wanted = _wanted(request, ctx.pace)
    names = dict.fromkeys(name for name, _ in paced(wanted, ctx.pace))
    lengths = {name: len(string_order(name)) // 2 for name in paced(names, ctx.pace)}
    numbers = {one.path: ctx.state.log_dirs.number(one.path) for one in paced(request.dirs, ctx.pace)}
    cordoned = ctx.state.log_dirs.cordoned
    found: dict[tuple[str, int], ErrorCode] = {}
    moved = False
    for (name, index), path in paced(wanted.items(), ctx.pace):
        number = numbers[path]
        if lengths[name] + len(str(index)) + _ADDED > _LONGEST:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        elif number is None:
            code = ErrorCode.LOG_DIR_NOT_FOUND
        elif not ctx.state.is_writable:
            code = ErrorCode.KAFKA_STORAGE_ERROR
        elif number in cordoned:
            code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
        else:
            code, changed = _move(ctx, name, index, number)
            moved |= changed
        found[name, index] = code
    if moved:
        ctx.state.changed()
    return _answer(found, ctx.pace)


def _move(ctx: RequestContext, name: str, index: int, number: int) -> tuple[ErrorCode, bool]:
    """What is answered, and whether anything is elsewhere now."""
    log_dirs, topic = ctx.state.log_dirs, ctx.state.cluster.topic(name)
    if topic is not None and 0 <= index < len(topic.partitions):
        if ctx.node_id in topic.partitions[index].replicas:
            return ErrorCode.NONE, log_dirs.move(ctx.node_id, topic, index, number)
        code = ErrorCode.REPLICA_NOT_AVAILABLE
    else:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    log_dirs.prefer(ctx.node_id, name, index, number)
    return code, False


def _wanted(request: AlterReplicaLogDirsRequest, pace: Pace) -> dict[tuple[str, int], str]:
    """Topic and partition to the directory."""
    return {
        (topic.name, index): one.path
        for one in paced(request.dirs, pace)
        for topic in paced(one.topics, pace)
        for index in paced(topic.partitions, pace)
    }


def _answer(found: dict[tuple[str, int], ErrorCode], pace: Pace) -> AlterReplicaLogDirsResponse:
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for (name, index), code in paced(found.items(), pace):
        results.setdefault(name, []).append(AlterReplicaLogDirPartitionResult(index, code))
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, partitions) for name, partitions in paced(results.items(), pace)]
    )
