"""An API that is not served, for tests of how that is told: everything that clients ask for is served today."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from kafkastub.handlers import k18_api_versions
from kafkastub.handlers.not_served import NOT_SERVED, refused_apis
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.errors import ErrorCode

LISTED: Final = ApiKey.UPDATE_RAFT_VOTER
"""Only brokers ask for it."""
CLOSES: Final = ApiKey.ALLOCATE_PRODUCER_IDS
"""So for this one, which no row is about."""


@contextmanager
def listed() -> Iterator[None]:
    """It is in the table meanwhile."""
    table: Any = NOT_SERVED
    table[LISTED] = (ErrorCode.UNSUPPORTED_VERSION, _answer)
    _forget()
    try:
        yield
    finally:
        del table[LISTED]
        _forget()


def _answer(request: Any, code: ErrorCode, version: int) -> Any:
    return response_class(LISTED)(error_code=code)


def _forget() -> None:
    refused_apis.cache_clear()
    k18_api_versions._listed.cache_clear()
