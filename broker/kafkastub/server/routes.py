"""A route is all that serving one version of one API takes; an exchange is one request on it that was understood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.fast_paths.contract import FastPath, Memory
from kafkastub.state.pace import no_pause
from kafkawire.api import ApiKey
from kafkawire.codec import Decoder, Encoder
from kafkawire.schema import Message


@dataclass(slots=True)
class Route:
    """All that serving one version of one API takes."""

    api: Registration
    key: ApiKey
    version: int
    handler: Handler
    fast_decode: Decoder | None
    """None: the body is not looked at."""
    decode: Decoder
    encode: Encoder
    flexible_request: bool
    header_size: int
    """Of the response."""
    head: Callable[[int, int], bytes]
    """The size of a response and its header, from that size and the correlation id."""
    repeated: bool = False
    """A client says the same again and again: the same bytes are the same request, which its handler never changes."""
    parks: bool = False
    """Its handler always makes a deferred reply, which may be there at once."""
    answer: Message | None = None
    """The last reply, unless it was long: handlers give the same object again where nothing has changed."""
    answer_body: bytes = b""
    """Its bytes."""
    fast_path: FastPath | None = None
    """Past decoder, handler and encoder, as long as nobody has put anything between route and handler."""
    bypassed: Handler | None = None
    """The handler that it bypasses."""
    memory: Memory | None = None
    """What learns for it from the answers of the careful way."""


class Exchange:
    """A request that was understood, and what is needed to answer it."""

    __slots__ = ("context", "large", "learnt", "request", "route", "watcher_entry")

    def __init__(self, route: Route, context: RequestContext, request: Message) -> None:
        self.route = route
        self.context = context
        self.request = request
        self.large = context.pace is not no_pause
        """Whether it is served a slice at a time; its answer is encoded so, too."""
        self.learnt: tuple[Memory, bytes, object] | None = None
        """Where the route has a memory: that, the bytes of the request's body, and the token when it was served."""
        self.watcher_entry: Any = None
        """What a watcher keeps of it while its reply is deferred."""
