"""Every option: Kafka's own tool and our command are asked the same of the same broker, one after the other."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.kafkas_tools import OurTerminal, comparable
from tests.clients.histories import filled
from tests.clients.jvm import Jvm
from tests.clients.tools import Members, Terminal
from tests.oracle.apache_kafka import ApacheKafka

GROUPS = """
--list
--list --state
--list --type
--list --state stable,Empty --type classic
--list --type consumer
--describe --group {readers} --group {workers}
--describe --all-groups
--describe --all-groups --members
--describe --all-groups --members --verbose
--describe --all-groups --offsets --verbose
--describe --all-groups --state --verbose
--describe --group {readers} --timeout 5000
--describe --group {statics}
--describe --group {statics} --members
--describe --group {statics} --members --verbose
--describe --group nobody --offsets
--delete --group {workers}
--delete --group nobody --group {workers}
--delete-offsets --group {workers} --topic {orders}
--delete-offsets --group {workers} --topic {orders}:0,2
--delete-offsets --group {readers} --topic {orders}:7
--delete-offsets --group {readers} --topic missing
--delete-offsets --group {readers} --topic missing --topic {orders}:8
--delete-offsets --group nobody --topic missing
--reset-offsets --group {readers} --topic {orders} --to-earliest --dry-run
--reset-offsets --group {readers} --topic {orders} --topic {audit} --to-latest --dry-run
--reset-offsets --group {readers} --topic {orders}:0,2 --to-offset 3 --dry-run
--reset-offsets --group {readers} --topic {orders} --to-offset 300
--reset-offsets --group {readers} --topic {orders} --to-offset -3 --dry-run
--reset-offsets --group {readers} --all-topics --shift-by -1 --dry-run
--reset-offsets --group {readers} --all-topics --to-current --dry-run
--reset-offsets --group {readers} --topic {audit} --topic {orders} --to-current --dry-run
--reset-offsets --group {readers} --topic {orders} --to-datetime 2023-11-14T22:13:22.000 --dry-run
--reset-offsets --group {readers} --topic {orders} --to-datetime 2023-11-14T23:13:22.000+01:00 --dry-run
--reset-offsets --group {readers} --topic {orders} --to-datetime 2023-11-14T22:13:22.500Z --dry-run
--reset-offsets --group {readers} --topic {orders} --by-duration P1DT2H3M4.5S --dry-run
--reset-offsets --group {readers} --topic {orders} --by-duration P9999D --dry-run
--reset-offsets --group {readers} --topic {orders} --to-earliest --export --dry-run
--reset-offsets --group {readers} --group nobody --topic {orders} --to-earliest --export --dry-run
--reset-offsets --group {readers} --group nobody --topic {orders} --to-earliest --dry-run
--reset-offsets --group {readers} --from-file one.csv --dry-run
--reset-offsets --group {readers} --group nobody --from-file two.csv --dry-run
--reset-offsets --group other --group nobody --from-file two.csv --dry-run
--reset-offsets --group {workers} --topic {orders} --to-earliest --dry-run
--reset-offsets --group {readers} --topic missing --to-earliest --dry-run
--reset-offsets --group {readers} --topic {orders}:7 --to-earliest --dry-run
"""

TOPICS = """
--list
--list --exclude-internal
--list --topic {orders}
--list --topic {orders},{audit}
--list --topic missing.*
--describe
--describe --exclude-internal
--describe --topic {audit}
--describe --topic missing --if-exists
--describe --topic-id AAAAAAAAAAAAAAAAAAAAAQ
--describe --topics-with-overrides
--describe --under-replicated-partitions
--describe --unavailable-partitions
--describe --under-min-isr-partitions
--describe --at-min-isr-partitions --topic {orders}
--describe --partition-size-limit-per-response 1 --topic {orders}
--create --topic {orders}
--create --topic {orders} --if-not-exists
--create --topic dotted.{orders} --partitions 0
--create --topic new-{orders} --replication-factor 0
--create --topic new-{orders} --replication-factor 7
--create --topic new-{orders} --replica-assignment 17
--create --topic bad!name
--create --topic new-{orders} --config retention.ms=never
--create --topic new-{orders} --config retention.ms
--create --topic new-{orders} --config no.such.thing=1
--alter --topic {orders} --partitions 1
--alter --topic {orders} --partitions 3
--alter --topic missing --partitions 3
--alter --topic missing --partitions 3 --if-exists
--delete --topic missing
--delete --topic missing --if-exists
"""


TRIES = 3
"""None of these lines changes anything. What others left on a shared broker may change between the two."""


def test_every_option_prints_what_kafkas_tool_prints(
    jvm: Jvm, tmp_path: Path, servers: str, unique: Callable[[str], str]
) -> None:
    names = {name: unique(name) for name in ("orders", "audit", "readers", "workers", "statics")}
    kafkas = Terminal(jvm, servers, tmp_path)
    filled(kafkas, names["orders"], 3, 5)
    filled(kafkas, names["audit"], 1, 4)
    prepare = f"kafka-consumer-groups --reset-offsets --group {names['readers']} --topic {names['orders']}"
    kafkas.run(f"{prepare} --to-offset 4 --execute")
    kafkas.file("one.csv", f"{names['orders']},0,1\n{names['audit']},0,99\n")
    kafkas.file("two.csv", f"{names['readers']},{names['orders']},0,1\nnobody,{names['audit']},0,2\n")
    members = Members(kafkas)
    members.join(names["workers"], "one", [names["orders"]])
    members.read_all("one", 15)
    config = {"bootstrap.servers": servers, "group.id": names["statics"], "group.instance.id": "instance-number-one"}
    jvm.ask("subscribe", consumer="two", config=config | {"client.id": "two"}, topics=[names["audit"]])
    members.poll_until({"two": 1})
    try:
        asked = [("kafka-consumer-groups", GROUPS), ("kafka-topics", TOPICS)]
        differences = _differences(jvm, servers, tmp_path, names, asked)
    finally:
        members.leave("one")
        members.leave("two")
    assert not differences, "\n\n".join(differences)


def _differences(
    jvm: Jvm, servers: str, folder: Path, names: dict[str, str], asked: list[tuple[str, str]]
) -> list[str]:
    found = []
    for tool, lines in asked:
        for line in lines.strip().splitlines():
            for _ in range(TRIES):
                theirs, ours = Terminal(jvm, servers, folder), OurTerminal(jvm, servers, folder)
                for terminal in (theirs, ours):
                    terminal.run(f"{tool} {line.format(**names)}")
                expected, got = (comparable(terminal.transcript).splitlines() for terminal in (theirs, ours))
                if line.count("--group") > 1:  # which comes first may hang on how the hashes of random names collide
                    expected.sort()
                    got.sort()
                if expected == got:
                    break
            else:
                found.append("\n".join(difflib.unified_diff(expected, got, line, "ours")))
    return found


KIP_848 = """
--list --state --type
--describe --group {modern}
--describe --group {modern} --members --verbose
--describe --group {modern} --state --verbose
--delete --group {modern}
--delete-offsets --group {modern} --topic {orders}
"""


@pytest.mark.oracle
def test_groups_of_the_new_protocol_are_shown_as_by_kafkas_tool(
    jvm: Jvm, tmp_path: Path, apache_kafka: ApacheKafka, unique: Callable[[str], str]
) -> None:
    servers = apache_kafka.bootstrap_servers
    names = {name: unique(name) for name in ("orders", "modern")}
    terminal = Terminal(jvm, servers, tmp_path)
    filled(terminal, names["orders"], 3, 5)
    config = {"bootstrap.servers": servers, "group.id": names["modern"], "group.protocol": "consumer"}
    jvm.ask("subscribe", consumer="848", config=config | {"client.id": "848"}, topics=[names["orders"]])
    try:
        Members(terminal).poll_until({"848": 3})
        differences = _differences(jvm, servers, tmp_path, names, [("kafka-consumer-groups", KIP_848)])
    finally:
        jvm.ask("close", consumer="848")
    assert not differences, "\n\n".join(differences)


@pytest.mark.parametrize(
    "line", ["groups list", "groups describe --group g", "topics list", "topics describe", "topics delete --topic x"]
)
def test_nobody_there_is_one_sentence(line: str) -> None:
    from tests.cli.kafkas_tools import run

    done = run(*line.split(), "--bootstrap-server", "127.0.0.1:1")
    assert done == (1, "", "kafkastub: nobody listens at 127.0.0.1:1: connection refused\n")
