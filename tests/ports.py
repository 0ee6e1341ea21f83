"""Ports for servers that have to be told theirs before they start."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port(host: str = "127.0.0.1") -> Iterator[int]:
    """A port that is free, and that the system gives to nobody else as long as the block lasts.

    A server that names it may listen on it meanwhile, as servers set SO_REUSEADDR: a socket that only has the port, and
    does not listen, is not in their way.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, 0))
        yield int(held.getsockname()[1])
