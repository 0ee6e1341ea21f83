"""`kafkastub` in the place of Kafka's own tools: the same histories, the same transcripts."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from kafkastub.cli import main
from tests.clients.jvm import Finished, Jvm
from tests.clients.tools import MAIN_CLASSES, Terminal

COMMANDS = {
    MAIN_CLASSES["kafka-consumer-groups"]: "groups",
    MAIN_CLASSES["kafka-share-groups"]: "share-groups",
    "org.apache.kafka.tools.streams.StreamsGroupCommand": "streams-groups",
    MAIN_CLASSES["kafka-topics"]: "topics",
    MAIN_CLASSES["kafka-transactions"]: "transactions",
}
ACTIONS = ("--list", "--describe", "--delete", "--delete-offsets", "--reset-offsets", "--create", "--alter")
LIKE_KAFKA = {("groups", "delete-offsets"): ["--profile", "kafka"]}
CALLED = {"forceTerminateTransaction": "force-terminate", "--transactionalId": "--transactional-id"}
"""What of Kafka's is called as it is nowhere else, and what we call it."""
DEBUG = " Enable debug logging for additional detail."


class OurTools(Jvm):
    """Where Kafka's tool is asked for and we have a command for it, it is the command that is run."""

    def __init__(self, jvm: Jvm) -> None:
        super().__init__()
        self._jvm = jvm
        self.ran = 0
        """How often it was."""

    def ask(self, verb: str, **fields: object) -> object:
        return self._jvm.ask(verb, **fields)

    def tool(self, main_class: str, *args: str, stdin: str = "") -> Finished:
        command = COMMANDS.get(main_class)
        if command is None:
            return self._jvm.tool(main_class, *args, stdin=stdin)
        self.ran += 1
        if command == "transactions":  # its action is a word, behind the server
            server, rest = args[:2], [CALLED.get(arg, arg) for arg in args[2:]]
            return run(command, *rest, *server)
        (action,) = [arg for arg in args if arg in ACTIONS]
        name = action.removeprefix("--")
        rest = [arg for arg in args if arg != action]
        return run(command, name, *rest, *LIKE_KAFKA.get((command, name), []))


class OurTerminal(Terminal):
    """Plays a history with our commands; `comparable` is what of a transcript can be the same."""

    def __init__(self, jvm: Jvm, servers: str, folder: Path) -> None:
        self.tools = OurTools(jvm)
        super().__init__(self.tools, servers, folder)


def comparable(transcript: str) -> str:
    """A transcript without Java's stack traces and debug logs, and without exit statuses: Kafka's tool for groups has
    none.
    """
    kept = []
    for line in transcript.splitlines():
        said = line.removeprefix("! ")
        trace = said.strip().startswith(("org.apache.kafka.", "java.", "com.fasterxml.", "at [Source", "Caused by: "))
        if not (line.startswith("! ") and trace) and not line.startswith("= "):
            kept.append(line.removesuffix(DEBUG))
    return "\n".join(kept)


def run(*args: str) -> Finished:
    """The command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(args)
        except SystemExit as exit:
            status = int(exit.code or 0)
    return Finished(status, out.getvalue(), err.getvalue())
