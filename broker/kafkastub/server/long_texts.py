"""Answers whose texts do not fit: an error quotes what the client has sent, which may be as long as a text can be."""

from __future__ import annotations

from typing import Any, Final

from kafkawire.schema import Struct

_FITS: Final = 8_000
"""Characters of which none takes more than four of the 32,767 bytes that a text has room for."""


def cut_error_messages(message: Any) -> bool:
    """Cut, in place, every error message that may not fit; whether there was one."""
    found = False
    for name, kind, *_ in message.FIELDS:
        value = getattr(message, name)
        if name == "error_message" and kind == "string" and value is not None and len(value) > _FITS:
            setattr(message, name, f"{value[:_FITS]}…")
            found = True
        elif isinstance(value, Struct):
            found = cut_error_messages(value) or found
        elif isinstance(value, list | tuple):
            for each in value:
                if isinstance(each, Struct):
                    found = cut_error_messages(each) or found
    return found
