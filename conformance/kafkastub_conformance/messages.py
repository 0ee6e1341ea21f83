"""Messages by the name of their API, made from plain data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, cast

from kafkawire import catalogue
from kafkawire.api import ApiKey
from kafkawire.header import is_flexible
from kafkawire.messages import REQUESTS
from kafkawire.schema import Message, Struct

KEYS: dict[str, ApiKey] = {ApiKey(key).camel: ApiKey(key) for key in REQUESTS}
"""Api keys by the name that documentation uses: "OffsetCommit"."""


def request_class(api: str) -> type[Message]:
    """The request message of an API."""
    return catalogue.request_class(KEYS[api])


def response_class(api: str) -> type[Message]:
    """The response message of an API."""
    return catalogue.response_class(KEYS[api])


def versions(api: str) -> range:
    """All versions of an API that Apache Kafka 4.4.0 knows."""
    low, high = REQUESTS[KEYS[api]][2]
    return range(low, high + 1)


def has_tags(api: str, version: int) -> bool:
    """Whether this version has tagged fields (KIP-482), in its headers too."""
    return is_flexible(request_class(api), version)


def build(api: str, body: Mapping[str, Any]) -> Message:
    """The request that `body` describes. A field that there is not is a mistake of the case's: KeyError."""
    return cast("Message", _struct(request_class(api), body))


def _struct(cls: type[Struct], body: Mapping[str, Any]) -> Struct:
    kinds = {row[0]: row[1] for row in cls.FIELDS}
    return cls(**{name: _built(cls, kinds[name], value) for name, value in body.items()})


def _built(cls: type[Struct], kind: str, value: Any) -> Any:
    if kind.startswith("[]") and value is not None:
        return [_built(cls, kind[2:], item) for item in value]
    if isinstance(value, Mapping):
        return _struct(getattr(sys.modules[cls.__module__], kind), value)
    return value
