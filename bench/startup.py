"""How long until it answers: the command, the class in a process that has one already, the imports.

All times in milliseconds, medians; beside them what the command holds of memory when it says that it is ready.

    python -m bench.run -k startup [--quick]
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, sleep

from bench.contestants import READY, Unavailable, module, stub_command
from bench.frames import Client
from kafkawire.messages.api_versions_request import ApiVersionsRequest

SERVE, NEW_STUB, CLOSE_STUB = "kafkastub serve", "new KafkaStub", "close KafkaStub"
FIXTURE_UP, FIXTURE_DOWN = "set-up of the fixture kafka_stub", "its tear-down"
SERVE_COMPILING = "kafkastub serve, no bytecode of its own kept"
MEMORY = "kafkastub serve at its ready line, MiB"
IMPORT_WIRE, IMPORT_PACKAGE, IMPORT_CLASS = "import kafkawire.codec", "import kafkastub", "import KafkaStub"

IMPORTS = {
    IMPORT_WIRE: "import kafkawire.codec",
    IMPORT_PACKAGE: "import kafkastub",
    IMPORT_CLASS: "from kafkastub import KafkaStub",
}


def measure(runs: int) -> dict[str, float]:
    """Each of the above. Raises Unavailable where the stub does not start."""
    memory: list[float] = []
    found = {SERVE: _median(lambda: _serve(stub_command(), memory), runs)}
    with tempfile.TemporaryDirectory() as folder:
        found[SERVE_COMPILING] = _median(partial(_serve_compiling, folder), max(3, runs // 3))
    if memory:
        found[MEMORY] = statistics.median(memory)
    found.update(_in_process(runs))
    found.update(_fixture(10 * runs))
    bare = _median(lambda: _python("pass"), runs)
    for name, statement in IMPORTS.items():
        found[name] = max(0.0, _median(lambda text=statement: _python(text), runs) - bare)  # type: ignore[misc]
    found["python itself"] = bare
    return found


def _median(call: Callable[[], float], runs: int) -> float:
    call()  # the first one reads the disk
    return statistics.median(call() for _ in range(runs))


def _serve(command: Sequence[str], memory: list[float], environment: Mapping[str, str] | None = None) -> float:
    """From the start of the process to the answer to ApiVersions. What it holds of memory is added to `memory`."""
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            ready = READY.search(line)
            if ready is None:
                raise Unavailable(f"kafkastub did not get ready: {line.strip() or 'no output'}")
            status = Path(f"/proc/{process.pid}/status")
            told = status.read_text() if status.exists() else ""
            _answer(ready.group(1), int(ready.group(2)))
            taken = (perf_counter() - start) * 1000
            if "VmRSS:" in told:
                memory.append(int(told.split("VmRSS:")[1].split()[0]) / 1024)
            return taken
        finally:
            process.terminate()


def _serve_compiling(folder: str) -> float:
    """The same of a copy of the sources, which are compiled at each start, as where they lie in a read-only folder."""
    for name in ("kafkastub", "kafkawire"):
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.submodule_search_locations is not None
        source, copy = found.submodule_search_locations[0], Path(folder, name)
        if not copy.exists():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "kafkastub.cli", *stub_command()[1:]]
    return _serve(command, [], environment)


def _answer(host: str, port: int) -> None:
    with Client(host, port) as client:
        client.succeed(ApiVersionsRequest(client_software_name="bench", client_software_version="1"), 3)


def _python(statement: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (perf_counter() - start) * 1000


def _in_process(runs: int) -> dict[str, float]:
    """In a process of its own, so that its threads and imports are nobody else's."""
    done = subprocess.run(module("bench.startup", "--inner", str(runs)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"KafkaStub does not start: {(done.stderr.strip() or 'no output').splitlines()[-1]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


_FIXTURE = """
import pytest

@pytest.mark.parametrize("n", range({tests}))
def test_it(kafka_stub, n):
    pass
"""


class _Stopwatch:
    """A pytest plugin: how long the phases of tests took, in milliseconds."""

    def __init__(self) -> None:
        self.phases: dict[str, list[float]] = {"setup": [], "call": [], "teardown": []}

    def pytest_runtest_logreport(self, report: object) -> None:
        self.phases[report.when].append(report.duration * 1000)  # type: ignore[attr-defined]


def _fixture(tests: int) -> dict[str, float]:
    """What the fixture adds to a test, as pytest measures it; the first tests of a run, which import, are left out."""
    done = subprocess.run(module("bench.startup", "--fixture", str(tests)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(
            f"the fixture kafka_stub does not work: {(done.stdout.strip() or 'no output').splitlines()[-1]}"
        )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _inner_fixture(tests: int) -> int:
    import pytest

    watch = _Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "test_fixture.py")
        file.write_text(_FIXTURE.format(tests=tests))
        options = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--rootdir", folder, "-c", os.devnull]
        status = int(pytest.main([*options, str(file)], plugins=[watch]))
    skipped = 3
    up, down = (statistics.median(watch.phases[phase][skipped:]) for phase in ("setup", "teardown"))
    print(json.dumps({FIXTURE_UP: up, FIXTURE_DOWN: down}))
    return status


def _inner(runs: int) -> dict[str, float]:
    from kafkastub import KafkaStub

    starts: list[float] = []
    ends: list[float] = []
    with KafkaStub() as first:
        _answer(first.host, first.port)
        sleep(0.5)  # behind its start it loads what most clients ask for
        for _ in range(2 * runs):
            before = perf_counter()
            with KafkaStub() as stub:
                _answer(stub.host, stub.port)
                starts.append((perf_counter() - before) * 1000)
                before = perf_counter()
            ends.append((perf_counter() - before) * 1000)
    return {NEW_STUB: statistics.median(starts), CLOSE_STUB: statistics.median(ends)}


if __name__ == "__main__":
    if "--inner" in sys.argv:
        print(json.dumps(_inner(int(sys.argv[-1]))))
    else:
        sys.exit(_inner_fixture(int(sys.argv[-1])))
