"""What is done about one version of one API, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import Decoder, decoder, fast_decoder
from kafkawire.header import is_flexible
from kafkawire.messages import REQUESTS

if TYPE_CHECKING:
    from kafkastub.handlers.registry import Registration
    from kafkawire.schema import Message


class Answer(IntEnum):
    """What is done about an answer while nobody watches."""

    PASSES = 0
    """Its bytes are sent as they come."""
    PREFIX = 1
    """Brokers at the beginning: Metadata."""
    TAIL = 2
    """Brokers at the end: Produce, Fetch, ShareFetch, ShareAcknowledge."""
    WHOLE = 3
    """It is read when all of it is there: ApiVersions, FindCoordinator, DescribeCluster."""
    LOGIN = 4
    """It passes when all of it is there, and says whether the client is known: SaslAuthenticate."""


_TAILS_SINCE: Final = {
    ApiKey.PRODUCE: 10, ApiKey.FETCH: 16, ApiKey.SHARE_FETCH: 0, ApiKey.SHARE_ACKNOWLEDGE: 0,
}  # fmt: skip
_WHOLE: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.FIND_COORDINATOR, ApiKey.DESCRIBE_CLUSTER})
UNDERSTOOD: Final = frozenset({*_TAILS_SINCE, *_WHOLE, ApiKey.METADATA})
"""APIs of which a version that we do not know cannot pass."""
_KNOWN: Final = frozenset(REQUESTS)
"""An API of a controller has a name, and no messages here."""


@dataclass(frozen=True)
class Api:
    """As rules and metrics look at it: what there is of an API that the wire knows."""

    key: ApiKey
    first: int
    last: int

    def request_class(self) -> type[Message]:
        return request_class(self.key)

    def response_class(self) -> type[Message]:
        return response_class(self.key)

    @cached_property
    def registration(self) -> Registration | None:
        """Where errors are told that somebody asks for; None for an API that no client asks."""
        from kafkastub.handlers.registry import registrations

        return registrations().get(self.key)


class Route:
    """One version of one API.

    Attributes:
        known: whether its messages can be read.
        answer: what is done about answers.
        refused: whether it cannot pass: a version of an API that has to be understood, and is not.
        concerned: whether a rule or chaos may meet its requests.
    """

    __slots__ = (
        "_answer_decoder", "answer", "api", "concerned", "fast_decode", "flexible_answer", "flexible_request", "key",
        "known", "known_whole", "last_body", "last_message", "number", "refused", "version", "whole",
    )  # fmt: skip

    def __init__(self, number: int, version: int) -> None:
        self.number = number
        self.version = version
        self.concerned = False
        self.last_body = b""
        self.last_message: Message | None = None
        """The last short answer, and what it says: many are the same."""
        self.known_whole: tuple[int, bytes] = (-1, b"")
        self.whole = b""
        """The last answer that was read as a whole, as it came (with the addresses of that time) and as it went."""
        self.answer = Answer.PASSES
        self.known = False
        self.refused = False
        self.flexible_request = self.flexible_answer = False
        self.fast_decode: Decoder | None = None
        self._answer_decoder: Decoder | None = None
        self.key: ApiKey | None = None
        if number not in _KNOWN:
            return
        self.key = key = ApiKey(number)
        first, last = REQUESTS[key][2]
        self.api = Api(key, first, last)
        self.known = first <= version <= last
        if not self.known:
            # Only of ApiVersions a version is good that nobody knows: its answer is then in version 0 (KIP-511).
            self.refused = key in UNDERSTOOD and key != ApiKey.API_VERSIONS
            if key == ApiKey.API_VERSIONS:
                self.answer = Answer.WHOLE
            return
        self.flexible_request = is_flexible(request_class(key), version)
        self.flexible_answer = key != ApiKey.API_VERSIONS and is_flexible(response_class(key), version)
        self.fast_decode = fast_decoder(request_class(key), version)
        if key == ApiKey.METADATA:
            self.answer = Answer.PREFIX
        elif key in _WHOLE:
            self.answer = Answer.WHOLE
        elif key == ApiKey.SASL_AUTHENTICATE:
            self.answer = Answer.LOGIN
        elif version >= _TAILS_SINCE.get(key, 1 << 15):
            self.answer = Answer.TAIL

    @property
    def name(self) -> str:
        return f"api key {self.number}" if self.key is None else self.key.camel

    def decode_answer(self, data: bytes, at: int = 0) -> Any:
        """The answer whose body begins there. Raises MalformedMessage."""
        if self._answer_decoder is None:
            self._answer_decoder = decoder(response_class(self.number), self.version)
        return self._answer_decoder(data, at, len(data))[0]
