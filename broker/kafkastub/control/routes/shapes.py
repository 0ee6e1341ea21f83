"""What several endpoints share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictStr, StringConstraints

MOST_LISTED = 10_000
"""Things in one answer."""
LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no date can be later."""


class Body(BaseModel):
    """A request's body or its parameters: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


def _of_kafka(text: str) -> str:
    """Raises ValueError for what Kafka's strings cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    return text


Text = Annotated[StrictStr, StringConstraints(max_length=8000), AfterValidator(_of_kafka)]
"""A string that fits into Kafka's, which have 32767 bytes at most."""

Limit = Annotated[int, Field(ge=1, le=MOST_LISTED, description="how many at most")]
Offset = Annotated[int, Field(ge=0, le=1 << 62, description="how many to leave out before the first")]


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
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"
