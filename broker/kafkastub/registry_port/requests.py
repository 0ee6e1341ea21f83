"""What a request to the registry says."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

from kafkastub.registry.entities import AVRO, Schema, normalized_metadata, normalized_rules, references_of
from kafkastub.registry.errors import RegistryError, invalid_version
from kafkastub.registry.reading import LATEST

_LARGEST: Final = 2**31 - 1
_MOST_PARAMETERS: Final = 100


class NotServed(Exception):
    """A path, a method or a media type that there is not: the status says which."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status, words)
        self.status = status
        self.words = words


NOT_FOUND: Final = NotServed(404, "HTTP 404 Not Found")


class RegistryRequest:
    """A request, apart from its method and path.

    Attributes:
        context: "" or the prefix of a context that its path begins with: ":.staging:".
        body: as JSON; None where it has none.
    """

    def __init__(self, query: bytes, context: str) -> None:
        try:
            pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise RegistryError(400, 400, f"there are more than {_MOST_PARAMETERS} parameters") from None
        self._query: dict[str, list[str]] = {}
        for name, value in pairs:
            self._query.setdefault(name, []).append(value)
        self.context = context
        self.body: Any = None

    def text(self, name: str, default: str = "") -> str:
        """A parameter; the first of several."""
        return self._query.get(name, [default])[0]

    def texts(self, name: str) -> list[str]:
        return self._query.get(name, [])

    def flag(self, name: str) -> bool:
        return self.text(name).lower() == "true"

    def number(self, name: str, default: int) -> int:
        """Raises NotServed, as a parameter of JAX-RS that is no number does."""
        text = self.text(name, str(default))
        try:
            return int(text)
        except ValueError:
            raise NOT_FOUND from None

    def part(self, values: list[Any]) -> list[Any]:
        """As many as `limit` says, from `offset` on."""
        offset, limit = max(self.number("offset", 0), 0), self.number("limit", -1)
        return values[offset:] if limit < 0 else values[offset : offset + limit]

    def subject(self, name: str) -> str:
        """A subject of the path, in the context that the path begins with."""
        return name if name.startswith((":.", ":*:")) else self.context + name

    def within(self) -> str | None:
        """The subject that an id is looked for in."""
        given = self._query.get("subject")
        return self.subject(given[0]) if given else self.context or None

    def object(self) -> dict[str, Any]:
        """The body. Raises RegistryError."""
        if not isinstance(self.body, dict):
            raise RegistryError(422, 422, "the body has to be a JSON object")
        return self.body

    def schema(self, subject: str) -> Schema:
        """A schema of the body, for a subject. Raises RegistryError 422."""
        body = self.object()
        text, kind = body.get("schema"), body.get("schemaType")
        if text is not None and not isinstance(text, str):
            raise RegistryError(422, 422, "schema has to be a text")
        if kind is not None and not isinstance(kind, str):
            raise RegistryError(422, 422, "schemaType has to be a text")
        return Schema(
            subject,
            text or "",
            kind or AVRO,
            references_of(body.get("references")),
            normalized_metadata(body.get("metadata")),
            normalized_rules(body.get("ruleSet")),
            _whole(body, "version", 0),
            _whole(body, "id", -1),
        )


def _whole(body: dict[str, Any], name: str, default: int) -> int:
    given = body.get(name)
    if given is None:
        return default
    if not isinstance(given, int) or isinstance(given, bool) or not -1 <= given <= _LARGEST:
        raise RegistryError(422, 422, f"{name} has to be a number from -1 to {_LARGEST}")
    return given


def version_of(text: str) -> int:
    """A version of the path, LATEST for "latest". Raises RegistryError 42202."""
    word = text.strip()
    if word.lower() == "latest":
        return LATEST
    digits = word.removeprefix("-").removeprefix("+")
    number = int(word) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else 0
    if number != LATEST and not 0 < number <= _LARGEST:
        raise invalid_version(text)
    return number


def id_of(text: str) -> int:
    """An id of the path. Raises NotServed."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        raise NOT_FOUND
    return int(text)


def parts_of(raw_path: bytes) -> list[str]:
    """The parts of a path; a subject may have an escaped slash. Raises NotServed."""
    try:
        parts = [unquote_to_bytes(part).decode() for part in raw_path.strip(b"/").split(b"/")]
    except UnicodeDecodeError:
        raise NOT_FOUND from None
    return parts if parts != [""] else []


def json_of(body: bytes) -> Any:
    """Raises RegistryError 400."""
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except RecursionError:
        raise RegistryError(400, 400, "the body cannot be read as JSON: it is too deep") from None
    except ValueError as error:
        raise RegistryError(400, 400, f"the body cannot be read as JSON: {error}") from None
