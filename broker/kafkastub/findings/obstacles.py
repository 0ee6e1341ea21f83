"""What stands between a group and its records outside it: faults, and errors that its clients were answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from kafkastub.faults import FaultRule
from kafkastub.findings.fetching import met_faults, refusals
from kafkastub.findings.finding import Finding, Level, many
from kafkastub.findings.watched import Watched, reading
from kafkawire.api import ApiKey

_OF_CONSUMERS: Final = frozenset(
    {
        ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE,
        ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.API_VERSIONS,
    }
)  # fmt: skip
"""What a consumer asks on its way to records."""
_AFTERWARDS: Final = frozenset({ApiKey.OFFSET_COMMIT, ApiKey.SHARE_ACKNOWLEDGE})
"""What is asked when records have come."""
_LONG_MS: Final = 1000
"""A shorter delay nobody notices."""
_LATELY: Final = 30.0
"""Seconds: who asks on does so within them."""


def of_faults(watched: Watched, group: str, clients: set[str], topics: set[str]) -> Iterator[Finding | None]:
    """Those that hold requests of its members, or are about them: `topics` are theirs."""
    faults, ring = list(watched.faults), watched.running().observer.ring
    met: Counter[str] = Counter()
    walked = () if ring is None or not faults else ring.walk_single()
    for step in met_faults(walked, reading(watched.running()), group, clients):
        yield None
        met = met if step is None else step
    for fault in faults:
        rule, mets = fault.rule, met[fault.id]
        held = [one for one in fault.held if one.client_id in clients]
        if held:
            names = ", ".join(dict.fromkeys(f"{one.api} of {one.client_id}" for one in held[:3]))
            sentence = f"Fault {fault.id!r} holds {many(len(held), 'request')}: {names}."
            yield Finding("stop", sentence, "fault", fault.id)
        elif rule.times is not None and fault.hits >= rule.times:
            continue
        elif mets and (what := _ends(rule)):
            always = (
                rule.share is None and rule.every == 1 and (rule.keys is None or not _AFTERWARDS.issuperset(rule.keys))
            )
            sentence = f"Fault {fault.id!r} {what}: {many(mets, 'request')} of this group met it."
            yield Finding("stop" if always else "look", sentence, "fault", fault.id)
        elif _concerns(rule, group, clients, topics):
            sentence = f"Fault {fault.id!r} is about what its members ask; {many(fault.hits, 'request')} met it so far."
            yield Finding("look", sentence, "fault", fault.id)


def _ends(rule: FaultRule) -> str:
    """What it does to requests so that their work comes to nothing; empty for what merely takes longer."""
    names = "all requests" if rule.keys is None else ", ".join(key.camel for key in rule.keys)
    if rule.error_code is not None:
        return f"answers {names} with {rule.error_code.name}"
    if rule.drop:
        return f"drops the connection of {names}"
    if rule.cut is not None:
        return f"cuts the answer of {names}"
    return f"does not answer {names}" if rule.silent else ""


def _concerns(rule: FaultRule, group: str, clients: set[str], topics: set[str]) -> bool:
    keys = rule.keys
    hurts = any((rule.error, rule.drop, rule.cut is not None, rule.silent, rule.hold, rule.delay_ms >= _LONG_MS))
    return (
        hurts
        and (keys is None or not _OF_CONSUMERS.isdisjoint(keys))
        and rule.group in (None, group)
        and rule.transactional_id is None
        and (rule.topic is None or rule.topic in topics)
        and (rule.client_id is None or any(fnmatchcase(client, rule.client_id) for client in clients))
    )


def of_those_who_left(watched: Watched, group: str) -> Iterator[Finding | None]:
    """Clients leave a group when nothing of what they subscribe to is to be had, and go on asking (librdkafka)."""
    ring = watched.running().observer.ring
    if ring is None:
        return
    for step in refusals(ring.walk(before=ring.total), reading(watched.running()), group):
        yield None
        for one in step or ():
            denied = one.error.endswith("AUTHORIZATION_FAILED")
            about = "".join(f" of {topic}" for topic in one.topics[:1])
            sentence = (
                f"{one.client}, a client of this group, got {one.error} in the answer to {one.api}{about} "
                f"{one.seconds:.0f} s ago{': an ACL denies it, or none allows it' if denied else ''}."
            )
            level: Level = "stop" if one.seconds < _LATELY else "look"
            yield Finding(level, sentence, "acl" if denied else "journal", one.client)
