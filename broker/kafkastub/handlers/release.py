"""Which APIs and versions are served: all of them, or those of an older release (`kafkastub.as.version`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from kafkastub.handlers.offers import OFFERS, Offer
from kafkastub.handlers.registry import ErrorResponse, Registration, registrations
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersion, ApiVersionsResponse

Range = tuple[int, int]

OWN_RANGE_SINCE = (2, 4)
"""KIP-511: the answer to an ApiVersions version that the broker does not have lists ApiVersions itself."""


class Gap(NamedTuple):
    """An API of a release of which some versions, or all, are not served."""

    key: ApiKey
    wanted: Range
    served: Range | None


@lru_cache(maxsize=64)
def served_apis(release: str | None) -> Mapping[ApiKey, Registration]:
    """The APIs as a broker of `release` ("2.8") serves them, as far as we do; None: everything that we serve."""
    if release is None:
        return registrations()
    wanted = release_ranges(release)
    served: dict[ApiKey, Registration] = {}
    for key, api in registrations().items():
        both = _overlap(api, wanted[key]) if key in wanted else None
        if both is not None:
            served[key] = _narrowed(api, both, release)
    return served


def offers(release: str | None) -> Mapping[ApiKey, Offer | Registration]:
    """The same, for who only wants to know the versions."""
    return OFFERS if release is None else served_apis(release)


def minor(release: str) -> str:
    """The release of the table that a version belongs to: "2.8" for "2.8.1"."""
    return ".".join(release.split(".")[:2])


def gaps(release: str) -> list[Gap]:
    """What a broker of `release` serves and we do not; in the order of keys."""
    found = []
    for key, wanted in sorted(release_ranges(release).items()):
        api = registrations().get(key)
        both = None if api is None else _overlap(api, wanted)
        if both != wanted:
            found.append(Gap(key, wanted, both))
    return found


def gaps_in_words(release: str) -> str:
    """The same in one line: `Produce 0-2, ControlledShutdown, …`."""
    texts = []
    for key, wanted, served in gaps(release):
        missing = [] if served is not None else [""]
        if served is not None and wanted[0] < served[0]:
            missing.append(f" {_shown(wanted[0], served[0] - 1)}")
        if served is not None and served[1] < wanted[1]:
            missing.append(f" {_shown(served[1] + 1, wanted[1])}")
        texts.append(key.camel + ",".join(missing))
    return ", ".join(texts) or "-"


def _shown(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def release_ranges(release: str) -> dict[ApiKey, Range]:
    """The APIs that clients of a broker of `release` are told, with their first and last version."""
    from kafkastub.config.releases import APIS

    found = {}
    for text in APIS[minor(release)].split():
        key, _, versions = text.partition(":")
        first, _, last = versions.partition("-")
        found[ApiKey(int(key))] = int(first), int(last)
    return found


def _overlap(api: Registration, wanted: Range) -> Range | None:
    first, last = max(api.first, wanted[0]), min(api.last, wanted[1])
    return (first, last) if first <= last else None


def _narrowed(api: Registration, versions: Range, release: str) -> Registration:
    first, last = versions
    lowest = api.advertised_first if first == api.first else first
    narrow = replace(api, first=first, last=last, advertised_first=lowest)
    if api.key == ApiKey.API_VERSIONS:
        own = [ApiVersion(api.key, first, last)] if _numbers(release) >= OWN_RANGE_SINCE else []
        narrow = replace(narrow, error_response=_refusal(own))
    return narrow


def _refusal(own: list[ApiVersion]) -> ErrorResponse:
    def refused(request: ApiVersionsRequest, code: ErrorCode, version: int) -> ApiVersionsResponse:
        return ApiVersionsResponse(error_code=code, api_keys=own if code == ErrorCode.UNSUPPORTED_VERSION else [])

    return refused


def _numbers(release: str) -> tuple[int, int]:
    first, second = minor(release).split(".")
    return int(first), int(second)
