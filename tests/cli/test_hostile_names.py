"""Names that clients choose, on the terminal of who looks at them: they colour nothing, and ring nowhere.

Every command is played, with names that hold what a terminal obeys; and nothing prints past the one module that sees to
it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

import kafkastub.cli
import kafkastub_conformance
import kafkastub_pipeline
from kafkastub import KafkaStub
from kafkastub.cli import COMMANDS, main, output
from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.conftest import CONFIG
from tests.waiting import SECONDS

HOSTILE = (
    "\x1b]0;title\x07\x1b[31mred\r\nError: forged\x9b2J\x85next\u202egnp.exe\u2066in\u2069\u200e\u2028\u2029"
    "\ufeff\x7f\x08end"
)
"""ESC, BEL, a line's end, C1 (CSI, NEL), bidi controls, separators, a mark that nobody sees, DEL, backspace."""
OURS = ("\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m")
"""Colours that commands give to their own words."""


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    """No terminal, with bytes behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO()


def shown(*line: str, stream: type[io.StringIO] = Screen) -> str:
    """What a command says, on both streams."""
    out, err = stream(), stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        main(line)
    behind = out.buffer.getvalue().decode() if isinstance(out, Pipe) else ""
    return out.getvalue() + err.getvalue() + behind


def obeyed(text: str) -> list[str]:
    """What a terminal would do more than show: each line of ours has an end, and some have a colour."""
    for colour in OURS:
        text = text.replace(colour, "")
    return sorted({unicodedata.name(one, repr(one)) for one in text if one not in "\n\t" and not one.isprintable()})


def named(line: tuple[str, ...]) -> str:
    return " ".join(line).replace(HOSTILE, "NAME")


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    config = {**CONFIG, "group.share.min.record.lock.duration.ms": 1000}
    with KafkaStub(topics={"orders": 2}, config=config, control_port=0) as stub:
        with Client(stub.bootstrap_servers) as client:
            commit(client, HOSTILE, {("orders", 0): 3})
        stub.produce("orders", "x")
        stub.produce("orders", HOSTILE, key=HOSTILE)
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": HOSTILE})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        producer.produce("orders", b"open")
        producer.flush(SECONDS)
        stub.faults.add(api="Heartbeat", group=HOSTILE, error="REBALANCE_IN_PROGRESS", name=HOSTILE)
        yield stub
        with contextlib.suppress(KafkaException):
            producer.abort_transaction(SECONDS)


GROUP = ("--group", HOSTILE)
BY_KAFKA: tuple[tuple[str, ...], ...] = (
    ("groups", "list"),
    ("groups", "list", "--state"),
    ("groups", "describe", *GROUP),
    ("groups", "describe", "--all-groups"),
    ("groups", "describe", *GROUP, "--members", "--verbose"),
    ("groups", "describe", *GROUP, "--state", "--verbose"),
    ("groups", "describe", "--group", HOSTILE + "nobody"),
    ("groups", "delete", "--group", HOSTILE + "nobody"),
    ("groups", "delete-offsets", "--group", HOSTILE + "nobody", "--topic", HOSTILE),
    ("groups", "delete-offsets", *GROUP, "--topic", "orders:1"),
    ("groups", "reset-offsets", *GROUP, "--all-topics", "--to-earliest", "--dry-run"),
    ("groups", "reset-offsets", *GROUP, "--all-topics", "--to-earliest", "--dry-run", "--export"),
    ("groups", "reset-offsets", *GROUP, "--topic", HOSTILE, "--to-earliest"),
    ("share-groups", "list"),
    ("share-groups", "describe", *GROUP),
    ("share-groups", "describe", *GROUP, "--members"),
    ("share-groups", "describe", *GROUP, "--state"),
    ("share-groups", "delete", *GROUP),
    ("share-groups", "delete-offsets", *GROUP, "--topic", HOSTILE),
    ("share-groups", "reset-offsets", *GROUP, "--topic", HOSTILE, "--to-earliest"),
    ("streams-groups", "list"),
    ("streams-groups", "describe", *GROUP),
    ("streams-groups", "describe", *GROUP, "--members"),
    ("streams-groups", "describe", *GROUP, "--state"),
    ("streams-groups", "delete", *GROUP),
    ("streams-groups", "delete-offsets", *GROUP, "--input-topic", HOSTILE),
    ("streams-groups", "reset-offsets", *GROUP, "--input-topic", HOSTILE, "--to-earliest"),
    ("topics", "list"),
    ("topics", "describe"),
    ("topics", "describe", "--topic", HOSTILE),
    ("topics", "create", "--topic", HOSTILE),
    ("topics", "delete", "--topic", HOSTILE),
    ("topics", "alter", "--topic", HOSTILE, "--partitions", "3"),
    ("transactions", "list"),
    ("transactions", "describe", "--transactional-id", HOSTILE),
    ("transactions", "describe", "--transactional-id", HOSTILE + "nobody"),
    ("transactions", "describe-producers", "--topic", "orders", "--partition", "0"),
    ("transactions", "find-hanging", "--topic", HOSTILE),
    ("conform", "-k", HOSTILE),
    ("conform", "--list", "-k", HOSTILE),
)
BY_HTTP: tuple[tuple[str, ...], ...] = (
    ("journal", "tail", "-n", "50"),
    ("journal", "export", "-"),
    ("faults", "list"),
    ("faults", "remove", HOSTILE + "nobody"),
    ("faults", "release", HOSTILE),
    ("clock", "set", HOSTILE),
    ("snapshot", "take", HOSTILE),
    ("snapshot", "restore", HOSTILE),
    ("snapshot", "delete", HOSTILE),
    ("wait", "group", HOSTILE, "--state", "Stable", "--timeout", "0.01"),
    ("wait", "topic", HOSTILE, "--records", "5", "--timeout", "0.01"),
    ("health", "--topic", HOSTILE),
    ("chaos", "show"),
    ("records", "show", "orders"),
    ("records", "show", HOSTILE),
    ("records", "produce", "orders", HOSTILE, "--key", HOSTILE, "--header", f"{HOSTILE}={HOSTILE}"),
    ("records", "produce", "orders", "{}", "--schema", HOSTILE),
)
ALONE: tuple[tuple[str, ...], ...] = (
    ("serve", "--topic", HOSTILE),
    ("serve", "--snapshot", HOSTILE),
    ("serve", "--faults", HOSTILE),
    ("replay", HOSTILE),
    ("check", HOSTILE),
    ("check", HOSTILE, "--guarantee", HOSTILE),
    ("groups", "list", "--bootstrap-server", HOSTILE),
    ("clock", "show", "--control", HOSTILE),
    (HOSTILE,),
    ("groups", "list", HOSTILE),
)


@pytest.mark.parametrize("line", BY_KAFKA, ids=named)
def test_a_name_does_nothing_to_a_terminal(stub: KafkaStub, line: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")  # where a bar that is ours moves no cursor
    assert obeyed(shown(*line, "--bootstrap-server", stub.bootstrap_servers)) == []


@pytest.mark.parametrize("line", BY_HTTP, ids=named)
def test_a_name_that_the_control_port_tells_does_nothing_to_a_terminal(stub: KafkaStub, line: tuple[str, ...]):
    assert obeyed(shown(*line, "--control", stub.control_url)) == []


@pytest.mark.parametrize("line", ALONE, ids=named)
def test_a_name_that_a_command_refuses_does_nothing_to_a_terminal(line: tuple[str, ...]):
    assert obeyed(shown(*line)) == []


def test_every_command_that_tells_names_is_played():
    played = {line[0] for line in (*BY_KAFKA, *BY_HTTP, *ALONE)}
    assert set(COMMANDS) - played == {"container", "completion", "launcher", "proxy"}


@pytest.mark.parametrize(
    "line", [("groups", "list"), ("groups", "describe", *GROUP), ("transactions", "list")], ids=str
)
def test_a_script_is_given_names_as_they_are(stub: KafkaStub, line: tuple[str, ...]):
    assert HOSTILE in shown(*line, "--bootstrap-server", stub.bootstrap_servers, stream=Pipe)


@pytest.mark.parametrize("stream", [Screen, Pipe])
@pytest.mark.parametrize("line", [("groups", "list"), ("groups", "describe", *GROUP, "--members")], ids=named)
def test_json_is_escaped_and_has_the_same_value(stub: KafkaStub, line: tuple[str, ...], stream: type[io.StringIO]):
    said = shown(*line, "-o", "json", "--bootstrap-server", stub.bootstrap_servers, stream=stream)
    assert obeyed(said) == []
    assert HOSTILE in [one["group"] for one in json.loads(said)]


def test_the_journal_as_json_is_escaped_and_has_the_same_value(stub: KafkaStub):
    said = shown("journal", "tail", "-n", "50", "-o", "json", "--control", stub.control_url)
    assert obeyed(said) == []
    assert HOSTILE in [one for line in said.splitlines() for one in json.loads(line)["groups"]]


def test_letters_of_every_language_are_shown():
    text = "b\u00fccher \u3053\u3093 \U0001f600"
    with contextlib.redirect_stdout(Screen()) as out:
        output.say(text)
        output.as_json(text)
    assert out.getvalue() == f'{text}\n"{text}"\n'


def test_what_json_escapes_beyond_the_first_plane():
    with contextlib.redirect_stdout(Screen()) as out:
        output.as_json("\U000e0001", indent=None)
    assert out.getvalue() == '"\\udb40\\udc01"\n'


PRINTING = {"print", "print_exception", "print_exc", "pprint", "StreamHandler", "Console"}
ALLOWED = {"cli/output.py", "kafkastub_pipeline/printed.py"}
"""The modules that see to it."""
ELSEWHERE = {
    "kafkastub_pipeline/cli.py": {"StreamHandler"},  # with the formatter of `printed`
}
ROOMS = [
    file
    for package in (kafkastub.cli, kafkastub_conformance, kafkastub_pipeline)
    for file in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
]


def printers(source: str) -> set[str]:
    """What in a module prints: calls by these names, and whoever writes to a standard stream."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func
            name = (
                called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
            )
            on_module = isinstance(called, ast.Attribute) and name == "print"
            if name in PRINTING and not on_module:  # a method of that name is somebody's own
                found.add(name)
            whole = ast.unparse(called)
            if whole.startswith(("sys.stdout.", "sys.stderr.")) and name in ("write", "writelines"):
                found.add(whole)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout.buffer", "sys.stderr.buffer"):
            found.add(ast.unparse(node))
    return found


