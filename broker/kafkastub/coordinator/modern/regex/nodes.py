"""What a regular expression is made of."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a node is."""

    CHARACTER = "one character of a class"
    CONCAT = "one after the other"
    ALTERNATE = "one of them"
    REPEAT = "so many times"
    BEGIN = "the beginning"
    END = "the end"
    BOUNDARY = "a word begins or ends here"
    NO_BOUNDARY = "no word begins or ends here"


class Node(NamedTuple):
    """A part of an expression.

    Attributes:
        size: about how many states it takes.
        depth: how deep its parts are nested.
        characters: of a CHARACTER, the class.
        least, most: of a REPEAT; `most` is -1 where there is no limit.
    """

    kind: Kind
    size: int = 1
    depth: int = 1
    parts: tuple[Node, ...] = ()
    characters: int = 0
    least: int = 0
    most: int = 0


def concat(parts: list[Node]) -> Node:
    """Parts one after the other; nothing at all where there are none."""
    return parts[0] if len(parts) == 1 else _of(Kind.CONCAT, parts)


def alternate(parts: list[Node]) -> Node:
    """One of the parts."""
    return parts[0] if len(parts) == 1 else _of(Kind.ALTERNATE, parts)


def repeat(part: Node, least: int, most: int) -> Node:
    """A part so many times, without limit where `most` is -1."""
    size = part.size * max(least, most, 1) + max(most - least, 1)
    return Node(Kind.REPEAT, size, part.depth + 1, (part,), least=least, most=most)


def _of(kind: Kind, parts: list[Node]) -> Node:
    size = sum(part.size for part in parts) + 1
    return Node(kind, size, max((part.depth for part in parts), default=0) + 1, tuple(parts))
