"""Replicas that are moved into another log directory of their broker."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import Answer, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

MOVING = "KIP-113, Kafka: ReplicaManager.alterReplicaLogDirs"
NOWHERE = "/no/such/directory"
LONGEST = 213
"""Of a topic's name, with one digit of a partition: `.`, a uuid and `-future` have to go into 255 characters too."""


def move(on: Broker, *rows: tuple[str, str, list[int]]) -> Answer:
    """Rows of directory, topic and partitions."""
    dirs = [{"path": path, "topics": [{"name": name, "partitions": indexes}]} for path, name, indexes in rows]
    return on.ask("AlterReplicaLogDirs", dirs=dirs)


def codes(answer: Answer) -> list[tuple[str, int, int]]:
    return sorted(
        (one.topic_name, row.partition_index, row.error_code) for one in answer.results for row in one.partitions
    )


def first_dir(on: Broker) -> str:
    return str(on.ask("DescribeLogDirs", topics=[]).results[0].log_dir)


def place(on: Broker, name: str) -> str:
    """The directory of the first partition, once it is there."""
    found: list[str] = []

    def there() -> bool:
        answer = on.ask("DescribeLogDirs", topics=[{"topic": name, "partitions": [0]}])
        found[:] = [result.log_dir for result in answer.results for _ in result.topics]
        return bool(found)

    expect_that("whether the log is told", on.in_time(there), True)
    return found[0]


@case("AlterReplicaLogDirs", "A replica into the directory where it is: NONE.", source=MOVING, also=["DescribeLogDirs"])
def where_it_is(on: Broker) -> None:
    name = on.topic().name
    path = place(on, name)
    expect_that("the answer", codes(move(on, (path, name, [0]))), [(name, 0, E.NONE)])
    expect_that("the directory", place(on, name), path)


@case("AlterReplicaLogDirs", "No such directory: LOG_DIR_NOT_FOUND, whatever the partition.", source=MOVING)
def no_such_directory(on: Broker) -> None:
    name, missing, code = on.topic().name, on.name(), E.LOG_DIR_NOT_FOUND
    answer = move(on, (NOWHERE, name, [0, 9]), (NOWHERE, missing, [0]), ("", name, [1]))
    expect_that(
        "the answer", codes(answer), sorted([(name, 0, code), (name, 9, code), (missing, 0, code), (name, 1, code)])
    )


@case(
    "AlterReplicaLogDirs",
    "A path is compared as it is written: with a slash at its end it is another.",
    source=MOVING,
    also=["DescribeLogDirs"],
)
def as_it_is_written(on: Broker) -> None:
    name = on.topic().name
    answer = move(on, (place(on, name) + "/", name, [0]))
    expect_that("the answer", codes(answer), [(name, 0, E.LOG_DIR_NOT_FOUND)])


@case(
    "AlterReplicaLogDirs",
    "A missing topic or partition: UNKNOWN_TOPIC_OR_PARTITION.",
    source=MOVING,
    also=["DescribeLogDirs"],
)
def missing_partition(on: Broker) -> None:
    name, missing, code = on.topic().name, on.name(), E.UNKNOWN_TOPIC_OR_PARTITION
    path = place(on, name)
    answer = move(on, (path, name, [0, 9, -1]), (path, missing, [0]))
    wanted = [(name, 0, E.NONE), (name, 9, code), (name, -1, code), (missing, 0, code)]
    expect_that("the answer", codes(answer), sorted(wanted))


@case(
    "AlterReplicaLogDirs",
    "A partition that is named twice goes where it is named last, and is answered once.",
    source=MOVING,
    also=["DescribeLogDirs"],
)
def named_twice(on: Broker) -> None:
    name = on.topic().name
    path = place(on, name)
    answer = move(on, (NOWHERE, name, [0]), (path, name, [0, 0]))
    expect_that("the answer", codes(answer), [(name, 0, E.NONE)])


@case(
    "AlterReplicaLogDirs",
    "A topic's name that leaves no room for that of a future replica: INVALID_TOPIC_EXCEPTION.",
    source=MOVING,
    also=["DescribeLogDirs"],
)
def too_long(on: Broker) -> None:
    name, path = "q" * LONGEST, first_dir(on)
    answer = move(on, (path, name, [0]), (NOWHERE, name, [10]))
    wanted = [(name, 0, E.UNKNOWN_TOPIC_OR_PARTITION), (name, 10, E.INVALID_TOPIC_EXCEPTION)]
    expect_that("the answer", codes(answer), wanted)


@case("AlterReplicaLogDirs", "Nothing asked for, nothing answered.", source=MOVING)
def nothing(on: Broker) -> None:
    name = on.some_topic().name
    expect(move(on), results=[])
    expect(move(on, (NOWHERE, name, [])), results=[])
