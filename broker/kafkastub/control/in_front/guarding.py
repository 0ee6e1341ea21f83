"""Who is told what only a login may see: whoever has the token of the control port.

A cluster with SASL, or with certificates of clients, knows who asks. The control port does not: what it tells of such a
cluster comes from the proxy's own login, or from the requests of others. It tells neither to who has no token.
"""

from __future__ import annotations

from typing import Final

from fastapi import Request

from kafkastub.control.in_front.hosted import HostedProxy
from kafkastub.control.keys import READS, Keys
from kafkastub.control.problems import Problem

_SWITCHES: Final = ("frames", "messages")
"""What asks the journal for more than names."""
_OFF: Final = frozenset(("0", "f", "false", "n", "no", "off"))
"""What pydantic takes for false."""
_OF_NAMES: Final = frozenset(("", "/wait", "/follow", "/export"))
"""Paths of the journal that tell no contents unless they are asked to; others are of one entry with its frames."""


class Guarding:
    """Of one control port."""

    def __init__(self, hosted: HostedProxy, keys: Keys | None) -> None:
        self._keys = keys
        upstream = hosted.proxy.upstream
        self._is_guarded = upstream.has_sasl or upstream.shows_certificate

    def cluster(self, request: Request) -> None:
        """For what is asked of the cluster. Raises Problem."""
        if self._is_guarded:
            self._check(request)

    def changes(self, request: Request) -> None:
        """For what may do something by the proxy's own login: chaos throws members out of groups. Raises Problem."""
        if request.method not in READS:
            self.cluster(request)

    def journal(self, request: Request) -> None:
        """For records and whatever else requests hold. Raises Problem."""
        if not self._is_guarded or request.method not in READS:
            return
        path = request.url.path.partition("/v1/journal")[2]
        asked = [value for name, value in request.query_params.multi_items() if name in _SWITCHES]
        if path not in _OF_NAMES or any(value.lower() not in _OFF for value in asked):
            self._check(request)

    def _check(self, request: Request) -> None:
        said = request.headers.get("authorization", "").encode("latin-1")
        if self._keys is None or not self._keys.has_token:
            raise Problem(
                403,
                "the cluster authenticates clients, and this port cannot: start the proxy with a "
                "--control-token, which this needs then",
                "NO_TOKEN_IS_THERE",
            )
        self._keys.check_token(said)
