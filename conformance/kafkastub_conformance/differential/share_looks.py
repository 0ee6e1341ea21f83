"""How share groups look between steps: what is told of them, and what is kept of their partitions (KIP-932).

A guest sees the groups and their offsets; who is alone with the broker also reads the states of the share coordinator,
which takes the right to act for the cluster. Nothing that is asked here changes anything: a state is read once a share
partition has read it itself, as the first reading writes down the leader's epoch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import TYPE_CHECKING

from kafkastub_conformance.differential.bodies import Json

if TYPE_CHECKING:
    from kafkastub_conformance.differential.broker import Broker

SHARE = 2
"""The type of a key of FindCoordinator."""

ANY_PARTITION = "<p>g1:AAAAAAAAAAAAAAAAAAAAAQ:0"
"""A key of that type."""

MADE_SECONDS = 10.0
MADE_LOOKED_FOR_EVERY = 0.05

LOOKS = 5
"""As often it is looked while something is written down in between."""

Watch = Callable[..., Json]
"""From an API, a body and perhaps a version to the answer."""


def find_share_coordinator(watch: Watch) -> None:
    """Who has never had a share group makes a topic for their states now; it is awaited."""
    deadline = time.monotonic() + MADE_SECONDS
    while time.monotonic() < deadline:
        found = watch("FindCoordinator", {"coordinator_keys": [ANY_PARTITION], "key_type": SHARE})
        if not found["coordinators"][0].get("error_code"):
            break
        Event().wait(MADE_LOOKED_FOR_EVERY)


def looks_of_share_groups(watch: Watch, groups: Sequence[str], broker: Broker) -> dict[str, Json]:
    """By `share group <p>g1` what is told of it; by `share state of <p>g1` its partitions."""
    told = watch("ShareGroupDescribe", {"group_ids": list(groups)})
    looked = {f"share group {one.pop('group_id', '')}": one for one in told.get("groups", ())}
    for _ in range(LOOKS):
        offsets = _offsets(watch, groups, broker)
        if all(map(_is_of_one_time, offsets.values())):
            break
    return looked | offsets


def _offsets(watch: Watch, groups: Sequence[str], broker: Broker) -> dict[str, Json]:
    asked = [{"group_id": group, "topics": None} for group in groups]
    offsets = watch("DescribeShareGroupOffsets", {"groups": asked})
    looked: dict[str, Json] = {}
    for one in offsets.get("groups", ()):
        group, topics = one.get("group_id", ""), one.get("topics", [])
        looked[f"share state of {group}"] = {"topics": _states(watch, group, topics) if broker.alone else topics}
    return looked


def _is_of_one_time(looked: Json) -> bool:
    """Whether offsets and summaries tell the same: Apache Kafka may write down a state between the two answers."""
    partitions = [one for topic in looked["topics"] for one in topic["partitions"] if one.get("summary")]
    return all(
        one["summary"].get("error_code") or one["summary"].get("start_offset", 0) == one.get("start_offset", 0)
        for one in partitions
    )


def _states(watch: Watch, group: str, topics: list[Json]) -> Json:
    """Each partition's offsets, with its summary, and the state where it has been read before."""
    if not topics:
        return []
    asked = [
        {
            "topic_id": topic["topic_id"],
            "partitions": [{"partition": one.get("partition_index", 0)} for one in topic["partitions"]],
        }
        for topic in topics
    ]
    summary = watch("ReadShareGroupStateSummary", {"group_id": group, "topics": asked})
    by_place = {
        (topic["topic_id"], one.get("partition", 0)): one
        for topic in summary.get("results", ())
        for one in topic["partitions"]
    }
    for topic in topics:
        for one in topic["partitions"]:
            place = topic["topic_id"], one.get("partition_index", 0)
            one["summary"] = by_place.get(place)
            if one["summary"] and one["summary"].get("leader_epoch", 0) >= 0:
                one["state"] = _state(watch, group, *place)
    return topics


def _state(watch: Watch, group: str, topic_id: str, partition: int) -> Json:
    partitions = [{"partition": partition, "leader_epoch": 0}]
    asked = {"group_id": group, "topics": [{"topic_id": topic_id, "partitions": partitions}]}
    result = watch("ReadShareGroupState", asked)["results"][0]["partitions"][0]
    batches = result.pop("state_batches", [])
    result["batches"] = [
        f"{one.get('first_offset', 0)}-{one.get('last_offset', 0)} state {one.get('delivery_state', 0)}"
        f" delivered {one.get('delivery_count', 0)}"
        for one in batches
    ]
    return result
