"""A broker under attack: it answers others meanwhile, stays alive and small, and its log says who did it."""

from __future__ import annotations

import contextlib
import json
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.codec.varint import uvarint
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.create_partitions_response import CreatePartitionsResponse
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreateTopicsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from tests.process.serving import Serving
from tests.rawclient import RawClient

FRAMES = 100_000
SEED = 20461
FLAT_MB = 24
"""By so much may a process differ that has done the same things before."""
PEER = re.compile(r"peer=127\.0\.0\.1:(\d+)")

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this machine has no /proc")


@pytest.fixture
def serving() -> Iterator[Serving]:
    with Serving("--topic", "orders:3", "--config", "auto.create.topics.enable=false") as process:
        yield process


class Honest:
    """A client whose every round trip is checked."""

    def __init__(self, servers: str) -> None:
        self.client = RawClient(servers)
        self.rounds = 0

    def round(self) -> None:
        """Commit an offset, read it back, and ask a few things more."""
        self.rounds += 1
        offset = OffsetCommitRequestPartition(partition_index=1, committed_offset=self.rounds)
        commit = OffsetCommitRequest("honest", topics=[OffsetCommitRequestTopic(name="orders", partitions=[offset])])
        done = decode(OffsetCommitResponse, 7, self.ask(ApiKey.OFFSET_COMMIT, 7, encode(commit, 7)))
        assert done.topics[0].partitions[0].error_code == ErrorCode.NONE
        fetch = OffsetFetchRequest("honest", topics=[OffsetFetchRequestTopic("orders", [1])])
        read = decode(OffsetFetchResponse, 5, self.ask(ApiKey.OFFSET_FETCH, 5, encode(fetch, 5)))
        assert read.topics[0].partitions[0].committed_offset == self.rounds
        beat = encode(HeartbeatRequest("honest", 1, "nobody"), 3)
        refused = decode(HeartbeatResponse, 3, self.ask(ApiKey.HEARTBEAT, 3, beat))
        assert refused.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
        all_topics = encode(MetadataRequest(topics=None), 1)
        told = decode(MetadataResponse, 1, self.ask(ApiKey.METADATA, 1, all_topics))
        assert [topic.name for topic in told.topics if not topic.is_internal] == ["orders"]

    def close(self) -> None:
        self.client.close()

    def ask(self, key: int, version: int, body: bytes) -> bytes:
        return self.client.exchange(key, version, body)


@pytest.fixture
def honest(serving: Serving) -> Iterator[Honest]:
    with contextlib.closing(Honest(serving.servers)) as client:
        client.round()
        yield client


