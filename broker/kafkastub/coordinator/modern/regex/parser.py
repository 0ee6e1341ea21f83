"""From the text of a regular expression to its parts, with RE2/J's syntax and its errors. RE2/J: Parser.

Groups capture nothing here, and what is greedy makes no difference, as only names that match as a whole are wanted.
"""

from __future__ import annotations

import re
from typing import Final

from kafkastub.coordinator.modern.regex import classes
from kafkastub.coordinator.modern.regex.nodes import Kind, Node, alternate, concat, repeat

MOST_STATES: Final = 10_000
MOST_NESTED: Final = 200

_REPEAT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAMED_GROUP = re.compile(r"\(\?P?<")
_FLAGS = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])")
_MOST_REPEATED = 1000
_HEX = re.compile(r"[0-9a-fA-F]{2}|\{([0-9a-fA-F]+)\}")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS = {"A": Kind.BEGIN, "z": Kind.END, "b": Kind.BOUNDARY, "B": Kind.NO_BOUNDARY}
_ANCHORS = {"^": Kind.BEGIN, "$": Kind.END}
_QUANTIFIERS = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}


class SyntaxFault(Exception):
    """The expression is none; the text says why. RE2/J: PatternSyntaxException, its description."""


class _Group:
    """An open group, or the whole expression."""

    __slots__ = ("alternatives", "fold", "parts")

    def __init__(self, fold: bool) -> None:
        self.alternatives: list[Node] = []
        self.parts: list[Node] = []
        self.fold = fold
        """Whether case made no difference before it."""

    def end_alternative(self) -> None:
        """What comes next is another alternative."""
        self.alternatives.append(concat(self.parts))
        self.parts = []

    def node(self) -> Node:
        """The group is complete."""
        self.end_alternative()
        return alternate(self.alternatives)


