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
from tests.programs.streams import grouped, queried, refused, smoke
from tests.programs.streams import playing as streams
from tests.toolchains import Unavailable, locked_python

TRANSACTIONS: Final = "transactions"
STREAMS_GROUPS: Final = "streams groups"


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        name: as its users call it.
        shows: what is proven where it passes.
        version: reads the pinned version.
        build: makes it ready; raises Unavailable where the machine cannot.
        play: plays it on a stage and gives the lines of its result; raises Wrong or AssertionError.
        about: what of the broker it tries.
        breaks: guarantees that the play itself breaks, by killing what nobody takes the place of.
    """

    name: str
    shows: str
    version: Callable[[], str]
    build: Callable[[], None]
    play: Callable[[Stage], Iterator[str]]
    about: str = TRANSACTIONS
    breaks: tuple[str, ...] = ()


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
    "consume, transform, produce to two topics, offsets in the transaction; the first process is killed in a "
    "transaction; the second is frozen in one until a third has done its work, and is then fenced"
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
        "two copiers with random aborts; the broker is killed twice while transactions are open, and starts again",
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
        "exactly_once_v2 with a repartition topic and a changelog, killed and shut down during the run: each "
        "count once",
        lambda: TOOLS,
        _tools,
        streams.count,
        breaks=("transaction_left_open",),
    ),
    Program(
        "Kafka Streams join",
        "exactly_once_v2, two topics joined in a window, killed and shut down during the run: each pair once",
        lambda: TOOLS,
        _tools,
        streams.join,
        breaks=("transaction_left_open",),
    ),
    Program(
        "Kafka Connect",
        "distributed mode, an exactly-once source (the file source) on two workers; the worker that has the task "
        "is killed in a transaction, twice: each line of the file once, in order",
        connect.version,
        connect.build,
        connect.play,
    ),
    Program(
        "MirrorMaker 2",
        "a topic written in transactions is mirrored from one broker to another; killed in a transaction: each "
        "committed record once, in order, and a group's offsets translated",
        mirror_maker.version,
        mirror_maker.build,
        mirror_maker.play,
    ),
    Program(
        "Flink",
        "the Kafka source and the exactly-once Kafka sink, on a mini cluster; the job fails once, is later "
        "killed in a transaction and continues from its last checkpoint: each record once, in order",
        flink.version,
        flink.build,
        flink.play,
    ),
    Program(
        "Streams group: word count",
        "a repartition topic and a changelog that the broker creates; shut down during the run: each count once",
        lambda: TOOLS,
        _tools,
        grouped.count,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: windowed join",
        "two instances share two topics that are joined in a window; one shuts down during the run: each pair once",
        lambda: TOOLS,
        _tools,
        grouped.join,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: queries and standbys",
        "a table on two instances, each of which names the instance with a key and its standby; one is killed, "
        "and the other continues with its standbys, without restoring; a third joins",
        lambda: TOOLS,
        _tools,
        queried.table,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: an instance killed",
        "at least once; one of two instances is killed, and the other one gets its tasks when the session ends",
        lambda: TOOLS,
        _tools,
        grouped.killed,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: exactly once, an instance killed",
        "exactly_once_v2; one of two instances is killed in a transaction: each count once",
        lambda: TOOLS,
        _tools,
        grouped.exactly_once,
        STREAMS_GROUPS,
        breaks=("transaction_left_open",),
    ),
    Program(
        "Streams group: the broker killed",
        "exactly_once_v2; the broker is killed twice while a transaction is open, and loads the group from its "
        "log when it starts again: the instance continues, each count once",
        lambda: TOOLS,
        _tools,
        grouped.broker_killed,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: what is wrong",
        "a join of topics with different numbers of partitions, a missing source topic, an instance that "
        "requests the shutdown of the application: what members receive from the broker, and what they do",
        lambda: TOOLS,
        _tools,
        refused.play,
        STREAMS_GROUPS,
    ),
    Program(
        "Streams group: Kafka's smoke test",
        "StreamsSmokeTest with exactly_once_v2: five members of three threads; one shuts down, one is killed in "
        "a transaction; Kafka's own check verifies twelve topics",
        smoke.version,
        smoke.build,
        smoke.play,
        STREAMS_GROUPS,
        breaks=("transaction_left_open",),
    ),
)