def memory_mb(serving: Serving) -> float:
    status = Path(f"/proc/{serving.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s*(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def attack(serving: Serving, frames: int, seed: int, honest: Honest) -> dict[str, list[int]]:
    """Have another process send so many hostile frames; the honest client goes on meanwhile."""
    command = [sys.executable, "-m", "tests.hostile.attack", serving.servers, str(frames), str(seed)]
    with tempfile.TemporaryFile("w+") as told:  # no pipe: it would hold 64 KB, and then the attacker
        attacker = subprocess.Popen(command, stdout=told, cwd=Path(__file__).resolve().parents[2])
        try:
            while attacker.poll() is None:
                honest.round()
        finally:
            attacker.kill()
            attacker.wait()
        told.seek(0)
        result: dict[str, list[int]] = json.load(told)
    return result


@linux
def test_a_hundred_thousand_hostile_frames(serving: Serving, honest: Honest):
    attack(serving, FRAMES // 20, SEED, honest)  # every version has been read once, every buffer has its size
    before = memory_mb(serving)
    told = attack(serving, FRAMES, SEED + 1, honest)
    honest.round()

    assert sum(told[kind] for kind in ("answered", "closed", "hanging")) == FRAMES
    assert min(told["answered"], told["closed"], told["hanging"]) > 0
    assert honest.rounds > 100
    assert memory_mb(serving) - before < FLAT_MB

    lines = serving.stderr.splitlines()
    known = ("connection closed", "does not serve yet")
    assert [line for line in lines if not any(words in line for words in known)] == []
    named = {int(found[1]) for line in lines if (found := PEER.search(line))}
    # A Produce that wants no answer and fails ends its connection too, and that is nothing to tell.
    assert len(set(told["ports"]) - named) < len(named) / 100
    assert serving.stop(15)[0] == 0


@linux
def test_half_frames_on_many_connections(serving: Serving, honest: Honest):
    """What is left hanging costs its own bytes, and those only while the connection lives."""
    before = memory_mb(serving)
    size = 50_000
    clients = [RawClient(serving.servers) for _ in range(200)]
    for number, client in enumerate(clients):
        client.socket.sendall(struct.pack(">i", 100_000_000) + bytes(size if number % 2 else 3))
        honest.round()
    assert memory_mb(serving) - before < len(clients) * size / 1e6 + FLAT_MB
    for client in clients:
        client.close()
    for _ in range(50):
        honest.round()
    assert memory_mb(serving) - before < FLAT_MB
    assert serving.stderr == ""


@linux
@pytest.mark.parametrize(
    ("key", "version", "body"),
    [
        pytest.param(
            ApiKey.OFFSET_COMMIT, 2, b"\0\1g\xff\xff\xff\xff\0\0" + b"\xff" * 8 + b"\x7f\xff\xff\xff", id="flat"
        ),
        pytest.param(ApiKey.OFFSET_COMMIT, 8, b"\2g\xff\xff\xff\xff\1\0" + uvarint(2**31 - 1), id="compact"),
        pytest.param(ApiKey.METADATA, 1, b"\x7f\xff\xff\xff", id="metadata"),
        pytest.param(ApiKey.METADATA, 12, uvarint(2**31 - 1), id="compact metadata"),
        pytest.param(ApiKey.DESCRIBE_GROUPS, 0, b"\x00\xff\xff\xff" + bytes(1000), id="groups"),
        pytest.param(ApiKey.PRODUCE, 8, b"\xff\xff\0\1\0\0\x03\xe8" + b"\x7f\xff\xff\xff", id="produce"),
        pytest.param(ApiKey.FETCH, 11, bytes(25) + b"\x7f\xff\xff\xff" * 3, id="fetch"),
        pytest.param(ApiKey.JOIN_GROUP, 9, b"\2g" + bytes(8) + b"\1\0\1" + uvarint(2**31 - 1), id="join"),
        pytest.param(ApiKey.CREATE_TOPICS, 7, uvarint(2**31 - 1), id="topics"),
        pytest.param(
            ApiKey.LIST_OFFSETS, 6, b"\xff\xff\xff\xff\0\2\7orders" + uvarint(2**31 - 1) + bytes(900), id="offsets"
        ),
        pytest.param(ApiKey.API_VERSIONS, 3, uvarint(2**31 - 1), id="a string"),
    ],
)
def test_a_huge_count_costs_nothing(serving: Serving, honest: Honest, key: int, version: int, body: bytes):
    before = memory_mb(serving)
    for _ in range(20):
        with RawClient(serving.servers) as client, pytest.raises(ConnectionError):
            client.exchange(key, version, body)
    honest.round()
    assert memory_mb(serving) - before < FLAT_MB
    assert serving.stderr.count("connection closed") == 20


@linux
def test_a_huge_number_of_partitions_costs_nothing(serving: Serving, honest: Honest):
    """Requests in good form. Kafka refuses more than ten thousand partitions at once."""
    before = memory_mb(serving)
    create = CreateTopicsRequest([CreatableTopic("huge", 2**31 - 1, 1)], 1000, False)
    created = decode(CreateTopicsResponse, 5, honest.ask(ApiKey.CREATE_TOPICS, 5, encode(create, 5)))
    assert created.topics[0].error_code == ErrorCode.POLICY_VIOLATION
    for validate_only in (True, False):
        grow = CreatePartitionsRequest([CreatePartitionsTopic("orders", 2**31 - 1, None)], 1000, validate_only)
        grown = decode(CreatePartitionsResponse, 3, honest.ask(ApiKey.CREATE_PARTITIONS, 3, encode(grow, 3)))
        assert grown.results[0].error_code != ErrorCode.NONE
    honest.round()
    assert memory_mb(serving) - before < FLAT_MB
