"""Share sessions: which partitions a member fetches, so that it need not say it with every request (KIP-932).

Kafka: ShareSession, ShareSessionCache, ShareSessionContext; SharePartitionManager.newContext, acknowledgeSessionUpdate.
A session belongs to a member of a group, and ends with the connection that it was begun on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from kafkawire.errors import ErrorCode, KafkaError

INITIAL_EPOCH: Final = 0
"""Begins a session, in place of one that the member may have."""
FINAL_EPOCH: Final = -1
"""Ends it."""
MOST_PARTITIONS: Final = 20_000
"""Of one session. Kafka has no such limit, nor those for all of them: a session keeps what there is not, too."""
MOST_OF_ALL: Final = 1_000_000
"""Of all sessions of a node."""
_LAST_EPOCH: Final = 2**31 - 1

TopicPartition = tuple[bytes, int]
"""Topic id, partition."""


def next_epoch(epoch: int) -> int:
    """The epoch that the request after this one has: from 2147483647 it goes on with 1. ShareRequestMetadata."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == _LAST_EPOCH else epoch + 1


class ShareSession:
    """One member's.

    Attributes:
        group_id, member_id: whose.
        connection: on which it was begun.
        epoch: that its next request has to have.
        partitions: in their order; True where the next answer has to tell of one, whatever there is to tell.
        known: topic ids of partitions that were a topic's once, with its name.
    """

    __slots__ = ("connection", "epoch", "group_id", "known", "member_id", "partitions")

    def __init__(
        self, group_id: str, member_id: str, partitions: Sequence[TopicPartition], connection: Hashable
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.connection = connection
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.partitions = dict.fromkeys(partitions, False)
        self.known: dict[bytes, str] = {}

    def must_answer(self, partition: TopicPartition, error_code: int, has_records: bool) -> bool:
        """Whether the answer to a later request tells of a partition: where it is new, has records or an error.

        One that has records goes to the end of the session's order. Call it as the answer is made, once. Of one that
        the session no longer has, it tells.
        """
        is_due = self.partitions.get(partition)
        if is_due is None:
            return True
        if error_code:
            self.partitions[partition] = True
        elif is_due:
            self.partitions[partition] = False
        if has_records:
            self.partitions[partition] = self.partitions.pop(partition)
        return has_records or is_due or bool(error_code)


class ShareSessions:
    """All of a node.

    Attributes:
        limit: `group.share.max.share.sessions`.
    """

    __slots__ = ("_by_connection", "_by_member", "_members", "_partitions", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._by_member: dict[tuple[str, str], ShareSession] = {}
        self._by_connection: dict[Hashable, ShareSession] = {}
        """The last one that was begun on each connection, ended or not: with a connection its group may lose the last
        of its members, though that one has ended its session before.
        """
        self._members: dict[str, int] = {}
        self._partitions = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._by_member)

    def __iter__(self) -> Iterator[ShareSession]:
        """Each, in order of their beginnings."""
        return iter(self._by_member.values())

    def any_of(self, group_id: str) -> bool:
        """Whether a member of the group has one."""
        return group_id in self._members

    def partitions(self) -> int:
        """How many partitions all of them have: Kafka's gauge SharePartitionsCount."""
        return self._partitions

    def get(self, group_id: str, member_id: str) -> ShareSession | None:
        """A member's, if it has one."""
        return self._by_member.get((group_id, member_id))

    def find(self, group_id: str, member_id: str) -> ShareSession:
        """A member's. Raises SHARE_SESSION_NOT_FOUND."""
        session = self._by_member.get((group_id, member_id))
        if session is None:
            raise KafkaError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def awaiting(self, group_id: str, member_id: str, epoch: int) -> ShareSession | None:
        """A member's, if this is the epoch that its next request has to have."""
        session = self._by_member.get((group_id, member_id))
        return session if session is not None and session.epoch == epoch else None

    def begin(
        self, group_id: str, member_id: str, partitions: Sequence[TopicPartition], connection: Hashable
    ) -> ShareSession:
        """A new session (epoch 0), in place of the member's old one, which is gone even if there is no room for
        another one. Raises SHARE_SESSION_LIMIT_REACHED, also for too many partitions.
        """
        old = self._by_member.get((group_id, member_id))
        if old is not None:
            self.end(old)
        if len(self._by_member) >= self.limit:
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        self._check_room(0, len(partitions))
        session = ShareSession(group_id, member_id, partitions, connection)
        self._by_member[group_id, member_id] = session
        self._partitions += len(session.partitions)
        self._members[group_id] = self._members.get(group_id, 0) + 1
        self._by_connection[connection] = session
        return session

    def go_on(
        self,
        group_id: str,
        member_id: str,
        epoch: int,
        partitions: Sequence[TopicPartition],
        forgotten: Sequence[TopicPartition],
    ) -> ShareSession:
        """A later ShareFetch: the session has these partitions more, and those no longer.

        Raises SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, and SHARE_SESSION_LIMIT_REACHED where they would be
        too many; then nothing has happened.
        """
        session = self._with_epoch(group_id, member_id, epoch)
        known = len(session.partitions)
        if partitions:
            self._check_room(known, len(set(partitions).difference(session.partitions)))
        for partition in partitions:
            session.partitions.setdefault(partition, True)
        for partition in forgotten:
            session.partitions.pop(partition, None)
        self._partitions += len(session.partitions) - known
        session.epoch = next_epoch(epoch)
        return session

    def acknowledge(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        """A ShareAcknowledge: the epoch is raised, but for the final one. Raises INVALID_SHARE_SESSION_EPOCH (for the
        initial epoch, before all else), SHARE_SESSION_NOT_FOUND.
        """
        if epoch == INITIAL_EPOCH:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        if epoch == FINAL_EPOCH:
            return self.find(group_id, member_id)
        session = self._with_epoch(group_id, member_id, epoch)
        session.epoch = next_epoch(epoch)
        return session

    def _check_room(self, known: int, more: int) -> None:
        """Raises SHARE_SESSION_LIMIT_REACHED where a session of `known` partitions can't have so many `more`."""
        if more and (known + more > MOST_PARTITIONS or self._partitions + more > MOST_OF_ALL):
            raise KafkaError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)

    def _with_epoch(self, group_id: str, member_id: str, epoch: int) -> ShareSession:
        session = self.find(group_id, member_id)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        return session

    def end(self, session: ShareSession) -> None:
        """It is no more; what its member has acquired is for the caller to release."""
        if self._by_member.get((session.group_id, session.member_id)) is session:
            del self._by_member[session.group_id, session.member_id]
            self._partitions -= len(session.partitions)
            left = self._members[session.group_id] - 1
            if left:
                self._members[session.group_id] = left
            else:
                del self._members[session.group_id]

    def disconnected(self, connection: Hashable) -> tuple[ShareSession | None, str | None]:
        """A connection is gone.

        Returns the session that ended with it, if it was still the connection's (release what its member has), and the
        group that has no session left, if so (its share partitions are forgotten: ShareGroupListener.onGroupEmpty).
        """
        session = self._by_connection.pop(connection, None)
        if session is None:
            return None, None
        ended = session if self._by_member.get((session.group_id, session.member_id)) is session else None
        if ended is not None:
            self.end(ended)
        return ended, None if session.group_id in self._members else session.group_id
