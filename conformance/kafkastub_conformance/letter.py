"""Whose letter a broker follows where a KIP and released Kafka differ."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.client import ClientError
from kafkastub.config.profile import PROFILES
from kafkastub_conformance.cluster import Cluster, NotReady
from kafkastub_conformance.model import AUTO, Run, Skipped

OTHERWISE = "kafka"
"""The profile of a broker that does not tell."""


def followed(cluster: Cluster) -> str:
    """The profile whose answers the broker gives; "" where that cannot be found out.

    It is asked to commit an offset of the group "" as a member that there is not: KIP-289's draft refuses the group
    itself, released Kafka the member. Nothing is committed either way.
    """
    kips = PROFILES["kips"]
    first = kips.empty_group_commit_refused_from
    try:
        if first is None or cluster.newest("OffsetCommit") < first:
            return ""
        topic = cluster.shared()
        row = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
        answer = cluster.ask(
            "OffsetCommit",
            group_id="",
            generation_id_or_member_epoch=1,
            member_id=cluster.name(),
            topics=[{"name": topic.name, "topic_id": topic.id, "partitions": [row]}],
        )
        code = answer.topics[0].partitions[0].error_code
    except (ClientError, NotReady, Skipped, LookupError):
        return ""
    return "kips" if code == kips.illegal_offset_commit_code else "kafka"


def settle(cluster: Cluster, runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Decide on the cluster's profile where that is left to the broker; the runs that belong to it, and what is to be
    known of it, a sentence each."""
    differing = [run for run in runs if run.case.profile != "both"]
    found = followed(cluster) if differing else ""
    asked = cluster.profile
    if asked == AUTO:
        cluster.profile = found or OTHERWISE
    runs = [run for run in runs if run.case.holds_for(cluster.profile)]
    about = [run for run in runs if run.case.profile != "both"]
    cases = ", ".join(sorted({run.case.id for run in about}))
    if asked == AUTO and cluster.profile != OTHERWISE:
        return runs, [
            f"the broker follows the KIPs to the letter where released Kafka does not, and is measured by the profile "
            f"{cluster.profile}: {len(about)} runs are about that, {cases} (--profile {OTHERWISE} measures it by "
            "released Kafka)."
        ]
    if asked != AUTO and found not in ("", asked):
        return runs, [
            f"the broker follows the profile {found}, and --profile {asked} measures it by the other one: "
            f"{len(about)} runs are about where they differ, {cases}; what fails of them is the profile's."
        ]
    return runs, []
