"""What `.option(…)` and a pushed filter ask of a data source, checked where Spark plans.

Filters that are pushed down choose partitions and groups, and Spark applies them once more to the rows that come: a
filter that is not understood here costs time and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kafkastub_pipeline.errors import PipelineError

_PREFIX: Final = "kafka."
_SERVERS: Final = "kafka.bootstrap.servers"
_NAMES: Final = ("topic", "partitions", "startingoffsets", "pushdown")
_EQUAL: Final = "EqualTo"
_IN: Final = "In"


@dataclass(frozen=True)
class Asked:
    """What is read of an internal topic.

    Attributes:
        servers: HOST:PORT[,…].
        client: properties of the client, Java's or librdkafka's.
        topic: the internal topic, or a copy of it.
        partitions: numbers of its partitions; None for all.
        owners: groups, or transactional ids; None for all.
        from_end: whether a stream begins at the end of the log.
    """

    servers: str
    client: tuple[tuple[str, str], ...] = ()
    topic: str = ""
    partitions: frozenset[int] | None = None
    owners: frozenset[str] | None = None
    from_end: bool = False
    more: Mapping[str, str] = field(default_factory=dict)

    def narrowed(self, partitions: Iterable[int] | None = None, owners: Iterable[str] | None = None) -> Asked:
        """Return what is asked for together with a condition more: all of them hold."""
        found = self
        if partitions is not None:
            wanted = frozenset(partitions)
            found = replace(found, partitions=wanted if self.partitions is None else self.partitions & wanted)
        if owners is not None:
            names = frozenset(owners)
            found = replace(found, owners=names if self.owners is None else self.owners & names)
        return found


def parse_options(
    format_: str, options: Mapping[str, str], topic: str, owner: str, more: tuple[str, ...] = ()
) -> Asked:
    """Read the options of a data source. Raise PipelineError.

    Args:
        format_: the data source, for the sentence.
        topic: the internal topic that it reads by default.
        owner: the option that names a group, or a transactional id.
        more: options that only this data source has.
    """
    given = {name.lower(): str(value) for name, value in options.items()}
    servers = given.pop(_SERVERS, None)
    if servers is None:
        raise PipelineError(f'{format_}: no broker is named; give .option("{_SERVERS}", "HOST:PORT")')
    client = tuple((name.removeprefix(_PREFIX), value) for name, value in given.items() if name.startswith(_PREFIX))
    rest = {name: value for name, value in given.items() if not name.startswith(_PREFIX)}
    known = (*_NAMES, owner, *more)
    unknown = sorted(set(rest) - {name.lower() for name in known} - {"path"})
    if unknown:
        raise PipelineError(
            f"{format_}: there is no option {', '.join(unknown)}; there are {_SERVERS}, kafka.… for properties of the"
            f" client, {', '.join(known)}"
        )
    where = rest.get("startingoffsets", "earliest")
    if where not in ("earliest", "latest"):
        raise PipelineError(f"{format_}: startingOffsets={where!r} is refused: it must be earliest or latest")
    return Asked(
        servers,
        client,
        rest.get("topic", topic),
        _numbers(format_, rest.get("partitions")),
        frozenset((rest[owner],)) if owner in rest else None,
        where == "latest",
        {name: rest[name] for name in more if name in rest},
    )


def _numbers(format_: str, text: str | None) -> frozenset[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise PipelineError(f"{format_}: partitions={text!r} is refused: it must be numbers such as 0,7,49")
    return frozenset(map(int, parts))


def values_of(filter_: Any, column: str) -> frozenset[Any] | None:
    """Return the values that a pushed filter allows a column; None where it says nothing of that kind.

    Spark 4.0 has no classes of filters, so these are known by their names.
    """
    if tuple(getattr(filter_, "attribute", ())) != (column,):
        return None
    kind = type(filter_).__name__
    if kind == _EQUAL:
        return frozenset((filter_.value,))
    if kind == _IN:
        return frozenset(filter_.value)
    return None
