"""Whom a client certificate names: its subject as Java prints it, and Kafka's rules that make a principal of it.

Sources: ``X500Principal.getName()`` (RFC 2253), ``SslPrincipalMapper``, ``DefaultKafkaPrincipalBuilder``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""RFC 2253's; every other attribute is its number, and its value is DER in hexadecimal digits."""
_TEXT_TAGS: Final = frozenset((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E))
"""UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString: Java's ``AVA.isDerString``."""
_ESCAPED: Final = frozenset(',=+<>#;"\\')
_CONTEXT_0: Final = 0xA0

# The whole text is split first, then each piece has to be one rule: Kafka's two steps.
_RULE: Final = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSER: Final = re.compile(_RULE)


class RuleError(ValueError):
    """A rule that Kafka would not start with; the text says which and why."""


class NoRuleApplies(ValueError):
    """No rule makes a principal of this name: Kafka closes the connection then."""


def subject_of(certificate: bytes) -> str:
    """The subject of a DER certificate, as ``X500Principal.getName()`` prints it: `CN=alice,OU=dev`."""
    _, body, _ = _element(certificate, 0)
    _, to_be_signed, _ = _element(body, 0)
    fields = list(_elements(to_be_signed))
    if fields[0][0] == _CONTEXT_0:  # the version, which certificates of version 1 do not have
        del fields[0]
    subject = fields[4][1]  # behind the serial number, the algorithm, the issuer and the validity
    names = ["+".join(_attribute(one) for _, one in _elements(names)) for _, names in _elements(subject)]
    return ",".join(reversed(names))


class PrincipalRules:
    """``ssl.principal.mapping.rules``, read once."""

    def __init__(self, text: str) -> None:
        """Raises RuleError."""
        pieces = [match[1] for match in _SPLITTER.finditer(text.strip())]
        self._rules = [rule for rule in map(_parsed, pieces) if rule is not None]

    def principal(self, name: str) -> str:
        """`User:…` for a subject. Raises NoRuleApplies."""
        for rule in self._rules:
            found = name if isinstance(rule, str) else rule.apply(name)
            if found is not None:
                return f"User:{found}"
        raise NoRuleApplies(f"no rule of ssl.principal.mapping.rules applies to {name}")


class _Rule:
    def __init__(self, pattern: re.Pattern[str], replacement: str, case: str) -> None:
        self._pattern = pattern
        self._replacement = replacement
        self._case = case

    def apply(self, name: str) -> str | None:
        """None where the pattern does not match the whole name."""
        if self._pattern.fullmatch(name) is None:
            return None
        # All matches are replaced, as Java's replaceAll does: `.*` matches once more at the end.
        result = self._pattern.sub(self._replaced, name)
        return result.lower() if self._case == "L" else result.upper() if self._case == "U" else result

    def _replaced(self, match: re.Match[str]) -> str:
        """The replacement as ``Matcher.appendReplacement`` reads it: `$1`, and a backslash before what is meant so."""
        text, out, at = self._replacement, "", 0
        while at < len(text):
            one = text[at]
            at += 1
            if one == "\\" and at < len(text):
                out += text[at]
                at += 1
            elif one == "$":
                digits = re.compile(r"[0-9]+").match(text, at)
                if digits is None or (int(digits[0]) and not self._pattern.groups):
                    raise NoRuleApplies(f"the replacement {text} of a rule names a group that its pattern has not")
                number, end = _group(digits[0], self._pattern.groups)
                out += one if number is None else match[number] or ""
                at += end
            else:
                out += one
        return out


def _group(digits: str, groups: int) -> tuple[int | None, int]:
    """As many digits as still name a group of the pattern, and how many they are; where none do, `$` means itself."""
    for end in range(len(digits), 0, -1):
        if int(digits[:end]) <= groups:
            return int(digits[:end]), end
    return None, 0


def _parsed(text: str) -> _Rule | str | None:
    """A rule, "DEFAULT", or None for the empty text. Raises RuleError."""
    match = _PARSER.match(text)
    assert match is not None  # the last alternative matches everything
    if match.end() != len(text):
        raise RuleError(f"{text} is not a rule: expected DEFAULT or RULE:pattern/replacement/[LU]")
    default, pattern, replacement, case = match.group(1, 2, 3, 4)
    if default is not None:
        return "DEFAULT"
    if pattern is None:
        return None
    try:
        return _Rule(re.compile(re.sub(r"\(\?<(?=[A-Za-z])", "(?P<", pattern)), replacement, case)
    except re.error as error:
        raise RuleError(f"the pattern {pattern} cannot be read: {error}") from None


def _attribute(der: bytes) -> str:
    """One `type=value` (``AVA.toRFC2253String``)."""
    (_, number), (tag, value) = _elements(der)
    oid = _dotted(number)
    keyword = _KEYWORDS.get(oid)
    if keyword is None or tag not in _TEXT_TAGS:
        _, _, start = _element(der, 0)
        return f"{keyword or oid}=#{der[start:].hex()}"
    return f"{keyword}={_escaped(value.decode('utf-8', 'replace'))}"


def _escaped(text: str) -> str:
    out = ["\\00" if one == "\0" else f"\\{one}" if one in _ESCAPED else one for one in text]
    whole = "".join(out)
    inner = whole.strip(" \r")
    lead = len(whole) - len(whole.lstrip(" \r"))
    tail = whole[lead + len(inner) :]
    return "".join(f"\\{one}" for one in whole[:lead]) + inner + "".join(f"\\{one}" for one in tail)


def _dotted(der: bytes) -> str:
    numbers: list[int] = []
    number = 0
    for byte in der:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, contents) of each element in a row."""
    at = 0
    while at < len(der):
        tag, contents, at = _element(der, at)
        yield tag, contents


def _element(der: bytes, at: int) -> tuple[int, bytes, int]:
    """(tag, contents, end) of the element at an offset. OpenSSL has read the certificate before: it is well-formed."""
    tag, size = der[at], der[at + 1]
    start = at + 2
    if size & 0x80:
        count = size & 0x7F
        size = int.from_bytes(der[start : start + count])
        start += count
    return tag, der[start : start + size], start + size


__all__ = ["NoRuleApplies", "PrincipalRules", "RuleError", "subject_of"]
