"""Where a comparison of two JSON Schemas is, and what it has found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from kafkastub.registry.errors import TooComplex
from kafkastub.registry.json_schema.differences import Difference

if TYPE_CHECKING:
    from kafkastub.registry.json_schema.document import Document
    from kafkastub.registry.json_schema.shapes import Shape

MOST_STEPS: Final = 100_000

Found = list[tuple[str, tuple[str, ...]]]
"""Kinds with paths relative to where the pair was met."""
Compare = Callable[["Context", "Shape", "Shape"], None]


class Shared:
    """What all of one comparison has in common.

    Attributes:
        known: by the ids of two shapes, what is different between them.
        assumed: of pairs that have themselves in them, what was found the last time; nothing is the first guess.
    """

    def __init__(
        self,
        original: Document,
        update: Document,
        compatible: frozenset[str],
        compare: Compare,
        assumed: dict[tuple[int, int], Found],
    ) -> None:
        self.original = original
        self.update = update
        self.compatible = compatible
        self.compare = compare
        self.known: dict[tuple[int, int], Found] = {}
        self.under_way: set[tuple[int, int]] = set()
        self.assumed = assumed
        self.guessed = False
        self.steps = 0


class Context:
    """Differences of one place, and of what is below it."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.found: Found = []
        self._path: list[str] = []

    def original(self, value: Any) -> Shape:
        """The shape of a part of the schema that was there."""
        return self.shared.original.shape(value)

    def update(self, value: Any) -> Shape:
        """The shape of a part of the schema that comes."""
        return self.shared.update.shape(value)

    @contextmanager
    def at(self, *parts: str) -> Iterator[None]:
        """Meanwhile further down."""
        self._path += parts
        try:
            yield
        finally:
            del self._path[len(self._path) - len(parts) :]

    def add(self, kind: str, *parts: str) -> None:
        self.found.append((kind, (*self._path, *parts)))

    def add_all(self, found: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """What was found between other shapes, here."""
        here = tuple(self._path)
        self.found += [(kind, (*here, *path)) for kind, path in found]

    def compare(self, original: Shape, update: Shape) -> None:
        """Compare two shapes here."""
        self.add_all(self.between(original, update))

    def is_compatible(self, found: Found) -> bool:
        return all(kind in self.shared.compatible for kind, _ in found)

    def between(self, original: Shape, update: Shape) -> Found:
        """What is different between two shapes. Raises TooComplex."""
        shared, pair = self.shared, (id(original), id(update))
        known = shared.known.get(pair)
        if known is not None:
            return known
        if pair in shared.under_way:
            if pair not in shared.assumed:
                shared.guessed = True
            return shared.assumed.get(pair, [])
        shared.steps += 1
        if shared.steps > MOST_STEPS:
            raise TooComplex(f"more than {MOST_STEPS} pairs of schemas would have to be compared")
        shared.under_way.add(pair)
        context = Context(shared)
        shared.compare(context, original, update)
        shared.under_way.discard(pair)
        found = shared.known[pair] = list(dict.fromkeys(context.found))
        return found

    def told(self) -> list[Difference]:
        return [Difference(kind, "#/" + "/".join(path)) for kind, path in self.found]
