"""A broker that runs out of file descriptors: new connections wait, nothing spins, and all is well afterwards."""

from __future__ import annotations

import resource
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kafkawire.api import ApiKey
from tests.process.serving import Serving
from tests.rawclient import RawClient

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this machine has no /proc")
FEW = 128
CROWD = 160


@contextmanager
def limit(soft: int, hard: int) -> Iterator[None]:
    """For the processes that are started meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    run = subprocess.Popen.__init__

    def started(self: object, *args: object, **settings: object) -> None:
        settings["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        run(self, *args, **settings)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", started)
        yield
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def is_served(client: RawClient, seconds: float) -> bool:
    client.send(ApiKey.API_VERSIONS, 0, b"")
    return bool(select.select([client.socket], [], [], seconds)[0]) and client.receive() is not None


def processor_seconds(serving: Serving) -> float:
    fields = Path(f"/proc/{serving.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@linux
@pytest.mark.parametrize("kept", [False, True], ids=["memory", "data-dir"])
def test_connections_wait_while_there_are_no_descriptors(tmp_path: Path, kept: bool):
    """With a data directory the broker can still open the files of a new topic: some descriptors are kept for them."""
    with limit(FEW, FEW):
        serving = Serving(*(("--data-dir", str(tmp_path)) if kept else ()))
    with serving, ExitStack() as stack:
        honest = stack.enter_context(RawClient(serving.servers, 30))
        assert is_served(honest, 30)
        crowd = [stack.enter_context(RawClient(serving.servers, 30)) for _ in range(CROWD)]
        served = [is_served(client, 30) for client in crowd[: FEW // 2]]
        assert all(served)
        assert not is_served(crowd[-1], 0.3)
        assert honest.exchange(ApiKey.API_VERSIONS, 0, b"")
        topics = serving_topics(honest, [f"topic-{number}" for number in range(3)])
        assert topics == [0, 0, 0]
        begin = processor_seconds(serving)
        assert not select.select([crowd[-1].socket], [], [], 1)[0]
        assert processor_seconds(serving) - begin < 0.5
        for client in crowd[:-1]:
            client.close()
        assert crowd[-1].receive() is not None
        (line,) = serving.stderr.splitlines()
        assert "too few file descriptors: new connections wait" in line
        assert f"limit={FEW}" in line


def serving_topics(client: RawClient, names: list[str]) -> list[int]:
    """The errors with which these topics are created."""
    from kafkawire.codec import decode, encode
    from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
    from kafkawire.messages.create_topics_response import CreateTopicsResponse

    request = CreateTopicsRequest([CreatableTopic(name, 4, 1) for name in names], 10_000, False)
    answer = decode(CreateTopicsResponse, 5, client.exchange(ApiKey.CREATE_TOPICS, 5, encode(request, 5)))
    return [topic.error_code for topic in answer.topics]


@linux
def test_the_process_raises_its_limit_by_itself():
    with limit(FEW, 4 * FEW), Serving() as serving:
        limits = Path(f"/proc/{serving.process.pid}/limits").read_text()
        (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
        assert line.split()[3:5] == [str(4 * FEW)] * 2


@linux
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_descriptors_that_others_have_used_up(loop: str):
    """A stub in somebody's process: there are none at all for a moment, and accepting fails."""
    code = f"""
import asyncio, os, select, time
from kafkastub.server import loops
if {loop!r} == "asyncio":
    loops.new_event_loop = asyncio.new_event_loop
from kafkastub import KafkaStub
from tests.rawclient import RawClient
with KafkaStub() as stub:
    one = RawClient(stub.bootstrap_servers)
    one.exchange(18, 0, b"")
    late = RawClient.__new__(RawClient)
    import socket
    late.socket, late._next = socket.socket(), 0
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    host, port = stub.bootstrap_servers.split(":")
    late.socket.connect((host, int(port)))
    one.exchange(18, 0, b"")
    begin = time.process_time()
    assert not select.select([late.socket], [], [], 0.5)[0]
    assert time.process_time() - begin < 0.3
    for fd in taken:
        os.close(fd)
    late.socket.settimeout(30)
    assert late.exchange(18, 0, b"")
    one.close(); late.close()
"""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-W", "error", "-c", f"import resource; resource.setrlimit(7, (256, 256))\n{code}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert "too few file descriptors: new connections wait" in line


@linux
def test_what_is_asked_for_first_while_there_are_no_descriptors():
    """All that answers it is loaded by then: a file that has yet to be read could not be."""
    code = """
import os
from kafkastub import KafkaStub
from kafkawire.codec import encode
from kafkawire.messages.describe_cluster_request import DescribeClusterRequest
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.produce_request import ProduceRequest
from tests.rawclient import RawClient
asked = [
    (MetadataRequest(None), 9),
    (DescribeClusterRequest(), 1),
    (FindCoordinatorRequest("g", 0, ["g"]), 4),
    (ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, -1)])]), 6),
    (ProduceRequest(None, 1, 1000, []), 9),
    (OffsetCommitRequest("g", -1, "", topics=[]), 8),
    (EndTxnRequest("t", 0, 0, True), 3),
]
with KafkaStub(topics=["t"]) as stub:
    one = RawClient(stub.bootstrap_servers)
    one.exchange(3, 0, encode(MetadataRequest([]), 0))
    bodies = [(request.API_KEY, version, encode(request, version)) for request, version in asked]
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    answers = [one.exchange(*body) for body in bodies]
    for fd in taken:
        os.close(fd)
    assert all(answers), answers
    one.close()
"""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", f"import resource; resource.setrlimit(7, (256, 256))\n{code}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
