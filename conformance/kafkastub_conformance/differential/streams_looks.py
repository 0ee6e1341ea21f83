"""How streams groups look between steps, and the internal topics of their topologies (KIP-1071).

A broker makes those topics behind the answer to a heartbeat. Their names begin with the play's prefix, so that what
Kafka keeps in a hash map of names comes in another order in every play: it is sorted here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kafkastub_conformance.differential.bodies import Json

INTERNAL = "internal topics"
"""What a look has beside the groups: {topic: partitions} of those that are there."""

MISSING = "Internal topics are missing: "
LISTED = re.compile(rf"({MISSING})([^;]*?)( and \d+ additional topics)?(;|$)", re.DOTALL)

OTHERWISE = re.compile(r"Existing topic <p>.* has different number of partitions: .*")
"""Of several such topics the first in a hash map is told."""

Watch = Callable[..., Json]
"""From an API, a body and perhaps a version to the answer."""


def looks_of_streams_groups(watch: Watch, groups: Sequence[str]) -> dict[str, Json]:
    """By `streams group <p>g1` what is told of it."""
    told = watch("StreamsGroupDescribe", {"group_ids": list(groups)})
    return {f"streams group {one.pop('group_id', '')}": one for one in told.get("groups", ())}


class InternalTopics:
    """The topics that the topologies of a play want the broker to make."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.there: dict[str, int] = {}

    def note(self, topology: Json) -> set[str]:
        """Learn from a heartbeat; the play's own names among them."""
        own = {name for name in internal_topics(topology) if name.startswith("<p>")}
        self.names |= dict.fromkeys(sorted(own))
        return own

    def look(self, watch: Watch, settle: Callable[[], None]) -> dict[str, Json]:
        """Those that are there, with their partitions; once the coordinator knows of them, too (`settle`)."""
        if not self.names:
            return {}
        asked = {"topics": [{"name": name} for name in self.names], "allow_auto_topic_creation": False}
        topics = watch("Metadata", asked).get("topics", ())
        there = {
            one["name"]: len(one.get("partitions", ()))
            for one in sorted(topics, key=lambda one: str(one.get("name")))
            if not one.get("error_code")
        }
        if there != self.there:
            self.there = there
            settle()
        return {INTERNAL: there}


def internal_topics(topology: Json) -> Iterator[str]:
    """The names of the topics that a topology, as a request or a description has it, wants to be made."""
    for subtopology in (topology or {}).get("subtopologies") or ():
        for kind in ("repartition_source_topics", "state_changelog_topics"):
            for one in subtopology.get(kind) or ():
                yield one.get("name", "")


def wants_topics(looked: dict[str, Json], group: Json) -> bool:
    """Whether internal topics of a group are not there."""
    wanted = set(internal_topics(looked.get(f"streams group {group}", {}).get("topology")))
    return not wanted <= looked.get(INTERNAL, {}).keys()


def normalise_streams(api: str, answer: dict[str, Json]) -> dict[str, Json]:
    """An answer to a heartbeat with what comes from hash maps of names in order."""
    if api != "StreamsGroupHeartbeat":
        return answer
    for one in answer.get("partitions_by_user_endpoint") or ():
        for kind in ("active_partitions", "standby_partitions"):
            one.get(kind, []).sort(key=lambda topic: (topic.get("topic", ""), topic.get("partitions", [])))
    for one in answer.get("status") or ():
        detail = LISTED.sub(_in_order, one.get("status_detail", ""))
        one["status_detail"] = OTHERWISE.sub("Existing topic <p>… has different number of partitions", detail)
    return answer


def _in_order(found: re.Match[str]) -> str:
    """The names sorted; where only some of them are told, how many."""
    names = found[2].split(", ")
    shown = f"<{len(names)} of them>" if found[3] else ", ".join(sorted(names))
    return f"{found[1]}{shown}{found[3] or ''}{found[4]}"
