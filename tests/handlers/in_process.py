"""A broker's handlers called directly, each request and answer still going through the codec."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import structlog

from kafkastub.config import BrokerConfig, Profile
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.registry import registrations
from kafkastub.metadata import Node
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages import RESPONSES
from kafkawire.schema import Message

BROKER_MS = 1_700_000_000_000


class InProcess:
    """One broker of `nodes` nodes; requests go to node 1 at broker time `BROKER_MS`."""

    def __init__(self, config: Mapping[str, object] | None = None, nodes: int = 1, profile: str = "kips") -> None:
        self.state = BrokerState(
            BrokerConfig(config, Profile.named(profile)),
            [Node(number, f"node-{number}", 9000 + number, rack=f"rack-{number}") for number in range(1, nodes + 1)],
            structlog.get_logger(),
            seed=1,
        )

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The answer at that version, else at the highest."""
        served = registrations()[ApiKey(request.API_KEY)]
        version = served.last if version is None else version
        context = RequestContext(
            self.state, ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1"), served.key, version, 1, "test", BROKER_MS, 1000
        )
        answer = served.handler(context, decode(type(request), version, encode(request, version)))
        assert isinstance(answer, Message)
        module, name, _ = RESPONSES[served.key]
        return decode(getattr(importlib.import_module(module), name), version, encode(answer, version))
