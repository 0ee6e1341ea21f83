"""The class of an API's request and response, imported when it is first asked for."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import cast

from kafkawire.messages import REQUESTS, RESPONSES
from kafkawire.schema import Message


def request_class(key: int) -> type[Message]:
    """Raises KeyError for an API that Kafka does not have."""
    return _load(*REQUESTS[key][:2])


def response_class(key: int) -> type[Message]:
    """Raises KeyError for an API that Kafka does not have."""
    return _load(*RESPONSES[key][:2])


@lru_cache(maxsize=512)
def _load(module: str, name: str) -> type[Message]:
    return cast("type[Message]", getattr(import_module(module), name))