@pytest.mark.parametrize("file", ROOMS, ids=lambda file: "/".join(file.parts[-2:]))
def test_nothing_is_printed_past_the_module_that_escapes(file: Path):
    name = "/".join(file.parts[-2:])
    assert name in ALLOWED or printers(file.read_text(encoding="utf-8")) <= ELSEWHERE.get(name, set())


@pytest.mark.parametrize(
    "source",
    [
        "print(name)",
        "sys.stdout.write(name)",
        "sys.stderr.write(name)",
        "x(sys.stdout.buffer)",
        "rich.Console().log(1)",
    ],
)
def test_the_check_sees_what_prints(source: str):
    assert printers(source)


def test_the_pipeline_says_names_as_they_are_shown(monkeypatch: pytest.MonkeyPatch):
    from kafkastub_pipeline import cli

    def fail(*_: object) -> int:
        raise cli.PipelineError(f"there is no table of {HOSTILE}")

    monkeypatch.setattr(cli, "_report", fail)
    line = ("report", "--tables", HOSTILE, "--out", HOSTILE, "--traceback")
    for stream, escaped in ((Screen, True), (Pipe, False)):
        with contextlib.redirect_stderr(stream()) as err:
            assert cli.main(line) == 2
        assert (obeyed(err.getvalue()) == []) is escaped
