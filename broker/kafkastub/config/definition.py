"""Reading, checking and printing one configuration value (Kafka: ``org.apache.kafka.common.config.ConfigDef``).

A row of the table is ``(type, default, importance, constraint, update mode)``. Types are Kafka's in lower case; typed
values are int (int, short, long), float (double), bool, str (string, password, class) and list[str]. Any may be None
where Kafka's default is null. Constraints:

| constraint | means |
|---|---|
| ``("between", low, high)`` | Range; None is no bound |
| ``("one of", names)``, ``("one of, any case", names)`` | ValidString, CaseInsensitiveValidString |
| ``("list of", names, empty, null)`` | ValidList: names () is any; whether empty and null are allowed |
| ``("gzip level",)`` | 1 to 9, or -1 |
| ``("matching", pattern, words)`` | a regular expression; the words are for people (the stub's own) |
| ``("<name of a class>",)`` | that validator of Kafka's |
"""

from __future__ import annotations

import re
from math import isnan
from typing import Any

from .errors import InvalidValue
from .kafka_table import Row

_BITS = {"int": 32, "short": 16, "long": 64}
_SPACE = " \t\n\v\f\r"
"""What Java's ``\\s`` is."""
# Java's String.trim, which ends at the space
_BLANK = "".join(map(chr, range(0x21)))
_WHOLE = re.compile(r"[+-]?\d+")
# No two parts of it can match the same digits: that would take the square of their number
_DECIMAL = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|NaN|Infinity)[fFdD]?", re.ASCII)
_REPLICAS = re.compile(r"\d+:\d+")
_DURATION = re.compile(
    r"P(?!$)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d{0,9})?S)?)?", re.IGNORECASE | re.ASCII
)
_SECONDS = (86_400, 3_600, 60, 1)
_MOST_DIGITS = 19
_MOST_SECONDS = 2**63 - 1
"""Java's Duration has no more of them."""


def parse(name: str, row: Row, value: object) -> Any:
    """The typed value of a text (as in a properties file or a request) or of a Python value. Raises InvalidValue."""
    if value is None:
        return None
    kind = row[0]
    if kind in _BITS:
        return _parse_whole(name, kind, value)
    if kind == "boolean":
        return _parse_boolean(name, value)
    if kind == "double":
        return _parse_double(name, value)
    if kind == "list":
        return _parse_list(name, value)
    if not isinstance(value, str):
        raise InvalidValue(name, value, f"Expected value to be a string, but it was a {type(value).__name__}")
    return value.strip(_BLANK)


def _parse_whole(name: str, kind: str, value: object) -> int:
    number: int | None = None
    if isinstance(value, str):
        text = value.strip(_BLANK)
        number = whole(text)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    limit = 1 << (_BITS[kind] - 1)
    if number is None or not -limit <= number < limit:
        raise InvalidValue(name, value, f"Not a number of type {kind.upper()}")
    return number


def whole(text: str) -> int | None:
    """The number, None where it is none, or one of more digits than anything here can have."""
    if _WHOLE.fullmatch(text) is None:
        return None
    try:
        return int(text)
    except ValueError:  # Python reads 4,300 digits
        return None


def split_at_commas(text: str) -> list[str]:
    """As Java's ``split("\\\\s*,\\\\s*", -1)``, in one pass whatever there is of spaces."""
    first, *others = text.split(",")
    if not others:
        return [first]
    parts = [first.rstrip(_SPACE)] + [part.strip(_SPACE) for part in others]
    parts[-1] = others[-1].lstrip(_SPACE)
    return parts


