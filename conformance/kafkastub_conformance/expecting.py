"""Comparing an answer with what a case expects of it.

What is expected is plain data: fields that it does not name may hold anything, and so may those that the answer's
version does not have. A list is compared item by item, in its order unless it is `unordered`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kafkastub_conformance.model import CaseError, Difference, Mismatch
from kafkawire.errors import ErrorCode
from kafkawire.schema import Message, Struct

LONGEST_SHOWN = 300


class Answer:
    """A decoded answer, which knows its version. Its fields are the message's."""

    def __init__(self, message: Message, version: int, raw: bytes) -> None:
        self.message = message
        self.version = version
        self.raw = raw
        """The body, behind the header."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.message, name)

    def __repr__(self) -> str:
        return f"v{self.version} {self.message!r}"


class Matcher:
    """A condition in the place of a value."""

    def __init__(self, shown: str, holds: Callable[[Any], bool]) -> None:
        self.shown = shown
        self.holds = holds

    def __repr__(self) -> str:
        return self.shown


ANYTHING = Matcher("anything", lambda value: True)
NOT_EMPTY = Matcher("something", bool)


def at_least(least: int) -> Matcher:
    """A number that is no smaller."""
    return Matcher(f"at least {least}", lambda value: bool(value >= least))


def one_of(*values: Any) -> Matcher:
    """Any of these."""
    return Matcher("one of " + ", ".join(map(_shown, values)), lambda value: value in values)


class Unordered:
    """Items in any order: `expected` sorted by `key`, a field of the items, None for plain values."""

    def __init__(self, expected: Sequence[Any], key: str | None) -> None:
        self.expected = expected
        self.key = key


def unordered(*expected: Any, by: str | None = None) -> Unordered:
    """These items in whichever order; structs are told apart by the field `by`."""
    return Unordered(expected, by)


class Containing:
    """Items of which only those are looked at whose field `key` is named."""

    def __init__(self, expected: Sequence[Mapping[str, Any]], key: str) -> None:
        self.expected = expected
        self.key = key


def containing(*expected: Mapping[str, Any], by: str) -> Containing:
    """These items among others; they are found by the field `by`."""
    return Containing(expected, by)


def expect(answer: Answer, **expected: Any) -> None:
    """Raises Mismatch, with every difference, where the answer is not as expected."""
    found = list(_differences(answer.message, expected, answer.version, ""))
    if found:
        raise Mismatch(found)


def expect_that(what: str, got: Any, expected: Any) -> None:
    """The same for a single value that is not a field, with a name for it."""
    found = list(_differences(got, expected, -1, what))
    if found:
        raise Mismatch(found)


def _differences(got: Any, expected: Any, version: int, path: str) -> Iterator[Difference]:
    if isinstance(expected, Matcher):
        if not expected.holds(got):
            yield Difference(path, expected.shown, _shown(got, path))
    elif isinstance(expected, Mapping) and isinstance(got, Struct):
        yield from _of_struct(got, expected, version, path)
    elif isinstance(expected, Unordered):
        yield from _of_lists(*_sorted(got, expected), version, path)
    elif isinstance(expected, Containing):
        yield from _of_some(got, expected, version, path)
    elif isinstance(expected, list | tuple) and _is_array(got):
        yield from _of_lists(list(got), list(expected), version, path)
    elif (bytes(got) if isinstance(got, memoryview) else got) != expected:
        yield Difference(path, _shown(expected, path), _shown(got, path))


def _of_struct(got: Struct, expected: Mapping[str, Any], version: int, path: str) -> Iterator[Difference]:
    between = {row[0]: row[2] for row in got.FIELDS}
    for name, value in expected.items():
        if name not in between and (got.NEUTRAL is None or name not in {row[0] for row in got.NEUTRAL.FIELDS}):
            raise CaseError(f"{type(got).__name__} has no field {name}")
        if name not in between or (version >= 0 and not between[name][0] <= version <= between[name][1]):
            continue
        yield from _differences(getattr(got, name), value, version, f"{path}.{name}" if path else name)


def _of_lists(got: list[Any], expected: list[Any], version: int, path: str) -> Iterator[Difference]:
    if len(got) != len(expected):
        yield Difference(path, f"{len(expected)}: {_shown(expected)}", f"{len(got)}: {_shown(got)}")
        return
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        yield from _differences(one, other, version, f"{path}[{index}]")


def _of_some(got: Any, expected: Containing, version: int, path: str) -> Iterator[Difference]:
    for item in expected.expected:
        name = item[expected.key]
        found = [one for one in got if getattr(one, expected.key) == name]
        where = f"{path}[{expected.key}={name}]"
        if len(found) != 1:
            yield Difference(where, "1 of them", str(len(found)))
        else:
            yield from _differences(found[0], item, version, where)


def _sorted(got: Any, expected: Unordered) -> tuple[list[Any], list[Any]]:
    key = expected.key
    if key is None:
        return sorted(got), sorted(expected.expected)
    return (
        sorted(got, key=lambda one: str(getattr(one, key))),
        sorted(expected.expected, key=lambda one: str(one[key])),
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shown(value: Any, path: str = "") -> str:
    if path.endswith("error_code") and isinstance(value, int):
        try:
            return f"{int(value)} {ErrorCode(value).name}"
        except ValueError:
            return str(value)
    if isinstance(value, ErrorCode):
        return f"{int(value)} {value.name}"
    text = bytes(value).hex() if isinstance(value, memoryview) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text)} characters)"
