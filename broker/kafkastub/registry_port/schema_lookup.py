"""Schemas for those who show values or write them, looked up beside the loop: there may be much to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from kafkastub.control.threads import OneAtATime
from kafkastub.registry.errors import InvalidSchema, RegistryError, invalid_schema
from kafkastub.registry.reading import LATEST
from kafkastub.registry.registry import Registry
from kafkastub.registry.values import ResolvedSchema
from kafkastub.registry_port.kept import KeptRegistry
from kafkastub.registry_port.writer import Writer

T = TypeVar("T")


class SchemaLookup:
    """The schemas of a broker's registry. All of it belongs to the thread of the broker's loop."""

    def __init__(self, kept: KeptRegistry) -> None:
        self._kept = kept
        self._thread = OneAtATime()

    async def by_id(self, ids: Sequence[int], subject: str | None) -> dict[int, ResolvedSchema]:
        """Those of the ids that there are; of several subjects with an id, `subject` where it is one of them."""
        return await self._look(partial(find_by_ids, ids=ids, subject=subject)) if ids else {}

    async def of_subject(self, subject: str) -> ResolvedSchema:
        """The latest version. Raises RegistryError."""
        return await self._look(partial(find_latest, subject=subject))

    async def _look(self, work: Callable[[Registry], T]) -> T:
        async with self._kept.changing:
            registry = self._kept.now()
            writer = self._kept.worker = Writer(self._kept)
            try:
                return await self._thread.run(partial(writer.run, partial(work, registry)))
            finally:
                self._kept.worker = None


def find_by_ids(registry: Registry, ids: Sequence[int], subject: str | None) -> dict[int, ResolvedSchema]:
    """The schemas with these ids, as far as there are any."""
    found: dict[int, ResolvedSchema] = {}
    for number in ids:
        try:
            schema = registry.of_id(number, subject)[0].schema
            found[number] = ResolvedSchema(schema, registry.resolved(schema))
        except (RegistryError, InvalidSchema):
            continue
    return found


def find_latest(registry: Registry, subject: str) -> ResolvedSchema:
    """The latest version of a subject. Raises RegistryError."""
    schema = registry.version(subject, LATEST).schema
    try:
        return ResolvedSchema(schema, registry.resolved(schema))
    except InvalidSchema as error:
        raise invalid_schema(str(error)) from None
