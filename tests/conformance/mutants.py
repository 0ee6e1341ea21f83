"""Seeded defects: each is planted in a copy of the stub, and a case of the suite has to fail (`make mutants`).

Only the cases of the API that a defect is about are run. Prints those that nobody notices, and caught / planted.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ("broker", "protocol", "conformance")
SECONDS = 300
HANGS_SECONDS = 60
STUCK = "it does not run"
TOO_LATE = " in time"
"""What a case says of an answer that has not come. A busy machine alone must not pass for a defect that is noticed."""
ANSWER_SECONDS, PATIENT_SECONDS = 4, 8
"""How long an answer may take at first, and when it is asked again: less than the ten seconds that some fetches wait."""

DRIVER = """
import json, sys
from kafkastub import KafkaStub
from kafkastub.client.errors import ConnectionClosed
from kafkastub_conformance.running import conform
profile, api, options, slow, timeout = sys.argv[1:]
options = {"config": {}} | json.loads(options)
options["config"]["group.initial.rebalance.delay.ms"] = 0
def progress(result, done, planned):
    if result.bad:
        raise KeyboardInterrupt  # one that notices is enough
with KafkaStub(profile=profile, **options) as stub:
    try:
        outcome = conform(stub.bootstrap_servers.split(",")[0], profile, timeout=float(timeout), slow=slow == "slow", clock=stub.clock, progress=progress, select=lambda run: run.case.api == api)
    except ConnectionClosed as closed:  # before the first case
        print(closed)
        sys.exit(3)
for result in outcome.bad[:1]:
    print(result.run.id, result.reason)
sys.exit(3 if outcome.bad else 0)
"""


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new`, once, in a file under broker/kafkastub; the cases of `api` have to notice.

    `options` are arguments of the KafkaStub that is asked; `slow` is whether cases are played that wait for long;
    `hangs`, whether the stub goes round in circles with the defect, as where offsets are due at a moment and not let go
    then: that the run does not end is how it is noticed.
    """

    file: str
    old: str
    new: str
    api: str
    profile: str = "kafka"
    options: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False
    hangs: bool = False


