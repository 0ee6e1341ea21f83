"""Seeded defects: each is planted in a copy of the stub, and a case of the suite has to fail (`make mutants`).

Only the cases of the API that a defect is about are run. Prints those that nobody notices, and caught / planted.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90

DRIVER = """
import sys
from kafkastub import KafkaStub
from kafkastub.conformance.running import conform
profile, api = sys.argv[1:]
with KafkaStub(profile=profile, config={"group.initial.rebalance.delay.ms": 0}) as stub:
    outcome = conform(stub.bootstrap_servers, profile, chosen=api + "/", timeout=1.5, select=lambda run: run.case.api == api)
for result in outcome.bad[:1]:
    print(result.run.id, result.reason)
sys.exit(3 if outcome.bad else 0)
"""


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new`, once, in a file under broker/kafkastub; the cases of `api` have to notice."""

    file: str
    old: str
    new: str
    api: str
    profile: str = "kafka"


_GROUP = "coordinator/classic/group.py"
_JOIN = "coordinator/classic/join.py"
_MEMBERSHIP = "coordinator/classic/membership.py"
_COMMITS = "coordinator/commits.py"
_DELETION = "coordinator/deletion.py"

MUTANTS = (
    Mutant(_GROUP, "raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)", "pass", "Heartbeat"),
    Mutant(
        _GROUP,
        "if generation < 0 and self.state is _EMPTY:",
        "if generation < 0:",
        "OffsetCommit",
    ),
    Mutant(_GROUP, "if generation != self.generation:", "if generation > self.generation:", "OffsetCommit"),
    Mutant(_GROUP, "if self.state is _COMPLETING_REBALANCE:", "if False:", "OffsetCommit"),
    Mutant(_GROUP, "return self.protocol_type == CONSUMER_PROTOCOL_TYPE\n", "return False\n", "OffsetDelete"),
    Mutant(_GROUP, "return topic in self.subscribed", "return topic not in self.subscribed", "OffsetDelete"),
    Mutant(
        _GROUP,
        "if self.state is not State.EMPTY and self.protocol_type != CONSUMER_PROTOCOL_TYPE:",
        "if self.state is State.STABLE and self.protocol_type != CONSUMER_PROTOCOL_TYPE:",
        "OffsetDelete",
    ),
    Mutant(_GROUP, "return max(order, key=votes.__getitem__)", "return min(order, key=votes.__getitem__)", "JoinGroup"),
    Mutant(_GROUP, "self.generation += 1", "self.generation += 2", "JoinGroup"),
    Mutant(_JOIN, "elif not group.supports(join.request.protocol_type, join.protocols):", "elif False:", "JoinGroup"),
    Mutant(_JOIN, "elif join.requires_member_id:", "elif False:", "JoinGroup"),
    Mutant(_JOIN, 'member_id = f"{prefix}-{UUID', 'member_id = f"{prefix}:{UUID', "JoinGroup"),
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
    Mutant("handlers/k42_delete_groups.py", "batch_order(dict.fromkeys(request.groups_names)", "batch_order(list(request.groups_names)", "DeleteGroups"),
    Mutant("handlers/k42_delete_groups.py", "                code = error.code", "                code = ErrorCode.NONE", "DeleteGroups"),
    Mutant("handlers/k15_describe_groups.py", "if group.state is State.STABLE else", "if True else", "DescribeGroups"),
    Mutant("handlers/k15_describe_groups.py", "    if version >= 6:", "    if version >= 5:", "DescribeGroups"),
    Mutant("handlers/k15_describe_groups.py", "group_instance_id=m.group_instance_id,", "group_instance_id=None,", "DescribeGroups"),
    Mutant("handlers/k16_list_groups.py", "state.lower().strip()", "state.strip()", "ListGroups"),
    Mutant("handlers/k16_list_groups.py", 'group.protocol_type or ""', '""', "ListGroups"),
    Mutant("handlers/k20_delete_topics.py", "if times > 1", "if times > 2", "DeleteTopics"),
    Mutant("handlers/k20_delete_topics.py", "code = ErrorCode.UNKNOWN_TOPIC_ID", "code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION", "DeleteTopics"),
    Mutant("handlers/k21_delete_records.py", "        if offset < 0:", "        if offset < -99:", "DeleteRecords"),
    Mutant("handlers/k21_delete_records.py", "if not log.settings.delete:", "if False:", "DeleteRecords"),
    Mutant("handlers/k02_list_offsets.py", "LEADER_EPOCH_FROM = 4", "LEADER_EPOCH_FROM = 5", "ListOffsets"),
    Mutant("handlers/k02_list_offsets.py", "MAX_TIMESTAMP: 7,", "MAX_TIMESTAMP: 8,", "ListOffsets"),
    Mutant("handlers/k37_create_partitions.py", "if asked.count == present:", "if False:", "CreatePartitions"),
    Mutant("handlers/k37_create_partitions.py", "        if times > 1\n", "        if times > 2\n", "CreatePartitions"),
    Mutant("handlers/k60_describe_cluster.py", "ErrorCode.MISMATCHED_ENDPOINT_TYPE", "ErrorCode.UNSUPPORTED_ENDPOINT_TYPE", "DescribeCluster"),
    Mutant("handlers/k75_describe_topic_partitions.py", "sorted(", "list(", "DescribeTopicPartitions"),
    Mutant("handlers/k18_api_versions.py", "    if ctx.api_version >= 3:", "    if ctx.api_version >= 4:", "ApiVersions"),
    Mutant("handlers/k12_heartbeat.py", "ApiKey.HEARTBEAT, 0, 4", "ApiKey.HEARTBEAT, 0, 3", "ApiVersions"),
    Mutant("handlers/k09_offset_fetch.py", "if request.topics is None:", "if not request.topics:", "OffsetFetch"),
)  # fmt: skip


def main() -> int:
    """Plant them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="tell also which case noticed")
    verbose = parser.parse_args().verbose
    caught = 0
    with tempfile.TemporaryDirectory(prefix="kafkastub-mutants-") as folder:
        copy = Path(folder)
        for room in ("broker", "protocol"):
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        for number, mutant in enumerate(MUTANTS, 1):
            noticed, told = _noticed(copy, mutant)
            caught += noticed
            if verbose or not noticed:
                shown = "caught" if noticed else "NOT CAUGHT"
                print(
                    f"{number} {shown} {mutant.file}: {mutant.old.strip()!r} -> {mutant.new.strip()!r} {told}",
                    flush=True,
                )
    print(f"{caught} caught / {len(MUTANTS)} planted")
    return int(caught < len(MUTANTS))


def _noticed(copy: Path, mutant: Mutant) -> tuple[bool, str]:
    """Whether a case fails on the mutant, and which. Raises ValueError where the defect cannot be planted."""
    path = copy / "broker" / "kafkastub" / mutant.file
    source = path.read_text()
    if mutant.old not in source:
        raise ValueError(f"{mutant.file} has no {mutant.old!r} any more: this defect has to be written anew")
    path.write_text(source.replace(mutant.old, mutant.new, 1))
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'broker'}:{copy / 'protocol'}", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, mutant.profile, mutant.api],
            env=environment,
            cwd=copy,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True, "the run does not end"
    finally:
        path.write_text(source)
    if done.returncode not in (0, 3):
        return False, f"it does not run: {done.stderr.strip().splitlines()[-1:]}"
    return done.returncode == 3, done.stdout.strip()[:160]


if __name__ == "__main__":
    sys.exit(main())
