"""Which commits and fetches of offsets a consumer group takes. Kafka: ConsumerGroup.validateOffsetCommit, …Fetch."""

from __future__ import annotations

from functools import partial

from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.group import PartitionCheck
from kafkawire.errors import ErrorCode, KafkaError

_EPOCHS_FROM = 9
"""The version of OffsetCommit that knows member epochs."""


def check_commit(member: ConsumerMember, epoch: int, version: int, transactional: bool) -> PartitionCheck | None:
    """Raises what speaks against a commit of the member with that epoch.

    UNSUPPORTED_VERSION, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION. With an older epoch, what is given back has to find
    each partition all right: the member has to have had it since then (KIP-1251).
    """
    classic = member.classic is not None
    if not transactional and not classic and version < _EPOCHS_FROM:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
        )
    if epoch == member.member_epoch:
        return None
    if epoch > member.member_epoch:
        raise KafkaError(_wrong_epoch(classic))
    return partial(_check_partition, member, epoch)


def check_fetch(member: ConsumerMember, epoch: int) -> None:
    """Raises STALE_MEMBER_EPOCH, ILLEGAL_GENERATION where that is not the member's epoch."""
    if epoch != member.member_epoch:
        raise KafkaError(_wrong_epoch(member.classic is not None))


def _wrong_epoch(classic: bool) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if classic else ErrorCode.STALE_MEMBER_EPOCH


def _check_partition(member: ConsumerMember, epoch: int, topic: str, topic_id: bytes, partition: int) -> None:
    since = member.assigned.get(topic_id, {}).get(partition)
    if since is None:
        since = member.pending_revocation.get(topic_id, {}).get(partition)
    if since is None or epoch < since:
        raise KafkaError(_wrong_epoch(member.classic is not None))
