"""Names that somebody gives, and what is said where there is no such thing."""

from __future__ import annotations

from kafkawire.api import ApiKey


def api_key(name: str) -> int:
    """The number of an API by its name. Raises ValueError."""
    for key in ApiKey:
        if name in (key.camel, key.name):
            return key.value
    why = meant(name, [key.camel for key in ApiKey]) or "their names are written like OffsetCommit"
    raise ValueError(f"api={name!r}: Kafka has no such API; {why}")


def meant(name: object, known: list[str]) -> str:
    """`is OffsetCommit meant?`, or "" where no name comes to mind."""
    import difflib

    plain = {each.lower(): each for each in known}
    found = difflib.get_close_matches(str(name).lower(), plain, n=1, cutoff=0.75)
    return f"is {plain[found[0]]} meant?" if found else ""
