"""No broker outlives the process that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.launcher.launching import COMMAND, READY, SECONDS, Launching, ask
from tests.ports import reserved_port
from tests.waiting import until

PARENT: Final = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.wait()
"""
"""A suite: it starts a broker, which writes to the same standard output."""


def is_there(pid: int) -> bool:
    """Whether the process runs; one that has ended and that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="whether a process is a zombie is read from /proc")
@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--port", "0", "--exit-with-stdin"),
        ("serve", "--port", "0", "--control-port", "0", "--exit-with-stdin"),
        ("launcher",),
    ],
    ids=" ".join,
)
def test_kill_9_of_the_parent_leaves_no_broker_behind(arguments: tuple[str, ...]):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, COMMAND, *arguments], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        try:
            line = parent.stdout.readline()
            if arguments == ("launcher",):
                ready = READY.fullmatch(line)
                assert ready, line
                assert ask(ready[1], "POST", "/v1/stubs", {}, ready[2]).status == 201
            assert is_there(child)
            parent.send_signal(signal.SIGKILL)
            assert parent.wait(SECONDS) == -signal.SIGKILL
            until(lambda: not is_there(child), f"process {child} ends with its parent")
        finally:
            if is_there(child):
                os.kill(child, signal.SIGKILL)


def test_serve_does_not_end_with_standard_input_unless_it_is_asked_to():
    with subprocess.Popen(
        [COMMAND, "serve", "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("kafkastub ready on ")
        assert process.poll() is None
        process.terminate()
        assert process.wait(SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_launcher_ends_with_a_signal(number: signal.Signals):
    with Launching() as launcher:
        stub = launcher.start()
        launcher.process.send_signal(number)
        assert launcher.process.wait(SECONDS) == 0
        with pytest.raises(ConnectionError):
            ask(stub["control_url"], "GET", "/health")


def test_what_is_written_to_standard_input_is_ignored():
    with Launching() as launcher:
        assert launcher.process.stdin is not None
        launcher.process.stdin.write("x" * 100_000)
        launcher.process.stdin.flush()
        launcher.start()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--most-stubs", "0"), "'0' is not a number of stubs: 1 to 10000 is allowed"),
        (("--token", "two words"), "a token is 1 to 256 letters, digits and signs of ASCII without blanks"),
        (("--port", "70000"), "'70000' is not a port: 0 to 65535 is allowed"),
    ],
    ids=str,
)
def test_what_a_launcher_cannot_be_is_told(arguments: tuple[str, ...], sentence: str):
    done = subprocess.run(
        [COMMAND, "launcher", *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_port_that_another_process_has_is_told():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [COMMAND, "launcher", "--port", str(port)], stdin=subprocess.PIPE, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        f"kafkastub: the launcher's port cannot be {port} on 127.0.0.1: it is taken by another process; choose "
        "another, or 0 for any free one\n"
    )


def test_a_token_that_is_given_is_not_printed():
    with reserved_port() as port, subprocess.Popen(
        [COMMAND, "launcher", "--port", str(port), "--token", "s3cret"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == f"kafkastub launcher ready on http://127.0.0.1:{port} (token as given)\n"
        assert ask(f"http://127.0.0.1:{port}", "GET", "/v1/stubs", token="s3cret").status == 200
        process.stdin.close()
        assert process.wait(SECONDS) == 0
