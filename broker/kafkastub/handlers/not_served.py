"""APIs that clients of Apache Kafka ask for and that are not served yet: who asks is refused, and told so at once.

A client that does not find an API in the answer to ApiVersions does not ask for it. Some say so and give up; others go
on for ever without a word. So the requests that such a conversation begins with are listed like those that are served
(AV-8), and answered with a code that clients give up on: `UNSUPPORTED_VERSION` for the heartbeats of groups, as Kafka
answers where a group protocol is switched off.

A row leaves the table when its API gets its handler.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from kafkastub.handlers.offers import OFFERS
from kafkastub.handlers.registry import Registration
from kafkastub.handlers.release import release_ranges
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages import REQUESTS

if TYPE_CHECKING:
    from kafkastub.handlers.context import RequestContext
    from kafkastub.handlers.registry import ErrorResponse
    from kafkawire.schema import Message

_HEAD: Final = struct.Struct(">hhih").unpack
_SHOWN: Final = 100
"""Characters of what a client calls itself that are told."""


_Row = tuple[ErrorCode, "ErrorResponse"]

NOT_SERVED: Final[Mapping[ApiKey, _Row]] = {}
"""The code, and what makes the answer with it. There is none: all that clients of Kafka 4.4 ask for is served."""


@lru_cache(maxsize=64)
def refused_apis(release: str | None) -> Mapping[ApiKey, Registration]:
    """The rows as APIs, as far as a broker of `release` has them; None: the newest one."""
    ranges = None if release is None else release_ranges(release)
    found = {}
    for key, (code, answer) in NOT_SERVED.items():
        first, last = REQUESTS[key][2]
        low, high = (first, last) if ranges is None else ranges.get(key, (0, -1))
        low, high = max(first, low), min(last, high)
        if low <= high and key not in OFFERS:
            found[key] = Registration(key, low, high, partial(_refuse, code, answer), answer, low, advertised=True)
    return found


def _refuse(code: ErrorCode, answer: ErrorResponse, ctx: RequestContext, request: Any) -> Message:
    info = ctx.connection
    if ctx.state.not_served_warnings.allows((ctx.api_key, info.client_host), ctx.timer_ms):
        ctx.state.log.warning(
            f"a client asked for {ctx.api_key.camel}, which kafkastub does not serve yet: it was refused",
            client_id=(ctx.client_id or "")[:_SHOWN],
            software=f"{info.software_name[:_SHOWN]} {info.software_version[:_SHOWN]}",
            peer=info.peer,
            answered=code.name,
        )
    return answer(request, code, ctx.api_version)


def unknown(data: bytes, start: int, end: int) -> tuple[str, str]:
    """Of a request of 8 bytes or more whose API is not served: which one, and who asks, as far as that can be read.

    Of what Kafka has no key for nobody is named: it may be a token of SASL in the wrong place, its end a password.
    """
    key, version, _, size = _HEAD(data[start : start + 10].ljust(10, b"\xff"))
    try:
        what = f"{ApiKey(key).camel} v{version}"
    except ValueError:
        return f"api key {key} (version {version})", ""
    raw = data[start + 10 : min(end, start + 10 + size)][: 4 * _SHOWN] if size > 0 else b""
    client = raw.decode(errors="replace")[:_SHOWN]
    return what, f"; client id {client!r} asked for it" if client else ""
