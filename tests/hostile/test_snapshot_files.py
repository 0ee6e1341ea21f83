"""Files sent to the control port that unpack to far more than they are: what they cost memory and the others."""

from __future__ import annotations

import http.client
import io
import json
import zipfile
from collections.abc import Callable, Iterator

import pytest

from kafkastub import KafkaStub
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.waits import shortest_wait
from tests.process.serving import CONTROL, Serving

Parts = dict[str, bytes]

KEPT_MB = 100
LOG, TIMES = (f"orders-0/{0:020d}.{kind}" for kind in ("log", "time"))


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Of the file of a stub with one record."""
    path = tmp_path_factory.mktemp("file") / "seed.kafkastub"
    with KafkaStub(topics={"orders": 1}) as stub:
        stub.produce("orders", b"x")
        stub.snapshot().save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def serving() -> Iterator[tuple[Serving, str]]:
    with Serving("--control-port", "0") as process:
        assert process.process.stdout is not None
        told = CONTROL.fullmatch(process.process.stdout.readline())
        assert told
        yield process, told[1].rpartition("/")[2]


def of_many_batches(parts: Parts) -> Parts:
    """A producer that knows far more of them than any does."""
    document = json.loads(parts["snapshot.json"])
    partition = next(one for one in document["topics"] if one["name"] == "orders")["partitions"][0]
    partition["producers"] = [[1, 0, [[0, 0, 0, 0, 0]] * 150_000, -1, 0, 0, None]]
    return {"snapshot.json": json.dumps(document, separators=(",", ":")).encode()}


FILES: dict[str, Callable[[Parts], Parts]] = {
    "zeros behind records": lambda parts: {LOG: parts[LOG] + bytes(300 << 20)},
    "times without batches": lambda parts: {TIMES: parts[TIMES] * (10 << 20)},
    "batches of a producer": of_many_batches,
    "a document of lists": lambda parts: {
        "snapshot.json": parts["snapshot.json"][:-1] + b',"a":[' + b"[]," * 9_000_000
    },
}


@linux
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_unpacks_to_much(serving: tuple[Serving, str], parts: Parts, name: str) -> None:
    process, control = serving
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, content in (parts | FILES[name](parts)).items():
            archive.writestr(one, content)
    assert file.tell() < 4 << 20

    def ask(method: str, path: str, body: bytes | None = None) -> int:
        connection = http.client.HTTPConnection(control, timeout=60)
        connection.request(method, path, body)
        status = connection.getresponse().status
        connection.close()
        return status

    def send() -> None:
        assert ask("PUT", "/v1/snapshots/large/file", file.getvalue()) in (201, 400)
        ask("DELETE", "/v1/snapshots/large")

    before = memory_mb(process)
    assert shortest_wait(process.servers, send) < LONGEST_MS
    assert memory_mb(process) - before < KEPT_MB
