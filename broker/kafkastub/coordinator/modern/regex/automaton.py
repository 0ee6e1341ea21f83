"""Matches names with an expression, without ever going back: all ways to match are followed at once.

Sets of states that come up are kept with where each character leads from them (what is called a lazy DFA), so that the
next names with the same beginnings cost a look-up a character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kafkastub.coordinator.modern.regex.nodes import Kind, Node

STEPS_AT_ONCE: Final = 20_000
"""So many states are looked at before others get their turn; some milliseconds."""
_MOST_KEPT = 50_000
"""So many states may lie in the sets that are kept."""

_START, _WORD, _OTHER, _END = range(4)
"""What is before or behind a place in the name."""
_MATCH = 0


class Automaton:
    """An expression as states: one consumes a character, or leads to others, some on a condition.

    Args:
        node: the expression.
    """

    def __init__(self, node: Node) -> None:
        self._characters: list[int] = [0]
        self._next: list[tuple[int, ...]] = [()]
        self._conditions: dict[int, Kind] = {}
        self._first = self._emit(node, _MATCH)
        self._looked_at = 0

    def matching(self, names: Iterable[str]) -> Iterator[str | None]:
        """The names that match as a whole, in their order; None where enough is done for now: others may have work."""
        kept: dict[tuple[frozenset[int], int], _Set] = {}
        first = self._set(kept, frozenset((self._first,)), _START)
        steps = size = 0
        for name in names:
            steps += len(name)
            if steps > STEPS_AT_ONCE:
                yield None
                steps = 0
            at = first
            for char in name:
                after = at.next.get(char)
                if after is None:
                    after = at.next[char] = self._after(kept, at, char)
                    size += len(at.states) + len(after.states) + 1
                    steps += self._looked_at + len(after.states) + 1
                    self._looked_at = 0
                    if steps > STEPS_AT_ONCE:
                        yield None
                        steps = 0
                    if size > _MOST_KEPT:
                        _forget(kept)
                        first = self._set(kept, frozenset((self._first,)), _START)
                        size = 0
                at = after
                if not at.states:
                    break
            else:
                if at.matches is None:
                    at.matches = _MATCH in self._reached(at, _END)
                if at.matches:
                    yield name
        _forget(kept)

    # -- sets of states ------------------------------------------------------------------------------------------

    def _set(self, kept: dict[tuple[frozenset[int], int], _Set], states: frozenset[int], before: int) -> _Set:
        key = states, before if self._conditions else _OTHER
        found = kept.get(key)
        if found is None:
            found = kept[key] = _Set(*key)
        return found

    def _after(self, kept: dict[tuple[frozenset[int], int], _Set], at: _Set, char: str) -> _Set:
        """Where a character leads."""
        code = ord(char)
        kind = _WORD if char == "_" or (char.isascii() and char.isalnum()) else _OTHER
        if code > 127:
            return self._set(kept, frozenset(), kind)
        characters, following = self._characters, self._next
        reached = (state for state in self._reached(at, kind) if characters[state] >> code & 1)
        return self._set(kept, frozenset(following[state][0] for state in reached), kind)

    def _reached(self, at: _Set, behind: int) -> Iterable[int]:
        """The states that consume a character, or are the match, to which one comes without a character."""
        place = behind if self._conditions else _OTHER
        found = at.reached.get(place)
        if found is None:
            found = at.reached[place] = self._closure(at.states, at.before, behind)
        return found

    def _closure(self, states: frozenset[int], before: int, behind: int) -> list[int]:
        seen = set(states)
        open_ = list(states)
        found = []
        while open_:
            state = open_.pop()
            if state == _MATCH or self._characters[state]:
                found.append(state)
                continue
            if state in self._conditions and not _holds(self._conditions[state], before, behind):
                continue
            for other in self._next[state]:
                if other not in seen:
                    seen.add(other)
                    open_.append(other)
        self._looked_at += len(seen)
        return found

    # -- from the expression to states ---------------------------------------------------------------------------

    def _state(self, following: tuple[int, ...], characters: int = 0) -> int:
        self._characters.append(characters)
        self._next.append(following)
        return len(self._next) - 1

    def _emit(self, node: Node, then: int) -> int:
        """Make the states of a part, behind which `then` follows. Where it begins."""
        if node.kind is Kind.CHARACTER:
            return self._state((then,) if node.characters else (), node.characters)
        if node.kind is Kind.CONCAT:
            for part in reversed(node.parts):
                then = self._emit(part, then)
            return then
        if node.kind is Kind.ALTERNATE:
            return self._state(tuple(self._emit(part, then) for part in node.parts))
        if node.kind is Kind.REPEAT:
            return self._repeat(node, then)
        state = self._state((then,))
        self._conditions[state] = node.kind
        return state

    def _repeat(self, node: Node, then: int) -> int:
        part = node.parts[0]
        begin = then
        if node.most < 0:
            begin = self._state(())
            self._next[begin] = (self._emit(part, begin), then)
        for _ in range(node.most - node.least):
            begin = self._state((self._emit(part, begin), then))
        for _ in range(node.least):
            begin = self._emit(part, begin)
        return begin


class _Set:
    """States in which matching may be before a character, or after the last one.

    Attributes:
        before: what is before this place.
        reached: by what is behind it.
        next: by character.
    """

    __slots__ = ("before", "matches", "next", "reached", "states")

    def __init__(self, states: frozenset[int], before: int) -> None:
        self.states = states
        self.before = before
        self.reached: dict[int, list[int]] = {}
        self.next: dict[str, _Set] = {}
        self.matches: bool | None = None


def _forget(kept: dict[tuple[frozenset[int], int], _Set]) -> None:
    """Sets lead to each other in circles, which otherwise wait for the garbage collector."""
    for one in kept.values():
        one.next.clear()
    kept.clear()


def _holds(condition: Kind, before: int, behind: int) -> bool:
    if condition is Kind.BEGIN:
        return before == _START
    if condition is Kind.END:
        return behind == _END
    boundary = (before == _WORD) != (behind == _WORD)
    return boundary == (condition is Kind.BOUNDARY)
