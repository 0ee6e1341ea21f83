"""Share partitions, share sessions and those who wait, in their broker.

Kafka: SharePartitionManager, SharePartitionCache, ShareSessionCache.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Final

from kafkastub.deadlines import Deadlines
from kafkastub.metadata import SHARE_GROUP_STATE, Topic
from kafkastub.share_partitions.dead_letters import DeadLetter
from kafkastub.share_partitions.sessions import ShareSession, ShareSessions
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.transition import Transition
from kafkastub.state.share_coordinator.needed_state import NeededState
from kafkastub.state.share_coordinator.persister import Persister
from kafkastub.state.share_coordinator.runtime import ShareRuntime
from kafkastub.state.share_partitions.abandoned_fetches import AbandonedFetches
from kafkastub.state.share_partitions.at_once import AtOnce
from kafkastub.state.share_partitions.dead_letters import DeadLetters, dead_letter_topic
from kafkastub.state.share_partitions.fetching import ShareFetching, Wanted
from kafkastub.state.share_partitions.group_settings import GroupSettings
from kafkastub.state.share_partitions.partition_cache import Live, Moment, SharePartitionCache
from kafkastub.state.share_partitions.writing import Done, Writing
from kafkastub.state.turns import AT_ONCE, Turns
from kafkastub.steps import at_once
from kafkawire.errors import KafkaError

_AT_A_TIME: Final = 500
"""Work of giving back what a session had, before others have their turn: some milliseconds."""
_A_RELEASE: Final = 3
"""What it is to look into one share partition; to give a range back is 1."""
_KEYS: Final = 10
"""Keys of waiting fetches that are as much work as 1."""
_LOCKS_AT_ONCE: Final = 100
"""Share partitions whose locks may have ended that are looked into before others have their turn."""


class SharePartitionManager:
    """All that a broker has of share partitions; `BrokerState.share_partitions`, loaded with the first who asks.

    Attributes:
        group_settings: what groups go by.
        partitions: those that are in memory.
        coordinator: the share coordinator, with its topic.
        persister: the way to it.
        dead_letters: what groups have given up, on its way to their topics.
        at_once: the short ways.
        abandoned: fetches that wait for nobody any more.
        acknowledged: how many records by what was said of them (AcknowledgeType). Kafka: ShareGroupMetrics.
        watchers: called whenever something may have changed in a share partition.
    """

    def __init__(self, state: NeededState) -> None:
        self._state = state
        self.watchers: list[Callable[[], None]] = []
        self.acknowledged: Counter[int] = Counter()
        self.coordinator = state.runtimes[SHARE_GROUP_STATE] = ShareRuntime(state)
        self.persister = Persister(self.coordinator)
        self.group_settings = GroupSettings(state.config, state.cluster, self._has_dead_letters)
        self.dead_letters = DeadLetters(state)
        self._deadlines: Deadlines[Moment] = Deadlines()
        self._deadlines.mark_dirty = state.mark_dirty
        self.partitions = SharePartitionCache(
            state, self.persister, self.group_settings.of, self.group_settings.reset, self._locks_ended, self._send
        )
        self._writing = Writing(self.persister, self._changed, self.forget, self._send)
        self._sessions: dict[int, ShareSessions] = {}
        self.at_once = AtOnce(state, self, self._writing, self._sessions)
        self.abandoned = AbandonedFetches()
        self._gone: list[tuple[int, Hashable]] = []
        self.turns = Turns(state.mark_dirty)
        """Work of share fetches and acknowledgements."""
        self._to_wake: deque[list[tuple[bytes, int]]] = deque()
        self._closing: dict[tuple[int, str, str], Generator[int, None, None]] = {}
        self._now: Moment = (0, 0)

    # -- what groups go by -----------------------------------------------------------------------------------------

    def settings(self, group_id: str) -> ShareSettings:
        """What the group's share partitions go by now."""
        return self.group_settings.of(group_id)

    def reads_committed(self, group_id: str) -> bool:
        """`share.isolation.level` of the group."""
        return self.settings(group_id).reads_committed

    def topic(self, topic_id: bytes) -> Topic | None:
        """A topic that is there."""
        return self._state.cluster.topic_by_id(topic_id)

    # -- sessions --------------------------------------------------------------------------------------------------

    def sessions_of(self, node_id: int) -> ShareSessions:
        """The share sessions of one node."""
        sessions = self._sessions.get(node_id)
        if sessions is None:
            limit = self._state.config["group.share.max.share.sessions"]
            sessions = self._sessions[node_id] = ShareSessions(limit)
        return sessions

    def end_session(self, node_id: int, session: ShareSession, now: Moment) -> None:
        """It is no more, and what its member has acquired is given back."""
        at_once(self.ending(node_id, session, now))

    def ending(self, node_id: int, session: ShareSession, now: Moment) -> Generator[int, None, None]:
        """The same, part by part: gives how much each was."""
        self.sessions_of(node_id).end(session)
        yield from self._release(node_id, session, now)

    def begins(self, node_id: int, group_id: str, member_id: str) -> None:
        """A member begins a session: what it had in its last one is given back before."""
        if self._closing:
            work = self._closing.pop((node_id, group_id, member_id), None)
            if work is not None:
                at_once(work)

    def _release(self, node_id: int, session: ShareSession, now: Moment) -> Generator[int, None, None]:
        purgatory = self._state.fetch_purgatory
        for topic_id, index in tuple(session.partitions):
            live = self.partitions.get(node_id, session.group_id, topic_id, index)
            if live is None:
                yield 1
                continue
            looked_at = purgatory.looked_at
            try:
                transition = live.partition.release(session.member_id)
            except KafkaError:  # as nobody waits for an answer, nobody is told
                continue
            if transition.changes or live.partition.may_have_available:  # else there is nothing for who waits
                self.wake(live)
            self._writing.write(live, transition, now, _nobody)
            yield _A_RELEASE + len(transition.changes) + (purgatory.looked_at - looked_at) // _KEYS

    def disconnected(self, node_id: int, connection: Hashable) -> None:
        """A connection on which a session was begun is gone: what follows is done with the next round of timers."""
        self._gone.append((node_id, connection))
        self._state.mark_dirty()

    def _let_go(self, now: Moment) -> None:
        gone, self._gone = self._gone, []
        for node_id, connection in gone:
            session, emptied = self.sessions_of(node_id).disconnected(connection)
            if session is not None:
                self._close(node_id, session, emptied, now)
            elif emptied is not None:
                self._forget_of(node_id, emptied)

    def _close(self, node_id: int, session: ShareSession, emptied: str | None, now: Moment) -> None:
        """Give back what a member had whose connection is gone, and forget what is in flight of an `emptied` group; of
        much, a part at a time.
        """
        whose = node_id, session.group_id, session.member_id
        self.begins(*whose)
        work = self._closing[whose] = self._release(node_id, session, now)

        def parts() -> Iterator[None]:
            left = _AT_A_TIME
            for done in work:
                left -= done
                if left <= 0:
                    yield
                    left = _AT_A_TIME
            if self._closing.get(whose) is work:
                del self._closing[whose]
            if emptied is not None and not self.sessions_of(node_id).any_of(emptied):
                self._forget_of(node_id, emptied)

        self.turns.begin(parts())

    def _forget_of(self, node_id: int, group_id: str) -> None:
        self._forget([live for live in self.partitions.of_group(group_id) if live.node_id == node_id])

    # -- fetching, acknowledging -----------------------------------------------------------------------------------

    def fetching(self, wanted: Wanted, lives: Iterable[Live]) -> ShareFetching:
        """A share fetch that begins."""
        if self.watchers:  # a share partition may have been made
            self._tell()
        return ShareFetching(self._state, wanted, lives, self.acquired, self._fetched)

    def write(self, live: Live, transition: Transition, now: Moment, done: Done) -> None:
        """What a member has begun is written; `done` is called then, or later."""
        self._writing.write(live, transition, now, done)
        if self.watchers:  # it may be held
            self._tell()
        following = live.partition.next_lock_deadline()
        if following is not None and (live.locks.at is None or following < live.locks.at):
            self._deadlines.arm(live.locks, following)

    def timer_ms(self) -> int:
        """Timer time, for what happens while nobody has brought it along."""
        asked = self._state.timer_ms
        return self._now[1] if asked is None else asked()

    def seen(self, now: Moment) -> None:
        """It is at least so late."""
        self._now = now

    def wake(self, live: Live, *, partition: bool = False) -> None:
        """Look after those who wait for the share partition; with `partition`, for its partition in any group too.

        As in Kafka that is done when something was begun in it, when its start offset has moved, when a lock has ended
        and when somebody was given records. What is given back is available later, and wakes nobody by itself.
        """
        if self._state.fetch_purgatory.waiting:
            self._wake([live.key, (live.topic_id, live.index)] if partition else [live.key])

    def woken(self, live: Live) -> int:
        """The same; gives how much work it was, as much as so many ranges."""
        looked_at = self._state.fetch_purgatory.looked_at
        self.wake(live)
        return (self._state.fetch_purgatory.looked_at - looked_at) // _KEYS

    def _fetched(self, lives: Sequence[Live]) -> None:
        """Somebody was given records of these."""
        if self._state.fetch_purgatory:
            self._wake([key for live in lives for key in (live.key, (live.topic_id, live.index))])

    def _wake(self, keys: list[tuple[bytes, int]]) -> None:
        """Look once after each who waits for any of these."""
        self._to_wake.append(keys)
        if len(self._to_wake) > 1:  # whoever wakes is looking after the others
            return
        purgatory = self._state.fetch_purgatory
        try:
            while self._to_wake:
                purgatory.happened(self._to_wake[0])
                self._to_wake.popleft()
        finally:
            self._to_wake.clear()

    def acquired(self, live: Live, timer_ms: int) -> None:
        """There are new locks in a share partition."""
        at = live.locks.at
        ends = timer_ms + self.settings(live.group_id).record_lock_duration_ms
        if at is None or ends < at:
            self._deadlines.arm(live.locks, ends)
        if self.watchers:
            self._tell()

    def _locks_ended(self, live: Live, now: Moment) -> None:
        ended = live.partition.expire_locks(now[1])
        if ended.writes:
            self.wake(live)
            self._writing.at_any_rate(live, ended, now)
        following = live.partition.next_lock_deadline()
        if following is not None and not live.fenced:
            self._deadlines.arm(live.locks, following)

    def _changed(self, live: Live, *, moved: bool) -> None:
        if moved:
            self.wake(live)
        if self.watchers:
            self._tell()

    def _tell(self) -> None:
        for look in tuple(self.watchers):
            look()

    def forget(self, live: Live) -> None:
        """It is not in charge any more: what is in flight in it is forgotten."""
        self._forget([live])

    def _forget(self, lives: Sequence[Live]) -> None:
        for live in lives:
            self.partitions.drop(live)
        self.dead_letters.forget({(live.group_id, live.topic_id, live.index) for live in lives})
        if lives and self._state.fetch_purgatory:
            self._wake([live.key for live in lives])
        self._tell()

    # -- dead letters ----------------------------------------------------------------------------------------------

    def _has_dead_letters(self, group_id: str) -> bool:
        return bool(dead_letter_topic(self._state, group_id))

    def _send(self, live: Live, letters: Sequence[DeadLetter], now: Moment) -> None:
        """Have written what is ARCHIVING."""
        self.dead_letters.send(live.group_id, live.topic_id, live.index, letters, partial(self._archived, live), now)

    def _archived(self, live: Live, letter: DeadLetter, now: Moment) -> None:
        """It has its dead letter, or will have none."""
        self._writing.at_any_rate(live, live.partition.dead_letter_done(letter), now)

    # -- for those who look, and for tests -------------------------------------------------------------------------

    def of_group(self, group_id: str) -> list[Live]:
        """The share partitions of a group that are in memory."""
        return self.partitions.of_group(group_id)

    @property
    def sessions(self) -> int:
        """How many there are on all nodes. Kafka: ShareSessionsCount."""
        return sum(map(len, self._sessions.values()))

    def in_flight(self) -> int:
        """Records between start and end offset of all that are in memory. Kafka: InFlightMessageCount."""
        return sum(live.partition.in_flight_counts()[0] for live in self.partitions)

    def hold_acknowledgements(self, group_id: str) -> None:
        """From now on what the group's members acknowledge or release is begun and not written, and they are not
        answered, until `release_acknowledgements`.
        """
        self._writing.hold(group_id)

    def release_acknowledgements(self, group_id: str, broker_ms: int, timer_ms: int) -> None:
        """Write and answer what was held, in its order, and hold no more. Nothing happens where nothing is held."""
        self._writing.release(group_id, (broker_ms, timer_ms))

    @property
    def held(self) -> frozenset[str]:
        """The groups whose acknowledgements are held."""
        return self._writing.held

    # -- what happens elsewhere ------------------------------------------------------------------------------------

    def leaders_changed(self, topic_id: bytes, partitions: Collection[int]) -> None:
        """Other nodes lead them, or none: what is in flight there is forgotten."""
        self._forget(self.partitions.moved(topic_id, partitions))

    def topic_deleted(self, topic_id: bytes) -> None:
        """It is gone, and its share partitions with it."""
        self._forget(self.partitions.of_topic(topic_id))

    def node_stopped(self, node_id: int) -> None:
        """Its sessions are gone."""
        self._sessions.pop(node_id, None)

    def switched_off(self) -> None:
        """There are no share groups any more (share.version 0). Kafka: SharePartitionManager.onShareVersionToggle."""
        self._sessions.clear()
        self.forget_all()

    def forget_all(self) -> None:
        """What is in flight is what was written, and can be read again."""
        self._forget(list(self.partitions))

    def follow(self, before: SharePartitionManager) -> None:
        """It takes another one's place: meters go on, and whoever watches goes on watching."""
        self.watchers, self.acknowledged = before.watchers, before.acknowledged
        self.dead_letters.count_on(before.dead_letters)

    # -- time ------------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which a lock may end or something else falls due."""
        if self._gone or self.turns:
            return AT_ONCE
        due = (self._deadlines.next(), self.coordinator.next_deadline(), self.dead_letters.next_deadline())
        return min((at for at in due if at is not None), default=None)

    def next_round(self) -> int | None:
        """Timer time (ms) of the next regular round of the share coordinator; None where there is none."""
        return self.coordinator.next_round()

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Do what is due."""
        self._now = now = broker_ms, timer_ms
        if self._gone:
            self._let_go(now)
        self.turns.expire()
        purgatory = self._state.fetch_purgatory
        left, looked_at = _LOCKS_AT_ONCE, purgatory.looked_at
        with closing(self._deadlines.due(timer_ms)) as due:
            for deadline in due:
                deadline.fire(now)
                left -= 1
                if left - (purgatory.looked_at - looked_at) // _KEYS <= 0:
                    break  # the rest is due at once, when others have had their turn
        self.dead_letters.expire(broker_ms, timer_ms)
        self.coordinator.expire(broker_ms, timer_ms)


def _nobody(error: KafkaError | None) -> None:
    """Nobody waits for it."""
