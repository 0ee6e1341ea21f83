"""Keys and values by the schemas of the broker's registry: shown, and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, Field

from kafkastub.control.problems import Problem

if TYPE_CHECKING:
    from kafkastub.control.hosted import Hosted
    from kafkastub.control.threads import OneAtATime
    from kafkastub.registry.values import ResolvedSchema


class BySchema(BaseModel):
    """A key or a value, decoded by its schema."""

    schema_id: int = Field(description="id of the schema, with which the bytes begin")
    subject: str | None = Field(description="subject of the schema; null if the registry has no schema with this id")
    version: int | None = Field(description="version of the subject")
    type: str | None = Field(description="AVRO, JSON or PROTOBUF")
    content: Any = Field(None, description='the value as JSON, bytes as {"base64": …}; null if there is an error')
    error: str | None = Field(description="why it could not be decoded; null if it was")


class GivenBySchema(NamedTuple):
    """A key or a value that is to be written by the latest version of a subject."""

    subject: str
    value: Any
    message: str | None


Content = bytes | GivenBySchema | None


async def decode_all(
    hosted: Hosted, thread: OneAtATime, contents: Sequence[bytes | None], subject: str | None = None
) -> list[dict[str, Any] | None]:
    """Of each key or value what its schema makes of it, as `BySchema` has it; None where it begins with no id, and
    where the broker has no registry.

    No pydantic: it would look at fifty thousand values in one step of the loop.
    """
    schemas = hosted.schemas
    if schemas is None:
        return [None] * len(contents)
    from kafkastub.registry.values.display import BySchema, DisplayedValue, ids_in

    known = await schemas.by_id(await thread.run(lambda: ids_in(contents)), subject)

    def told(one: DisplayedValue | None) -> dict[str, Any] | None:
        if one is None:
            return None
        place: dict[str, Any] = {"schema_id": one.schema_id, "subject": None, "version": None, "type": None}
        if one.schema is not None:
            place |= {"subject": one.schema.subject, "version": one.schema.version, "type": one.schema.type}
        return place | {"content": one.content, "error": one.error}

    def show() -> list[dict[str, Any] | None]:
        reading = BySchema(known)
        return [told(reading.decode(each)) for each in contents]

    return await thread.run(show)


async def encode_all(hosted: Hosted, thread: OneAtATime, contents: Iterable[tuple[str, Content]]) -> list[bytes | None]:
    """Keys and values as bytes, each with its place as a person names it. Raises Problem for one that does not fit."""
    given = list(contents)
    subjects = {each.subject for _, each in given if isinstance(each, GivenBySchema)}
    if not subjects:
        return [each for _, each in given if not isinstance(each, GivenBySchema)]
    if hosted.schemas is None:
        raise Problem(
            409, "the broker has no schema registry: it is started with one by --registry-port, registry=True"
        )
    from kafkastub.registry.errors import RegistryError
    from kafkastub.registry.values import encode
    from kafkastub.registry.values.display import check_schema

    known: dict[str, ResolvedSchema] = {}
    for subject in subjects:
        try:
            known[subject] = await hosted.schemas.of_subject(subject)
        except RegistryError as error:
            raise Problem(400 if error.status < 500 else error.status, f"schema={subject!r}: {error.message}") from None

    def encoded(place: str, one: Content) -> bytes | None:
        if not isinstance(one, GivenBySchema):
            return one
        try:
            check_schema(known[one.subject])
            return encode(known[one.subject], one.value, one.message, trusted=False)
        except ValueError as error:
            raise Problem(400, f"{place}: {error}") from None

    return await thread.run(lambda: [encoded(place, one) for place, one in given])
