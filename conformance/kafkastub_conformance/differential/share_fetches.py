"""The fetching half of the random share groups: share sessions, what they acquire, and what becomes of it (KIP-932).

A share partition is read from the share coordinator when it is first fetched, behind the answer. So a session is opened
by a fetch that acquires nothing (it wants -1 records), again and again until every partition has answered; later
fetches are about partitions that are there.

Left out: a fetch that is to wait where it asks for several partitions, some of them of other topics: Kafka looks at
them one after the other as their data come.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.play import PARKED_MS, Play
from kafkastub_conformance.differential.script import GROUPS, MEMBERS
from kafkastub_conformance.differential.share_acknowledging import (
    ACCEPT,
    NO_ID,
    NOWHERE,
    RELEASE,
    RENEW,
    Acknowledging,
    Batch,
    Place,
    Session,
)
from kafkawire.errors import ErrorCode

RENEWING_FROM = 2
"""The version of both APIs that can renew a lock, and acquire records up to a limit exactly."""

ENOUGH = 1 << 20
FINAL = -1
WAITERS = ("w1", "w2")
"""The connections, and the members on them, whose fetches wait."""


FAILING_MS = 500
"""More than it takes to find that a state was never initialised."""

GONE = {ErrorCode.SHARE_SESSION_NOT_FOUND}


class ShareFetches(Acknowledging):
    """Adds share sessions."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.sessions: dict[tuple[str, str], Session] = {}
        self.warm: set[tuple[str, Place]] = set()
        """Share partitions that the broker has read, as far as answers tell."""
        self.waiting: dict[str, Session] = {}
        """Sessions whose fetch waits, by connection."""

    # Sessions.

    def open(self) -> None:
        """A session begins, in place of one that was; of a group that has initialised what it reads, mostly."""
        group, member = self.pick((*GROUPS[1:] * 6, GROUPS[0])), self.pick(MEMBERS[:3])
        places = self._some_places()
        ready = self.is_initialised(group, places) or self.chance(0.05)
        if places and ready and not self._waits(group, member):
            self._open(group, member, places)

    def _open(self, group: str, member: str, places: list[Place]) -> None:
        if any(self.play.stage.waits(one) for one in WAITERS):
            return  # what it lets go could come with any of its tries
        if not self.is_initialised(group, places):
            places = places[:1]  # each is tried anew with every fetch
        on = self.on(member)
        body = self._who_fetches(group, member, 0) | {"max_records": -1, "topics": self._topics(dict.fromkeys(places))}

        def is_complete(answer: Json) -> bool:
            rows = {(topic, one.get("partition_index", 0)) for topic, one in self._rows(answer)}
            return bool(answer.get("error_code")) or rows >= set(places)

        version = self.version("ShareFetch")
        if self.is_initialised(group, places):
            answer = self.play.poll(on, "ShareFetch", version, body, is_complete)
        else:
            answer = self.play.ask(on, "ShareFetch", version, body | {"max_wait_ms": FAILING_MS}) or {}
        if not answer.get("error_code"):
            self.sessions[group, member] = Session(group, member, on, places=places)
            self.warm |= {
                (group, (topic, one.get("partition_index", 0)))
                for topic, one in self._rows(answer)
                if not one.get("error_code")
            }

    def is_initialised(self, group: str, places: list[Place]) -> bool:
        """Whether the state of all these is kept for the group, and was not taken away behind its back.

        Of what is not, Kafka tells in a race: its share partition fails before a fetch that can't wait is answered, or
        behind that.
        """
        kept = self.play.state.get(f"share state of {group}", {}).get("topics", ())
        known = {
            (topic.get("topic_name"), one.get("partition_index", 0))
            for topic in kept
            for one in topic["partitions"]
            if not one.get("state", {}).get("error_code")
        }
        return all(place in known or place[0] == NOWHERE for place in places)

    def fetch(self) -> None:
        """The next fetch of a session: news, another partition, one forgotten, acknowledgements along with it."""
        session = self._session()
        if session is None:
            self.open()
            return
        topics: dict[Place, list[Batch]] = {}
        if self.chance(0.2):
            topics |= {place: [] for place in self._some_places() if (session.group, place) in self.warm}
        acknowledged = self.chance(0.25)
        if acknowledged:
            topics |= dict(self._acknowledgements(session))
        several = len({*session.places, *topics}) > 1
        body = self._who_fetches(session.group, session.member_id, self._epoch(session)) | self._limits(several)
        if not all((session.group, place) in self.warm for place in session.places):
            self._open(session.group, session.member_id, session.places)
            return
        version = self.version("ShareFetch")
        if version >= RENEWING_FROM and self.chance(0.3):
            body["share_acquire_mode"] = self.pick((0, 1, 1, 1, 1, 1, 2))
        if acknowledged:
            body["max_wait_ms"] = 0  # what is released may be available while a fetch waits, or not yet
        if any(RELEASE in types for batches in topics.values() for *_, types in batches):
            body["max_records"] = -1  # Kafka writes it on a thread of its own: before the fetch itself looks, or behind
        if acknowledged and version >= RENEWING_FROM and self.chance(0.25):
            body |= {"is_renew_ack": True} | {
                name: 0 for name in ("max_records", "max_bytes", "min_bytes", "max_wait_ms") if self.chance(0.95)
            }
        body["topics"] = self._topics(topics)
        if self.chance(0.06) and session.places:
            place = self.pick(session.places)
            body["forgotten_topics_data"] = [{"topic_id": verbs.topic_id(place[0]), "partitions": [place[1]]}]
        answer = self.play.ask(session.on, "ShareFetch", version, body)
        self._learn_fetch(session, body["share_session_epoch"], answer, topics)
        forgotten = body.get("forgotten_topics_data")
        if forgotten and answer and not answer.get("error_code"):
            session.places = [one for one in session.places if one != place]

    def fetch_and_wait(self) -> None:
        """A long poll where there is nothing to acquire; something else will release it, or nothing."""
        group, on = self.pick(GROUPS), self.pick(WAITERS)
        places = [place for of, place in sorted(self.warm) if of == group]
        if not places or self.play.stage.waits(on):
            return
        place = self.pick(places)
        member = on
        session = self.sessions.get((group, member))
        if session is None or session.places != [place]:
            self._open_waiting(group, member, on, place)
            session = self.sessions.get((group, member))
        if session is None or self.play.stage.waits(on):
            return
        body = self._who_fetches(group, member, session.epoch) | {"max_wait_ms": 6 * PARKED_MS, "min_bytes": 1}
        body["topics"] = []
        self.waiting[on] = session
        answer = self.play.ask(on, "ShareFetch", self.version("ShareFetch"), body)
        if answer is not None:
            self.learn()

    def _open_waiting(self, group: str, member: str, on: str, place: Place) -> None:
        body = self._who_fetches(group, member, 0) | {"max_records": -1, "topics": self._topics({place: []})}
        answer = self.play.ask(on, "ShareFetch", self.version("ShareFetch"), body)
        if answer and not answer.get("error_code"):
            self.sessions[group, member] = Session(group, member, on, places=[place])

    def learn(self) -> None:
        """Read the answers of fetches that waited."""
        for on, answer in self.play.answers:
            session = self.waiting.pop(on, None)
            if session is not None:
                self._learn_fetch(session, session.epoch, answer, {})

    def close_session(self) -> None:
        """The last fetch or acknowledgement of a session: what it has is released."""
        session = self._session()
        if session is None:
            return
        topics = dict(self._acknowledgements(session)) if self.chance(0.4) else {}
        body: dict[str, Json] = self._who_fetches(session.group, session.member_id, FINAL)
        body["topics"] = self._topics(topics)
        if self.chance(0.5):
            api = "ShareFetch"
        else:
            api, body = (
                "ShareAcknowledge",
                {name: body[name] for name in ("group_id", "member_id", "share_session_epoch", "topics")},
            )
        answer = self.play.ask(session.on, api, self.version(api), body)
        if answer and not answer.get("error_code"):
            self.sessions.pop((session.group, session.member_id), None)
            self._cool(session.group, answer)

    def stray(self) -> None:
        """A fetch or an acknowledgement of a session that is not there, or not so."""
        group, member = self.pick((*GROUPS, "<p>none")), self.pick(("nobody", "", *MEMBERS))
        epoch = self.pick((1, 2, -1, -2, 0, 77))
        place = self.pick([*self._all_places(), (NOWHERE, 0)])
        if self._waits(group, member) or ((group, member) in self.sessions and epoch in (-1, 0, 1, 2)):
            return
        topics = self._topics({place: [(0, 1, [ACCEPT])] if self.chance(0.7) else []})
        body: dict[str, Json] = {"share_session_epoch": epoch, "topics": topics}
        body |= {"group_id": self.pick((group, group, None)), "member_id": self.pick((member, member, None))}
        if self.chance(0.5):
            self.play.ask("c1", "ShareAcknowledge", self.version("ShareAcknowledge"), body)
        elif epoch != 0 or topics[0]["partitions"][0]["acknowledgement_batches"]:
            body |= {"max_wait_ms": 0, "max_bytes": ENOUGH, "max_records": 5, "batch_size": 5}
            self.play.ask("c1", "ShareFetch", self.version("ShareFetch"), body)

    def drop(self) -> None:
        """A connection ends, and with it its sessions; with a group's last one its share partitions."""
        on = self.pick(("c1", "c2", "c2", "w1"))
        if not any(session.on == on for session in self.sessions.values()):
            return
        self.play.close(on)
        self.waiting.pop(on, None)
        for key in [key for key, session in self.sessions.items() if session.on == on]:
            del self.sessions[key]
            self.cool(key[0])

    # Acknowledgements.

    def acknowledge(self) -> None:
        """ShareAcknowledge: what was acquired, or something else."""
        session = self._session(acquired=self.chance(0.9))
        if session is None:
            return
        topics = dict(self._acknowledgements(session))
        version = self.version("ShareAcknowledge")
        body: dict[str, Json] = {
            "group_id": session.group,
            "member_id": session.member_id,
            "share_session_epoch": self._epoch(session),
            "topics": self._topics(topics),
        }
        renews = any(RENEW in types for batches in topics.values() for *_, types in batches)
        if version >= RENEWING_FROM and (renews or self.chance(0.05)) and self.chance(0.9):
            body["is_renew_ack"] = True
        answer = self.play.ask(session.on, "ShareAcknowledge", version, body)
        if answer and not answer.get("error_code"):
            session.epoch += 1
            self._learn_acknowledged(session, answer, topics, "error_code")
            self._cool(session.group, answer)
        elif answer:
            self._learn_lost(session, answer)

    # What is learned.

    def cool(self, group: str) -> None:
        """The share partitions of a group may have to be read anew."""
        self.warm = {one for one in self.warm if one[0] != group}

    def _cool(self, group: str, answer: Json) -> None:
        """Those that an answer has an error for, other than a mistake of the client's, may have to."""
        for topic, one in self._rows(answer):
            codes = one.get("error_code", 0), one.get("acknowledge_error_code", 0)
            if any(code not in (0, ErrorCode.INVALID_RECORD_STATE, ErrorCode.INVALID_REQUEST) for code in codes):
                self.warm.discard((group, (topic, one.get("partition_index", 0))))

    def _learn_fetch(self, session: Session, epoch: int, answer: Json, topics: dict[Place, list[Batch]]) -> None:
        if not answer or answer.get("error_code") or answer.get("closed"):
            self._learn_lost(session, answer or {})
            return
        session.epoch = 1 if epoch == 0 else session.epoch + 1
        session.places += [place for place in topics if place not in session.places]
        self._learn_acknowledged(session, answer, topics, "acknowledge_error_code")
        for topic, one in self._rows(answer):
            place = topic, one.get("partition_index", 0)
            for row in one.get("acquired_records", ()):
                range_of = row.get("first_offset", 0), row.get("last_offset", 0)
                session.acquired.append((place, *range_of))
                self.handed_out.append((session.group, place, *range_of))
        self._cool(session.group, answer)

    def _learn_lost(self, session: Session, answer: Json) -> None:
        if answer.get("error_code") in GONE or answer.get("closed"):
            self.sessions.pop((session.group, session.member_id), None)

    # Parts of requests.

    def _session(self, *, acquired: bool = False) -> Session | None:
        """One that does not wait; one that has acquired something, where that is wanted and there is one."""
        free = [one for one in self.sessions.values() if not self.play.stage.waits(one.on)]
        holding = [one for one in free if one.acquired]
        return self.pick(holding if acquired and holding else free) if free else None

    def _waits(self, group: str, member: str) -> bool:
        session = self.sessions.get((group, member))
        return session is not None and self.play.stage.waits(session.on)

    def _epoch(self, session: Session) -> int:
        if self.chance(0.95):
            return session.epoch
        return self.pick((session.epoch + 1, session.epoch - 1 or 77, -2, 77))

    def _who_fetches(self, group: str, member: str, epoch: int) -> dict[str, Json]:
        return {
            "group_id": group,
            "member_id": member,
            "share_session_epoch": epoch,
            "max_wait_ms": 0,
            "min_bytes": 0,
            "max_bytes": ENOUGH,
            "max_records": 500,
            "batch_size": 500,
        }

    def _limits(self, several: bool) -> dict[str, Json]:
        """What to wait for, and how much to take: of several partitions all there is, or nothing.

        Else it would be up to which of them comes first, and Kafka has them in the order of a HashMap of the random
        ids of topics.
        """
        limits: dict[str, Json] = {
            "max_wait_ms": self.pick((0, 0, 0, 1)),
            "min_bytes": self.pick((0, 0, 1, 1000)),
            "max_bytes": self.pick((*[ENOUGH] * 8, 1, 100, 300, 1000, *(0,) * self.chance(0.5))),
            "max_records": self.pick((1, 2, 3, 3, 5, 5, 5, 10, 10, 10, 500, 500, 500, *(0, -1) * self.chance(0.3))),
            "batch_size": self.pick((1, 2, 3, 5, 10, 500, 500)),
        }
        if several:
            limits["max_bytes"] = ENOUGH
            limits["max_records"] = 500 if limits["max_records"] > 0 else limits["max_records"]
        return limits

    def _all_places(self) -> list[Place]:
        return [(topic, partition) for topic, count in self.topics.items() for partition in range(count)]

    def _some_places(self) -> list[Place]:
        """Own topics mostly, whose records are this scenario's."""
        every = self._all_places()
        if not every:
            return []
        some = self.random.sample(every, min(len(every), self.pick((1, 1, 2, 3))))
        if self.chance(0.04):
            some.append(self.pick(((NOWHERE, 0), ("t1", 0))))
        return some

    def _topics(self, asked: Mapping[Place, list[Batch] | None]) -> list[Json]:
        topics: dict[str, list[Json]] = {}
        for (topic, partition), batches in asked.items():
            rows = [
                {"first_offset": first, "last_offset": last, "acknowledge_types": types}
                for first, last, types in batches or ()
            ]
            topics.setdefault(topic, []).append({"partition_index": partition, "acknowledgement_batches": rows})
        return [
            {"topic_id": verbs.topic_id(topic) if topic != NOWHERE else NO_ID, "partitions": partitions}
            for topic, partitions in topics.items()
        ]
