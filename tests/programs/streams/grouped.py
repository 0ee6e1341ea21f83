"""Kafka Streams with the streams protocol (KIP-1071): the broker makes internal topics and gives tasks to members.

What the classic protocol has in its clients (how often they speak, when one is taken for dead, standbys) is set here as
the group's configuration, in the broker.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kafkastub.client import Client
from tests.group_configs import configure
from tests.programs.judging import Wrong, aborted, at_least_once, each_once, same
from tests.programs.running import SECONDS, Running
from tests.programs.stage import Row, Stage
from tests.programs.streams.application import PARTITIONS, WORDS, Application
from tests.waiting import until

STREAMS: Final = {"group.protocol": "streams"}
ONCE: Final = {**STREAMS, "processing.guarantee": "exactly_once_v2"}
AT_LEAST_ONCE: Final = {**STREAMS, "processing.guarantee": "at_least_once", "commit.interval.ms": 500}
GROUP: Final = {
    "streams.session.timeout.ms": 6000,
    "streams.heartbeat.interval.ms": 500,
    "streams.initial.rebalance.delay.ms": 0,
}
RATE: Final = 400
"""Records a second."""
LONGER_THAN_OTHERS: Final = 1.0
"""Seconds. With exactly_once_v2 an instance commits ten times a second."""
ATTEMPTS: Final = 6
RESTARTS: Final = 2
LINES: Final = 6000
PAIRS: Final = 6000
LINES_OF_THE_KILLED: Final = 12_000
"""Members have to be there for longer than the session of the dead one and its open transaction of 10 s."""


def configured(stage: Stage, group: str, **more: object) -> None:
    """Set the group's configuration; `more` behind "streams.", _ for each dot."""
    wanted = {**GROUP, **{f"streams.{key.replace('_', '.')}": value for key, value in more.items()}}
    with Client(stage.bootstrap_servers) as client:
        configure(client, group, wanted)


def _lines(count: int) -> tuple[list[Row], list[tuple[str, str]]]:
    """Lines as records, and every count of each of their words."""
    choice = random.Random(1).choices
    lines = [" ".join(choice(WORDS, k=4)) for _ in range(count)]
    totals = Counter(word for line in lines for word in line.split())
    counts = [(word, str(number)) for word, total in totals.items() for number in range(1, total + 1)]
    return [(number % PARTITIONS, "", line) for number, line in enumerate(lines)], counts


def _pairs(count: int) -> tuple[list[Row], list[Row], list[tuple[str, str]]]:
    """Orders and payments as records, in different orders, and what comes of them."""
    numbers = list(range(count))
    orders: list[Row] = [(number % PARTITIONS, str(number), f"order {number}") for number in numbers]
    random.Random(1).shuffle(numbers)
    payments: list[Row] = [(number % PARTITIONS, str(number), f"payment {number}") for number in numbers]
    return orders, payments, [(str(number), f"order {number}+payment {number}") for number in range(count)]


def _seen(stage: Stage, target: str, count: int) -> list[tuple[str, str]]:
    stage.read_at_least(target, count)
    return [(one.key, one.value) for one in stage.read(target)]


def _all_is_committed(stage: Stage, application: Application, *topics: str) -> str:
    for topic in topics:
        stage.until_committed(application.group, topic)
    return "the committed offsets are the end"


