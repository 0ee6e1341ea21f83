"""Regular expressions that somebody sends over the wire: matched in a time that the text's length alone decides.

Kafka takes ``java.util.regex``, which tries one way after the other as Python's `re` does, and nothing bounds it:
``(a+)+b`` and a client id of thirty letters take minutes, and one thread serves everybody here. So the expressions are
of a kind that needs no second try (Glushkov's automaton: a set of places in the expression moves along the text):

| served | |
|---|---|
| characters, ``.``, ``\\d \\D \\w \\W \\s \\S \\t \\n \\r \\f`` | as in Java |
| ``\\`` before what is no letter or digit | that character |
| ``[a-z_]``, ``[^…]`` | without classes inside and ``&&`` |
| ``(…)``, ``(?:…)``, ``|``, ``*``, ``+``, ``?``, ``{m}``, ``{m,}``, ``{m,n}`` | with ``?`` behind too, to no effect |
| ``^`` first, ``$`` last | a whole text is matched anyway |

No reference to a group, no look-around, no flags, no ``\\p{…}``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MOST_PLACES: Final = 200
"""Characters and classes of an expression, each as often as it is repeated."""
LONGEST_TEXT: Final = 256
"""Characters of a text; a longer one matches nothing."""
_DIGITS: Final = frozenset("0123456789")
_WORD: Final = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_CLASSES: Final = {"d": _DIGITS, "w": _WORD, "s": frozenset(" \t\n\x0b\f\r")}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_NO_DOT: Final = frozenset("\n\r\x85\u2028\u2029")
_MOST_DEEP: Final = 50
_MOST_FITTING: Final = 1000
"""Characters of which is remembered what they fit, from one text to the next."""

_Fits = Callable[[str], bool]
_Ends = tuple[bool, int, int]
"""Of a part: whether nothing matches it, and the places (as bits) where it may begin and end."""
_Part = tuple[int, Callable[["_Places"], _Ends]]
"""How many places a part has, and what sets them down: once more for each repetition."""


class NotServed(ValueError):
    """No expression, or none of this kind; ``str()`` says what of it."""


class _Places:
    """The automaton as it is built."""

    def __init__(self) -> None:
        self.fits: list[_Fits] = []
        self.follow: list[int] = []

    def put(self, fits: _Fits) -> _Ends:
        bit = 1 << len(self.fits)
        self.fits.append(fits)
        self.follow.append(0)
        return False, bit, bit

    def fitting(self, character: str) -> int:
        """The places, as bits, that the character fits."""
        return sum(1 << place for place, fits in enumerate(self.fits) if fits(character))

    def link(self, ends: int, begins: int) -> None:
        while ends:
            bit = ends & -ends
            self.follow[bit.bit_length() - 1] |= begins
            ends ^= bit


class Pattern:
    """A compiled expression. Raises NotServed."""

    def __init__(self, expression: str) -> None:
        self.places, self._set_down = _Parser(expression).parsed()
        self._places: _Places | None = None
        self._ends: _Ends
        self._fitting: dict[str, int] = {}

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text is one that the expression means."""
        if len(text) > LONGEST_TEXT:
            return False
        if self._places is None:
            self._places = _Places()
            self._ends = self._set_down(self._places)
        empty, there, last = self._ends
        if not text:
            return empty
        follow = self._places.follow
        fitting = self._fitting
        if len(fitting) > _MOST_FITTING:
            fitting.clear()
        now = 0
        for character in text:
            mask = fitting.get(character)
            if mask is None:
                mask = fitting[character] = self._places.fitting(character)
            now = left = there & mask
            there = 0
            while left:
                bit = left & -left
                left ^= bit
                there |= follow[bit.bit_length() - 1]
            if not now:
                return False
        return bool(now & last)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._deep = 0

    def parsed(self) -> _Part:
        if not self._text:
            raise NotServed("it is empty")
        found = self._either()
        if self._at < len(self._text):
            raise NotServed(f"')' at {self._at} closes nothing")
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise NotServed("it ends early")
        self._at += 1
        return character

    def _either(self) -> _Part:
        self._deep += 1
        if self._deep > _MOST_DEEP:
            raise NotServed(f"more than {_MOST_DEEP} groups inside each other")
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        self._deep -= 1
        return branches[0] if len(branches) == 1 else _either(branches)

    def _sequence(self) -> _Part:
        parts: list[_Part] = []
        size = 0
        while (character := self._peek()) and character not in "|)":
            if character == "^" and not parts:
                self._at += 1
                continue
            if character == "$" and self._text[self._at + 1 : self._at + 2] in ("", "|", ")"):
                self._at += 1
                continue
            parts.append(self._repeated(self._single()))
            size += parts[-1][0]
            if size > MOST_PLACES:
                raise NotServed(f"more than {MOST_PLACES} characters and classes, each as often as it is repeated")
        return _sequence(parts)

    def _single(self) -> _Part:
        character = self._take()
        if character == "(":
            if self._peek() == "?":
                self._at += 1
                if self._take() != ":":
                    raise NotServed(f"of groups that begin with '(?' only '(?:' is served, at {self._at - 3}")
            inside = self._either()
            if self._take() != ")":
                raise NotServed("a group is not closed")
            return inside
        if character == "[":
            return _one(self._class())
        if character == ".":
            return _one(lambda one: one not in _NO_DOT)
        if character == "\\":
            found = self._escaped()
            return _one(found.__eq__ if isinstance(found, str) else found)
        if character in "*+?{^$":
            raise NotServed(f"'{character}' at {self._at - 1}")
        return _one(character.__eq__)

    def _escaped(self) -> str | _Fits:
        character = self._take()
        if character.lower() in _CLASSES:
            known = _CLASSES[character.lower()]
            return known.__contains__ if character.islower() else lambda one: one not in known
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character.isalnum():
            raise NotServed(f"'\\{character}' at {self._at - 2}")
        return character

    def _class(self) -> _Fits:
        negated = self._peek() == "^"
        self._at += negated
        ones: set[str] = set()
        ranges: list[tuple[str, str]] = []
        others: list[_Fits] = []
        while (character := self._take()) != "]" or not (ones or ranges or others):
            if character == "[" or (character == "&" and self._peek() == "&"):
                raise NotServed(f"'{character}' in a class, at {self._at - 1}")
            found = self._escaped() if character == "\\" else character
            if not isinstance(found, str):
                others.append(found)
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                character = self._take()
                last = self._escaped() if character == "\\" else character
                if not isinstance(last, str) or last < found or last == "[":
                    raise NotServed(f"a range in a class, at {self._at - 1}")
                ranges.append((found, last))
            else:
                ones.add(found)

        def fits(one: str) -> bool:
            inside = one in ones or any(low <= one <= high for low, high in ranges) or any(fit(one) for fit in others)
            return inside is not negated

        return fits

    def _repeated(self, part: _Part) -> _Part:
        while (character := self._peek()) and character in "*+?{":
            begin = self._at
            self._at += 1
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(character) or self._counts()
            if self._peek() == "?":
                self._at += 1
            elif self._peek() == "+":
                raise NotServed(f"a repetition that gives nothing back, at {begin}")
            if part[0] * max(least, most or 1) > MOST_PLACES:
                raise NotServed(f"more than {MOST_PLACES} characters and classes, each as often as it is repeated")
            part = _repeated(part, least, most)
        return part

    def _counts(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : end].partition(",")
        counts = (low, high) if comma and high else (low,)
        if end < 0 or not all(one.isascii() and one.isdigit() and len(one) < 5 for one in counts):
            raise NotServed(f"'{{' at {self._at - 1}")
        self._at = end + 1
        least = int(low)
        most = None if comma and not high else int(counts[-1])
        if most is not None and most < least:
            raise NotServed(f"'{{{low},{high}}}'")
        return least, most


