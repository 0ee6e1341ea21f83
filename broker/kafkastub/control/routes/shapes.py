"""What several endpoints share."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StrictStr,
    StringConstraints,
    model_validator,
)

from kafkastub.config.durations import datable

MOST_LISTED = 10_000
"""Things in one answer."""

_MOST_REFUSED: Final = 20
"""Names that nobody knows, of which more than the first are told of nowhere: each costs some microseconds."""

T = TypeVar("T")


class _FailFast(FailFast):
    """pydantic's, which can be part of a union."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


UntilRefused = Annotated[list[T], _FailFast()]
"""A list of which nothing is looked at behind the first that is refused."""


class Body(BaseModel):
    """A request's body or its parameters: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > len(cls.model_fields) + _MOST_REFUSED:
            known = {name: given[name] for name in cls.model_fields if name in given}
            unknown = (name for name in given if name not in cls.model_fields)
            return known | {name: given[name] for name in islice(unknown, _MOST_REFUSED)}
        return given


def _of_kafka(text: str) -> str:
    """Raises ValueError for what Kafka's strings cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is not a character") from None
    return text


Text = Annotated[StrictStr, StringConstraints(max_length=8000), AfterValidator(_of_kafka)]
"""A string that fits into Kafka's, which have 32767 bytes at most."""


def _not_too_many(given: Any) -> Any:
    """Raises ValueError; `max_length` is looked at when all that is wrong with the values has been found."""
    if isinstance(given, dict) and len(given) > MOST_LISTED:
        raise ValueError(f"there are more than {MOST_LISTED}")
    return given


NOT_TOO_MANY: Final = BeforeValidator(_not_too_many)
Names = Annotated[dict[Text, T], Field(max_length=MOST_LISTED), NOT_TOO_MANY]
"""Something by name."""


Limit = Annotated[int, Field(ge=1, le=MOST_LISTED, description="maximum number of items")]
Offset = Annotated[int, Field(ge=0, le=1 << 62, description="number of items to skip")]


def whole_number(text: str, digits: int = 18) -> int | None:
    """The number that a text is; None where it is none, or one of more digits: Python refuses to read thousands."""
    said = text.removeprefix("-")
    return int(text) if said.isascii() and said.isdigit() and len(said) <= digits else None


def example(**values: Any) -> ConfigDict:
    """The configuration of a model that has an example."""
    return ConfigDict(json_schema_extra={"examples": [values]})


def body_example(**values: Any) -> ConfigDict:
    """The same for a request's body."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [values]})


def zoned(text: str) -> datetime | None:
    """A moment in ISO 8601 with its time zone; None for what is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment


def iso(ms: int) -> str:
    """Unix milliseconds as ISO 8601."""
    ms = datable(ms)
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"
