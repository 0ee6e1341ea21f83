"""`stub.registry`: the schema registry of a stub. The stub loads it on first use, and only from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafkastub.stub import arguments as stub_arguments

if TYPE_CHECKING:
    from kafkastub.registry.entities import Schema
    from kafkastub.registry.registry import Registry
    from kafkastub.registry_port.kept import KeptRegistry
    from kafkastub.registry_port.port import RegistryPort
    from kafkastub.registry_port.schema_lookup import SchemaLookup
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import AsyncRunner

T = TypeVar("T")

GivenReference = tuple[str, str, int]
"""A name, the subject and the version that it stands for."""


class StubRegistry:
    """A schema registry with Confluent's REST interface. Its state is in the broker's topic `_schemas`.

    Clients use its `url`. A test can call the same functions without HTTP. A request that the registry refuses raises
    `kafkastub.RegistryError`, with the `status` and `code` that clients see.
    """

    def __init__(self, runner: AsyncRunner, host: str, port: int, allowed_hosts: tuple[str, ...]) -> None:
        """Made by `KafkaStub(registry=True)`."""
        self._runner = runner
        self._at = host, port
        self._names = allowed_hosts
        self._kept: KeptRegistry | None = None
        self._known: SchemaLookup | None = None
        self._port: RegistryPort | None = None

    def _load(self) -> None:
        """Load the modules of the registry, in the thread that starts the stub. Raises MissingExtra."""
        from kafkastub.registry_port.port import check_extra

        check_extra()

    async def _open(self, broker: Broker) -> None:
        """Raises ListenError, RegistryError."""
        from kafkastub.registry_port.kept import KeptRegistry
        from kafkastub.registry_port.port import RegistryPort
        from kafkastub.registry_port.schema_lookup import SchemaLookup

        self._kept = KeptRegistry(self._runner.running)
        port = RegistryPort(self._kept, broker.log, *self._at, self._names)
        await port.open()
        self._port = port
        self._known = SchemaLookup(self._kept)

    async def _close(self) -> None:
        port, self._port = self._port, None
        if port is not None:
            await port.close()

    @property
    def url(self) -> str:
        """The URL for a client's `schema.registry.url`, `http://HOST:PORT`. Raises StubError if no stub runs."""
        self._runner.running()
        assert self._port is not None
        return self._port.url

    # -- schemas ---------------------------------------------------------------------------------------------------

    def register(
        self,
        subject: str,
        schema: str | Mapping[str, Any],
        type: str = "AVRO",
        *,
        references: Iterable[GivenReference] = (),
        metadata: Mapping[str, Any] | None = None,
        rules: Mapping[str, Any] | None = None,
        normalize: bool = False,
    ) -> Schema:
        """Register a schema, a text or an object that becomes JSON, and return it.

        `type` is AVRO, JSON or PROTOBUF. A schema that is already registered is returned unchanged. Raises
        RegistryError, TypeError.
        """
        given = self._given(subject, schema, type, references, metadata, rules)
        return self._do(lambda registry: registry.register(given, normalize=normalize))

    def lookup(
        self,
        subject: str,
        schema: str | Mapping[str, Any],
        type: str = "AVRO",
        *,
        references: Iterable[GivenReference] = (),
        normalize: bool = False,
        deleted: bool = False,
    ) -> Schema:
        """Return the version under which a schema is registered. Raises RegistryError, TypeError."""
        given = self._given(subject, schema, type, references, None, None)
        return self._do(lambda registry: registry.lookup(given, normalize=normalize, deleted=deleted).schema)

    def latest(self, subject: str) -> Schema:
        """Return the latest version of a subject. Raises RegistryError."""
        return self._do(lambda registry: registry.version(subject, -1).schema)

    def version(self, subject: str, version: int, *, deleted: bool = False) -> Schema:
        """Return a version of a subject. Raises RegistryError."""
        return self._do(lambda registry: registry.version(subject, version, deleted=deleted).schema)

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """Return the numbers of a subject's versions. Raises RegistryError."""
        return self._do(lambda registry: [one.version for one in registry.versions(subject, deleted=deleted)])

    def schema(self, schema_id: int, subject: str | None = None) -> Schema:
        """Return the schema with an id. `subject` names the context if it is not the default. Raises RegistryError."""
        return self._do(lambda registry: registry.of_id(schema_id, subject)[0].schema)

    # -- values by their schemas -------------------------------------------------------------------------------------

    def encode(self, schema: str | Schema, value: Any, *, message: str | None = None) -> bytes:
        """Return a value as Confluent's serializers write it: a zero byte, the schema's id, and the value.

        `schema` is a subject, whose latest version is used, or a Schema. A value is what JSON has: a dict for a record
        or a message. `message` is the full name of a Protobuf message; by default the first in the file.

        Raises ValueError for a value that does not fit, which names the part that does not fit; RegistryError.
        """
        from kafkastub.registry.values import ResolvedSchema, encode

        found = self.latest(schema) if isinstance(schema, str) else schema
        return encode(ResolvedSchema(found, self._do(lambda registry: registry.resolved(found))), value, message)

    def decode(self, data: bytes) -> Any:
        """Return the value that a serializer has written; a `deserializer` for `stub.records`.

        Raises ValueError for data that does not begin with the id of a schema or is not of it; RegistryError.
        """
        from kafkastub.registry.values import ResolvedSchema, decode, schema_id

        number = schema_id(data)

        def look(registry: Registry) -> ResolvedSchema:
            found = registry.of_id(number, None)[0].schema
            return ResolvedSchema(found, registry.resolved(found))

        return decode(self._do(look), data)

    def _reader(self, topic: str, contents: Sequence[bytes | None]) -> Callable[[bytes], Any]:
        """Return what reads these keys and values of a topic. It returns what begins with no schema's id as it is."""
        from kafkastub.registry.values import ResolvedSchema, decode, id_in
        from kafkastub.registry_port.schema_lookup import find_by_ids

        ids = list(dict.fromkeys(number for each in contents if (number := id_in(each)) is not None))
        known: Mapping[int, ResolvedSchema] = {}
        if ids:
            known = self._do(lambda registry: find_by_ids(registry, ids, f"{topic}-value"))

        def read(data: bytes) -> Any:
            found = known.get(id_in(data) or 0)
            return data if found is None else decode(found, data)

        return read

    def subjects(self, prefix: str = ":*:", *, deleted: bool = False) -> list[str]:
        """Return the names of the subjects that begin with a prefix, by default all, sorted."""
        return self._do(lambda registry: registry.subjects(prefix, deleted=deleted))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete a subject softly, or permanently after a soft deletion. Return the versions that were deleted.

        Raises RegistryError.
        """
        return self._do(lambda registry: registry.delete_subject(subject, permanent=permanent))

    def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> int:
        """Delete a version softly, or permanently after a soft deletion. Raises RegistryError."""
        return self._do(lambda registry: registry.delete_version(subject, version, permanent=permanent))

    # -- what may follow on what -------------------------------------------------------------------------------------

    def why_incompatible(
        self,
        subject: str,
        schema: str | Mapping[str, Any],
        type: str = "AVRO",
        *,
        references: Iterable[GivenReference] = (),
    ) -> list[str]:
        """Return why a schema cannot be registered, as sentences; empty if it can. Raises RegistryError."""
        given = self._given(subject, schema, type, references, None, None)
        return self._do(lambda registry: registry.why_incompatible(given))

    def compatibility(self, subject: str | None = None) -> str:
        """Return the compatibility level of a subject, "BACKWARD" for example; without a subject, the global level."""
        return self._do(lambda registry: str(registry.config(subject)["compatibilityLevel"]))

    def set_compatibility(self, level: str, subject: str | None = None) -> None:
        """Set the level of a subject, or the global level: NONE, BACKWARD, FORWARD, FULL, or one of these with
        _TRANSITIVE.

        Raises RegistryError.
        """
        from kafkastub.registry.settings import requested_config

        change = requested_config({"compatibility": level})
        self._do(lambda registry: registry.set_config(subject, change))

    def mode(self, subject: str | None = None) -> str:
        """Return the mode of a subject, "READWRITE" for example; without a subject, the global mode."""
        return self._do(lambda registry: registry.mode(subject))

    def set_mode(self, mode: str, subject: str | None = None, *, force: bool = False) -> None:
        """Set the mode of a subject, or the global mode: READWRITE, READONLY, IMPORT. Raises RegistryError."""
        self._do(lambda registry: registry.set_mode(subject, mode, force=force))

    def _do(self, work: Callable[[Registry], T]) -> T:
        self._runner.running()
        kept = self._kept
        assert kept is not None

        async def do(_: Broker) -> T:
            async with kept.changing:
                found = work(kept.now())
            await kept.until_kept()
            return found

        return self._runner.call_async(do)

    def _given(
        self,
        subject: object,
        schema: object,
        type: object,
        references: Iterable[GivenReference],
        metadata: object,
        rules: object,
    ) -> Schema:
        """Raises TypeError, RegistryError."""
        import json

        from kafkastub.registry.entities import Reference, Schema, normalized_metadata, normalized_rules

        stub_arguments.wanted_text(subject, "subject")
        stub_arguments.wanted_text(type, "type")
        if not isinstance(schema, str):
            if not isinstance(schema, Mapping):
                raise TypeError(f"schema={schema!r:.100} is refused: expected a string, or a mapping")
            schema = json.dumps(schema)
        assert isinstance(subject, str)
        assert isinstance(type, str)
        return Schema(
            subject,
            schema,
            type.upper(),
            tuple(Reference(*one) for one in references),
            normalized_metadata(metadata),
            normalized_rules(rules),
        )

    def __repr__(self) -> str:
        return f"<schema registry {'not running' if self._port is None else self._port.url}>"
