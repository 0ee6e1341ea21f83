"""Names of groups and topics in commands: what a client may call a group does no harm in a shell, and can be seen."""

from __future__ import annotations

import shlex
import unicodedata
from typing import Final

_UNSEEN: Final = ("Cc", "Cf", "Zl", "Zp")
"""Categories of characters that nobody sees, or that turn the text around them."""


def quoted(name: str) -> str:
    """A name as a shell's word."""
    return spelt(name) if has_unseen(name) else shlex.quote(name)


def has_unseen(name: str) -> bool:
    """Return whether a name has characters that nobody sees, or that turn the text around them."""
    return any(unicodedata.category(one) in _UNSEEN for one in name)


def spelt(name: str) -> str:
    """A name with such characters written out: bash reads it as $'…'."""
    found = []
    for one in name:
        if one in "\\'":
            found.append(f"\\{one}")
        elif unicodedata.category(one) in _UNSEEN:
            found.append(f"\\U{ord(one):08x}")
        else:
            found.append(one)
    return f"$'{''.join(found)}'"
