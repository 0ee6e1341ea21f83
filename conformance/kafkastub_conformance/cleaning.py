"""Removing what cases have made at a broker, and nothing else."""

from __future__ import annotations

import time

from kafkastub.client import ClientError
from kafkastub_conformance.cluster import Cluster
from kafkastub_conformance.model import Skipped
from kafkawire.errors import ErrorCode

SWEEP_SECONDS = 2.0
POLL_SECONDS = 0.02

MODERN = ("Consumer", "Share", "Streams")
"""Kinds of groups whose members leave by a heartbeat."""


def clean(cluster: Cluster, *, shared: bool = False) -> list[str]:
    """Remove what the cases so far have made; gives the names of what could not be removed.

    Args:
        shared: also the topics that cases share.
    """
    kept = set() if shared else cluster.shared_topics
    left: list[str] = []
    topics = sorted(cluster.topics - kept)
    try:
        left += _remove_groups(cluster, sorted(cluster.groups))
        left += _remove_topics(cluster, topics)
        left += _remove_users(cluster, sorted(cluster.users))
        left += _remove_resources(cluster, sorted(cluster.resources))
        left += _remove_acls(cluster)
        left += _remove_quotas(cluster)
    except (ClientError, Skipped):
        left += sorted({*cluster.groups, *topics, *cluster.users, *(name for _, name in cluster.resources)})
    cluster.groups.clear()
    cluster.users.clear()
    cluster.resources.clear()
    cluster.quotas.clear()
    cluster.topics &= kept
    return left


def _remove_groups(cluster: Cluster, names: list[str]) -> list[str]:
    if not names:
        return []
    if "DescribeGroups" in cluster.advertised:
        for group in cluster.ask("DescribeGroups", groups=names).groups:
            for member in group.members:
                identity = {"member_id": member.member_id, "group_instance_id": None}
                cluster.ask("LeaveGroup", group_id=group.group_id, member_id=member.member_id, members=[identity])
    for kind in MODERN:
        if f"{kind}GroupDescribe" in cluster.advertised:
            for group in cluster.ask(f"{kind}GroupDescribe", group_ids=[name for name in names if name]).groups:
                for member in group.members:
                    leaving = {"group_id": group.group_id, "member_id": member.member_id, "member_epoch": -1}
                    cluster.ask(f"{kind}GroupHeartbeat", **leaving)
    results = cluster.ask("DeleteGroups", groups_names=names).results
    fine = (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.INVALID_GROUP_ID)
    return [result.group_id for result in results if result.error_code not in fine]


def _remove_topics(cluster: Cluster, names: list[str]) -> list[str]:
    if not names:
        return []
    watched = _watch(cluster, names)
    states = [{"name": name} for name in names]
    body = {"topics": states, "topic_names": names, "timeout_ms": int(cluster.timeout * 1000)}
    results = cluster.ask("DeleteTopics", **body).responses
    fine = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if watched is not None:
        _await_sweep(cluster, *watched)
    return [str(result.name) for result in results if result.error_code not in fine]


def _watch(cluster: Cluster, topics: list[str]) -> tuple[str, str] | None:
    """A group, and a topic of these of which it has an offset; None where neither is to be had."""
    if not cluster.sweeps or any(api not in cluster.served for api in ("OffsetCommit", "OffsetFetch", "DeleteGroups")):
        return None
    group = cluster.name()
    rows = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]
    named = [{"name": topic, "partitions": rows} for topic in topics]
    version = cluster.newest("OffsetCommit", 9)  # later ones want the topics' ids
    answer = cluster.admin().request("OffsetCommit", version, {"group_id": group, "topics": named}).answer()
    existing = [topic.name for topic in answer.topics if not topic.partitions[0].error_code]
    return (group, existing[0]) if existing else None


def _await_sweep(cluster: Cluster, group: str, topic: str) -> None:
    """Wait until the deletion of a topic has reached the groups.

    Kafka 3.9 goes through all of them some time after it, and takes along those that have no members yet: the next
    case's, which is about to join.
    """
    version = cluster.newest("OffsetFetch", 7)
    body = {"group_id": group, "topics": [{"name": topic, "partition_indexes": [0]}]}
    deadline = time.monotonic() + SWEEP_SECONDS
    while cluster.sweeps:
        answer = cluster.admin().request("OffsetFetch", version, body).answer()
        if not answer.topics or answer.topics[0].partitions[0].committed_offset < 0:
            break
        cluster.sweeps = time.monotonic() < deadline  # it does not: no more waiting
        time.sleep(POLL_SECONDS)
    cluster.ask("DeleteGroups", groups_names=[group])


def _remove_users(cluster: Cluster, names: list[str]) -> list[str]:
    """Credentials that were made for them."""
    if not names:
        return []
    users = cluster.ask("DescribeUserScramCredentials", users=[{"name": name} for name in names]).results
    rows = [{"name": user.user, "mechanism": info.mechanism} for user in users for info in user.credential_infos]
    left = []
    for row in rows:  # one at a time: a user is named once in a request
        result = cluster.ask("AlterUserScramCredentials", deletions=[row]).results[0]
        left += [str(row["name"])] * bool(result.error_code)
    return left


def _remove_resources(cluster: Cluster, names: list[tuple[int, str]]) -> list[str]:
    """What was configured of them."""
    left = []
    for kind, name in names:
        row = {"resource_type": kind, "resource_name": name, "configs": []}
        answer = cluster.ask("AlterConfigs", resources=[row])
        left += [name] * bool(answer.responses[0].error_code)
    return left


def _remove_quotas(cluster: Cluster) -> list[str]:
    """What the entities still have."""
    left = []
    for who in cluster.quotas:
        rows = [{"entity_type": kind, "match_type": 0, "match": name} for kind, name in who.items()]
        found = cluster.ask("DescribeClientQuotas", components=rows, strict=True).entries
        ops = [{"key": value.key, "remove": True} for entry in found or () for value in entry.values]
        if ops:
            entity = [{"entity_type": kind, "entity_name": name} for kind, name in who.items()]
            answer = cluster.ask("AlterClientQuotas", entries=[{"entity": entity, "ops": ops}])
            left += [f"quotas of {who}"] * bool(answer.entries[0].error_code)
    return left


def _remove_acls(cluster: Cluster) -> list[str]:
    """The entries for the run's own principal."""
    if not cluster.has_acls:
        return []
    anything = {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1}
    own = anything | {"resource_name_filter": None, "principal_filter": cluster.principal, "host_filter": None}
    result = cluster.ask("DeleteAcls", filters=[own]).filter_results[0]
    cluster.has_acls = result.error_code not in (ErrorCode.NONE, ErrorCode.SECURITY_DISABLED)
    return [f"ACLs of {cluster.principal}"] * cluster.has_acls
