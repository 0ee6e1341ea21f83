"""The programs: what each is, what it shows, how it is built and played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.oracle.jars import TOOLS, OracleError, class_path, java
from tests.programs.connect import playing as connect
from tests.programs.flink import playing as flink
from tests.programs.franz_go import playing as franz_go
from tests.programs.librdkafka import playing as librdkafka
from tests.programs.message_copier import playing as message_copier
from tests.programs.mirror_maker import playing as mirror_maker
from tests.programs.stage import Stage
from tests.programs.streams import playing as streams
from tests.toolchains import Unavailable, locked_python


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        name: as its users call it.
        shows: what is proven where it passes.
        version: reads the pinned version.
        build: makes it ready; raises Unavailable where the machine cannot.
        play: plays it on a stage and gives the lines of its result; raises Wrong or AssertionError.
    """

    name: str
    shows: str
    version: Callable[[], str]
    build: Callable[[], None]
    play: Callable[[Stage], Iterator[str]]


def _tools() -> None:
    """Kafka's own programs come with the oracle's jars."""
    try:
        java()
        class_path(TOOLS)
    except OracleError as missing:
        raise Unavailable(str(missing).splitlines()[0]) from None


def _python() -> None:
    """Nothing is to be built: the libraries are those of requirements/dev.lock."""


ETL: Final = (
    "consume, transform, produce to two topics, offsets in the transaction; the first is killed in a transaction, the"
    " second frozen in one until a third has done its work, then fenced"
)
PROGRAMS: Final = (
    Program(
        "TransactionalMessageCopier",
        "two of Kafka's own copiers with random aborts, each killed three times in an open transaction",
        lambda: TOOLS,
        _tools,
        message_copier.play,
    ),
    Program(
        "TransactionalMessageCopier in a group",
        "two copiers share the partitions and send the group's metadata; one is killed in an open transaction",
        lambda: TOOLS,
        _tools,
        message_copier.play_group,
    ),
    Program(
        "TransactionalMessageCopier, the broker killed",
        "two copiers with random aborts; the broker is killed while transactions are open, twice, and starts again",
        lambda: TOOLS,
        _tools,
        message_copier.play_restarts,
    ),
    Program(
        "librdkafka ETL",
        f"a job with confluent-kafka: {ETL}",
        locked_python("confluent-kafka"),
        _python,
        librdkafka.play,
    ),
    Program("franz-go ETL", f"the same job with franz-go: {ETL}", franz_go.version, franz_go.build, franz_go.play),
    Program(
        "Kafka Streams word count",
        "exactly_once_v2 with a repartition topic and a changelog, killed and ended in the middle: each count once",
        lambda: TOOLS,
        _tools,
        streams.count,
    ),
    Program(
        "Kafka Streams join",
        "exactly_once_v2, two topics joined in a window, killed and ended in the middle: each pair once",
        lambda: TOOLS,
        _tools,
        streams.join,
    ),
    Program(
        "Kafka Connect",
        "distributed mode, an exactly-once source (the file source) on two workers; the one that has the task is killed"
        " in a transaction, twice: each line of the file once, in order",
        connect.version,
        connect.build,
        connect.play,
    ),
    Program(
        "MirrorMaker 2",
        "a topic written in transactions, mirrored from one broker to another; killed in a transaction: each committed"
        " record once, in order, and a group's offsets translated",
        mirror_maker.version,
        mirror_maker.build,
        mirror_maker.play,
    ),
    Program(
        "Flink",
        "the exactly-once Kafka sink behind the Kafka source, on a mini cluster; the job fails once, later is killed in"
        " a transaction and goes on from its last checkpoint: each record once, in order",
        flink.version,
        flink.build,
        flink.play,
    ),
)
