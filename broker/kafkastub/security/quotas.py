"""Client quotas as the cluster keeps them: which entity may use how much of what. Pure.

An entity is a user, a client id, both, or an address; each by its name or, with None for a name, by default. What is
refused, and in which words, is Kafka's (``ClientQuotaControlManager``, ``ClientQuotasImage``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple

from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"
OF_CLIENTS: Final = (PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, CONTROLLER_MUTATION_RATE, REQUEST_PERCENTAGE)
EXACT, DEFAULT, ANY = 0, 1, 2
"""How a filter matches."""

_ORDER: Final = {CLIENT_ID: 0, USER: 1, IP: 2}
_MOST_ENTITIES: Final = 100_000
_MOST_DIGITS: Final = 100
"""Of a part of an address, leading zeros included: what is longer is none."""
_MOST_CHANGES: Final = 10_000
"""Of one request (Kafka: MAX_RECORDS_PER_USER_OP)."""
_LARGEST: Final = {
    PRODUCER_BYTE_RATE: ("a LONG", float(2**63)),
    CONSUMER_BYTE_RATE: ("a LONG", float(2**63)),
    CONNECTION_CREATION_RATE: ("an INT", float(2**31 - 1)),
}
"""Of those that are whole numbers."""

Entity = tuple[tuple[str, str | None], ...]
"""(type, name or None for the default), each type once, client id before user."""
Changes = Sequence[tuple[str, float | None]]
"""(quota, value or None to remove it)."""
Who = tuple[str | None, str | None]
"""User and client id of a quota; None is the default, "" where the entity has none."""
Refusal = tuple[ErrorCode, str | None]
MapOrder = Callable[[Iterable[str], int], list[str]]


class FilterComponent(NamedTuple):
    """What is asked of one type: the exact name, the default, or any."""

    kind: str
    match_type: int
    match: str | None


def entity(parts: Iterable[tuple[str, str | None]]) -> Entity:
    """Of types and names as they come; of a type given twice the last name counts."""
    return tuple(sorted(dict(parts).items(), key=lambda part: (_ORDER.get(part[0], len(_ORDER)), part[0])))


def _in_order(given: Entity, order: MapOrder = string_map_order) -> Entity:
    """The order of the `HashMap` that Kafka makes for so many: the first fault is the one that is told."""
    parts = dict(given)
    return tuple((kind, parts[kind]) for kind in order(parts, len(given)))


def allowed_quotas(who: Entity) -> tuple[str, ...]:
    """The names of what it may have."""
    return (CONNECTION_CREATION_RATE,) if IP in dict(who) else OF_CLIENTS


def no_such_quota(who: Entity, names: Iterable[str]) -> str | None:
    """Why one of the names is refused, None for nothing: Kafka's own text does not say which there are."""
    kinds, allowed = {kind for kind, _ in who}, allowed_quotas(who)
    if IP in kinds and len(kinds) > 1:  # what that may have is not the question
        return None
    whose = "an address" if IP in kinds else "a user or client id"
    wrong = (f"{name} is refused: {whose} has {', '.join(allowed)}" for name in names if name not in allowed)
    return next(wrong, None)


