"""Replay a journal on a new stub: the same requests, at the same broker times.

The clock is frozen and moved to each entry's broker time. Each connection of the journal is one connection here, and
its requests keep their order. A request is sent when all requests are answered that had been answered before it came.
Some values are made up by a broker and repeated by clients: member ids and generations (JoinGroup), topic ids, fetch
sessions. They are replaced in later requests. Producer ids are inside records and are left unchanged. Frames with
secrets are skipped.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kafkastub.journal.disk import read_rows
from kafkastub.journal.extract import error_tally
from kafkastub.journal.redact import is_redacted
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode_from, encode
from kafkawire.errors import MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.schema import ZERO_UUID, Struct

if TYPE_CHECKING:
    from kafkastub.stub.stub import KafkaStub

_ANSWER_SECONDS: Final = 30.0
_MOST_DIFFERENCES: Final = 1000
_size = struct.Struct(">i")
_GENERATIONS: Final = ("generation_id", "generation_id_or_member_epoch")


@dataclass
class Replayed:
    """The result of a replay."""

    requests: int = 0
    """Number of requests that were sent."""
    answers: int = 0
    skipped: int = 0
    """Number of requests that were not sent, because their frames had secrets."""
    differences: list[str] = field(default_factory=list)
    """One line for each answer that has other errors than in the journal, or is missing; the first 1,000."""


class _Line:
    """One connection."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, _ANSWER_SECONDS)
        self.waiting: deque[tuple[datetime, dict[str, Any]]] = deque()
        """(when it was answered, row) of requests without an answer yet."""

    def receive(self) -> bytes | None:
        """The next frame with its size; None where the broker closed or did not answer."""
        try:
            head = self._exactly(4)
            return head + self._exactly(_size.unpack(head)[0])
        except OSError:
            return None

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return data


