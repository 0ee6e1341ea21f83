"""One request on a connection of its own, and waiting for a cluster to settle."""

from __future__ import annotations

import importlib
from typing import Any

from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.schema import Message
from tests.rawclient import RawClient

SECONDS = 60


def ask(servers: str, request: Message, version: int) -> Any:
    """The answer, decoded."""
    key = int(request.API_KEY)
    module, name, _ = RESPONSES[key]
    with RawClient(servers, SECONDS) as client:
        answer = client.exchange(key, version, encode(request, version))
    return decode(getattr(importlib.import_module(module), name), version, answer)
