"""`KafkaStub(process=True)`: the broker in a separate process, behind the same Python API.

The child runs an ordinary `KafkaStub`. A call goes over a pipe as a path ("clock", "advance") with its arguments. The
value, or the exception, comes back. Objects that cannot be sent as values, such as a fault or the journal, stay in the
child, and a `Remote` represents them. The child ends when its parent ends, in whatever way, because the pipe is closed
then. Arguments are pickled by themselves: one that the child cannot read is an error of that call alone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import threading
import warnings
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, Protocol, Self

from kafkastub.stub.command import CommandProcess, greeting
from kafkastub.stub.errors import NOT_RUNNING, RUNNING, StubError

_MOST_CALLS: Final = 16
"""At the same time: a `wait` keeps one."""
_MOST_OBJECTS: Final = 10_000
"""That the child keeps for the parent; the oldest are forgotten."""
_STAND_FOR: Final = ("kafkastub.stub.", "kafkastub.journal", "contextlib")
"""Modules of which the objects stay in the child."""
_STUB: Final = 0
"""The number of the stub itself among the objects in the child."""
_ENDS: Final = {"Fault": "remove", "Hold": "release", "RevocationHold": "release", "AcknowledgementHold": "release"}
"""What a context manager in the child does at its end."""
_ENDED: Final = "the stub's process has ended"


class Startable(Protocol):
    """The object that runs in the child. It is started and closed there; all other calls name an attribute."""

    def start(self) -> Any: ...

    def close(self) -> None: ...


class _Reference:
    """An object that lives in the child."""

    def __init__(self, number: int, kind: str) -> None:
        self.number = number
        self.kind = kind


class Remote:
    """Represents an object in the child. Methods, properties, iteration, length and `with` work as they do there."""

    def __init__(self, child: ChildProcess, number: int, kind: str) -> None:
        self._child = child
        self._number = number
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._child.ask(self._number, "get", name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._child.ask(self._number, "call", "__call__", args, named)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self._child.ask(self._number, "call", "__setattr__", (name, value))

    def __len__(self) -> int:
        return int(self._child.ask(self._number, "call", "__len__"))

    def __iter__(self) -> Any:
        return iter(self._child.ask(self._number, "iterate", ""))

    def __getitem__(self, key: object) -> Any:
        return self._child.ask(self._number, "call", "__getitem__", (key,))

    def __contains__(self, key: object) -> bool:
        return bool(self._child.ask(self._number, "call", "__contains__", (key,)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end = _ENDS.get(self._kind)
        if end is not None:
            with contextlib.suppress(StubError):  # closed meanwhile, and what it stands for with it
                self._child.ask(self._number, "call", end)

    def __str__(self) -> str:
        return self._said("__str__")

    def __repr__(self) -> str:
        return self._said("__repr__")

    def _said(self, name: str) -> str:
        """What the object says of itself; where nobody is there to be asked, whose it was."""
        try:
            return str(self._child.ask(self._number, "call", name))
        except StubError:
            return f"<{self._kind} of {self._child!r}>"


def _there(value: Any) -> Any:
    """An argument as the child is to get it: what lives there is named."""
    return _Reference(value._number, "") if isinstance(value, Remote) else value


class _Method:
    """A bound method in the child."""

    def __init__(self, child: ChildProcess, number: int, name: str) -> None:
        self._child = child
        self._number = number
        self._name = name

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._child.ask(self._number, "call", self._name, args, named)


class ChildProcess:
    """The process in which a stub runs, and the pipe to it."""

    def __init__(self, make: Callable[[], Startable], command: str | None = None) -> None:
        """`make` can be pickled. It returns the stub, in the child, which `command` runs, or else this Python."""
        self._make = make
        self._command = command
        self._process: Any = None
        self._pipe: Connection | None = None
        self._sending = threading.Lock()
        self._waiting: dict[int, tuple[threading.Event, list[Any]]] = {}
        self._numbers = itertools.count()
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The process id, None if the process does not run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start and wait until the stub has started. Raises what its start raises, StubError."""
        if self._process is not None:
            raise StubError(RUNNING)
        process, mine = self._started()
        try:
            started = mine.recv()
        except (EOFError, OSError):
            started = StubError(_ENDED)
        if started is not None:
            process.join()
            process.close()
            mine.close()
            raise started if isinstance(started, StubError) else _unpacked(started)
        self._process, self._pipe = process, mine
        self._reader = threading.Thread(target=self._read, args=(mine,), name="kafkastub-answers", daemon=True)
        self._reader.start()

    def _started(self) -> tuple[Any, Connection]:
        """The process, and the pipe to it. Raises StubError if the command is not fit for it."""
        if self._command is not None:
            make = _bytes(self._make)  # before there is a process that would have to end
            command = CommandProcess(self._command)
            command.give(make)
            return command, command.pipe
        context = get_context("spawn")
        mine, its = context.Pipe()
        process = context.Process(target=_serve, args=(its, self._make), name="kafkastub", daemon=True)
        process.start()
        its.close()
        return process, mine

    def close(self) -> None:
        """End the process. A second call has no effect."""
        process, pipe, reader = self._process, self._pipe, self._reader
        if process is None or pipe is None or reader is None:
            return
        self._process = self._pipe = self._reader = None
        with contextlib.suppress(OSError):
            pipe.send(None)
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()
        reader.join()
        pipe.close()
        process.close()

    def ask_stub(self, how: str, name: str, *args: Any) -> Any:
        """Return the result of a call to the stub itself, as `ask` does."""
        return self.ask(_STUB, how, name, args)

    @contextlib.contextmanager
    def context_of(self, name: str) -> Iterator[Any]:
        """Run a block within the context manager that a method of the stub returns in the child."""
        there = self.ask_stub("call", name)
        entered = self.ask(there._number, "call", "__enter__")
        try:
            yield entered
        finally:
            self.ask(there._number, "call", "__exit__", (None, None, None))

    def ask(self, number: int, how: str, name: str, args: tuple[Any, ...] = (), named: Any = None) -> Any:
        """Return the result of a call to an object in the child; `how` is "get", "call" or "iterate".

        Raises what the call raises, StubError.
        """
        pipe = self._pipe
        if pipe is None:
            raise StubError(NOT_RUNNING)
        asked = next(self._numbers)
        came, answer = self._waiting.setdefault(asked, (threading.Event(), []))
        try:
            with self._sending:
                given = tuple(map(_there, args)), {key: _there(value) for key, value in (named or {}).items()}
                pipe.send((asked, number, how, name, _bytes(given)))
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
        return f"<KafkaStub {'not running' if self.pid is None else f'in process {self.pid}'}>"


