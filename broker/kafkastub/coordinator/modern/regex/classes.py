"""Classes of characters, as far as names of topics can have them: bit n is the character n. RE2/J: CharGroup."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category

ALL = (1 << 128) - 1
UPPER = sum(1 << c for c in range(65, 91))
LOWER = UPPER << 32
_LONG_S, _KELVIN = 0x17F, 0x212A
"""Those that are not ASCII and equal an ASCII letter where case makes no difference: s and k."""

_GROUPS = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\0\x7f",
    "blank": "\t\t  ",
    "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZ__az",
    "xdigit": "09AFaf",
}
_PERL = {"d": "09", "s": "\t\n\f\r  ", "w": "09AZ__az"}

_CATEGORIES = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
_SCRIPTS = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal
    Carian Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic
    Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Lao Latin
    Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham
    Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic
    Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil
    Telugu Thaana Thai Tibetan Tifinagh Ugaritic Unknown Vai Yi
"""


def between(low: int, high: int, fold: bool) -> int:
    """The characters from one to another, and where case makes no difference what equals them."""
    found = 0
    if low < 128:
        found = (1 << min(high, 127) + 1) - (1 << low)
    if fold:
        for other, letter in ((_LONG_S, "s"), (_KELVIN, "k")):
            if low <= other <= high:
                found |= 1 << ord(letter)
        found = folded(found)
    return found


def folded(found: int) -> int:
    """With the letters of the other case."""
    return found | (found & UPPER) << 32 | (found & LOWER) >> 32


def perl(letter: str, fold: bool) -> int | None:
    """`\\d`, `\\S`, by the letter; None where there is no such class."""
    ranges = _PERL.get(letter.lower())
    return None if ranges is None else _of(ranges, fold, letter.isupper())


def posix(name: str, fold: bool) -> int | None:
    """`alpha` of `[:alpha:]`, `^alpha`; None where there is no such class."""
    ranges = _GROUPS.get(name.removeprefix("^"))
    return None if ranges is None else _of(ranges, fold, name.startswith("^"))


def _of(ranges: str, fold: bool, negated: bool) -> int:
    found = 0
    for i in range(0, len(ranges), 2):
        found |= between(ord(ranges[i]), ord(ranges[i + 1]), fold)
    return found ^ ALL if negated else found


@lru_cache(256)
def unicode_class(name: str) -> int | None:
    """`L` or `Greek` of `\\p{Greek}`; None where there is no such class."""
    if name == "Any":
        return ALL
    if _CATEGORIES.fullmatch(name):
        return sum(1 << c for c in range(128) if category(chr(c)).startswith(name))
    if name in _SCRIPTS.split():
        return {"Latin": UPPER | LOWER, "Common": ALL & ~(UPPER | LOWER)}.get(name, 0)
    return None
