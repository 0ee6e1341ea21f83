"""Whether a rule can ever match and act on a broker that serves these APIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkastub.faults.naming import has_error, has_field, naming
from kafkastub.faults.rules import FaultError, FaultRule
from kafkawire.api import ApiKey

Served = Mapping[ApiKey, tuple[int, int]]
"""API -> first and last version."""


def apis_of(rule: FaultRule, served: Served) -> frozenset[ApiKey]:
    """The APIs that the rule can meet. Raises FaultError where there is none, or where one that it names is none."""
    if rule.keys is None:
        found = frozenset(key for key in served if _why_not(rule, key, served) is None)
        if not found:
            raise FaultError(
                "no API has what the rule asks for: every one lacks the group, the transaction, the topic or the field"
            )
        return found
    for key in rule.keys:
        why = _why_not(rule, key, served)
        if why is not None:
            raise FaultError(why)
    return frozenset(rule.keys)


def _why_not(rule: FaultRule, key: ApiKey, served: Served) -> str | None:
    name = key.camel
    if key not in served:
        return f"api={name!r} can never match: this broker does not serve it"
    first, last = served[key]
    low, high = rule.version_range or (first, last)
    low, high = max(low, first), min(high, last)
    if low > high:
        return f"versions={rule.versions!r} can never match: {name} is served from {first} to {last}"
    versions = range(low, high + 1)
    names = [naming(key, version) for version in versions]
    where = f"{name} {_shown(versions)}"
    if rule.group is not None and not any(each.names_groups for each in names):
        return f"group={rule.group!r} can never match: {where} names no group"
    if rule.transactional_id is not None and not any(each.names_transactions for each in names):
        return f"transactional_id={rule.transactional_id!r} can never match: {where} names no transaction"
    if rule.topic is not None and not any(each.request_topics for each in names):
        return f"topic={rule.topic!r} can never match: {where} names no topic"
    if rule.partition is not None and not any(each.names_partitions for each in names):
        return f"partition={rule.partition} can never match: {where} names no partition"
    if rule.error is not None and not any(has_error(key, version) for version in versions):
        return f"error={rule.error!r} cannot be said: the answer of {where} has no error code"
    if rule.throttle_time_ms is not None and not any(has_field(key, v, "throttle_time_ms") for v in versions):
        having = [v for v in range(first, last + 1) if has_field(key, v, "throttle_time_ms")]
        instead = f", that of {name} {_shown(having)} has it" if having else ""
        return f"throttle_time_ms cannot be said: the answer of {where} has no such field{instead}"
    return None


def _shown(versions: Iterable[int]) -> str:
    all_of_them = list(versions)
    low, high = all_of_them[0], all_of_them[-1]
    return f"v{low}" if low == high else f"v{low}-{high}"
