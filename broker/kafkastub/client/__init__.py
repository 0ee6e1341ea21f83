"""A small outbound client: any message at any version, routed to the broker that has to answer it. Blocking.

    with Client("localhost:9092") as client:
        client.ask(MetadataRequest(topics=None))
        client.ask_coordinator("g", DeleteGroupsRequest(groups_names=["g"]))
        client.connection().ask(request, version=3)

It knows the wire and the standard library, and nothing of a broker.
"""

from __future__ import annotations

from kafkastub.client.connection import Connection, Connector, Frames, plain
from kafkastub.client.errors import (
    BrokerError,
    ClientError,
    ConnectionClosed,
    NotABroker,
    NotListening,
    TimedOut,
    Unsupported,
)
from kafkastub.client.routing import Client, Node

__all__ = [
    "BrokerError", "Client", "ClientError", "Connection", "ConnectionClosed", "Connector", "Frames", "Node",
    "NotABroker", "NotListening", "TimedOut", "Unsupported", "plain",
]  # fmt: skip
