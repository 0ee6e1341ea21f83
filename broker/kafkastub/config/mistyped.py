"""Configuration names that Kafka does not have: which one is meant. Imported when there is such a name."""

from __future__ import annotations

import difflib
from typing import Final

from .kafka_table import BROKER, TOPIC, TOPIC_SYNONYMS
from .own import OWN, PREFIX, PROFILE

_SLIP: Final = 2
"""Letters that are wrong, missing, too many or in each other's place, up to which a name can only be a slip."""
_SHORTEST: Final = 8
"""Letters of a name that a slip is looked for in: shorter ones are all alike."""
_UNITS: Final = (".ms", ".minutes", ".hours", ".bytes")
"""How a name goes on where its end was left out."""
_LIKE: Final = 0.8
"""From which ratio of difflib on a name is offered."""


def question(name: str) -> str:
    """`is offsets.retention.minutes meant?`, or "" where no name comes to mind."""
    found = _alike(name)
    return f"is {found[0]} meant{''.join(f', or {other}' for other in found[1:])}?" if found else ""


def slip(name: str) -> bool:
    """Whether a name can only be a known one that was mistyped: `offset.retention.minutes`, `GROUP_MAX_SIZE`."""
    name, names = _without_listener(name), _all()
    if _plain(name) in names or any(_plain(name) + unit in names for unit in _UNITS):
        return True
    alike = difflib.get_close_matches(_plain(name), names, n=3, cutoff=0.85)
    return len(name) >= _SHORTEST and any(_distance(_plain(name), each) <= _SLIP for each in alike)


def refusal(name: str) -> str | None:
    """Why a test that gives the name to a broker's configuration cannot mean it; None where it may."""
    if name in TOPIC:
        sources = TOPIC_SYNONYMS.get(name, ())
        own = f"; the broker's own, for all topics, is {sources[0][0]}" if sources else ""
        return f"{name} is refused: it is a topic's configuration{own}"
    if slip(name):
        return f"{name} is refused: Kafka has no such name; {question(name)}"
    return None


def topic_question(name: str) -> str:
    """The same as `question`, for the configuration of a topic."""
    found = [own for own, sources in TOPIC_SYNONYMS.items() if name in dict(sources)]
    found = found or difflib.get_close_matches(_plain(name), TOPIC, n=1, cutoff=_LIKE)
    return f"is {found[0]} meant?" if found else ""


def _all() -> set[str]:
    return {*BROKER, *OWN, *PROFILE}


def _alike(name: str) -> list[str]:
    """At most three names, the likeliest first."""
    if name in TOPIC_SYNONYMS:
        return [TOPIC_SYNONYMS[name][0][0]]
    plain = _plain(_without_listener(name))
    pool = _all() if name.startswith(PREFIX) else set(BROKER)
    prefix = name[: len(name) - len(_without_listener(name))]
    ends = sorted(each for each in pool if each.endswith(f".{plain}")) if "." in plain else []
    found = [plain] if plain in pool else ends or difflib.get_close_matches(plain, pool, n=1, cutoff=_LIKE)
    return [prefix + each for each in found[:3]]


def _plain(name: str) -> str:
    """As Kafka writes names, where somebody wrote `OFFSETS_RETENTION_MINUTES`."""
    return name.strip().lower().replace("_", ".").replace("-", ".")


def _without_listener(name: str) -> str:
    """`ssl.keystore.location` of `listener.name.external.ssl.keystore.location`."""
    parts = name.split(".", 3)
    return parts[3] if len(parts) == 4 and parts[:2] == ["listener", "name"] else name


def _distance(one: str, other: str) -> int:
    """How many letters have to be changed, put in, left out, or swapped with their neighbour."""
    last: list[int] = []
    above = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            least = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                least = min(least, last[j - 1] + 1)
            row.append(least)
        last, above = above, row
    return above[-1]