class _Replay:
    def __init__(self, stub: KafkaStub) -> None:
        self.stub = stub
        self.done = Replayed()
        self.lines: dict[int, _Line] = {}
        self.names: dict[bytes, str] = {}
        """Topic ids of the journal."""
        self.ids: dict[str, bytes] = {}
        """Topic ids of the stub."""
        self.members: dict[str, str] = {}
        self.generations: dict[tuple[str, int], int] = {}
        self.sessions: dict[tuple[int, int], int] = {}

    def row(self, row: dict[str, Any]) -> None:
        came = datetime.fromisoformat(row["wall_time"])
        for line in self.lines.values():
            while line.waiting and line.waiting[0][0] <= came:
                self._receive(line)
        broker_time = datetime.fromisoformat(row["broker_time"])
        ahead = broker_time - self.stub.clock.now()
        if row["kind"] == "clock":
            self.stub.clock.advance(max(ahead, timedelta()), timers=row["request"] == b"advance timers")
            return
        if ahead > timedelta():
            # Not by `advance`, which sweeps: nothing was swept when this request came, or there is an entry for it.
            clock, ms = self.stub._running().clock, ahead // timedelta(milliseconds=1)
            self.stub._call(lambda: clock.set(clock.broker_ms() + ms))
        if is_redacted(row["api_key"], row["request"]):
            self.done.skipped += 1
            return
        self._send(row, came)

    def _send(self, row: dict[str, Any], came: datetime) -> None:
        number = row["connection_id"]
        line = self.lines.get(number)
        if line is None:
            line = self.lines[number] = _Line((self.stub.host, self.stub.port))
        frame = self._rewritten(row)
        try:
            line.socket.sendall(_size.pack(len(frame)) + frame)
        except OSError:
            self._differs(row, "the connection was closed before")
            return
        self.done.requests += 1
        if row["outcome"] == "reply":
            line.waiting.append((came + timedelta(microseconds=row["duration_us"] or 0), row))

    def finish(self) -> None:
        for line in self.lines.values():
            while line.waiting:
                self._receive(line)
            line.socket.close()

    def _receive(self, line: _Line) -> None:
        _, row = line.waiting.popleft()
        answer = line.receive()
        if answer is None:
            self._differs(row, "no answer")
            line.waiting.clear()
            return
        self.done.answers += 1
        before, now = _response(row, row["response"]), _response(row, answer)
        if before is None or now is None:
            return
        self._learn(row, before, now)
        tally = error_tally(type(now).NEUTRAL or type(now), row["api_version"])
        if tally(before) != tally(now):
            self._differs(row, f"errors {tally(now)}, not {tally(before)}")

    def _differs(self, row: dict[str, Any], what: str) -> None:
        if len(self.done.differences) < _MOST_DIFFERENCES:
            self.done.differences.append(f"{row['sequence']} {row['api']} v{row['api_version']}: {what}")

    def _learn(self, row: dict[str, Any], before: Any, now: Any) -> None:
        _note_ids(before, lambda name, topic_id: self.names.__setitem__(topic_id, name))
        _note_ids(now, self.ids.__setitem__)
        if row["api_key"] == ApiKey.JOIN_GROUP and row["groups"]:
            self.members[before.member_id] = now.member_id
            self.generations[row["groups"][0], before.generation_id] = now.generation_id
        elif row["api_key"] == ApiKey.FETCH and before.session_id:
            self.sessions[row["connection_id"], before.session_id] = now.session_id

    def _rewritten(self, row: dict[str, Any]) -> bytes:
        frame: bytes = row["request"]
        try:
            cls, version = request_class(row["api_key"]), row["api_version"]
            header = read_request_header(frame, 0, len(frame), is_flexible(cls, version))
            message, _ = decode_from(cls, version, frame, header.end)
        except (KeyError, MalformedMessage, ValueError):
            return frame
        return frame[: header.end] + encode(message, version) if self._rewrite(message, row) else frame

    def _rewrite(self, one: Any, row: dict[str, Any]) -> bool:
        """Put random things right, in place; whether there were any."""
        changed = False
        for name, *_ in one.FIELDS:
            value = getattr(one, name)
            right = value
            if name == "member_id":
                right = self.members.get(value, value)
            elif name in _GENERATIONS and row["groups"]:
                right = self.generations.get((row["groups"][0], value), value)
            elif name == "topic_id":
                right = self.ids.get(self.names.get(value, ""), value)
            elif name == "session_id":
                right = self.sessions.get((row["connection_id"], value), value)
            elif isinstance(value, list | tuple):
                for each in value:
                    changed |= isinstance(each, Struct) and self._rewrite(each, row)
            if right != value:
                setattr(one, name, right)
                changed = True
        return changed


def replay(journal: str | os.PathLike[str], stub: KafkaStub) -> Replayed:
    """Send the requests of the journal in a directory to `stub`, and return the result.

    The clock of the stub stays frozen. The stub must run and must not have been used. Raises JournalDirError if there
    is no journal, ValueError for a stub that has groups or records.
    """
    at_work: _Replay | None = None
    for row in read_rows(journal):
        if at_work is None:
            at_work = _Replay(stub)
            stub.clock.freeze()
            stub.clock.set(datetime.fromisoformat(row["broker_time"]))
        at_work.row(row)
    if at_work is None:
        return Replayed()
    at_work.finish()
    return at_work.done


def _response(row: dict[str, Any], frame: bytes | None) -> Any:
    if frame is None:
        return None
    try:
        cls, version = response_class(row["api_key"]), row["api_version"]
        body = 4 + response_header_size(row["api_key"], is_flexible(cls, version))
        return decode_from(cls, version, frame, body)[0]
    except (KeyError, MalformedMessage, ValueError):
        return None


def _note_ids(one: Any, note: Any) -> None:
    """Tell `note(name, id)` of every topic that has both."""
    name = next((found for key in ("name", "topic") if isinstance(found := getattr(one, key, None), str)), "")
    topic_id = getattr(one, "topic_id", ZERO_UUID)
    if name and topic_id != ZERO_UUID:
        note(name, topic_id)
    for key, *_ in one.FIELDS:
        value = getattr(one, key)
        if isinstance(value, list | tuple):
            for each in value:
                if isinstance(each, Struct):
                    _note_ids(each, note)
