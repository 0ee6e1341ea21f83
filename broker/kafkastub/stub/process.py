"""`KafkaStub(process=True)`: the broker in a process of its own, behind the same Python API.

The child runs an ordinary `KafkaStub`. What is asked of this one goes over a pipe as a path ("clock", "advance") with
its arguments, and the value, or the exception itself, comes back. What cannot be sent as a value, such as a fault or
the journal, stays in the child and is stood for by a `Remote`. The child ends with its parent, however that ends: the
pipe is closed then.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import pickle
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

from kafkastub.stub.stub import RUNNING, STARTED, KafkaStub, StubError

_MOST_CALLS: Final = 16
"""At the same time: a `wait` keeps one."""
_MOST_OBJECTS: Final = 10_000
"""That the child keeps for the parent; the oldest are forgotten."""
_STAND_FOR: Final = ("kafkastub.stub.", "kafkastub.journal", "contextlib")
"""Modules of which the objects stay in the child."""
_ENDED: Final = "the stub's process has ended"


class _Reference:
    """An object that lives in the child."""

    def __init__(self, number: int, kind: str) -> None:
        self.number = number
        self.kind = kind


class Remote:
    """Stands for an object in the child: methods, properties, iteration, length and `with` work as there."""

    def __init__(self, stub: ProcessStub, number: int, kind: str) -> None:
        self._stub = stub
        self._number = number
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._stub._ask(self._number, "get", name)

    def __len__(self) -> int:
        return int(self._stub._ask(self._number, "call", "__len__"))

    def __iter__(self) -> Any:
        return iter(self._stub._ask(self._number, "iterate", ""))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._kind != "Fault":
            return
        with contextlib.suppress(StubError):  # closed meanwhile, and what it stands for with it
            self._stub._ask(self._number, "call", "remove")

    def __repr__(self) -> str:
        return f"<{self._kind} of {self._stub!r}>"


class _Method:
    """A bound method in the child."""

    def __init__(self, stub: ProcessStub, number: int, name: str) -> None:
        self._stub = stub
        self._number = number
        self._name = name

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._stub._ask(self._number, "call", self._name, args, named)


class ProcessStub(KafkaStub):
    """What `KafkaStub(process=True)` gives."""

    def __init__(self, *args: Any, **named: Any) -> None:
        named.pop("process", None)
        super().__init__(*args, **named)  # refuses here what it would refuse there
        self._arguments = args, named
        self._process: Any = None
        self._pipe: Connection | None = None
        self._sending = threading.Lock()
        self._waiting: dict[int, tuple[threading.Event, list[Any]]] = {}
        self._numbers = itertools.count()
        self._reader: threading.Thread | None = None

    def start(self) -> Self:
        if self._process is not None:
            raise StubError(RUNNING)
        context = get_context("spawn")
        mine, its = context.Pipe()
        process = context.Process(target=_serve, args=(its, self._arguments), name="kafkastub", daemon=True)
        process.start()
        its.close()
        try:
            started = mine.recv()
        except EOFError:
            started = StubError(_ENDED)
        if started is not None:
            process.join()
            process.close()
            mine.close()
            raise started if isinstance(started, StubError) else _unpacked(started)
        STARTED[self] = None
        self._process, self._pipe = process, mine
        self._reader = threading.Thread(target=self._read, args=(mine,), name="kafkastub-answers", daemon=True)
        self._reader.start()
        self.was_at = self.bootstrap_servers
        atexit.register(self.close)
        return self

    def close(self) -> None:
        process, pipe, reader = self._process, self._pipe, self._reader
        if process is None or pipe is None or reader is None:
            return
        self._process = self._pipe = self._reader = None
        atexit.unregister(self.close)
        with contextlib.suppress(OSError):
            pipe.send(None)
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()
        reader.join()
        pipe.close()
        process.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def coordinator_loading(self) -> Iterator[None]:
        there = self._ask(0, "call", "coordinator_loading")
        self._ask(there._number, "call", "__enter__")
        try:
            yield
        finally:
            self._ask(there._number, "call", "__exit__", (None, None, None))

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name in _HERE:
            return super().__getattribute__(name)
        return self._ask(0, "get", name)

    def _ask(self, number: int, how: str, name: str, args: tuple[Any, ...] = (), named: Any = None) -> Any:
        pipe = self._pipe
        if pipe is None:
            raise StubError("the stub is not running: use it as a context manager, or call start()")
        asked = next(self._numbers)
        came, answer = self._waiting.setdefault(asked, (threading.Event(), []))
        try:
            with self._sending:
                pipe.send((asked, number, how, name, args, named or {}))
            while not came.wait(0.5):
                if self._reader is None or not self._reader.is_alive():
                    break
        except OSError:
            pass
        finally:
            self._waiting.pop(asked, None)
        if not answer:
            raise StubError(_ENDED)
        good, value = answer[0]
        if not good:
            raise _unpacked(value)
        return self._here(value, number, name)

    def _here(self, value: Any, number: int, name: str) -> Any:
        if isinstance(value, _Reference):
            if value.kind == "method":
                return _Method(self, number, name)
            return Remote(self, value.number, value.kind)
        if isinstance(value, list):
            return [self._here(each, number, name) for each in value]
        return value

    def _read(self, pipe: Connection) -> None:
        try:
            while True:
                asked, good, value = pipe.recv()
                waiting = self._waiting.get(asked)
                if waiting is not None:
                    waiting[1].append((good, value))
                    waiting[0].set()
        except (EOFError, OSError):
            for came, _ in list(self._waiting.values()):
                came.set()

    def __repr__(self) -> str:
        return f"<KafkaStub {'in process ' + str(self._process.pid) if self._process else 'not running'}>"


_HERE: Final = frozenset({"start", "close", "coordinator_loading", "was_at"})


class _Child:
    """The child's side."""

    def __init__(self, pipe: Connection, stub: KafkaStub) -> None:
        self._pipe = pipe
        self._sending = threading.Lock()
        self._objects: dict[int, Any] = {0: stub}
        self._numbers: dict[int, int] = {id(stub): 0}
        self._next = itertools.count(1)

    def answer(self, asked: int, number: int, how: str, name: str, args: Any, named: Any) -> None:
        try:
            good, value = True, self._done(number, how, name, args, named)
        except Exception as error:
            good, value = False, _packed(error)
        try:
            said = pickle.dumps((asked, good, value))
        except Exception:
            said = pickle.dumps((asked, False, _packed(StubError(f"{name} cannot be had from another process"))))
        with self._sending, contextlib.suppress(OSError):
            self._pipe.send_bytes(said)

    def _done(self, number: int, how: str, name: str, args: Any, named: Any) -> Any:
        target = self._objects.get(number)
        if target is None:
            raise StubError(f"there were {_MOST_OBJECTS} newer ones: ask the stub for it again")
        if how == "iterate":
            return [self._told(each) for each in target]
        value = getattr(target, name)
        if how == "call":
            return self._told(value(*args, **named))
        return _Reference(-1, "method") if callable(value) and hasattr(value, "__self__") else self._told(value)

    def _told(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._told(each) for each in value]
        if not type(value).__module__.startswith(_STAND_FOR) or isinstance(value, Exception):
            return value
        with self._sending:
            number = self._numbers.get(id(value))
            if number is None:
                number = self._numbers[id(value)] = next(self._next)
                self._objects[number] = value
            if len(self._objects) > _MOST_OBJECTS:
                oldest = next(each for each in self._objects if each)
                del self._numbers[id(self._objects.pop(oldest))]
        return _Reference(number, type(value).__name__)


_Packed = tuple[type[BaseException], tuple[Any, ...], dict[str, Any]]


def _packed(error: BaseException) -> _Packed:
    """An exception as values: many of them cannot be pickled as they are."""
    return type(error), error.args, vars(error)


def _unpacked(packed: _Packed) -> BaseException:
    kind, args, fields = packed
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(fields)
    return error


def _serve(pipe: Connection, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    """The child's main function."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's affair: its end ends us
    args, named = arguments
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parent has warned
            stub = KafkaStub(*args, **named)
        stub.start()
    except Exception as error:
        pipe.send(_packed(error))
        return
    with contextlib.closing(stub), ThreadPoolExecutor(_MOST_CALLS) as pool:
        child = _Child(pipe, stub)
        pipe.send(None)
        with contextlib.suppress(EOFError, OSError):
            while (call := pipe.recv()) is not None:
                pool.submit(child.answer, *call)
        pool.shutdown(wait=False, cancel_futures=True)