class Parser:
    """One expression.

    Args:
        text: the expression.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._fold = False
        self._open = [_Group(False)]
        self._names: set[str] = set()
        self._pushed: dict[int, Node] = {}

    def parse(self) -> Node:
        """The whole. Raises: SyntaxFault."""
        text = self._text
        repeated = False
        while self._at < len(text):
            char = text[self._at]
            was_repeated, repeated = repeated, False
            if char in _QUANTIFIERS or char == "{":
                # a brace that is none is taken for one when the next quantifier is looked at, as in RE2/J
                repeated = True
                self._quantifier(char, was_repeated)
            elif char == "(":
                self._group()
            elif char == ")":
                self._close()
            elif char == "|":
                self._open[-1].end_alternative()
                self._at += 1
            elif char == "\\":
                self._escape()
            elif char == "[":
                self._push(self._class())
            else:
                self._at += 1
                if char in _ANCHORS:
                    self._open[-1].parts.append(Node(_ANCHORS[char]))
                else:
                    self._push(classes.ALL if char == "." else self._literal(char))
        if len(self._open) > 1:
            raise SyntaxFault("missing closing )")
        return self._checked(self._open[0].node())

    # -- parts ---------------------------------------------------------------------------------------------------

    def _push(self, characters: int) -> None:
        node = self._pushed.get(characters)
        if node is None:
            node = self._pushed[characters] = Node(Kind.CHARACTER, characters=characters)
        self._open[-1].parts.append(node)

    def _literal(self, char: str) -> int:
        code = ord(char)
        return classes.between(code, code, True) if self._fold else 1 << code if code < 128 else 0

    @staticmethod
    def _checked(node: Node) -> Node:
        if node.size > MOST_STATES:
            raise SyntaxFault(f"it takes more than the {MOST_STATES} states that this broker allows; repeat less often")
        if node.depth > MOST_NESTED:
            raise SyntaxFault(f"it is nested more than the {MOST_NESTED} times that this broker allows")
        return node

    def _quantifier(self, char: str, was_repeated: bool) -> None:
        if char == "{":
            found = _REPEAT.match(self._text, self._at)
            if found is None:
                self._at += 1
                self._push(self._literal(char))
                return
            least = self._times(found[1])
            most = least if found[2] is None else -1 if found[3] is None else self._times(found[3])
            if 0 <= most < least:
                raise SyntaxFault("invalid repeat count")
            self._at = found.end()
        else:
            least, most = _QUANTIFIERS[char]
            self._at += 1
        if self._text.startswith("?", self._at):
            self._at += 1
        if was_repeated:
            raise SyntaxFault("invalid nested repetition operator")
        parts = self._open[-1].parts
        if not parts:
            raise SyntaxFault("missing argument to repetition operator")
        parts[-1] = self._checked(repeat(parts[-1], least, most))

    @staticmethod
    def _times(digits: str) -> int:
        if len(digits) > 4 or int(digits) > _MOST_REPEATED:
            raise SyntaxFault("invalid repeat count")
        return int(digits)

    # -- groups --------------------------------------------------------------------------------------------------

    def _group(self) -> None:
        text = self._text
        if not text.startswith("(?", self._at):
            self._begin_group(self._at + 1)
            return
        named = _NAMED_GROUP.match(text, self._at)
        if named is not None:
            end = text.find(">", named.end())
            name = text[named.end() : end]
            if end < 0 or re.fullmatch(r"[0-9A-Za-z_]+", name) is None:
                raise SyntaxFault("invalid named capture")
            self._begin_group(end + 1)
            if name in self._names:
                raise SyntaxFault("duplicate capture group name")
            self._names.add(name)
            return
        flags = _FLAGS.match(text, self._at)
        if flags is None:
            raise SyntaxFault("invalid or unsupported Perl syntax")
        if flags[3] == ":":
            self._begin_group(flags.end())
        self._at = flags.end()
        if "i" in (flags[2] or ""):
            self._fold = False
        elif "i" in flags[1]:
            self._fold = True

    def _begin_group(self, at: int) -> None:
        self._open.append(_Group(self._fold))
        self._at = at

    def _close(self) -> None:
        if len(self._open) == 1:
            raise SyntaxFault("regexp/syntax: internal error")
        group = self._open.pop()
        self._open[-1].parts.append(self._checked(group.node()))
        self._fold = group.fold
        self._at += 1

    # -- characters ----------------------------------------------------------------------------------------------

    def _escape(self) -> None:
        text = self._text
        char = text[self._at + 1 : self._at + 2]
        if char in _ASSERTIONS:
            self._open[-1].parts.append(Node(_ASSERTIONS[char]))
            self._at += 2
        elif char == "Q":
            end = text.find("\\E", self._at + 2)
            for quoted in text[self._at + 2 : end if end >= 0 else len(text)]:
                self._push(self._literal(quoted))
            self._at = end + 2 if end >= 0 else len(text)
        else:
            found = self._named_class()
            if found is None:
                code = self._escaped()
                found = classes.between(code, code, self._fold)
            self._push(found)

    def _named_class(self) -> int | None:
        """`\\pL` or `\\d`, where one is here."""
        text = self._text
        letter = text[self._at + 1 : self._at + 2]
        if text[self._at] != "\\" or not letter:
            return None
        if letter not in "pP":
            found = classes.perl(letter, self._fold)
            self._at += 0 if found is None else 2
            return found
        start = self._at + 2
        if text.startswith("{", start):
            end = text.find("}", start)
            name, after = text[start + 1 : end], end + 1
        else:
            name, after, end = text[start : start + 1], start + 1, start
        found = classes.unicode_class(name.removeprefix("^"))
        if end < 0 or found is None:
            raise SyntaxFault("invalid character class range")
        self._at = after
        if self._fold:
            found = classes.folded(found)
        return found ^ classes.ALL if (letter == "P") != name.startswith("^") else found

    def _escaped(self) -> int:
        """The code of an escaped character."""
        text, at = self._text, self._at + 1
        if at == len(text):
            raise SyntaxFault("trailing backslash at end of expression")
        char = text[at]
        self._at = at + 1
        octal = _OCTAL.match(text, at)
        if octal is not None:
            self._at = octal.end()
            return int(octal[0], 8)
        if char == "x":
            digits = _HEX.match(text, at + 1)
            if digits is not None:
                code = int(digits[1] or digits[0], 16)
                if code <= 0x10FFFF:
                    self._at = digits.end()
                    return code
        elif char in _CONTROL:
            return _CONTROL[char]
        elif not (char.isascii() and char.isalnum()):
            return ord(char)
        raise SyntaxFault("invalid escape sequence")

    def _class(self) -> int:
        """`[a-z]`."""
        text = self._text
        self._at += 1
        negated = text.startswith("^", self._at)
        self._at += negated
        found = 0
        first = True
        while first or not text.startswith("]", self._at):
            first = False
            end = text.find(":]", self._at) if text.startswith("[:", self._at) else -1
            if end >= 0:
                group = classes.posix(text[self._at + 2 : end], self._fold)
                if group is None:
                    raise SyntaxFault("invalid character class range")
                found |= group
                self._at = end + 2
                continue
            named = self._named_class() if self._at < len(text) else None
            found |= self._range() if named is None else named
        self._at += 1
        return found ^ classes.ALL if negated else found

    def _range(self) -> int:
        low = high = self._class_character()
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            high = self._class_character()
            if high < low:
                raise SyntaxFault("invalid character class range")
        return classes.between(low, high, self._fold)

    def _class_character(self) -> int:
        if self._at == len(self._text):
            raise SyntaxFault("missing closing ]")
        char = self._text[self._at]
        if char == "\\":
            return self._escaped()
        self._at += 1
        return ord(char)
