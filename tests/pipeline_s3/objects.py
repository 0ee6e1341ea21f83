"""Object storage on this machine: moto's server, the jars with which Spark speaks to it, and a way to cut it off."""

from __future__ import annotations

import hashlib
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.oracle.jars import only_one
from tests.ports import reserved_port
from tests.toolchains import CACHE, run
from tests.waiting import until

HERE: Final = CACHE / "s3"
SERVER: Final = HERE / "server" / "bin" / "moto_server"
POM: Final = Path(__file__).with_name("pom.xml")
BUCKET: Final = "lake"
KEY: Final = "stands for a key"


def hadoop() -> str:
    """The version of Hadoop that pyspark ships."""
    import pyspark

    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    return jar.stem.removeprefix("hadoop-client-api-")


def class_path(pom: Path = POM) -> str:
    """Jars for s3a and Iceberg (or of another pom), resolved with Maven at the first call ever: half a gigabyte."""
    wanted = hashlib.sha256(pom.read_bytes() + hadoop().encode()).hexdigest()
    folder = HERE / f"jars-{wanted[:12]}"
    with only_one(HERE / "resolve.lock"):
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", f"-Dhadoop.version={hadoop()}"]
            run(["mvn", "--batch-mode", "--quiet", "--file", str(pom), *goal, "-DincludeScope=runtime"], pom.parent)
            (folder / ".complete").touch()
    return f"{folder}/*"


def settings(port: int) -> dict[str, str]:
    """Of a session: the way to the store, as Hadoop's own documentation has it, and little patience."""
    s3a = {
        "endpoint": f"http://127.0.0.1:{port}",
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": KEY,
        "secret.key": KEY,
        "attempts.maximum": "1",
        "retry.limit": "2",
        "retry.interval": "50ms",
    }
    return {
        "spark.driver.extraClassPath": class_path(),
        **{f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()},
    }


class Front:
    """A port before the store: what comes to it goes on there, until a request that is waited for, or the end.

    Attributes:
        reached: the request that was waited for has come, and is kept back.
    """

    def __init__(self, store: int, port: int) -> None:
        self.port = port
        self._store = store
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self._awaited: tuple[bytes, int] | None = None
        self._go_on = threading.Event()
        self.reached = threading.Event()
        self.again()

    def keep_back(self, request: str, times: int = 1) -> None:
        """The so-manieth request that begins like this does not go on, and nothing else of its connection."""
        with self._lock:
            self.reached.clear()
            self._go_on.clear()
            self._awaited = (request.encode(), times)

    def cut(self) -> None:
        """The store is gone: connections end, new ones are refused. What was kept back is lost."""
        with self._lock:
            sockets, self._open = [*self._open, self._listener], []
            self._listener, self._awaited = None, None
        for one in sockets:
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self._go_on.set()

    def again(self) -> None:
        """The store is back, at the same address, with what it had."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                store = socket.create_connection(("127.0.0.1", self._store))
                with self._lock:
                    self._open += [client, store]
                for here, there, asks in ((client, store, True), (store, client, False)):
                    threading.Thread(target=self._carry, args=(here, there, asks), daemon=True).start()

    def _carry(self, here: socket.socket, there: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while content := here.recv(1 << 16):
                if asks and self._is_awaited(content):
                    self.reached.set()
                    self._go_on.wait()
                    break
                there.sendall(content)
        for one in (here, there):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _is_awaited(self, content: bytes) -> bool:
        with self._lock:
            if self._awaited is None or not content.startswith(self._awaited[0]):
                return False
            request, times = self._awaited
            self._awaited = (request, times - 1) if times > 1 else None
            return times == 1


@dataclass
class Objects:
    """A store with one bucket, behind a front.

    Attributes:
        files: the bucket as another library has it than the one that is tried.
    """

    front: Front
    files: Any

    @property
    def conf(self) -> dict[str, str]:
        return settings(self.front.port)

    def names(self, below: str) -> list[str]:
        """Every object below a path, by what follows it."""
        from pyarrow.fs import FileSelector, FileType

        start = f"{BUCKET}/{below}"
        found = self.files.get_file_info(FileSelector(start, recursive=True, allow_not_found=True))
        return sorted(one.path[len(start) + 1 :] for one in found if one.type is FileType.File)


@contextmanager
def served(folder: Path) -> Iterator[Objects]:
    """A store for a while. Its log goes to a file in `folder`."""
    from pyarrow.fs import S3FileSystem

    with ExitStack() as stack:
        port, before = stack.enter_context(reserved_port()), stack.enter_context(reserved_port())
        log = stack.enter_context((folder / "moto.log").open("wb"))
        process = subprocess.Popen([SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.kill)
        until(lambda: _listens(port) or process.poll() is not None, "the store listens")
        assert process.poll() is None, (folder / "moto.log").read_text()
        front = Front(port, before)
        stack.callback(front.cut)
        files = S3FileSystem(
            access_key=KEY,
            secret_key=KEY,
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{port}",
            allow_bucket_creation=True,
        )
        files.create_dir(BUCKET)
        yield Objects(front, files)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