def _one(fits: _Fits) -> _Part:
    return 1, lambda places: places.put(fits)


def _either(branches: list[_Part]) -> _Part:
    def set_down(places: _Places) -> _Ends:
        ends = [branch[1](places) for branch in branches]
        begins = lasts = 0
        for _, first, last in ends:
            begins, lasts = begins | first, lasts | last
        return any(empty for empty, _, _ in ends), begins, lasts

    return max(1, sum(branch[0] for branch in branches)), set_down


def _sequence(parts: list[_Part]) -> _Part:
    def set_down(places: _Places) -> _Ends:
        empty, begins, lasts = True, 0, 0
        for _, put in parts:
            part_empty, first, last = put(places)
            places.link(lasts, first)
            if empty:
                begins |= first
            lasts = lasts | last if part_empty else last
            empty = empty and part_empty
        return empty, begins, lasts

    return max(1, sum(part[0] for part in parts)), set_down  # what is empty can be repeated, too


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    def looped(places: _Places) -> _Ends:
        empty, first, last = part[1](places)
        places.link(last, first)
        return empty, first, last

    def optional(places: _Places) -> _Ends:
        _, first, last = part[1](places)
        return True, first, last

    def optional_loop(places: _Places) -> _Ends:
        _, first, last = looped(places)
        return True, first, last

    size = part[0]
    if most is None:
        again: _Part = (size, looped if least else optional_loop)
        return _sequence([*[part] * (least - 1), again])
    return _sequence([*[part] * least, *[(size, optional)] * (most - least)])
