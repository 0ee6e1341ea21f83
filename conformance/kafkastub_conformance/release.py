"""Which release of Apache Kafka a broker is measured by: behaviour changes with releases as well as with versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kafkastub.config.releases import APIS, LATEST
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.model import Case

__all__ = ["LATEST", "checked_release", "measured_by", "ranges", "since", "versions"]

Ranges = Mapping[str, tuple[int, int]]


def checked_release(release: str) -> str:
    """The release as MAJOR.MINOR, a patch release's digit dropped. Raises ValueError for one that is not known."""
    short = ".".join(release.split(".")[:2])
    if short not in APIS:
        raise ValueError(f"--release {release}: expected one of {', '.join(APIS)}")
    return short


@lru_cache(maxsize=32)
def ranges(release: str) -> Mapping[int, tuple[int, int]]:
    """The APIs of a release and their versions, by key."""
    found = {}
    for text in APIS[release].split():
        key, _, between = text.partition(":")
        first, _, last = between.partition("-")
        found[int(key)] = int(first), int(last)
    return found


@lru_cache(maxsize=32)
def versions(release: str) -> Ranges:
    """The same by name, as far as we know them."""
    names = {int(key): name for name, key in KEYS.items()}
    return {names[key]: between for key, between in ranges(release).items() if key in names}


def measured_by(advertised: Ranges) -> str:
    """The newest release that has every API of these up to just these versions; the latest one where none has."""
    for release in reversed(APIS):
        of_it = versions(release)
        if all(of_it.get(api, (0, -1))[1] == last for api, (_, last) in advertised.items()):
            return release
    return LATEST


def since(case: Case, release: str) -> bool:
    """Whether what a case shows came after a release."""
    return bool(case.since) and _numbers(case.since) > _numbers(release)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
