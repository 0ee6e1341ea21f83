"""Whether a name has what a regular expression describes, without an engine that can be held up.

The engine is that of `coordinator/modern/regex`: RE2's syntax, one pass, the characters of topics' names. What it does
not know, a backreference for example, or a name with other characters, is taken for no match.
"""

from __future__ import annotations

from kafkastub.coordinator.modern.expressions import Expression
from kafkawire.errors import KafkaError


def finds(pattern: str, name: str) -> bool:
    """Whether the pattern is found anywhere in the name."""
    before = "" if pattern.startswith("^") else ".*"
    after = "" if pattern.endswith("$") and not pattern.endswith("\\$") else ".*"
    try:
        return bool(Expression(f"{before}(?:{pattern}){after}").matches([name]))
    except KafkaError:
        return False