class Quotas:
    """All of a cluster."""

    def __init__(self, *, finite: bool = True) -> None:
        """`finite`: whether infinity and NaN are refused, as from Kafka 4.4 on."""
        self._finite = finite
        self._entities: dict[Entity, dict[str, float]] = {}
        self._limits: dict[str, dict[Who, float]] = {name: {} for name in OF_CLIENTS}
        self._rates: dict[str | None, float] = {}
        self.version = 0
        """Another one after each change."""

    def __bool__(self) -> bool:
        return bool(self._entities)

    @property
    def of_clients(self) -> bool:
        """Whether there is any quota of users or client ids."""
        return any(self._limits.values())

    def alter(
        self,
        wanted: Iterable[tuple[Entity, Changes]],
        *,
        validate_only: bool = False,
        order: MapOrder = string_map_order,
    ) -> list[tuple[Entity, Refusal | None]]:
        """Each entity with why it is refused, or None. Raises KafkaError for too many: nothing is done then.

        Args:
            wanted: entities with their types and names as they were given; they come back in Kafka's order.
            order: gives texts as the keys of a Java map, which was made for so many.
        """
        results: dict[Entity, tuple[Entity, Refusal | None]] = {}
        accepted: list[tuple[Entity, str, float | None]] = []
        for given, changes in wanted:
            who, parts = entity(given), _in_order(given, order)
            asked: dict[str, float | None] = {}
            twice = False
            for name, value in changes:
                twice = twice or name in asked
                asked.setdefault(name, value)
            if twice or who in results:
                refusal: Refusal | None = ErrorCode.INVALID_REQUEST, f"Ignoring duplicate entity {_as_java(parts)}"
            else:
                refusal = _refusal(parts, asked, self._finite)
            first = results.get(who, (parts, None))[0]
            results[who] = first, refusal
            if refusal is None:
                accepted += self._news(who, asked)
        if len(accepted) > _MOST_CHANGES:
            raise KafkaError(ErrorCode.POLICY_VIOLATION)
        if not validate_only:
            new = {who for who, _, value in accepted if value is not None} - self._entities.keys()
            if new and len(self._entities) + len(new) > _MOST_ENTITIES:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"at most {_MOST_ENTITIES} entities may have quotas")
            for who, name, value in accepted:
                self._apply(who, name, value)
        return list(results.values())

    def describe(self, wanted: Sequence[FilterComponent], *, strict: bool) -> Iterator[tuple[Entity, dict[str, float]]]:
        """What matches all of the filter; if strict, entities of just these types. Raises KafkaError."""
        _check_filter(wanted)
        return self._matching({one.kind: one for one in wanted}, strict)

    def _matching(
        self, wanted: Mapping[str, FilterComponent], strict: bool
    ) -> Iterator[tuple[Entity, dict[str, float]]]:
        for who, values in self._entities.items():
            names = dict(who)
            if strict and len(names) != len(wanted):
                continue
            if all(
                kind in names and (one.match_type == ANY or names[kind] == one.match) for kind, one in wanted.items()
            ):
                yield who, dict(values)

    def limits(self, name: str) -> Mapping[Who, float]:
        """The quotas of that name of all users and client ids; the same object whatever changes."""
        return self._limits[name]

    def connection_rate(self, ip: str) -> float | None:
        """How many connections a second the address may make; None: as many as it likes."""
        if not self._rates:
            return None
        return self._rates.get(_canonical(ip) or ip, self._rates.get(None))

    def document(self) -> Iterator[list[Any]]:
        """Everything as it is now, for JSON."""
        for who, values in list(self._entities.items()):
            yield [list(who), values]

    def clear(self) -> None:
        """None are left."""
        for who, values in list(self._entities.items()):
            for name in list(values):
                self._apply(who, name, None)

    def restore(self, document: Iterable[Any]) -> None:
        """What `document` gave, beside what there is. Raises ValueError for what nobody could have asked for."""
        for parts, values in document:
            who = entity((kind, name) for kind, name in parts)
            if (refusal := _refusal(_in_order(who), values, self._finite)) is not None:
                raise ValueError(f"a quota of {_as_java(who)} is refused: {refusal[1]}")
            for name, value in values.items():
                self._apply(who, name, value)

    def _news(self, who: Entity, asked: Mapping[str, float | None]) -> Iterator[tuple[Entity, str, float | None]]:
        known = self._entities.get(who, {})
        for name, value in asked.items():
            if known.get(name) != value:
                yield who, name, value

    def _apply(self, who: Entity, name: str, value: float | None) -> None:
        self.version += 1
        if value is None:
            values = self._entities.get(who, {})
            values.pop(name, None)
            if not values:
                self._entities.pop(who, None)
        else:
            self._entities.setdefault(who, {})[name] = value
        table: dict[Any, float]
        names = dict(who)
        key: Any
        if IP in names:
            address = names[IP]
            table, key = self._rates, None if address is None else _canonical(address)
        else:
            table, key = self._limits[name], (names.get(USER, ""), names.get(CLIENT_ID, ""))
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value if table is not self._rates else int(value) if value == value else 0