def _parse_boolean(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = value.strip(_BLANK).lower() if isinstance(value, str) else ""
    if text not in ("true", "false"):
        raise InvalidValue(name, value, "Expected value to be either true or false")
    return text == "true"


def _parse_double(name: str, value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    text = value.strip(_BLANK) if isinstance(value, str) else ""
    if not _DECIMAL.fullmatch(text):
        raise InvalidValue(name, value, "Not a number of type DOUBLE")
    return float(text.rstrip("fFdD")) if text[-1] in "fFdD" else float(text)


def _parse_list(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        text = value.strip(_BLANK)
        return split_at_commas(text) if text else []
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    raise InvalidValue(name, value, "Expected a comma separated list.")


def check(name: str, row: Row, value: Any) -> None:
    """Raise InvalidValue where Kafka's validator of that name refuses the typed value."""
    constraint = row[3]
    if constraint is None:
        return
    kind = constraint[0]
    if kind == "between":
        _check_range(name, value, constraint[1], constraint[2])
    elif kind == "one of" and value not in constraint[1]:
        raise InvalidValue(name, value, f"String must be one of: {', '.join(constraint[1])}")
    elif kind == "one of, any case" and (value is None or value.upper() not in constraint[1]):
        raise InvalidValue(name, value, f"String must be one of (case insensitive): {', '.join(constraint[1])}")
    elif kind == "list of":
        _check_list(name, value, *constraint[1:])
    elif kind == "matching" and (value is None or not re.fullmatch(constraint[1], value)):
        raise InvalidValue(name, value, f"Value must be {constraint[2]}")
    elif kind == "gzip level" and value != -1 and not 1 <= value <= 9:
        raise InvalidValue(name, value, "Value must be between 1 and 9 or equal to -1")
    elif kind == "ThrottledReplicaListValidator":
        _check_throttled(name, value)
    elif kind == "NonEmptyString" and value is not None and not value:
        raise InvalidValue(name, value, "String must be non-empty")
    elif kind == "NonNullValidator" and value is None:
        raise InvalidValue(name, value, "entry must be non null")
    elif kind == "Validator" and not _is_offset_reset(value):
        form = "either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        raise InvalidValue(name, value, f"Invalid value `{value}` for configuration {name}. The value must be {form}")


def _check_range(name: str, value: Any, low: float | None, high: float | None) -> None:
    if value is None:
        raise InvalidValue(name, None, "Value must be non-null")
    if low is not None and value < low:
        raise InvalidValue(name, value, f"Value must be at least {low}")
    if high is not None and value > high:
        raise InvalidValue(name, value, f"Value must be no more than {high}")


def _check_list(name: str, value: list[str] | None, names: tuple[str, ...], empty: bool, null: bool) -> None:
    if value is None:
        if null:
            return
        whole = f"Configuration '{name}' values must not be null."
        raise InvalidValue(name, value, "must not be null", whole=whole)
    allowed = f"[{', '.join(names)}]" if names else "any non-empty value"
    if not value and not empty:
        whole = f"Configuration '{name}' must not be empty. Valid values include: {allowed}"
        raise InvalidValue(name, value, "must not be empty", whole=whole)
    for item in value:
        if not item:
            whole = f"Configuration '{name}' values must not be empty."
            raise InvalidValue(name, value, "items must not be empty", whole=whole)
        if names and item not in names:
            raise InvalidValue(name, item, f"String must be one of: {', '.join(names)}")


def _check_throttled(name: str, value: list[str] | None) -> None:
    # Kafka: ThrottledReplicaListValidator
    items = [item.strip() for item in value or []]
    if items and items != ["*"] and not all(_REPLICAS.fullmatch(item) for item in items):
        form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        reason = f"{name} must be the literal '*' or a list of replicas in the following format: {form}"
        raise InvalidValue(name, value, reason)


def _is_offset_reset(value: str | None) -> bool:
    # Kafka: ShareGroupAutoOffsetResetStrategy
    if value in ("earliest", "latest"):
        return True
    kind, _, duration = (value or "").partition(":")
    return kind == "by_duration" and _is_duration(duration)


def _is_duration(text: str) -> bool:
    # Java: Duration.parse, and what it says to more seconds than it can have
    found = _DURATION.fullmatch(text)
    if found is None:
        return False
    parts = [(part or "").lstrip("0") for part in found.groups()]
    if any(len(part) > _MOST_DIGITS for part in parts):
        return False
    return sum(int(part or 0) * unit for part, unit in zip(parts, _SECONDS, strict=True)) <= _MOST_SECONDS


def allowed(row: Row) -> str:
    """What may stand there, for people: ``a whole number of at least 1``."""
    kind, _, _, constraint, _ = row
    words = {"boolean": "true or false", "double": "a number", "list": "a comma separated list"}
    text = words.get(kind) or (f"a whole number of {_BITS[kind]} bits" if kind in _BITS else "a text")
    if constraint is None:
        return text
    if constraint[0] == "between":
        low, high = constraint[1:]
        if low is not None and high is not None:
            return f"{text} from {low} to {high}"
        return f"{text}, at least {low}" if low is not None else f"{text}, at most {high}"
    if constraint[0] in ("one of", "one of, any case"):
        return f"one of {', '.join(constraint[1])}"
    if constraint[0] == "matching":
        return str(constraint[2])
    if constraint[0] == "list of":
        if constraint[1]:
            return f"{text} of {', '.join(constraint[1])}"
        return text if constraint[2] else f"{text} that is not empty"
    return "-1 or a whole number from 1 to 9" if constraint[0] == "gzip level" else text


def to_text(row: Row, value: Any) -> str | None:
    """The value as Kafka prints it to clients (``ConfigDef.convertToString``)."""
    if value is None:
        return None
    kind = row[0]
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "double":
        return java_double(value)
    return ",".join(value) if kind == "list" else str(value)


def java_double(value: float) -> str:
    """A double as Java's ``Double.toString`` prints it."""
    if isnan(value):
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    scientific = next(text for text in (f"{value:.{digits}e}" for digits in range(1, 17)) if float(text) == value)
    mantissa, _, exponent = scientific.partition("e")
    return f"{mantissa}E{int(exponent)}"
