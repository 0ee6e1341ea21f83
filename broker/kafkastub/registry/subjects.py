"""Names of subjects: `orders-value`, or `:.staging:orders-value` in another context than the default one."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
"""Its configuration and mode count where nothing else does, whatever the context."""
_PREFIX: Final = ":."
_WILDCARD: Final = ":*:"
_RESERVED: Final = frozenset(("__GLOBAL", "__EMPTY"))


class Subject(NamedTuple):
    """A name with its context.

    Attributes:
        context: begins with a dot, "." is the default one; "*" stands for all of them where subjects are listed.
        name: empty for the context itself.
    """

    context: str
    name: str

    @property
    def prefix(self) -> str:
        """What its name begins with: nothing in the default context."""
        return "" if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    @property
    def qualified(self) -> str:
        """The name by which it is kept."""
        return self.prefix + self.name

    @property
    def is_context(self) -> bool:
        """Whether it names a whole context."""
        return not self.name


def parsed(text: str) -> Subject:
    """A subject of a text as clients write it."""
    if text.startswith(_PREFIX):
        context, _, name = text[1:].partition(":")
        return Subject(context, name)
    if text.startswith(_WILDCARD):
        return Subject("*", text[len(_WILDCARD) :])
    return Subject(DEFAULT_CONTEXT, text)


def normalized(text: str) -> str:
    """The name by which it is kept: `:.:orders` is `orders`."""
    return parsed(text).qualified if text.startswith(":") else text


def context_of(qualified: str) -> str:
    """The context of a name as it is kept."""
    return qualified[1:].partition(":")[0] if qualified.startswith(_PREFIX) else DEFAULT_CONTEXT


def is_valid(text: str, *, of_settings: bool = False) -> bool:
    """Whether a schema may be registered there; with `of_settings`, whether it may have settings."""
    if any(unicodedata.category(each) == "Cc" for each in text):
        return False
    subject = parsed(text)
    if subject.name in _RESERVED:
        return False
    return of_settings or subject.context != GLOBAL_CONTEXT


def beside(parent: str, name: str) -> str:
    """A subject that a schema of `parent` refers to: of the same context where it names none."""
    subject = parsed(name)
    if subject.context == DEFAULT_CONTEXT:
        subject = Subject(context_of(parent), subject.name)
    return subject.qualified
