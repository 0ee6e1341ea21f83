"""Who may change something: whoever reaches the port, or who has its token; a browser only by our own page.

A web site cannot read what the control port answers, but a browser sends some requests for it all the same. Those that
change something want a header that no foreign page can have: the token that was given at the start, or, where there is
none, a word that our page carries. Programs send neither `Origin` nor `Sec-Fetch-Site`, and need nothing where there is
no token.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Final

from kafkastub.control.problems import Problem

PAGE_HEADER: Final = b"x-kafkastub-page"
LONGEST: Final = 256
_TOKEN: Final = re.compile(rf"[!-~]{{1,{LONGEST}}}")
READS: Final = frozenset(("GET", "HEAD"))
"""Methods that change nothing."""
_SECRETS: Final = re.compile("/v1/snapshots/[^/]+/file")
"""What is only read, and has what users' passwords are checked with."""


def checked_token(token: str) -> str:
    """A token that a header can hold. Raises ValueError."""
    if not _TOKEN.fullmatch(token):
        raise ValueError(f"a token is 1 to {LONGEST} letters, digits and signs of ASCII without blanks")
    return token


class Keys:
    """Tells requests that may change something from the others."""

    def __init__(self, token: str | None = None) -> None:
        self._token = None if token is None else token.encode()
        self.page = secrets.token_urlsafe(24)
        """What our page sends along; another one in every process."""

    @property
    def has_token(self) -> bool:
        """Whether one was given at the start."""
        return self._token is not None

    def check(self, method: str, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Raises Problem for a request that lacks what it needs."""
        reads = method in READS
        if self._token is not None:
            if not reads or _SECRETS.fullmatch(path):
                self.check_token(headers.get(b"authorization", b""))
        elif not reads and (b"origin" in headers or b"sec-fetch-site" in headers):
            self._check_page(headers.get(PAGE_HEADER, b""))

    def _check_page(self, said: bytes) -> None:
        if not hmac.compare_digest(said, self.page.encode()):
            raise Problem(
                403,
                "a browser changes something here only by the page at /: this request does not come from it, or it has "
                "to be loaded again, because the broker was",
                "STALE_PAGE",
            )

    def check_token(self, said: bytes) -> None:
        """`said`: the header Authorization. Raises Problem where it has not the token that there is."""
        assert self._token is not None
        scheme, _, token = said.partition(b" ")
        if scheme.lower() != b"bearer" or not token:
            raise Problem(
                401, "this needs the token of --control-token, as the header `Authorization: Bearer TOKEN`", "NO_TOKEN"
            )
        if not hmac.compare_digest(token.strip(), self._token):
            raise Problem(401, "the token is not the one of --control-token", "WRONG_TOKEN")
