"""What clients have used of their quotas, and how long each has to wait (Kafka: ``ClientQuotaManager``). Pure.

Clients that are under the same quota of a user share it, those under a client id's quota as well: which quota is a
client's decides who is counted together with whom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Generic, TypeVar

from .quota_rates import Rate, TokenBucket, Windows
from .quotas import Quotas, Who

UNLIMITED: Final = float("inf")
_MOST: Final = 10_000
"""Clients that are kept in mind for one quota."""
_FORGET_MS: Final = 3600 * 1000
"""Kafka: INACTIVE_SENSOR_EXPIRATION_TIME_SECONDS."""


def counted_as(limits: Mapping[Who, float], user: str, client_id: str) -> tuple[str, str]:
    """The user and client id that a client's use is counted under, "" where that is no matter.

    By the most specific quota: user and client id, user and any client id, user, any user and client id, any user and
    any client id, any user, client id, any client id.
    """
    for quota, shared in (
        ((user, client_id or None), (user, client_id)),
        ((user, None), (user, client_id)),
        ((user, ""), (user, "")),
        ((None, client_id or None), (user, client_id)),
        ((None, None), (user, client_id)),
        ((None, ""), (user, "")),
    ):
        if quota in limits:
            return shared
    return "", client_id


def limit_of(limits: Mapping[Who, float], user: str, client_id: str) -> float:
    """The quota of what is counted so. A client without an id has no part in any quota of client ids."""
    who = quota_of(limits, user, client_id)
    return UNLIMITED if who is None else limits[who]


def quota_of(limits: Mapping[Who, float], user: str, client_id: str) -> Who | None:
    """Whose quota that is; None where there is none."""
    quotas: tuple[Who, ...] = ()
    if user and client_id:
        quotas = (user, client_id), (user, None), (None, client_id), (None, None)
    elif user:
        quotas = (user, ""), (None, "")
    elif client_id:
        quotas = ("", client_id), ("", None)
    return next((quota for quota in quotas if quota in limits), None)


M = TypeVar("M", Rate, TokenBucket)


class _Counted(Generic[M]):
    __slots__ = ("limit", "meter", "used_at", "version")

    def __init__(self, meter: M) -> None:
        self.meter: M = meter
        self.limit = UNLIMITED
        self.version = -1
        """Of the quotas, when the limit was looked up."""
        self.used_at = 0


class Meters(Generic[M]):
    """All clients' use of what one quota limits."""

    def __init__(self, quotas: Quotas, name: str, windows: Windows, make: type[M]) -> None:
        self._quotas = quotas
        self._limits = quotas.limits(name)
        self._make: type[M] = make
        self.windows = windows
        self._counted: dict[int, _Counted[M]] = {}
        """By the hash of node, user and client id, of which the last two may be as long as a client likes."""

    @property
    def enabled(self) -> bool:
        """Whether anybody has such a quota: as long as nobody has, nothing is counted."""
        return bool(self._limits)

    def of(self, node_id: int, user: str, client_id: str, now: int) -> tuple[M, float]:
        """Whatever counts a client's use on a node, and its limit."""
        who = counted_as(self._limits, user, client_id)
        key = hash((node_id, who))
        found = self._counted.get(key)
        if found is None:
            if len(self._counted) >= _MOST:
                self._forget(now)
            found = self._counted[key] = _Counted(self._make(self.windows))
        if found.version != self._quotas.version:
            found.version, found.limit = self._quotas.version, limit_of(self._limits, *who)
        found.used_at = now
        return found.meter, found.limit

    def _forget(self, now: int) -> None:
        """Whoever was not seen for an hour; of many who were, the half that was not for longer."""
        kept = [(key, one) for key, one in self._counted.items() if now - one.used_at < _FORGET_MS]
        if len(kept) >= _MOST:
            kept.sort(key=lambda item: item[1].used_at)
            del kept[: _MOST // 2]
        self._counted = dict(kept)


class Rates(Meters[Rate]):
    """What is used per second."""

    def __init__(self, quotas: Quotas, name: str, windows: Windows) -> None:
        super().__init__(quotas, name, windows, Rate)

    def record(self, node_id: int, user: str, client_id: str, value: float, now: int) -> int:
        """So much was used; for how many milliseconds the client has to wait."""
        if not self.enabled:
            return 0
        rate, limit = self.of(node_id, user, client_id, now)
        rate.record(value, now)
        return 0 if limit == UNLIMITED else rate.over(limit, now)

    def take_back(self, node_id: int, user: str, client_id: str, value: float, now: int) -> None:
        """What was recorded was not used after all."""
        if self.enabled:
            self.of(node_id, user, client_id, now)[0].record(-value, now)

    def most_at_once(self, node_id: int, user: str, client_id: str, now: int) -> float:
        """As much as a client can use in all of its windows without waiting."""
        if not self.enabled:
            return UNLIMITED
        limit = self.of(node_id, user, client_id, now)[1]
        return limit * (self.windows.number - 1) * (self.windows.size_ms // 1000)