def _refusal(who: Entity, asked: Mapping[str, float | None], finite: bool) -> Refusal | None:
    """Why nothing of it is done, in Kafka's order and words."""
    bad = ErrorCode.INVALID_REQUEST
    if not who:
        return bad, "Invalid empty client quota entity"
    for kind, name in who:
        if kind not in _ORDER:
            return bad, f"Unhandled client quota entity type: {kind}"
        if name == "":
            return bad, f"Empty {kind} not supported"
    names, allowed = dict(who), allowed_quotas(who)
    if IP in names:
        if len(names) > 1:
            text = "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
            return bad, text
        address = names[IP]
        if address is not None and _canonical(address) is None:
            return bad, f"{address} is not a valid IP or resolvable host."
    for name, value in asked.items():
        if value is not None and (why := _bad_value(allowed, name, value, finite)) is not None:
            return bad, why
    return None


def _bad_value(allowed: Sequence[str], name: str, value: float, finite: bool) -> str | None:
    if name not in allowed:
        return f"Invalid configuration key {name}"
    if finite and not isfinite(value):
        return f"Quota {name} must be a finite number"
    if value <= 0:
        return f"Quota {name} must be greater than 0"
    if name in _LARGEST:
        kind, largest = _LARGEST[name]
        if value > largest:
            return f"Proposed value for {name} is too large for {kind}."
        if value % 1.0 > 1e-6:
            return f"{name} cannot be a fractional value."
    return None


def _check_filter(wanted: Iterable[FilterComponent]) -> None:
    """Raises KafkaError with Kafka's text."""
    seen: set[str] = set()
    for kind, match_type, match in wanted:
        if not kind:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty entity type.")
        if kind in seen:
            text = f"Entity type {kind} cannot appear more than once in the filter."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        if kind not in _ORDER:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        seen.add(kind)
        if match_type == EXACT and match is None:
            text = "Request specified MATCH_TYPE_EXACT, but set match string to null."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        if match_type in (DEFAULT, ANY) and match is not None:
            name = "MATCH_TYPE_DEFAULT" if match_type == DEFAULT else "MATCH_TYPE_SPECIFIED"
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Request specified {name}, but also specified a match string.")
        if match_type not in (EXACT, DEFAULT, ANY):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown match type {match_type}")
    if IP in seen and len(seen) > 1:
        text = (
            "Invalid entity filter component combination. IP filter component should not be used with user or "
            "clientId filter component."
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)


def _as_java(who: Entity) -> str:
    """As Kafka prints an entity."""
    inside = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in who)
    return f"ClientQuotaEntity(entries={{{inside}}})"


def _canonical(text: str) -> str | None:
    """An address as we compare them; None where it is none. Of host names only localhost is one: nobody is asked."""
    if text == "localhost":
        return "127.0.0.1"
    import ipaddress

    parts = text.split(".")
    if len(parts) <= 4 and all(part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts):
        # the last part stands for all bytes that are left (Java: IPAddressUtil.textToNumericFormatV4)
        *first, last = map(int, parts)
        left = 4 - len(first)
        if last >= 256**left or any(part > 255 for part in first):
            return None
        return str(ipaddress.IPv4Address(bytes(first) + last.to_bytes(left, "big")))
    try:
        found = ipaddress.ip_address(text.removeprefix("[").removesuffix("]") if ":" in text else text)
    except ValueError:
        return None
    mapped = getattr(found, "ipv4_mapped", None)
    return str(found if mapped is None else mapped)
