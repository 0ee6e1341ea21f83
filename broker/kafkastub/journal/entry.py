"""One request with its answer, which is decoded on first use."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from kafkastub.config.durations import datable
from kafkastub.journal.extract import (
    Member,
    Mentioned,
    TopicName,
    Transaction,
    api_name,
    error_tally,
    mentioned,
    with_answered_member,
    with_answered_producer,
)
from kafkastub.journal.messages import as_values
from kafkastub.journal.redact import hide_secrets, redacted_frame
from kafkastub.journal.ring import Outcome, Raw
from kafkastub.printable import printable
from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode_from
from kafkawire.errors import ErrorCode, MalformedMessage
from kafkawire.header import RequestHeader, is_flexible, read_request_header, response_header_size

_LONGEST: Final = 260
"""Characters of a name in the line for people; a topic's has 249 at most."""
_WITH_EPOCHS: Final = frozenset(
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_HEARTBEAT)
)
"""Whose lines tell the member and its epoch."""
_MOST_GROUPS: Final = 20
_MOST_TRANSACTIONS: Final = 4
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Peer:
    """The client that sent a request, as known when the entry was read."""

    connection_id: int
    peer: str
    listener: str
    node_id: int
    principal: str
    software_name: str
    software_version: str


class Entry:
    """A request and its outcome. Its messages are decoded on first use."""

    def __init__(self, sequence: int, raw: Raw, wall_offset_ns: int, topic_name: TopicName) -> None:
        self.sequence = sequence
        """Counted from the start of the journal."""
        self._raw = raw
        self._wall_offset_ns = wall_offset_ns
        self._topic_name = topic_name

    # --- what needs no decoding

    @property
    def kind(self) -> str:
        """ "request", or "clock" for a change of the broker's clock."""
        return "clock" if self._raw.outcome is Outcome.CLOCK else "request"

    @property
    def broker_time(self) -> datetime:
        """The time of arrival by the broker's clock, as a datetime."""
        return EPOCH + timedelta(milliseconds=datable(self._raw.broker_ms))

    @property
    def broker_ms(self) -> int:
        """The time of arrival by the broker's clock, in Unix milliseconds."""
        return self._raw.broker_ms

    @property
    def wall_time(self) -> datetime:
        """The time of arrival by the machine's clock, to the microsecond."""
        return EPOCH + timedelta(microseconds=(self._raw.started + self._wall_offset_ns) // 1000)

    @property
    def duration_us(self) -> int | None:
        """The microseconds from arrival to answer, None without an answer (yet)."""
        ended = self._raw.ended
        return None if ended is None else (ended - self._raw.started) // 1000

    @property
    def outcome(self) -> str:
        """ "reply", "pending", "no_reply", "closed", "refused", "dropped"; "clock" for a change of the clock."""
        return self._raw.outcome.name.lower()

    @property
    def fault(self) -> str | None:
        """The id of the fault that fired."""
        return self._raw.fault

    @property
    def sender(self) -> Peer:
        connection = self._raw.connection
        if connection is None:
            return Peer(-1, "", "", -1, "", "", "")
        return Peer(
            connection.id, connection.peer, connection.listener, connection.node_id, connection.principal,
            connection.software_name, connection.software_version,
        )  # fmt: skip

    @property
    def api_key(self) -> int:
        """The API key, -1 without one: a frame that is too short to have one, or a change of the clock."""
        return self._key_and_version[0]

    @property
    def api_version(self) -> int:
        """The API version, -1 without one."""
        return self._key_and_version[1]

    @cached_property
    def _key_and_version(self) -> tuple[int, int]:
        data, start, end, *_ = self._raw
        return (-1, -1) if end - start < 4 or self.kind == "clock" else _two_shorts(data, start)

    @property
    def api(self) -> str:
        """The API's name, such as `OffsetCommit`."""
        return "clock" if self.kind == "clock" else api_name(self.api_key)

    @property
    def request_frame(self) -> bytes:
        """The bytes of the request as received, without the size. Secrets are replaced by zeros."""
        return redacted_frame(self.api_key, self._raw.frame)

    @property
    def response_frame(self) -> bytes | None:
        """The bytes of the answer as sent, with the size. Secrets are replaced by zeros."""
        reply = self._raw.reply_frame
        return None if reply is None else redacted_frame(self.api_key, reply)

    # --- what needs some

    @cached_property
    def _header(self) -> RequestHeader | None:
        data, start, end, *_ = self._raw
        try:
            cls = request_class(self.api_key)
            return read_request_header(data, start, end, is_flexible(cls, self.api_version))
        except (KeyError, MalformedMessage):
            return None

    @property
    def correlation_id(self) -> int:
        """The correlation id, -1 if the header cannot be read."""
        return -1 if self._header is None else self._header.correlation_id

    @property
    def client_id(self) -> str | None:
        return None if self._header is None else self._header.client_id

    @cached_property
    def request(self) -> Any:
        """The request as a message of `kafkawire` without secrets, None if it cannot be decoded."""
        if self._header is None:
            return None
        try:
            cls = request_class(self.api_key)
            message, end = decode_from(cls, self.api_version, self._raw.data, self._header.end)
        except (MalformedMessage, ValueError):
            return None
        hide_secrets(message)
        return message if end <= self._raw.end else None

    @cached_property
    def response(self) -> Any:
        """The answer as a message of `kafkawire` without secrets, None without a complete answer."""
        reply = self._raw.reply_frame
        if reply is None:
            return None
        try:
            cls = response_class(self.api_key)
            body = 4 + response_header_size(self.api_key, is_flexible(cls, self.response_version))
            message = decode_from(cls, self.response_version, reply, body)[0]
        except (KeyError, MalformedMessage, ValueError):
            return None
        hide_secrets(message)
        return message

    @property
    def request_message(self) -> dict[str, Any] | None:
        """The request field by field, in the form of JSON, None if it cannot be decoded."""
        return None if self.request is None else as_values(self.request, self.api_version)

    @property
    def response_message(self) -> dict[str, Any] | None:
        """The answer field by field, in the form of JSON, None without a complete answer."""
        return None if self.response is None else as_values(self.response, self.response_version)

    @property
    def hides(self) -> bool:
        """Whether only the headers of its frames are shown, because the rest may contain secrets."""
        frame = self._raw.frame
        return redacted_frame(self.api_key, frame) is not frame

    @property
    def response_version(self) -> int:
        """The version of the answer. An ApiVersions request of an unknown version is answered in version 0."""
        if self.api_key != ApiKey.API_VERSIONS:
            return self.api_version
        return 0 if self.api_version > response_class(self.api_key).VERSIONS[1] else self.api_version

    @cached_property
    def _mentioned(self) -> Mentioned:
        if self.request is None:
            return Mentioned()
        return mentioned(self.request, self.api_version, self._topic_name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the request names."""
        return tuple(self._mentioned.groups)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The group members that send the request or are named in it: member id, instance id, generation or epoch.

        A member that joined without a member id has the id that it received.
        """
        found = self._mentioned.members
        return with_answered_member(found, self.response) if found else ()

    @cached_property
    def transactions(self) -> tuple[Transaction, ...]:
        """The transactions that the request is part of or asks about: transactional id, producer id and epoch.

        For InitProducerId they are the producer id and epoch in the answer.
        """
        found = self._mentioned.transactions
        return with_answered_producer(found, self.response) if found else ()

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the topics in the request. Topic ids are resolved to names."""
        return tuple(self._mentioned.topics)

    @property
    def partitions(self) -> tuple[tuple[str, int], ...]:
        """The (topic, partition) pairs that the request names."""
        return tuple(self._mentioned.partitions)

    @cached_property
    def errors(self) -> dict[int, int]:
        """All error codes in the answer with their counts, NONE (0) included."""
        if self.response is None:
            return {}
        return error_tally(response_class(self.api_key), self.response_version)(self.response)

    @property
    def error_names(self) -> tuple[str, ...]:
        """The names of the errors in the answer, without NONE."""
        return tuple(error_name(code) for code in self.errors if code)

    @property
    def throttle_ms(self) -> int:
        """The milliseconds that the client must wait, 0 without throttling or without an answer."""
        return getattr(self.response, "throttle_time_ms", 0)

    def __str__(self) -> str:
        """One line: when, who, what, about what, and what came of it."""
        at = f"{self.broker_time:%H:%M:%S}.{self.broker_ms % 1000:03}"
        if self.kind == "clock":
            return f"{self.sequence:>6} {at} the broker's clock: {self._raw.frame.decode()}"
        about = [f"group {printable(group, _LONGEST)}" for group in self.groups[:_MOST_GROUPS]]
        if len(self.groups) > _MOST_GROUPS:
            about.append(f"… {len(self.groups) - _MOST_GROUPS} more")
        if self.api_key in _WITH_EPOCHS:
            about += map(_member, self.members)
        about += map(_transaction, self.transactions[:_MOST_TRANSACTIONS])
        if len(self.transactions) > _MOST_TRANSACTIONS:
            about.append(f"… {len(self.transactions) - _MOST_TRANSACTIONS} more")
        named = [f"{topic}-{index}" for topic, index in self.partitions] or list(self.topics)
        about += [printable(one, _LONGEST) for one in named[:4]] + (
            [f"… {len(named) - 4} more"] if len(named) > 4 else []
        )
        end = ", ".join(self.error_names) or ("ok" if self.outcome == "reply" else self.outcome.replace("_", " "))
        if self.throttle_ms > 0:
            end += f", throttled for {self.throttle_ms} ms"
        took = "" if self.duration_us is None else f" {self.duration_us / 1000:.1f} ms"
        fault = f" [fault {self.fault}]" if self.fault else ""
        who = printable(self.client_id or self.sender.peer, _LONGEST)
        what = f"{self.api} v{self.api_version}"
        return f"{self.sequence:>6} {at} {who:<16} {what:<22} {' '.join(about)} -> {end}{took}{fault}"

    def __repr__(self) -> str:
        return f"<{' '.join(str(self).split())}>"


def _transaction(one: Transaction) -> str:
    """`transaction shop producer 7/0`, as far as it is known."""
    words = ["transaction"]
    if one.transactional_id is not None:
        words.append(printable(one.transactional_id, _LONGEST))
    if one.producer_id >= 0:
        words.append(f"producer {one.producer_id}/{one.producer_epoch}")
    return " ".join(words)


def _member(one: Member) -> str:
    """`member 9f2c… epoch 3`."""
    who = printable(one.member_id or f"instance {one.instance_id}", _LONGEST)
    return f"member {who} epoch {one.epoch}"


def error_name(code: int) -> str:
    """Return the name of an error code, NOT_COORDINATOR for 16, or the number if Kafka does not have it."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


_two_shorts = struct.Struct(">hh").unpack_from
