"""Plays the scenario: a client's program on one side, a witness who asks the broker on the other.

The program prints one JSON object a step and then waits for a line: until the broker has been looked at.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from kafkastub.client import groups, share_groups, topics
from kafkastub.client.errors import BrokerError
from kafkastub.client.routing import Client
from tests.group_configs import configure
from tests.matrix.scenario import CLASSIC, PARTITIONS, Seen, Step, of_wrong_type
from tests.matrix.scenarios import SHARE, steps_of
from tests.matrix.share_scenario import GROUP_CONFIG

STEP_SECONDS: Final = 180.0
"""How long a program may take for a step, on a busy machine."""
PATIENCE_SECONDS: Final = 30.0
"""How long the broker may take to show it: less than the members' session timeout of
45 s, so that one who left has said so."""
ANSWER_SECONDS: Final = 120.0
"""For an answer of the broker to the witness."""
WITNESS: Final = "witness"
"""Client id of the requests that are not the program's."""
LATEST: Final = -1

PASSED, CANNOT, FAILED, MISSED = "passed", "cannot", "failed", "not reached"


@dataclass(frozen=True)
class Result:
    """What became of a step: `why` tells what the client cannot do, or what was wrong."""

    step: str
    verdict: str
    why: str = ""
    seconds: float = 0.0
    note: str = ""
    """What is to be said of a step that passed."""


class Witness:
    """Looks at a topic and a group of a broker, and at groups whose names begin like that one's."""

    def __init__(self, bootstrap_servers: str, topic: str, group: str, protocol: str = CLASSIC) -> None:
        self._client = Client(bootstrap_servers, timeout=ANSWER_SECONDS, client_id=WITNESS)
        self._topic = topic
        self._group = group
        self._protocol = protocol

    def create_topic(self) -> None:
        """Create it, and wait until the broker knows its leaders."""
        topics.create(self._client, self._topic, PARTITIONS, 1)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                self._ends()
                return
            except BrokerError:
                if time.monotonic() > deadline:
                    raise

    def configure(self, configs: Mapping[str, object]) -> None:
        configure(self._client, self._group, configs)

    def look(self, suffix: str = "") -> Seen:
        if self._protocol == SHARE:
            return self._look_at_share_group()
        group = self._group + suffix
        found = self._described(group)
        members = [] if found is None else found.members
        owned = {one.id: tuple(sorted(index for _, index in one.assignment)) for one in members}
        types = {one.group_id: one.type for one in groups.list_groups(self._client)}
        return Seen(
            ends=self._ends(),
            committed={
                partition: told.offset
                for (_, partition), told in groups.offsets(self._client, group).items()
                if told.offset >= 0
            },
            state="" if found is None else found.state,
            members=tuple(owned.values()),
            instances={one.instance_id: (one.epoch, owned[one.id]) for one in members if one.instance_id},
            listed=group in types,
            epoch=None if found is None else found.epoch,
            type=types.get(group, ""),
        )

    def _look_at_share_group(self) -> Seen:
        state, members, told = "", list[share_groups.Member](), dict[tuple[str, int], share_groups.ShareOffset]()
        with contextlib.suppress(BrokerError):
            found = share_groups.describe(self._client, self._group)
            state, members = found.state, found.members
            told = share_groups.offsets(self._client, self._group)
        listed = any(one.group_id == self._group for one in share_groups.list_groups(self._client))
        return Seen(
            ends=self._ends(),
            state=state,
            members=tuple(tuple(sorted(index for _, index in one.assignment)) for one in members),
            listed=listed,
            type=SHARE if listed else "",
            starts={partition: one.start for (_, partition), one in told.items() if one.start >= 0},
            lags={partition: one.lag for (_, partition), one in told.items() if one.start >= 0},
        )

    def close(self) -> None:
        self._client.close()

    def _ends(self) -> dict[int, int]:
        asked = {(self._topic, partition): LATEST for partition in range(PARTITIONS)}
        return {partition: offset for (_, partition), offset in topics.list_offsets(self._client, asked).items()}

    def _described(self, group: str) -> groups.Group | None:
        try:
            return groups.describe(self._client, group)
        except BrokerError:
            return None


def play(
    command: Sequence[str], bootstrap_servers: str, topic: str, group: str, protocol: str = CLASSIC
) -> list[Result]:
    """Run a client's program to its end and judge every step. The topic and the groups stay."""
    witness = Witness(bootstrap_servers, topic, group, protocol)
    told = [] if protocol == CLASSIC else [protocol]
    try:
        witness.create_topic()
        if protocol == SHARE:
            witness.configure(GROUP_CONFIG)
        with _program([*command, bootstrap_servers, topic, group, *told]) as program:
            return list(_judged(program, witness, protocol))
    finally:
        witness.close()


def _judged(program: _Program, witness: Witness, protocol: str) -> Iterator[Result]:
    before = witness.look()
    steps = iter(steps_of(protocol))
    for step in steps:
        started = time.monotonic()
        told = program.next_line()
        complaint = _contract(told, step, program)
        if complaint:
            yield Result(step.name, FAILED, complaint, time.monotonic() - started)
            break
        if "cannot" in told:
            yield Result(step.name, CANNOT, told["cannot"])
        else:
            seen, complaint = _look(step, told, before, witness, protocol)
            seconds = time.monotonic() - started
            yield Result(step.name, FAILED if complaint else PASSED, complaint, seconds, told.get("note", ""))
            before = seen
        program.go_on()
    yield from (Result(step.name, MISSED) for step in steps)


def _contract(told: Mapping[str, Any], step: Step, program: _Program) -> str:
    if not told:
        return f"the program ended or said nothing for {STEP_SECONDS:g} s: {program.complaints()}"
    if "error" in told:
        return f"{told['error']} {program.complaints()}".strip()
    if told["step"] != step.name:
        return f"the program tells of {told['step']} where {step.name} is next"
    return ""


def _look(step: Step, told: Mapping[str, Any], before: Seen, witness: Witness, protocol: str) -> tuple[Seen, str]:
    """Look until all is as it should be, or the patience ends; gives the last complaints."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        seen = witness.look(step.group)
        complaint = "; ".join([*of_wrong_type(protocol, seen), *step.judge(told, seen, before)])
        if not complaint or time.monotonic() > deadline:
            return seen, complaint
        threading.Event().wait(0.02)


@contextlib.contextmanager
def _program(command: Sequence[str]) -> Iterator[_Program]:
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1
        )
        try:
            yield _Program(process, errors)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    if pipe is not None:
                        pipe.close()


class _Program:
    def __init__(self, process: subprocess.Popen[str], errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def next_line(self) -> Mapping[str, Any]:
        """The next object that it prints; an empty one where it ended, or prints none for STEP_SECONDS."""
        try:
            line = self._lines.get(timeout=STEP_SECONDS)
        except queue.Empty:
            return {}
        told: Mapping[str, Any] = json.loads(line) if line else {}
        return told

    def go_on(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("\n")

    def complaints(self, lines: int = 15) -> str:
        """The end of what it has written to standard error."""
        self._errors.seek(0)
        return "\n".join(self._errors.read().decode(errors="replace").strip().splitlines()[-lines:])

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # closed at the end
            for line in self._process.stdout:
                if line.startswith("{"):
                    self._lines.put(line)
        self._lines.put("")
