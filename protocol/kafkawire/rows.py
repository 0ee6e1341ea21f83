"""Arrays of structs that are kept as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Generic, TypeVar, final, overload

from kafkawire.schema import Struct

S = TypeVar("S", bound=Struct)


class Shared(list[S], Generic[S]):
    """An array in which the same struct may stand many times, itself and in other arrays of the same message.

    The encoder writes each struct once and gives its bytes again for each further mention: a request of some kilobytes
    may name what takes fifty to describe, ten thousand times.

    Args:
        items: the structs. What is the same object has the same bytes.
        encoded: the encoder's, by identity; all arrays of one message have the same one. Who encodes ahead, with
            `kafkawire.codec.encoder_of`, puts the bytes there, and does not change the struct any more.

    Attributes:
        whole: the bytes of all of them, piece by piece, where they came by `add`.
    """

    __slots__ = ("encoded", "whole")

    def __init__(self, items: Iterable[S] = (), encoded: dict[int, bytes] | None = None) -> None:
        super().__init__(items)
        self.encoded = {} if encoded is None else encoded
        self.whole: list[bytes] = []

    def add(self, some: Sequence[S], encode: Callable[[S], Iterable[bytes | memoryview]]) -> None:
        """Some more of them, encoded now: for one all of which come so."""
        self += some
        self.whole.append(b"".join(chain.from_iterable(map(encode, some))))


def followed_by(first: Sequence[S], others: Iterable[S]) -> list[S]:
    """All of them, as one array; what is encoded of the first ones stays so."""
    both = [*first, *others]
    return Shared(both, first.encoded) if isinstance(first, Shared) else both


def those(items: Sequence[S], wanted: Callable[[S], bool]) -> list[S]:
    """Some of them, as another array; what is encoded of them stays so."""
    some = [one for one in items if wanted(one)]
    if not isinstance(items, Shared):
        return some
    return items if len(some) == len(items) else Shared(some, items.encoded)


class Rows(Sequence[S], Generic[S]):
    """A read-only sequence of structs that are made on demand, out of one sequence a field.

    Whoever knows of columns takes and gives them whole; for everybody else it is an array like others. The decoder
    gives such arrays where `kafkawire.codec.columns` says so, the encoder takes them everywhere.

    Args:
        cls: the struct.
        size: how many there are.
        columns: field -> its values, `size` each. Not to be changed any more.
        constants: field -> the value that it has in all of them. Fields in neither have the schema's default.
    """

    __slots__ = ("cls", "columns", "constants", "packed", "size")

    def __init__(
        self, cls: type[S], size: int, columns: Mapping[str, Sequence[Any]], constants: Mapping[str, Any]
    ) -> None:
        self.cls = cls
        self.columns = columns
        self.constants = constants
        self.size = size
        self.packed: tuple[Any, bytes | bytearray] | None = None
        """The encoder's: who packed them last, and the bytes. An answer may be given many times."""

    def column(self, name: str) -> Sequence[Any]:
        """The values of one field."""
        found = self.columns.get(name)
        return (self.constant(name),) * self.size if found is None else found

    def constant(self, name: str) -> Any:
        """The value of a field that has no column."""
        if name in self.constants:
            return self.constants[name]
        return getattr(self.cls(), name)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[S]:
        names = [row[0] for row in self.cls.FIELDS]
        columns = self.columns
        found = map(columns.get, names)
        each = [
            repeat(self.constant(name), self.size) if column is None else column
            for name, column in zip(names, found, strict=True)
        ]
        return map(self.cls, *each)

    @overload
    def __getitem__(self, index: int) -> S: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[S]: ...

    def __getitem__(self, index: int | slice) -> S | Sequence[S]:
        if isinstance(index, slice):
            return tuple(self)[index]
        values = {name: column[index] for name, column in self.columns.items()}
        if not values:
            range(self.size)[index]  # raises IndexError
        return self.cls(**self.constants, **values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


@final
class Run(Rows[S]):
    """Rows as they lie on the wire, whose first field counts up, and whose strings are all empty.

    What most commits are: of neighbouring partitions, without metadata. The columns are read when they are asked for.

    Args:
        raw: the rows' bytes.
        first: the first field of the first row.
        read: gives the columns of so many rows in `raw`.
        constants: the empty strings.
    """

    __slots__ = ("_raw", "_read", "first")

    def __init__(
        self,
        cls: type[S],
        size: int,
        raw: bytes,
        first: int,
        read: Callable[[bytes, int, int], Mapping[str, Sequence[Any]]],
        constants: Mapping[str, Any],
    ) -> None:
        self.cls = cls
        self.size = size
        self.constants = constants
        self.first = first
        self._raw = raw
        self._read = read

    def with_rows(self, raw: bytes) -> Run[S]:
        """The same rows with other numbers behind the first field, as the caller has made sure."""
        return Run(self.cls, self.size, raw, self.first, self._read, self.constants)

    def same_rows(self, other: Run[S]) -> bool:
        """Whether the other one has the same first fields."""
        return self.first == other.first and self.size == other.size

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:  # type: ignore[override]
        return self._read(self._raw, 0, self.size)