def count(stage: Stage, lines: int = LINES) -> Iterator[str]:
    """An instance ends in order, in the middle; another one goes on with the counts of the changelog."""
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("lines", "counts"))
    rows, expected = _lines(lines)
    application = Application(stage, "count", source, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    with stage.feeding(RATE, (source, rows)):
        first = application.start()
        first.says("RUNNING")
        stage.some_committed(target)
        first.terminate()
        yield "the first: ended in order, in the middle"
        second = application.start()
    yield each_once(expected, _seen(stage, target, len(expected)), "counts")
    yield _all_is_committed(stage, application, source)
    second.terminate()
    yield from _internal_topics(stage, application.group)


def _internal_topics(stage: Stage, group: str) -> Iterator[str]:
    """What the broker has made for the group, and how."""
    for topic, config in sorted(stage.topics_of(f"{group}-").items()):
        settings = ", ".join(f"{key}={value}" for key, value in sorted(config.items()))
        yield f"{topic.replace(group, 'count')}: {settings}"


def join(stage: Stage) -> Iterator[str]:
    """Two instances; one of them ends in order, in the middle, and the other has all."""
    orders, payments, target = (stage.create(stage.name(what), PARTITIONS) for what in ("orders", "payments", "paid"))
    of_orders, of_payments, expected = _pairs(PAIRS)
    application = Application(stage, "join", orders, payments, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    with stage.feeding(RATE, (orders, of_orders), (payments, of_payments)):
        instances = [application.start(num_stream_threads=1) for _ in range(2)]
        for one in instances:
            one.says("RUNNING")
        stage.some_committed(target, stage.ends(target))
        instances[0].terminate()
        yield "one of two instances: ended in order, in the middle"
    yield each_once(expected, _seen(stage, target, len(expected)), "pairs")
    yield _all_is_committed(stage, application, orders, payments)


def killed(stage: Stage) -> Iterator[str]:
    """One of two instances is killed; the broker sees the end of its sessions, and the other one has all."""
    orders, payments, target = (stage.create(stage.name(what), PARTITIONS) for what in ("orders", "payments", "paid"))
    of_orders, of_payments, expected = _pairs(PAIRS)
    application = Application(stage, "join", orders, payments, target, settings=AT_LEAST_ONCE)
    configured(stage, application.group)
    with stage.feeding(RATE, (orders, of_orders), (payments, of_payments)):
        instances = [application.start(num_stream_threads=1) for _ in range(2)]
        for one in instances:
            one.says("RUNNING")
        stage.some_committed(target, stage.ends(target))
        instances[0].kill()
        yield "one of two instances: killed"
    yield at_least_once(expected, _until_all(stage, target, expected), "pairs")
    yield _all_is_committed(stage, application, orders, payments)


def _until_all(stage: Stage, target: str, expected: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """What is there when all is there; some of it may be there twice."""
    count = len(expected)
    while not set(expected) <= set(seen := _seen(stage, target, count)):
        if len(seen) < count:
            raise Wrong(f"{count - len(seen)} records are missing in {target}")
        count = len(seen) + 1
    return seen


def kill_one(stage: Stage, instances: Sequence[Running], *topics: str) -> Running:
    """Kill one of them in a transaction, and say which: not each need have tasks that write to these topics."""
    wrong = Wrong("there is nobody to kill")
    for one in [*instances] * ATTEMPTS:
        try:
            stage.kill_in_transaction(one, *topics, seconds=LONGER_THAN_OTHERS, others=LONGER_THAN_OTHERS)
            return one
        except Wrong as error:
            wrong = error
    raise wrong


def exactly_once(stage: Stage) -> Iterator[str]:
    """One of two instances is killed in a transaction; the other goes on."""
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("lines", "counts"))
    rows, expected = _lines(LINES_OF_THE_KILLED)
    application = Application(stage, "count", source, target, settings=ONCE)
    configured(stage, application.group)
    with stage.feeding(RATE, (source, rows)):
        instances = [application.start(num_stream_threads=2) for _ in range(2)]
        for one in instances:
            one.says("RUNNING")
        stage.some_committed(target, stage.ends(target))
        kill_one(stage, instances, target)
        yield "one of two instances: killed in a transaction"
    seen = _seen(stage, target, len(expected))
    yield stage.no_transaction_is_open(target)
    yield each_once(expected, seen, "counts")
    committed = stage.read(target)
    yield aborted(committed, stage.read(target, committed=False))
    yield _all_is_committed(stage, application, source)
    yield same(len(committed), len(expected), "nothing came later")


def broker_killed(stage: Stage) -> Iterator[str]:
    """The broker is killed while transactions are open, twice, and starts again with its data; members go on."""
    stage = stage.another()
    source, target = (stage.create(stage.name(what), PARTITIONS) for what in ("lines", "counts"))
    rows, expected = _lines(LINES_OF_THE_KILLED)
    application = Application(stage, "count", source, target, settings=ONCE)
    configured(stage, application.group, session_timeout_ms=30_000)
    # a broker that starts for longer than the 10 s that Kafka Streams gives a transaction would fence the instance
    instance = application.start(producer_transaction_timeout_ms=60_000)
    with stage.feeding(RATE, (source, rows)):
        for _ in range(RESTARTS):
            stage.some_committed(target, stage.ends(target))
            until(lambda: stage.open(target), "an open transaction", SECONDS)
            stage.restart_broker(target)
    yield f"the broker killed {RESTARTS} times"
    seen = _seen(stage, target, len(expected))
    yield stage.no_transaction_is_open(target)
    yield each_once(expected, seen, "counts")
    if not instance.lives:
        raise Wrong(f"the instance has ended: {instance.end_of_log(30)}")
    yield "the instance has gone on"
    yield _all_is_committed(stage, application, source)
