"""kio's native reader behind one door: long arrays of flat structs, where it is two to three times as fast.

It is used for nothing else, because it allocates what an array's count asks for before it looks at the bytes, and a
count of 2^31 then aborts the whole process (kio 0.6.5). So our own code reads the count, holds it against the bytes
that are left, and only then lets kio read the elements, none of which may hold another count.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kafkawire.codec.layout import FIXED, LONGEST_STRING, FieldLayout, StructLayout

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

WORTH_IT = 8
"""Elements from which the call pays."""

ArrayReader = Callable[[bytes, int], tuple[tuple[Any, ...], int]]

_PLAIN = frozenset(FIXED) - {"uuid", "bool", "float64"}
"""Types that both readers take alike (kio makes UUID objects, and refuses a boolean of 2)."""


def array_reader(field: FieldLayout, parent: StructLayout | None) -> ArrayReader | None:
    """A reader of the array `field` from its count on, if kio can have it.

    In a flexible version kio reads an array only together with the tag section of the struct around it: so the array
    has to be the last field of `parent`, and that without tagged fields.
    """
    layout = field.struct
    if layout is None or layout.tagged or len(layout.fields) < 2 or parent is None or parent.tagged:
        return None
    if any(item.array or not (item.kind in _PLAIN or item.kind == "string") for item in layout.fields):
        return None
    if field.nullable:
        return None
    return _LazyReader(layout)


class _LazyReader:
    """Finds kio at the first call, not when a decoder is compiled."""

    def __init__(self, layout: StructLayout) -> None:
        self._layout = layout
        self._texts = [field.name for field in layout.fields if field.kind == "string" and field.compact]
        self._read: Callable[[bytes, int], tuple[Any, int]] | None = None

    def __call__(self, data: bytes, position: int) -> tuple[tuple[Any, ...], int]:
        if self._read is None:
            self._read = _compile(self._layout)
        made, size = self._read(data, position)
        items = made.items
        if self._texts and size - len(items) * self._layout.min_size > LONGEST_STRING:
            self._check_lengths(items)
        return items, position + size

    def _check_lengths(self, items: tuple[Any, ...]) -> None:
        """kio takes strings of any length, Kafka does not. A character has four bytes at most."""
        for name in self._texts:
            if any(len(getattr(item, name) or "") * 4 > LONGEST_STRING for item in items):
                raise ValueError("a long string: the reference reader counts its bytes")


def _compile(layout: StructLayout) -> Callable[[bytes, int], tuple[Any, int]]:
    kio = _kio()
    item = _entity(kio, layout.cls, layout.flexible, {f.name: _python_type(f) for f in layout.fields}, layout)
    holder = _entity(kio, _Items, layout.flexible, {"items": tuple[item, ...]}, None)  # type: ignore[valid-type]
    reader: Callable[[bytes, int], tuple[Any, int]] = kio.entity_reader(holder)
    return reader


class _Items:
    __slots__ = ("items",)


def _python_type(field: FieldLayout) -> Any:
    base = str if field.kind == "string" else int
    return base | None if field.nullable else base


def _entity(kio: Any, base: type, flexible: bool, types: dict[str, Any], layout: StructLayout | None) -> type:
    """A class that kio fills: a subclass of the neutral one, with class attributes for the fields it lacks."""
    kinds = {f.name: f.kind for f in layout.fields} if layout else {}
    described = dataclasses.make_dataclass(
        "described",
        [
            (name, kind, dataclasses.field(metadata={"kafka_type": kinds[name]} if name in kinds else {}))
            for name, kind in types.items()
        ],
    )
    body: dict[str, Any] = {
        "__slots__": (),
        "__dataclass_fields__": vars(described)["__dataclass_fields__"],
        "__type__": kio.EntityType.nested,
        "__version__": 0,
        "__flexible__": flexible,
        "__api_key__": 0,
    }
    if layout is not None:
        body["NEUTRAL"] = base
        blank = layout.cls()
        body.update((row[0], getattr(blank, row[0])) for row in layout.cls.FIELDS if row[0] not in types)
    return type(base.__name__, (base,), body)


class _Kio:
    def __init__(self) -> None:
        from kio import _kio_native
        from kio.static.constants import EntityType

        self.entity_reader = _kio_native.entity_reader
        self.EntityType = EntityType
        # The first reader makes kio import the rest of itself; it has to happen while hypothesis is out of sight.
        holder = _entity(self, _Items, False, {"items": tuple[int, ...]}, None)
        holder.__dataclass_fields__["items"].metadata = {"kafka_type": "int32"}  # type: ignore[attr-defined]
        self.entity_reader(holder)


_loaded: _Kio | None = None


def _kio() -> _Kio:
    global _loaded
    if _loaded is None:
        with _Without("hypothesis"):
            _loaded = _Kio()
    return _loaded


class _Without:
    """Hides a module from imports of this thread: kio imports hypothesis (0.3 to 2 s) wherever it is installed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname == self._name and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is hidden while kio is imported", name=fullname)
        return None

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