class _Child:
    """The child's side."""

    def __init__(self, pipe: Connection, stub: Startable) -> None:
        self._pipe = pipe
        self._sending = threading.Lock()
        self._objects: dict[int, Any] = {_STUB: stub}
        self._numbers: dict[int, int] = {id(stub): _STUB}
        self._next = itertools.count(1)

    def answer(self, asked: int, number: int, how: str, name: str, given: bytes) -> None:
        try:
            args, named = _read(given)
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
            raise StubError(f"this object is too old, there are {_MOST_OBJECTS} newer ones: get it from the stub again")
        if how == "iterate":
            return [self._told(each) for each in target]
        args, named = tuple(map(self._meant, args)), {key: self._meant(each) for key, each in named.items()}
        value = getattr(target, name)
        if how == "call":
            return self._told(value(*args, **named))
        return _Reference(-1, "method") if callable(value) and hasattr(value, "__self__") else self._told(value)

    def _meant(self, value: Any) -> Any:
        """An argument: what it names, where it names something that is here."""
        return self._objects.get(value.number) if isinstance(value, _Reference) else value

    def _told(self, value: Any) -> Any:
        if isinstance(value, list | KeysView | ValuesView | ItemsView):
            return [self._told(each) for each in value]
        if not type(value).__module__.startswith(_STAND_FOR) or isinstance(value, Exception | tuple):
            return value
        with self._sending:
            number = self._numbers.get(id(value))
            if number is None:
                number = self._numbers[id(value)] = next(self._next)
                self._objects[number] = value
            if len(self._objects) > _MOST_OBJECTS:
                oldest = next(each for each in self._objects if each != _STUB)
                del self._numbers[id(self._objects.pop(oldest))]
        return _Reference(number, type(value).__name__)


def _bytes(value: object) -> bytes:
    """A value as it is sent. Raises what pickle raises."""
    return bytes(ForkingPickler.dumps(value))


def _read(content: bytes) -> Any:
    """What the parent sent. Raises StubError where it is of a module that is not here."""
    try:
        return pickle.loads(content)
    except (AttributeError, ImportError) as error:
        raise StubError(f"an argument cannot be had in the stub's process: {error}") from None


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


def serve_parent() -> None:
    """Run the stub of the process that has started this one, with a socket as standard input, until that ends."""
    pipe = Connection(os.dup(0))
    pipe.send_bytes(greeting())
    with contextlib.suppress(EOFError, OSError):
        content = pipe.recv_bytes()
        _serve(pipe, lambda: _read(content)())


def _serve(pipe: Connection, make: Callable[[], Startable]) -> None:
    """The child's main function."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's affair: its end ends us
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parent has warned
            stub = make()
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
