"""What goes wrong at the control port, always told as `{"error": "one sentence"}`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from kafkawire.errors import ErrorCode, KafkaError


class Problem(Exception):
    """An answer other than success: the HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str, code: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.code = code
        """The name of Kafka's error code, where it is one."""

    def body(self) -> dict[str, str]:
        return {"error": self.sentence} | ({"code": self.code} if self.code else {})


OUR_FAULT: Final = Problem(500, "this is a fault of kafkastub: its log has more")
"""What was not foreseen."""

_STATUS: Final = {
    ErrorCode.TOPIC_ALREADY_EXISTS: 409,
    ErrorCode.NON_EMPTY_GROUP: 409,
    ErrorCode.INVALID_TXN_STATE: 409,
    ErrorCode.GROUP_ID_NOT_FOUND: 404,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 404,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: 503,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: 503,
    ErrorCode.KAFKA_STORAGE_ERROR: 503,
}
"""What is no mistake of the request itself, for which 400 stands."""

_WORDS: Final = {
    ErrorCode.NON_EMPTY_GROUP: "has members",
    ErrorCode.GROUP_ID_NOT_FOUND: "does not exist",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "does not exist",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "is being loaded",
}


def of_kafka(error: KafkaError, subject: str) -> Problem:
    """What Kafka refuses; `subject` is named where its own text does not."""
    words = error.message or _WORDS.get(error.code, error.code.name)
    name = subject.partition(" ")[2].strip("'")
    sentence = words if name and name in words else f"{subject} {words}" if not error.message else f"{subject}: {words}"
    return Problem(_STATUS.get(error.code, 400), sentence, error.code.name)


def of_validation(errors: Sequence[Any]) -> Problem:
    """What pydantic found, the first of it; names the field."""
    first = errors[0]
    place = [str(part) for part in first["loc"]]
    where = place[0]
    path = ".".join(place[1:2] if where == "query" else place[1:])  # a parameter that may come again has no number
    if first["type"] == "json_invalid":
        why = first.get("ctx", {}).get("error", "it cannot be read")
        return Problem(400, f"the body is not JSON: {str(why).lower()} at character {path}")
    if first["type"] == "missing":
        said = f"the parameter {path}" if where in ("query", "path") else f"{path}" if path else "a body"
        return Problem(400, f"{said} is missing{_mistaken(first, errors)}")
    if first["type"] == "extra_forbidden":
        kind = "parameter" if where == "query" else "field"
        return Problem(400, f"there is no {kind} {path} here")
    cause = first.get("ctx", {}).get("error")
    why = str(cause) if isinstance(cause, Exception) else first["msg"][:1].lower() + first["msg"][1:]
    return Problem(400, f"{path or 'the body'}={named(first.get('input'))} is refused: {why}")


def named(value: object) -> str:
    """What was given, as a refusal names it: of a long one the beginning."""
    whole = repr(_beginning(value, [_MOST_SHOWN + 1]))
    return whole if len(whole) <= _MOST_SHOWN else whole[:_MOST_SHOWN] + "…"


def _beginning(value: object, left: list[int]) -> object:
    """Enough of a value to be named by it: as text, each part of it has a character at least.

    A megabyte of small values takes a tenth of a second to be written out, in which nobody else is served.
    """
    left[0] -= 1
    if isinstance(value, str):
        return value[: _MOST_SHOWN + 1]
    if isinstance(value, list):
        return [_beginning(one, left) for one in takewhile(lambda _: left[0] > 0, value)]
    if isinstance(value, dict):
        return {key: _beginning(one, left) for key, one in takewhile(lambda _: left[0] > 0, value.items())}
    return value


def _mistaken(missing: Any, errors: Sequence[Any]) -> str:
    """What stands beside it, and is not known: a name was mistaken."""
    beside = missing["loc"][:-1]
    unknown = [repr(one["loc"][-1]) for one in errors if one["type"] == "extra_forbidden" and one["loc"][:-1] == beside]
    return f", and {unknown[0][:_MOST_SHOWN]} is not known here" if unknown else ""


_MOST_SHOWN: Final = 100