_SECURED = {
    "config": {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
}
_NODES = {"nodes": 3}
_GROUP = "coordinator/classic/group.py"
_JOIN = "coordinator/classic/join.py"
_MEMBERSHIP = "coordinator/classic/membership.py"
_COMMITS = "coordinator/commits.py"
_DELETION = "coordinator/deletion.py"
_TXN = "transaction_coordinator/coordinator.py"
_AT_ONCE = "state/transaction_coordinator/at_once.py"
_TRANSITIONS = "transaction_coordinator/transitions.py"
_JUDGING = "transaction_coordinator/validation.py"
_PRODUCERS = "storage/producers.py"
_MARKERS = "state/transaction_coordinator/markers.py"
_RECONCILIATION = "coordinator/consumer/reconciliation.py"
_STEPS = "coordinator/consumer/steps.py"
_FENCING = "coordinator/consumer/fencing.py"
_RECONCILING = "coordinator/modern/reconciling.py"
_WATCHING = "coordinator/modern/watching.py"
_SAYING = "share_partitions/acknowledging.py"
_ACQUIRING = "share_partitions/acquiring.py"
_SESSIONS = "share_partitions/sessions.py"
_SHARE_COORDINATOR = "share_coordinator/coordinator.py"
_SHARING_HEARTBEAT = "coordinator/share/heartbeat.py"
_STREAMS = "coordinator/streams/"

MUTANTS = (
    Mutant(_GROUP, "raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)", "pass", "Heartbeat"),
    Mutant(
        _GROUP,
        "if generation < 0 and self.state is _EMPTY:",
        "if generation < 0:",
        "OffsetCommit",
    ),
    Mutant(_GROUP, "if generation != self.generation:", "if generation > self.generation:", "OffsetCommit"),
    Mutant(_GROUP, "if self.state is _COMPLETING_REBALANCE and not transactional:", "if False:", "OffsetCommit"),
    Mutant(_GROUP, "return self.protocol_type == CONSUMER_PROTOCOL_TYPE\n", "return False\n", "OffsetDelete"),
    Mutant(_GROUP, "return topic in self.subscribed", "return topic not in self.subscribed", "OffsetDelete"),
    Mutant(
        _GROUP,
        "if self.state is not State.EMPTY and self.protocol_type != CONSUMER_PROTOCOL_TYPE:",
        "if self.state is State.STABLE and self.protocol_type != CONSUMER_PROTOCOL_TYPE:",
        "OffsetDelete",
    ),
    Mutant(_GROUP, "return max(string_map_order(votes)", "return min(string_map_order(votes)", "JoinGroup"),
    Mutant(_GROUP, "self.generation += 1", "self.generation += 2", "JoinGroup"),
    Mutant(_JOIN, "elif not group.supports(join.request.protocol_type, join.protocols):", "elif False:", "JoinGroup"),
    Mutant(_JOIN, "elif join.requires_member_id:", "elif False:", "JoinGroup"),
    Mutant(_JOIN, 'member_id = f"{prefix}-{_uuid', 'member_id = f"{prefix}:{_uuid', "JoinGroup"),
    Mutant(_JOIN, "if group.state is State.COMPLETING_REBALANCE and same:", "if False:", "JoinGroup"),
    Mutant(_JOIN, "and same and not is_leader:", "and same:", "JoinGroup"),
    Mutant(_JOIN, "response.skip_assignment = True", "response.skip_assignment = False", "JoinGroup"),
    Mutant(_JOIN, "if not join.may_skip_assignment:", "if False:", "JoinGroup"),
    Mutant(
        _MEMBERSHIP,
        "return _REBALANCE_IN_PROGRESS if group.state is _PREPARING_REBALANCE else _NONE",
        "return _NONE",
        "Heartbeat",
    ),
    Mutant(_MEMBERSHIP, "    if generation != group.generation:", "    if generation < group.generation:", "Heartbeat"),
    Mutant(_MEMBERSHIP, "    if group.state is State.PREPARING_REBALANCE:", "    if False:", "SyncGroup"),
    Mutant(_MEMBERSHIP, "if request.generation_id != group.generation:", "if False:", "SyncGroup"),
    Mutant(_MEMBERSHIP, "or _differs(request.protocol_name, group.protocol)", "", "SyncGroup"),
    Mutant(_MEMBERSHIP, "assignment=member.assignment", 'assignment=b""', "SyncGroup"),
    Mutant(_MEMBERSHIP, "    elif member_id in group.pending:", "    elif False:", "LeaveGroup"),
    Mutant(_MEMBERSHIP, "            return error.code", "            return ErrorCode.NONE", "LeaveGroup"),
    Mutant(_COMMITS, "utf16_length(p.committed_metadata) > limit", "utf16_length(p.committed_metadata) >= limit", "OffsetCommit"),
    Mutant(_COMMITS, 'len(text.encode("utf-16-le", "surrogatepass")) // 2', 'len(text.encode("utf-8"))', "OffsetCommit"),
    Mutant(_COMMITS, "if version >= 9 else", "if version > 9 else", "OffsetCommit"),
    Mutant(_COMMITS, "if i not in large]", "]", "OffsetCommit"),
    Mutant(
        "handlers/k08_offset_commit.py",
        "and version >= refused_from:",
        "and version > refused_from:",
        "OffsetCommit",
        "kips",
    ),
    Mutant("handlers/k08_offset_commit.py", "if not 0 <= p.partition_index < count:", "if p.partition_index >= count:", "OffsetCommit"),
    Mutant(_DELETION, "if group.subscribes(topic):", "if False:", "OffsetDelete"),
    Mutant(_DELETION, "    if not group_id:\n", "    if False:\n", "OffsetDelete"),
    Mutant(_DELETION, "    group.validate_delete()\n", "", "DeleteGroups"),
    Mutant(_DELETION, "    group.validate_offset_delete()\n", "", "OffsetDelete"),
    Mutant("handlers/k47_offset_delete.py", "if not 0 <= i < count]", "if not 0 <= i <= count + 99]", "OffsetDelete"),
    Mutant("handlers/k42_delete_groups.py", "results.append(DeletableGroupResult(group_id, code))", "results += 2 * [DeletableGroupResult(group_id, code)]", "DeleteGroups"),
    Mutant("handlers/k42_delete_groups.py", "            code = error.code", "            code = ErrorCode.NONE", "DeleteGroups"),
    Mutant("coordinator/classic/describe.py", "group.protocol if group.state is State.STABLE else None", "group.protocol", "DescribeGroups"),
    Mutant("handlers/k15_describe_groups.py", "    if version >= 6:\n        why", "    if version >= 5:\n        why", "DescribeGroups"),
    Mutant("coordinator/classic/describe.py", "(m.group_instance_id, m.client_id", "(None, m.client_id", "DescribeGroups"),
    Mutant("handlers/k16_list_groups.py", "state.lower().strip()", "state.strip()", "ListGroups"),
    Mutant("handlers/k16_list_groups.py", 'group.protocol_type or ""', '""', "ListGroups"),
    Mutant("handlers/k20_delete_topics.py", "for name, times in names.items()\n        if times > 1", "for name, times in names.items()\n        if times > 2", "DeleteTopics"),
    Mutant("handlers/k20_delete_topics.py", "for topic_id, times in ids.items()\n        if times > 1", "for topic_id, times in ids.items()\n        if times > 2", "DeleteTopics"),
    Mutant("handlers/k20_delete_topics.py", "code = ErrorCode.UNKNOWN_TOPIC_ID", "code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION", "DeleteTopics"),
    Mutant("handlers/k21_delete_records.py", "        if offset < 0:", "        if offset < -99:", "DeleteRecords"),
    Mutant("handlers/k21_delete_records.py", "if not log.settings.delete:", "if False:", "DeleteRecords"),
    Mutant("handlers/k02_list_offsets.py", "LEADER_EPOCH_FROM = 4", "LEADER_EPOCH_FROM = 5", "ListOffsets"),
    Mutant("handlers/k02_list_offsets.py", "MAX_TIMESTAMP: 7,", "MAX_TIMESTAMP: 8,", "ListOffsets"),
    Mutant("handlers/k37_create_partitions.py", "if asked.count == present:", "if False:", "CreatePartitions"),
    Mutant("handlers/k37_create_partitions.py", "        if times > 1\n", "        if times > 2\n", "CreatePartitions"),
    Mutant("handlers/k60_describe_cluster.py", "ErrorCode.MISMATCHED_ENDPOINT_TYPE", "ErrorCode.UNSUPPORTED_ENDPOINT_TYPE", "DescribeCluster"),
    Mutant("handlers/k75_describe_topic_partitions.py", "sorted(", "list(", "DescribeTopicPartitions"),
    Mutant("handlers/k57_update_features.py", "_LAST_WITH_RESULTS: Final = 1", "_LAST_WITH_RESULTS: Final = 0", "UpdateFeatures"),
    Mutant("handlers/k55_describe_quorum.py", "if asked != [(CLUSTER_METADATA, [0])]:", "if not any(name == CLUSTER_METADATA for name, _ in asked):", "DescribeQuorum"),
    Mutant("handlers/k94_unregister_controller.py", "ErrorCode.INVALID_REQUEST, error", "ErrorCode.NONE, error", "UnregisterController"),
    Mutant("state/quorum.py", "ErrorCode.INCONSISTENT_CLUSTER_ID", "ErrorCode.INVALID_REQUEST", "AddRaftVoter"),
    Mutant("handlers/k18_api_versions.py", "    return ErrorCode.REBOOTSTRAP_REQUIRED", "    return None", "ApiVersions"),
    Mutant("handlers/k18_api_versions.py", "(cluster_id is None) != (node_id == -1)", "False", "ApiVersions"),
    Mutant("security/quotas.py", "if finite and not isfinite(value)", "if False", "AlterClientQuotas"),
    Mutant("handlers/k37_create_partitions.py", "ErrorCode.POLICY_VIOLATION, ctx", "ErrorCode.NONE, ctx", "CreatePartitions"),
    Mutant("handlers/k18_api_versions.py", "    if ctx.api_version >= 3:", "    if ctx.api_version >= 4:", "ApiVersions"),
    Mutant("handlers/k12_heartbeat.py", "ApiKey.HEARTBEAT, 0, 4", "ApiKey.HEARTBEAT, 0, 3", "ApiVersions"),
    Mutant("handlers/k09_offset_fetch.py", "if request.topics is None:", "if not request.topics:", "OffsetFetch"),
    Mutant("coordinator/expiry.py", "            if at > now:", "            if at >= now:", "OffsetCommit", hangs=True),
    Mutant("coordinator/expiry.py", "            if at > now:", "            if at > now - 1:", "OffsetCommit", hangs=True),
    Mutant("coordinator/expiry.py", "    return base + policy.retention_ms > now", "    return base + policy.retention_ms >= now", "OffsetCommit", hangs=True),
    Mutant("coordinator/expiry.py", "of_topic = None if group.subscribes(topic) else considered", "of_topic = considered", "OffsetCommit"),
    Mutant("coordinator/expiry.py", "return (commit_timestamp if considered.since is None else considered.since)", "return commit_timestamp", "OffsetCommit"),
    Mutant("handlers/k17_sasl_handshake.py", "ErrorCode.ILLEGAL_SASL_STATE", "ErrorCode.UNSUPPORTED_SASL_MECHANISM", "SaslHandshake"),
    Mutant("handlers/k36_sasl_authenticate.py", "ErrorCode.ILLEGAL_SASL_STATE", "ErrorCode.SASL_AUTHENTICATION_FAILED", "SaslAuthenticate"),
    Mutant("handlers/k29_describe_acls.py", "ErrorCode.SECURITY_DISABLED", "ErrorCode.NONE", "DescribeAcls"),
    Mutant("handlers/k29_describe_acls.py", "(acl.resource_type, acl.resource_name, acl.pattern_type), []", "(acl.resource_type, acl.resource_name, acl.operation), []", "DescribeAcls", options=_SECURED),
    Mutant("security/acls.py", "return name.startswith(acl.resource_name)", "return acl.resource_name.startswith(name)", "DescribeAcls", options=_SECURED),
    Mutant("security/acls.py", "return acl.resource_name in (name, WILDCARD)", "return acl.resource_name == name", "DescribeAcls", options=_SECURED),
    Mutant("handlers/k30_create_acls.py", "    if any(_is_for_filters(one) for one in asked):", "    if False:", "CreateAcls", options=_SECURED),
    Mutant("security/acl_requests.py", 'if ":" not in one.principal:', "if not one.principal:", "CreateAcls", options=_SECURED),
    Mutant("handlers/k31_delete_acls.py", "        authorizer.remove(wanted)", "        pass", "DeleteAcls", options=_SECURED),
    Mutant("handlers/k31_delete_acls.py", "            return CLOSE", "            continue", "DeleteAcls"),
    Mutant("handlers/k50_describe_user_scram_credentials.py", "        if times > 1:", "        if times > 2:", "DescribeUserScramCredentials"),
    Mutant("handlers/k50_describe_user_scram_credentials.py", "for number in (1, 2)", "for number in (1,)", "DescribeUserScramCredentials"),
    Mutant("handlers/k51_alter_user_scram_credentials.py", "if one.iterations < _FEWEST:", "if one.iterations <= _FEWEST:", "AlterUserScramCredentials"),
    Mutant("handlers/k51_alter_user_scram_credentials.py", "if one.iterations > _MOST:", "if one.iterations > _MOST + 1:", "AlterUserScramCredentials"),
    Mutant("handlers/k51_alter_user_scram_credentials.py", "if chosen.pop(name, None) is not None:", "if False:", "AlterUserScramCredentials"),
    Mutant("handlers/k51_alter_user_scram_credentials.py", "users.remove(one.name, one.mechanism)", "users.remove(one.name, 1)", "AlterUserScramCredentials"),
    Mutant("handlers/k71_get_telemetry_subscriptions.py", "if not instance.may_get(ctx.timer_ms) and", "if False and", "GetTelemetrySubscriptions"),
    Mutant("state/telemetry.py", "if value is None or not pattern.fullmatch(value):", "if value is None:", "GetTelemetrySubscriptions"),
    Mutant("handlers/k72_push_telemetry.py", '> ctx.state.config["telemetry.max.bytes"]', '>= ctx.state.config["telemetry.max.bytes"]', "PushTelemetry"),
    Mutant("handlers/k72_push_telemetry.py", "    if instance.terminating:", "    if False:", "PushTelemetry"),
    Mutant("handlers/k43_elect_leaders.py", "if request.timeout_ms <= 0:", "if request.timeout_ms < 0:", "ElectLeaders"),
    Mutant("handlers/k43_elect_leaders.py", "leader == partition.replicas[0] or", "", "ElectLeaders"),
    Mutant("handlers/k45_alter_partition_reassignments.py", "check_replicas(state, one.replicas, None)", "pass", "AlterPartitionReassignments"),
    Mutant("handlers/k45_alter_partition_reassignments.py", "ErrorCode.INVALID_REPLICATION_FACTOR", "ErrorCode.INVALID_REPLICA_ASSIGNMENT", "AlterPartitionReassignments", options=_NODES),
    Mutant("handlers/k46_list_partition_reassignments.py", "if one.adding or one.removing", "if True", "ListPartitionReassignments"),
    Mutant("handlers/k74_list_config_resources.py", "if not asked or kind in asked", "if kind in asked", "ListConfigResources"),
    Mutant("handlers/k75_describe_topic_partitions.py", "request.response_partition_limit), 1)", "request.response_partition_limit), 0)", "DescribeTopicPartitions"),
    Mutant("handlers/k48_describe_client_quotas.py", "strict=request.strict", "strict=False", "DescribeClientQuotas"),
    Mutant("handlers/k48_describe_client_quotas.py", "error_message=text, entries=None", "error_message=text, entries=[]", "DescribeClientQuotas"),
    Mutant("handlers/k49_alter_client_quotas.py", "validate_only=request.validate_only", "validate_only=False", "AlterClientQuotas"),
    Mutant("handlers/k49_alter_client_quotas.py", "None if one.remove else one.value", "one.value", "AlterClientQuotas"),
    Mutant("handlers/k61_describe_producers.py", "ErrorCode.INVALID_TOPIC_EXCEPTION", "ErrorCode.UNKNOWN_TOPIC_OR_PARTITION", "DescribeProducers"),
    Mutant("handlers/k22_init_producer_id.py", "ctx.api_version < KNOWS_FENCED_FROM", "ctx.api_version <= KNOWS_FENCED_FROM", "InitProducerId"),
    Mutant("transaction_coordinator/coordinator.py", "if not 0 < timeout_ms <=", "if not 0 <= timeout_ms <=", "InitProducerId"),
    Mutant("handlers/k24_add_partitions_to_txn.py", "KNOWS_FENCED_FROM = 2", "KNOWS_FENCED_FROM = 1", "AddPartitionsToTxn"),
    Mutant("handlers/k24_add_partitions_to_txn.py", "if transaction.verify_only:\n                return _each(_verified(ctx, transaction))", "if False:\n                pass", "AddPartitionsToTxn"),
    Mutant("handlers/k24_add_partitions_to_txn.py", "if any(refused.values()):", "if False:", "AddPartitionsToTxn"),
    Mutant("handlers/k25_add_offsets_to_txn.py", "KNOWS_FENCED_FROM = 2", "KNOWS_FENCED_FROM = 3", "AddOffsetsToTxn"),
    Mutant("handlers/k26_end_txn.py", "KNOWS_FENCED_FROM = 2", "KNOWS_FENCED_FROM = 1", "EndTxn"),
    Mutant("handlers/k27_write_txn_markers.py", "one.transaction_version,", "0,", "WriteTxnMarkers"),
    Mutant("storage/producers.py", "if marker.coordinator_epoch < entry.coordinator_epoch:", "if False:", "WriteTxnMarkers"),
    Mutant("storage/producers.py", "if entry.transaction_start is not None and not header.transactional:", "if False:", "Produce"),
    Mutant("state/transaction_coordinator/joining.py", "api_version < _KNOWS_ABORTABLE_FROM[api_key]", "False", "Produce"),
    Mutant("handlers/k28_txn_offset_commit.py", "TOPIC_IDS_FROM = 6", "TOPIC_IDS_FROM = 7", "TxnOffsetCommit"),
    Mutant("coordinator/commits.py", "if version >= 6 else ErrorCode.ILLEGAL_GENERATION)\n    taken", "if version >= 7 else ErrorCode.ILLEGAL_GENERATION)\n    taken", "TxnOffsetCommit"),
    Mutant("storage/log.py", "end, first = self.high_watermark, self.producer_states.first_unstable", "end, first = self.high_watermark, None", "Fetch"),
    Mutant("handlers/k01_fetch.py", "else _rows(told)", "else ()", "Fetch"),
    Mutant("handlers/k02_list_offsets.py", "end = log.last_stable_offset if committed else log.high_watermark\n        wanted", "end = log.high_watermark\n        wanted", "ListOffsets"),
    Mutant("handlers/k02_list_offsets.py", "end = log.last_stable_offset if committed else log.high_watermark\n    except", "end = log.high_watermark\n    except", "ListOffsets"),
    Mutant("handlers/k66_list_transactions.py", "dict.fromkeys(request.state_filters)", "request.state_filters", "ListTransactions"),
    Mutant("handlers/k66_list_transactions.py", "min_duration_ms=request.duration_filter", "min_duration_ms=-1", "ListTransactions"),
    Mutant("handlers/k34_alter_replica_log_dirs.py", "+ _ADDED > _LONGEST", "+ _ADDED >= _LONGEST", "AlterReplicaLogDirs"),
    Mutant("handlers/k34_alter_replica_log_dirs.py", "0 <= index < len(topic.partitions)", "index < len(topic.partitions)", "AlterReplicaLogDirs"),
    Mutant("handlers/k35_describe_log_dirs.py", "set[int]] | None = None\n    if request.topics is not None:", "set[int]] | None = None\n    if request.topics:", "DescribeLogDirs"),
    Mutant("handlers/context.py", 'if connection.protocol == "PLAINTEXT" or (', "if (", "DescribeDelegationToken"),
    Mutant("handlers/k38_create_delegation_token.py", "if request.owner_principal_type is None:", "if False:", "CreateDelegationToken"),
    Mutant("handlers/token_expiry.py", "_NO_TIME if code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED else 0", "0", "RenewDelegationToken"),
    Mutant(_TXN, "            tuple(transaction.partitions),\n            self", "            tuple(transaction.partitions)[:1],\n            self", "EndTxn"),
    Mutant(_MARKERS, "    log = state.logs.log(topic.topic_id, index)", "    if index:\n        return\n    log = state.logs.log(topic.topic_id, index)", "EndTxn"),
    Mutant(_MARKERS, "        end_transaction_of_offsets(state, index, marker, broker_ms)\n        return", "        return", "TxnOffsetCommit"),
    Mutant(_MARKERS, "    log.append_marker(marker,", "    log.append_marker(marker._replace(commit=True),", "Fetch", options={"data_dir": "one"}),
    Mutant(_MARKERS, "        state.fetch_purgatory.happened(written)", "        pass", "Fetch", options={"data_dir": "two"}),
    Mutant(_AT_ONCE, "(producer_id, raised, commit, coordinator_epoch", "(producer_id, raised, True, coordinator_epoch", "Fetch"),
    Mutant(_AT_ONCE, "                state.fetch_purgatory.appended(topic_id, index)", "                pass", "Fetch"),
    Mutant("storage/log.py", "            return first\n", "            return first + 1\n", "Fetch"),
    Mutant("storage/log.py", "return start if start >= end else self.batch_offset(start)", "return first", "DeleteRecords"),
    Mutant("storage/log_transactions.py", "            self.first_offset = next(iter(self._producers), None)", "            self.first_offset = None", "Fetch"),
    Mutant("storage/log_transactions.py", "        index = bisect_left(self._lasts, start)", "        index = bisect_left(self._firsts, start)", "Fetch"),
    Mutant(_PRODUCERS, "            self.add_aborted(aborted)", "            pass", "Fetch"),
    Mutant(_PRODUCERS, "            if duplicate is not None:", "            if duplicate is not None and not header.transactional:", "Produce"),
    Mutant(_PRODUCERS, "        if entry is not None and producer_epoch < entry.epoch:", "        if False:", "Produce"),
    Mutant(_PRODUCERS, "        if entry is not None and producer_epoch < entry.epoch:", "        if False:", "WriteTxnMarkers"),
    Mutant(_PRODUCERS, "        if marker.transaction_version >= 2 and epoch == entry.epoch and", "        if False and", "WriteTxnMarkers"),
    Mutant(_PRODUCERS, "        entry.transaction_start = None\n        self.first", "        self.first", "DescribeProducers"),
    Mutant(_PRODUCERS, "            self.batches.clear()\n", "", "EndTxn"),
    Mutant("storage/verification.py", "        if known.epochs_are_raised and first != 0 and no_state:", "        if False:", "Produce"),
    Mutant("storage/verification.py", "        elif first > known.lowest_sequence:", "        elif False:", "Produce"),
    Mutant("state/transactional_appends.py", "            if states.has_ongoing(*producer):", "            if True:", "Produce"),
    Mutant("state/transactional_appends.py", "    joins = api_version >= JOINS_FROM", "    joins = api_version > JOINS_FROM", "Produce"),
    Mutant("state/transaction_coordinator/joining.py", "    if code == ErrorCode.PRODUCER_FENCED:\n", "    if False:\n", "TxnOffsetCommit"),
    Mutant("state/transaction_coordinator/joining.py", "ApiKey.TXN_OFFSET_COMMIT: 5}", "ApiKey.TXN_OFFSET_COMMIT: 6}", "TxnOffsetCommit"),
    Mutant("state/transaction_coordinator/joining.py", "ApiKey.TXN_OFFSET_COMMIT: 4}", "ApiKey.TXN_OFFSET_COMMIT: 5}", "TxnOffsetCommit"),
    Mutant(_TRANSITIONS, "        epoch, last = min(epoch + 1, LAST_EPOCH), epoch", "        last = epoch", "EndTxn"),
    Mutant(_TRANSITIONS, "    epoch, last = before.producer_epoch + 1, NO_EPOCH", "    epoch, last = max(before.producer_epoch, 0), NO_EPOCH", "InitProducerId"),
    Mutant(_TRANSITIONS, "    if state is not TransactionState.ONGOING:\n        start = broker_ms\n    return _made(TransactionMetadata, (\n        name, producer_id, producer_id, next_id", "    if state is not TransactionState.ONGOING:\n        start = NO_TIMESTAMP\n    return _made(TransactionMetadata, (\n        name, producer_id, producer_id, next_id", "DescribeTransactions"),
    Mutant(_TXN, "                self._fence(known, turn)\n                turn.error", "                turn.error", "InitProducerId"),
    Mutant(_TXN, "                self._fence(known, turn)\n                turn.error", "                self._prepare(known.metadata, True, 2, turn)\n                turn.error", "InitProducerId"),
    Mutant(_TXN, "    if transaction.metadata.producer_epoch != producer_epoch:", "    if transaction.metadata.producer_epoch < producer_epoch:", "AddPartitionsToTxn"),
    Mutant(_TXN, "    if transaction.metadata.producer_epoch != producer_epoch:", "    if transaction.metadata.producer_epoch > producer_epoch:", "AddPartitionsToTxn"),
    Mutant(_TXN, "    if transaction.metadata.producer_epoch != producer_epoch:", "    if transaction.metadata.producer_epoch < producer_epoch:", "AddOffsetsToTxn"),
    Mutant(_TXN, "            every = tuple(known.partitions | added)", "            every = tuple(added)", "AddPartitionsToTxn"),
    Mutant(_TXN, "one: ErrorCode.NONE if one in known.partitions else", "one: ErrorCode.NONE if known.partitions else", "AddPartitionsToTxn"),
    Mutant(_TXN, "            self.meters.timed_out += 1\n            self._fence(known, turn)", "            return", "EndTxn", slow=True),
    Mutant("transaction_coordinator/store.py", "        if record.state not in transitions.OPEN:", "        if True:", "DescribeTransactions"),
    Mutant(_TXN, "broker_ms - one.metadata.start_timestamp > min_duration_ms)", "one.metadata.start_timestamp >= 0 and broker_ms - one.metadata.start_timestamp > min_duration_ms)", "ListTransactions"),
    Mutant(_TXN, "one.metadata.producer_id in producer_ids)", "one.metadata.producer_id not in producer_ids)", "ListTransactions"),
    Mutant(_JUDGING, "    if metadata.producer_id != producer_id and", "    if False and", "EndTxn"),
    Mutant(_JUDGING, "    if epoch != metadata.producer_epoch:", "    if epoch > metadata.producer_epoch:", "EndTxn"),
    Mutant(_JUDGING, "    if not again and metadata.producer_epoch != epoch:", "    if False:", "EndTxn"),
    Mutant(_JUDGING, "    if _is_result(metadata, commit):\n        return False\n", "", "EndTxn"),
    Mutant(_JUDGING, "        metadata.producer_epoch == epoch + 1 or", "        False or", "EndTxn"),
    Mutant(_JUDGING, "is TransactionState.ONGOING or not (again or commit):", "is TransactionState.ONGOING or not again:", "EndTxn"),
    Mutant("coordinator/expiry.py", "elif not offsets.is_pending(group.group_id, topic, partition):", "else:", "TxnOffsetCommit"),
    Mutant("coordinator/expiry.py", "    left = offsets.has_pending(group.group_id)", "    left = False", "TxnOffsetCommit"),
    Mutant("coordinator/deletion.py", "    gone += [(topic, p) for topic, p in pending if offsets.get(group_id, topic, p) is None]", "", "DeleteGroups"),
    Mutant("coordinator/deletion.py", "or offsets.is_pending(group_id, topic, partition):", ":", "OffsetDelete"),
    Mutant("coordinator/offsets.py", "            self.pending.supersede(commit, serial)", "            pass", "OffsetCommit"),
    Mutant("handlers/k09_offset_fetch.py", "if run is not None and not (stable and offsets.has_pending(group_id)):", "if run is not None:", "OffsetFetch"),
    Mutant("handlers/k24_add_partitions_to_txn.py", "KNOWS_FENCED_FROM = 2", "KNOWS_FENCED_FROM = 3", "AddPartitionsToTxn"),
    Mutant("handlers/k66_list_transactions.py", "or (request.state_filters and not states):", "or False:", "ListTransactions"),
    Mutant("handlers/k02_list_offsets.py", "request.isolation_level == READ_COMMITTED", "False", "ListOffsets"),
    Mutant("state/transaction_coordinator/pending_markers.py", "                del ending.left[partition]\n                done.append(partition)", "                del ending.left[partition]", "EndTxn"),
    Mutant("state/transaction_coordinator/pending_markers.py", "            done = self._try(ending, some, broker_ms)", "            done = list(some)", "EndTxn"),
    Mutant(_RECONCILIATION, "            if self._has_any(member.pending_revocation):", "            if False:", "ConsumerGroupHeartbeat"),
    Mutant(_RECONCILIATION, "if loses and self._has_any(loses):", "if False:", "ConsumerGroupHeartbeat"),
    Mutant(_RECONCILIATION, "return self._within_subscription(member) if self.subscription_changed else member\n        if", "return member\n        if", "ConsumerGroupHeartbeat"),
    Mutant(_STEPS, 'lambda: within(reported, "topic_id", member.assigned))', "lambda: True)", "ConsumerGroupHeartbeat"),
    Mutant(_STEPS, 'lambda: within(reported, "topic_id", member.assigned))', "lambda: False)", "ConsumerGroupHeartbeat"),
    Mutant(_RECONCILING, "if not takes_over and there.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:", "if False:", "ConsumerGroupHeartbeat"),
    Mutant(_FENCING, "group_id, group.epoch + 1, metadata_hash", "group_id, group.epoch, metadata_hash", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/modern/context.py", "        if len(members) == len(group.members) and", "        if False and", "ConsumerGroupHeartbeat"),
    Mutant(_WATCHING, "existing_static_member(request.instance_id, request.member_id)", "existing_static_member(request.instance_id, None)", "ConsumerGroupHeartbeat"),
    Mutant(_WATCHING, "if request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:", "if False:", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/consumer/validation.py", "if version >= 1 or epoch > 0", "if epoch > 0", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/consumer/validation.py", "if request.rebalance_timeout_ms == -1:", "if False:", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/consumer/heartbeat.py", "if create or _is_full(request) or", "if create or", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/consumer/heartbeat.py", "if create or _is_full(request) or", "if True or", "ConsumerGroupHeartbeat"),
    Mutant("coordinator/consumer/describe.py", "merged(member.assigned, member.pending_revocation)", "merged(member.assigned)", "ConsumerGroupDescribe"),
    Mutant("coordinator/consumer/describe.py", "member_type=CONSUMER_MEMBER", "member_type=CLASSIC_MEMBER", "ConsumerGroupDescribe"),
    Mutant("coordinator/modern/describe.py", '"rack_id": member.rack_id', '"rack_id": None', "ConsumerGroupDescribe"),
    Mutant(_SAYING, "int(AcknowledgeType.RELEASE): _AVAILABLE", "int(AcknowledgeType.RELEASE): _ARCHIVED", "ShareAcknowledge"),
    Mutant(_SAYING, "int(AcknowledgeType.REJECT): _ARCHIVED", "int(AcknowledgeType.REJECT): _AVAILABLE", "ShareAcknowledge"),
    Mutant(_SAYING, "int(AcknowledgeType.GAP): _ARCHIVED", "int(AcknowledgeType.GAP): _AVAILABLE", "ShareAcknowledge"),
    Mutant(_SAYING, 'raise _invalid_state("Member is not the owner of batch record")', "pass", "ShareAcknowledge"),
    Mutant(_SAYING, "    if last > found[-1].last:", "    if False:", "ShareAcknowledge"),
    Mutant(_SAYING, "    except KafkaError:\n        state.roll_back(said.transition)", "    except KafkaError:\n        pass", "ShareAcknowledge"),
    Mutant(_SAYING, "begin, kind = first, types[first - base]", "begin, kind = first, types[0]", "ShareAcknowledge"),
    Mutant(_SAYING, "    if kind == _RENEW:", "    if False:", "ShareAcknowledge"),
    Mutant(_ACQUIRING, "    run.delivery_count += 1", "    run.delivery_count = 1", "ShareFetch"),
    Mutant(_ACQUIRING, "if base > first and base - first >= fresh.batch_size:", "if False:", "ShareFetch"),
    Mutant(_ACQUIRING, "if base > first and base - first >= fresh.batch_size:", "if base > first:", "ShareFetch"),
    Mutant(_ACQUIRING, "    if fresh.record_limit and end - first + 1 > most:", "    if False:", "ShareFetch"),
    Mutant(_ACQUIRING, "        end = _end_of_batch(fresh.batches, first + most - 1)", "        end = first + most - 1", "ShareFetch"),
    Mutant("share_partitions/in_flight.py", "if to is _AVAILABLE and self.delivery_count >= limit:", "if False:", "ShareFetch"),
    Mutant(_SESSIONS, "        if session.epoch != epoch:", "        if session.epoch > epoch:", "ShareFetch"),
    Mutant(_SESSIONS, "        if session.epoch != epoch:", "        if session.epoch < epoch:", "ShareFetch"),
    Mutant(_SESSIONS, "        if epoch == INITIAL_EPOCH:", "        if False:", "ShareAcknowledge"),
    Mutant(_SESSIONS, "        for partition in forgotten:", "        for partition in ():", "ShareFetch"),
    Mutant(_SESSIONS, "            session.partitions.setdefault(partition, True)", "            pass", "ShareFetch"),
    Mutant(_SHARING_HEARTBEAT, "raised = state_partitions.assignment_pending(group) or raised", "pass", "ShareGroupHeartbeat"),
    Mutant(_SHARING_HEARTBEAT, "epoch, lambda: True, why)", "epoch, lambda: False, why)", "ShareGroupHeartbeat"),
    Mutant(_SHARING_HEARTBEAT, "        if not create:", "        if not create and epoch < member.member_epoch:", "ShareGroupHeartbeat"),
    Mutant(_SHARING_HEARTBEAT, "if create or request.subscribed_topic_names is not None or", "if True or", "ShareGroupHeartbeat"),
    Mutant(_SHARING_HEARTBEAT, "if create or request.subscribed_topic_names is not None or", "if", "ShareGroupHeartbeat"),
    Mutant(_SHARING_HEARTBEAT, "group.group_id, group.epoch + 1, metadata_hash", "group.group_id, group.epoch, metadata_hash", "ShareGroupDescribe"),
    Mutant("coordinator/share/validation.py", "        if not request.subscribed_topic_names:", "        if request.subscribed_topic_names is None:", "ShareGroupHeartbeat"),
    Mutant("coordinator/modern/describe.py", '"rack_id": member.rack_id', '"rack_id": None', "ShareGroupDescribe"),
    Mutant("coordinator/share/offsets.py", "    if group.members:", "    if False:", "AlterShareGroupOffsets"),
    Mutant("coordinator/share/offsets.py", "    if group.members:", "    if False:", "DeleteShareGroupOffsets"),
    Mutant("coordinator/share/offsets.py", "asked[topic_id] = initialized.pop(topic_id).partitions", "asked[topic_id] = frozenset()", "DeleteShareGroupOffsets"),
    Mutant(_SHARE_COORDINATOR, "known is not None and known.known_state_epoch > state_epoch:", "False:", "InitializeShareGroupState"),
    Mutant(_SHARE_COORDINATOR, '            raise KafkaError(ErrorCode.INVALID_REQUEST, READ_UNINITIALIZED)', "            return ReadState(0, -1, -1, ())", "ReadShareGroupState"),
    Mutant(_SHARE_COORDINATOR, "            self._note(key, known, leader_epoch, known.start_offset, known.delivery_complete_count, (), turn)", "            pass", "ReadShareGroupState"),
    Mutant(_SHARE_COORDINATOR, "        if known.known_state_epoch > state_epoch:", "        if False:", "WriteShareGroupState"),
    Mutant(_SHARE_COORDINATOR, "        if key in self.states:\n            self._write(turn, ShareTombstone(key))", "        if key in self.states:\n            pass", "DeleteShareGroupState"),
    Mutant("coordinator/consumer/commits.py", "and version < _EPOCHS_FROM:", "and False:", "OffsetCommit"),
    Mutant("coordinator/consumer/commits.py", "    if epoch > member.member_epoch:", "    if False:", "OffsetCommit"),
    Mutant("coordinator/consumer/commits.py", "if since is None or epoch < since:", "if since is not None and epoch < since:", "OffsetCommit"),
    Mutant("coordinator/consumer/commits.py", "if since is None or epoch < since:", "if True:", "OffsetCommit"),
    Mutant("coordinator/consumer/commits.py", "if epoch != member.member_epoch:", "if epoch > member.member_epoch:", "OffsetFetch"),
    Mutant(_STREAMS + "reconciliation.py", "self.running.active(subtopology_id, partition) is not None\n", "False\n", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "reconciliation.py", "        return self.owned is None or self.owned.contains_any(tasks)", "        return False", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "reconciliation.py", "            if self._may_have(member.pending_revocation):", "            if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "heartbeat.py", "        if beat.joins or changed:", "        if True:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "heartbeat.py", "        if beat.metadata_hash != group.metadata.metadata_hash:", "        if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "heartbeat.py", "            if group.topology.epoch <= topology.epoch and group.topology != topology:", "            if group.topology.epoch < topology.epoch and group.topology != topology:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "heartbeat.py", "        if beat.member.topology_epoch < group.topology.epoch:", "        if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "heartbeat.py", "        beat.epoch += 1\n", "        beat.epoch += 2\n", "StreamsGroupHeartbeat"),
    Mutant(_RECONCILING, "if not takes_over and there.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:", "if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "joining.py", "zip(tasks, found.assigned,", "zip(tasks[1:], found.assigned[1:],", "StreamsGroupHeartbeat"),
    Mutant("coordinator/modern/membership.py", "    if epoch > known:", "    if False:", "StreamsGroupHeartbeat"),
    Mutant(_WATCHING, "        if request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:", "        if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "assigning.py", "        if self._waits(group.group_id):", "        if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "assigning.py", "        if not self.context.may_compute(group, turn):", "        if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "assigning.py", 'int(dict(configs).get(NUM_STANDBY_REPLICAS, "0"))', "0", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "validation.py", "    if epoch != 0 and topology is not None:", "    if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "validation.py", "                if not 0 <= partition < count:", "                if not 0 <= partition <= count:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "configured.py", "        decided.update(copartitioning.decided(group))", "        copartitioning.decided(group)", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "configured.py", "    tasks = max(map(counts.of, one.inputs()))", "    tasks = min(map(counts.of, one.inputs()))", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "copartitioning.py", "    if len(set(group.values())) > 1:", "    if False:", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "repartition_topics.py", "            counts[sink] = widest", "            counts[sink] = 1", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "responses.py", "        return self.rules.endpoints_change and self.before.user_endpoint != self.after.user_endpoint", "        return False", "StreamsGroupHeartbeat"),
    Mutant("state/streams_internal_topics.py", "        errors.put(name, text, ttl_ms, broker_ms)", "        pass", "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "described_topology.py", "configured is None or not configured.is_ready or", "True or", "StreamsGroupDescribe"),
    Mutant(_STREAMS + "group.py", '            return "NotReady"', '            return "Assigning"', "StreamsGroupHeartbeat"),
    Mutant(_STREAMS + "group.py", '            return "Assigning"', '            return "Reconciling"', "StreamsGroupDescribe"),
    Mutant(_STREAMS + "group.py", "        return bool(self.members) and self.topology is not None", "        return self.topology is not None", "OffsetDelete"),
    Mutant(_STREAMS + "offsets.py", "    if epoch > known:", "    if False:", "OffsetCommit"),
    Mutant(_STREAMS + "offsets.py", "    if epoch < since:", "    if True:", "OffsetCommit"),
    Mutant(_STREAMS + "offsets.py", "    if epoch != known:", "    if epoch > known:", "OffsetFetch"),
)  # fmt: skip


def main() -> int:
    """Plant them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="tell also which case noticed")
    parser.add_argument("-k", default="", metavar="TEXT", help="only defects in files whose names match it, a regex")
    arguments = parser.parse_args()
    verbose = arguments.verbose
    chosen = [mutant for mutant in MUTANTS if re.search(arguments.k, mutant.file)]
    caught = 0
    with tempfile.TemporaryDirectory(prefix="kafkastub-mutants-") as folder:
        copy = Path(folder)
        for root in ROOTS:
            shutil.copytree(ROOT / root, copy / root, ignore=shutil.ignore_patterns("__pycache__"))
        for number, mutant in enumerate(chosen, 1):
            noticed, told = _noticed(copy, mutant, ANSWER_SECONDS)
            if told.startswith(STUCK) or TOO_LATE in told:  # a busy machine, more likely than not
                noticed, told = _noticed(copy, mutant, PATIENT_SECONDS)
            caught += noticed
            if verbose or not noticed:
                shown = "caught" if noticed else "NOT CAUGHT"
                print(
                    f"{number} {shown} {mutant.file}: {mutant.old.strip()!r} -> {mutant.new.strip()!r} {told}",
                    flush=True,
                )
    print(f"{caught} caught / {len(chosen)} planted")
    return int(caught < len(chosen))


def _noticed(copy: Path, mutant: Mutant, answer_seconds: float) -> tuple[bool, str]:
    """Whether a case fails on the mutant, and which; an answer has to come in so many seconds.

    Raises ValueError where the defect cannot be planted.
    """
    path = copy / "broker" / "kafkastub" / mutant.file
    source = path.read_text()
    if source.count(mutant.old) != 1:
        raise ValueError(
            f"{mutant.file} has {mutant.old!r} {source.count(mutant.old)} times, not once: write this defect anew"
        )
    path.write_text(source.replace(mutant.old, mutant.new))
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(str(copy / root) for root in ROOTS),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                DRIVER,
                mutant.profile,
                mutant.api,
                json.dumps(dict(mutant.options)),
                "slow" * mutant.slow,
                str(answer_seconds),
            ],
            env=environment,
            cwd=copy,
            capture_output=True,
            text=True,
            timeout=HANGS_SECONDS if mutant.hangs else SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return mutant.hangs, f"the run has not ended after {late.timeout:.0f} s"
    finally:
        path.write_text(source)
    if done.returncode not in (0, 3):
        return False, f"{STUCK}: {done.stderr.strip().splitlines()[-1:]}"
    return done.returncode == 3, done.stdout.strip()[:160]


if __name__ == "__main__":
    sys.exit(main())
