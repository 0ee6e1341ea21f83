"""Bytes that Apache Kafka 4.4.0 wrote: the codec reads them to their end and writes the very same bytes again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkastub_conformance.messages import has_tags, request_class, response_class
from kafkastub_conformance.model import Frame
from kafkawire.codec import decode_from, encode
from kafkawire.schema import Message

LINES = (Path(__file__).parent / "frames.jsonl").read_text().splitlines()


def _frames() -> Iterator[tuple[str, Frame]]:
    for number, line in enumerate(LINES):
        saved = json.loads(line)
        answer = bytes.fromhex(saved["response"])
        frame = Frame(saved["api"], saved["version"], bytes.fromhex(saved["request"]), answer)
        yield f"{number}-{frame.api}-v{frame.version}", frame


FRAMES = dict(_frames())


def _again(cls: type[Message], version: int, data: bytes) -> tuple[bytes, int]:
    message, end = decode_from(cls, version, data, 0)
    return encode(message, version), end


@pytest.mark.parametrize("name", FRAMES)
def test_answers_of_kafka_are_read_and_written_to_the_byte(name: str) -> None:
    frame = FRAMES[name]
    assert _again(response_class(frame.api), frame.version, frame.body()) == (frame.body(), len(frame.body()))


@pytest.mark.parametrize("name", FRAMES)
def test_requests_that_kafka_answered_are_read(name: str) -> None:
    frame = FRAMES[name]
    client = int.from_bytes(frame.request[8:10], "big")
    body = frame.request[10 + client + has_tags(frame.api, frame.version) :]
    written, end = _again(request_class(frame.api), frame.version, body)
    assert written == body[:end]
