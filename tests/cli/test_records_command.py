"""`kafkastub records`: records shown and written by the schemas of a stub's registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2, "numbers": 1}, control_port=0, registry=True) as stub:
        stub.clock.freeze()
        stub.clock.set(1893456000000)
        stub.registry.register("orders-value", ORDER)
        yield stub


@pytest.fixture
def ask(stub: KafkaStub) -> Ask:
    def asked(*line: str) -> tuple[int, str, str]:
        done = run("records", *line, "--control", stub.control_url)
        return done.status, done.out, done.err

    return asked


def test_a_record_is_written_by_a_schema_and_shown_by_it(ask: Ask) -> None:
    line = ("produce", "orders", '{"id": 9007199254740993}', "--schema", "orders-value")
    assert ask(*line, "--key", "k", "--partition", "1", "--header", "trace=4b=f9") == (
        0,
        "Written to orders-1@0.\n",
        "",
    )
    assert ask("show", "orders")[1] == (
        'orders-1@0 2030-01-01T00:00:00.000Z key=k value={"id": 9007199254740993} trace:4b=f9\n'
    )
    told = json.loads(ask("show", "orders", "-o", "json")[1])
    assert told["value_by_schema"]["subject"] == "orders-value"


def test_what_does_not_fit_says_what_is_wrong(stub: KafkaStub, ask: Ask) -> None:
    status, out, err = ask("produce", "orders", '{"id": "x"}', "--schema", "orders-value")
    assert (status, out) == (1, "")
    assert "Order.id: a long is expected, not 'x' (str)" in err
    stub.produce("orders", b"\0\0\0\0\x01", partition=0)
    out = ask("show", "orders")[1]
    assert "value=\0\0\0\0\x01 (it is not of orders-value version 1: at byte 0: it ends within a number)" in out


def test_the_newest_are_shown_or_those_from_an_offset_on(stub: KafkaStub, ask: Ask) -> None:
    for number in range(2500):
        stub.produce("numbers", str(number))
    newest = ask("show", "numbers", "-n", "2")[1].splitlines()
    assert [line.split()[2] for line in newest] == ["value=2498", "value=2499"]
    assert len(ask("show", "numbers", "--offset", "100", "-n", "2300")[1].splitlines()) == 2300
    assert ask("show", "orders", "--partition", "1")[1] == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (("produce", "orders", "{", "--schema", "orders-value"), "VALUE is not JSON"),
        (("produce", "orders", "{}", "--message", "A"), "--schema is missing"),
        (("produce", "orders", "{}", "--key-schema", "A"), "--key is missing"),
        (("produce", "orders", "{}", "--header", "A"), "NAME=VALUE"),
        (("produce", "orders", "1", "--schema", "nothing"), "Subject 'nothing' not found"),
        (("produce", "nothing", "1"), "nothing"),
        (("show", "nothing"), "nothing"),
    ],
)
def test_a_wrong_line_is_refused(ask: Ask, line: tuple[str, ...], says: str) -> None:
    status, out, err = ask(*line)
    assert (status in (1, 2), out) == (True, "")
    assert says in err
